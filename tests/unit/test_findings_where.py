"""Claims from where the time of operations went. Each has its twin without the cause."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import pytest

from assay.analysis.accounts import Accounts
from assay.analysis.causes import PARTS
from assay.analysis.cluster.barriers import Barriers
from assay.analysis.cluster.line import Line, NodeFigures
from assay.analysis.cluster.told import Cluster
from assay.analysis.findings import (
    bound_by,
    client_bound,
    cold_cache,
    kernel_time,
    lock_wait,
    stalls,
    steal,
    throttled,
)
from assay.analysis.findings.kernel_time import KERNEL_SHARE
from assay.analysis.summary import OperationSummary
from tests.cases import CORES, RUN, case, operation, passes
from tests.truths import of_nodes

# A wait, the finding about it, and what that needs to be sure of it.
WAITS: list[tuple[str, Any, dict[str, Any]]] = [
    ("lock", lock_wait, {}),
    ("throttled", throttled, {}),
    ("disk_read", cold_cache, {}),
    ("disk_write", stalls, {"counters": {"counters": [{"name": "wal_bytes", "total": 9e9}]}}),
    ("client", client_bound, {}),
    ("stolen", steal, {}),
    ("run_queue", steal, {"accounts": Accounts(10.0, CORES, {}, 30.0, 10.0, None)}),
]


def bound(*operations: OperationSummary, cores: int | None = CORES) -> str:
    (found,) = bound_by.find(case(*operations, cores=cores))
    return found.claim


# Parts of the time of one operation, and what the claim begins with.
BOUNDS = [
    ({"disk_read": 0.6, "cpu_user": 0.4}, "Disk-bound: 60 % of the time was waiting for disk re"),
    ({"disk_write": 0.6, "cpu_user": 0.4}, "Disk-bound: 60 % of the time was waiting for disk wr"),
    ({"disk": 0.6, "cpu_user": 0.4}, "Disk-bound: 60 % of the time was waiting for disk; "),
    (
        {"disk_read": 0.3, "disk_write": 0.3, "cpu_user": 0.4},
        "Disk-bound: 60 % of the time was wai",
    ),
    ({"run_queue": 0.6, "cpu_user": 0.4}, "Short of CPUs: 60 % of the time was waiting for one"),
    ({"stolen": 0.6, "cpu_user": 0.4}, "Short of CPUs: the hypervisor took 60 % "),
    ({"throttled": 0.6, "cpu_user": 0.4}, "Held back by a CPU limit for 60 % "),
    ({"lock": 0.5, "latch": 0.1, "cpu_user": 0.4}, "Lock-bound: 60 % "),
    ({"client": 0.6, "cpu_user": 0.4}, "Bound by the client: 60 % "),
    ({"cpu_user": 0.8, "cpu_system": 0.1}, "CPU-bound, on 1 of 4 cores busy on average"),
    ({"run_queue": 0.35, "cpu_user": 0.35}, "CPU-bound, and short of CPUs: 35 % of the time on"),
    ({"cpu_user": 0.3}, "Bound by no one thing: 30 % on a CPU, 70 % not accounted for"),
    (
        {"cpu_user": 0.3, "lock": 0.3, "disk_read": 0.2},
        "Bound by no one thing: 30 % on a CPU, 30 % lock, 20 % disk read, 20 % not accounted for",
    ),
    # Of threads that wait for others the others tell what for.
    ({"workers": 0.5, "disk_read": 0.35, "cpu_user": 0.15}, "Disk-bound: 70 % "),
]


class TestBound:
    @pytest.mark.parametrize(("where", "begins"), BOUNDS, ids=lambda one: str(one)[:40])
    def test_what_has_the_larger_part_is_what_bounds(
        self, where: dict[str, float], begins: str
    ) -> None:
        assert bound(operation(**where)).startswith(begins)

    def test_where_nothing_is_known_of_threads_tasks_of_a_cluster_tell(self) -> None:
        grown = {"task_ns": 100.0, "wait_ns": 20.0, "blocked_ns": 10.0, "scheduling_ns": 100.0}
        grown |= {"cpu_ns": 40.0}
        line = Line(1.0, NodeFigures("", "", grown), ())
        cluster = Cluster("Workers", (), {}, {}, 4.0, line, (), {}, Barriers())
        told = case(operation(cpu_user=0.3), cluster=cluster)
        (found,) = bound_by.find(told)
        words = "of the time of tasks 50 % scheduling, 40 % on a CPU, 30 % waiting for other nodes"
        assert words in found.claim
        (plain,) = bound_by.find(case(operation(cpu_user=0.3, lock=0.4), cluster=cluster))
        assert "40 % lock" in plain.claim

    def test_of_time_that_was_not_split_nothing_is_said(self) -> None:
        unsplit = dataclasses.replace(operation(), where=dict.fromkeys(PARTS))
        assert bound_by.find(case(unsplit)) == []

    @pytest.mark.parametrize(
        ("busy", "begins"),
        [
            (3.5, "CPU-bound: 3.5 of 4 cores busy; q1 are 100 % of the time"),
            (1.3, "Not bound by the CPU alone: 1.3 of 4 cores busy on average; q1 are 100 %"),
        ],
    )
    def test_of_a_cluster_whose_time_is_not_split_cores_tell(
        self, busy: float, begins: str
    ) -> None:
        one = operation(parallelism=busy, told={"coverage": None})
        unsplit = dataclasses.replace(one, where=dict.fromkeys(PARTS))
        nodes = of_nodes([1.0, 1.0]).cluster
        (found,) = bound_by.find(case(unsplit, cluster=nodes))
        assert found.claim.startswith(begins)
        assert found.effect_share == pytest.approx(busy / CORES)
        assert found.tells == "bound"
        assert found.evidence[0].says == f"q1: {busy} cores busy"
        uncounted = dataclasses.replace(unsplit, parallelism=None)
        assert bound_by.find(case(uncounted, cluster=nodes)) == []
        assert bound_by.find(case(unsplit, cluster=nodes, cores=None)) == []

    @pytest.mark.parametrize("disk", [0.55, 0.7, 0.9])
    def test_a_run_that_was_built_disk_bound_is_found_to_be(self, disk: float) -> None:
        operations = [
            operation("a", share=0.6, disk_read=disk + 0.04, cpu_user=0.96 - disk),
            operation("b", share=0.4, disk_read=disk - 0.06, cpu_user=1.06 - disk),
        ]
        (found,) = bound_by.find(case(*operations))
        assert found.claim.startswith("Disk-bound: ")
        assert found.effect_share == pytest.approx(disk, abs=0.03)
        assert (found.tells, found.key) == ("bound", "bound-by")

    @pytest.mark.parametrize("part", ["disk_read", "run_queue", "lock", "client", "throttled"])
    def test_the_twin_with_less_of_it_is_bound_by_something_else(self, part: str) -> None:
        assert bound(operation(cpu_user=0.55, **{part: 0.45})).startswith("CPU-bound")

    def test_all_cores_busy_is_cpu_bound(self) -> None:
        claim = bound(operation(parallelism=3.9, cpu_user=0.95))
        assert claim.startswith("CPU-bound: 3.9 of 4 cores busy")

    def test_without_knowing_the_cores_none_are_named(self) -> None:
        assert bound(operation(cpu_user=0.9), cores=None).startswith("CPU-bound, on 1 cores")

    def test_operations_weigh_by_their_share_of_the_time(self) -> None:
        slow = operation("slow", share=0.9, disk_read=0.8, cpu_user=0.2)
        quick = operation("quick", share=0.1, cpu_user=1.0)
        assert bound(slow, quick).startswith("Disk-bound: 72 %")

    def test_the_longest_operations_are_named_with_their_share_and_are_evidence(self) -> None:
        shares = {"a": 0.1, "b": 0.4, "c": 0.2, "d": 0.3}
        operations = [operation(name, share=share, cpu_user=0.9) for name, share in shares.items()]
        (found,) = bound_by.find(case(*operations))
        assert "b, d, c are 90 % of the time" in found.claim
        assert [one.at for one in found.evidence] == ["where:b", "where:d", "where:c"]
        assert found.evidence[0].says == (
            "b is 40 % of the time: 90 % CPU, user, 10.0 % not accounted for"
        )

    def test_passes_that_differ_give_an_interval_that_holds_the_effect(self) -> None:
        slow = operation("slow", share=0.8, disk_read=0.9, cpu_user=0.1)
        quick = operation("quick", share=0.2, cpu_user=1.0)
        times = passes({"slow": [0.8, 0.7, 0.9], "quick": [0.2, 0.2, 0.2]})
        (found,) = bound_by.find(case(slow, quick, executions=times))
        assert found.interval is not None
        low, high = found.interval
        assert low < found.effect_share < high

    def test_operations_too_short_for_their_counters_are_left_out(self) -> None:
        long = operation("long", share=0.6, cpu_user=1.0)
        short = operation("short", share=0.4, parallelism=9.0, disk_read=1.0)
        assert bound(long, short).startswith("CPU-bound")

    @pytest.mark.parametrize("absent", ["coverage", "share", "parallelism"])
    def test_of_what_was_not_measured_nothing_is_claimed(self, absent: str) -> None:
        assert bound_by.find(case(operation(told={absent: None}))) == []


class TestWhatIsNotSplit:
    """It is not known to have waited for nothing: claims are of the time that is known."""

    UNKNOWN: ClassVar = {"where": dict.fromkeys(PARTS)}

    @pytest.mark.parametrize(("part", "finding", "known"), WAITS, ids=lambda one: str(one)[-30:])
    def test_it_makes_no_wait_smaller(self, part: str, finding: Any, known: dict[str, Any]) -> None:
        split = operation("a", share=0.6, **{part: 0.5}, cpu_user=0.5)
        unknown = operation("b", share=0.4, told=self.UNKNOWN)
        (found,) = finding.find(case(split, unknown, **known))
        assert found.effect_share == pytest.approx(0.5)
        assert "50 %" in found.claim

    @pytest.mark.parametrize(("part", "finding", "known"), WAITS, ids=lambda one: str(one)[-30:])
    def test_of_most_of_the_time_unknown_nothing_is_claimed(
        self, part: str, finding: Any, known: dict[str, Any]
    ) -> None:
        split = operation("a", share=0.4, **{part: 0.5}, cpu_user=0.5)
        unknown = operation("b", share=0.6, told=self.UNKNOWN)
        assert finding.find(case(split, unknown, **known)) == []

    def test_intervals_are_of_the_same_time_as_effects(self) -> None:
        split = operation("a", share=0.6, lock=0.5, cpu_user=0.5)
        unknown = operation("b", share=0.4, told=self.UNKNOWN)
        times = passes({"a": [0.6, 0.5, 0.7], "b": [0.4, 0.5, 0.3]})
        (found,) = lock_wait.find(case(split, unknown, executions=times))
        assert found.interval == pytest.approx((0.5, 0.5))


class TestKernel:
    def test_kernel_time_is_named_with_its_faults(self) -> None:
        (found,) = kernel_time.find(case(operation(cpu_system=0.4, cpu_user=0.6)))
        assert found.claim == (
            "q1 spent 40 % of its CPU time in the kernel, with 1.23 k page faults an execution"
        )
        assert found.effect_share == pytest.approx(0.4)
        assert (found.key, found.runs) == ("kernel-time:q1", (RUN,))

    def test_the_twin_with_less_than_the_threshold_is_not(self) -> None:
        system = KERNEL_SHARE - 0.01
        assert kernel_time.find(case(operation(cpu_system=system, cpu_user=1 - system))) == []

    def test_nor_is_one_that_hardly_matters_to_the_run(self) -> None:
        small = operation("small", share=0.05, cpu_system=0.9, cpu_user=0.1)
        rest = operation("rest", share=0.95, cpu_user=1.0)
        assert kernel_time.find(case(small, rest)) == []

    def test_an_operation_without_cpu_time_divides_nothing_by_zero(self) -> None:
        assert kernel_time.find(case(operation(disk_read=1.0))) == []

    def test_a_share_that_was_not_measured_is_no_claim(self) -> None:
        unknown = dataclasses.replace(operation(), where={})
        assert kernel_time.find(case(unknown)) == []


def test_a_share_is_the_same_in_whatever_order_operations_are_asked_for() -> None:
    names = [f"q{number:02}" for number in range(1, 8)]
    told = case(*(operation(name, 0.1 + place / 70) for place, name in enumerate(names)))
    forth = {name: 0.1 + place / 30 for place, name in enumerate(names)}
    back = dict(reversed(forth.items()))
    assert told.of_run(forth) == told.of_run(back)
