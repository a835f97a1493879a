"""Every claim has its twin: the same run without the cause, of which it is not claimed."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from assay.analysis.causes import PARTS
from assay.analysis.findings import (
    KERNEL_SHARE,
    METHOD_BOUND,
    METHOD_KERNEL,
    SPILLED,
    findings,
    spilled,
)
from assay.analysis.summary import OperationSummary
from assay.model.finding import Finding

CORES = 4
RUN = "a-run"


def operation(
    name: str = "q1", share: float = 1.0, parallelism: float = 1.0, **where: float
) -> OperationSummary:
    """An operation whose time went where it is said, the rest of it to `uncovered`."""
    parts: dict[str, float | None] = dict.fromkeys(PARTS, 0.0) | where
    parts["uncovered"] = 1.0 - sum(where.values())
    return OperationSummary(
        name=name,
        title="",
        seconds=share,
        seconds_min=share,
        seconds_max=share,
        share=share,
        outcome="ok",
        error=None,
        passes=1,
        rows=1,
        where=parts,
        coverage=1.0,
        parallelism=parallelism,
        threads_at_work=1.0,
        memory_peak_bytes=0,
        memory_growth_bytes=0,
        read_bytes=0.0,
        write_bytes=0.0,
        minor_faults=1234.0,
        disk_method="",
    )


def found(*operations: OperationSummary, cores: int | None = CORES) -> dict[str, Finding]:
    return {finding.method: finding for finding in findings(RUN, operations, cores)}


def bound(*operations: OperationSummary, cores: int | None = CORES) -> str:
    return found(*operations, cores=cores)[METHOD_BOUND].claim


class TestBound:
    def test_all_cores_busy_is_cpu_bound(self) -> None:
        claim = bound(operation(parallelism=3.9, cpu_user=0.95))
        assert claim.startswith("CPU-bound: 3.9 of 4 cores busy")

    def test_one_core_busy_of_four_is_cpu_bound_and_says_on_how_many(self) -> None:
        finding = found(operation(parallelism=1.0, cpu_user=0.95))[METHOD_BOUND]
        assert finding.claim.startswith("CPU-bound, on 1 of 4 cores busy on average")
        assert finding.to_try is not None

    def test_the_twin_with_little_cpu_is_not(self) -> None:
        assert "CPU-bound" not in bound(operation(parallelism=0.3, cpu_user=0.3))

    def test_most_of_the_time_in_disk_waits_is_disk_bound(self) -> None:
        finding = found(operation(disk=0.6, cpu_user=0.4))[METHOD_BOUND]
        assert finding.claim.startswith("Disk-bound: 60 % of the time was waiting for disk")
        assert finding.effect_share == pytest.approx(0.6)

    def test_the_twin_with_fewer_is_not(self) -> None:
        assert "Disk-bound" not in bound(operation(disk=0.4, cpu_user=0.6))

    def test_most_of_the_time_waiting_for_a_cpu_is_short_of_cpus(self) -> None:
        assert bound(operation(run_queue=0.6, cpu_user=0.4)).startswith("Short of CPUs: 60 %")

    def test_the_twin_with_less_waiting_is_not(self) -> None:
        assert "Short of CPUs" not in bound(operation(run_queue=0.4, cpu_user=0.6))

    def test_neither_is_said_with_the_share_that_has_no_counter(self) -> None:
        claim = bound(operation(cpu_user=0.3))
        assert claim.startswith("Bound by neither CPU nor disk: 70 % of thread time has no counter")

    def test_without_knowing_the_cores_none_are_named(self) -> None:
        assert bound(operation(cpu_user=0.9), cores=None).startswith("CPU-bound, on 1 cores")

    def test_operations_weigh_by_their_share_of_the_time(self) -> None:
        slow = operation("slow", share=0.9, disk=0.8, cpu_user=0.2)
        quick = operation("quick", share=0.1, cpu_user=1.0)
        assert bound(slow, quick).startswith("Disk-bound: 72 %")

    def test_the_longest_operations_are_named_with_their_share(self) -> None:
        shares = {"a": 0.1, "b": 0.4, "c": 0.2, "d": 0.3}
        operations = [operation(name, share=share, cpu_user=0.9) for name, share in shares.items()]
        assert "b, d, c are 90 % of the time" in bound(*operations)


class TestKernel:
    def test_kernel_time_is_named_with_its_faults(self) -> None:
        finding = found(operation(cpu_system=0.4, cpu_user=0.6))[METHOD_KERNEL]
        assert (
            finding.claim == "q1 spent 40 % of its CPU time in the kernel, 1.23 k page faults a run"
        )
        assert finding.effect_share == pytest.approx(0.4)

    def test_the_twin_with_less_than_the_threshold_is_not(self) -> None:
        system = KERNEL_SHARE - 0.01
        assert METHOD_KERNEL not in found(operation(cpu_system=system, cpu_user=1 - system))

    def test_nor_is_one_that_hardly_matters_to_the_run(self) -> None:
        small = operation("small", share=0.05, cpu_system=0.9, cpu_user=0.1)
        rest = operation("rest", share=0.95, cpu_user=1.0)
        assert METHOD_KERNEL not in found(small, rest)


class TestSilence:
    def test_of_nothing_nothing_is_claimed(self) -> None:
        assert findings(RUN, [], CORES) == []

    @pytest.mark.parametrize("absent", ["coverage", "share"])
    def test_of_what_was_not_measured_nothing_is_claimed(self, absent: str) -> None:
        unmeasured: dict[str, Any] = {absent: None, "where": dict.fromkeys(PARTS)}
        assert findings(RUN, [dataclasses.replace(operation(), **unmeasured)], CORES) == []

    def test_an_operation_without_cpu_time_divides_nothing_by_zero(self) -> None:
        assert METHOD_KERNEL not in found(operation(disk=1.0))


class TestEvidence:
    def test_every_finding_names_its_run_and_that_there_is_no_interval(self) -> None:
        for finding in findings(RUN, [operation(cpu_system=0.4, cpu_user=0.6)], CORES):
            assert finding.runs == (RUN,)
            assert finding.interval_words == "one run, no interval"

    def test_the_largest_effect_comes_first(self) -> None:
        effects = [
            f.effect_share for f in findings(RUN, [operation(cpu_system=0.4, cpu_user=0.5)], CORES)
        ]
        assert effects == sorted(effects, reverse=True)
        assert len(effects) == 2

    def test_an_interval_is_told_when_there_is_one(self) -> None:
        finding = Finding("x", 0.5, (0.1, 0.25), (RUN, "b"), METHOD_BOUND)
        assert finding.interval_words == "[0.1, 0.25]"


class TestSpilled:
    MIB = 1 << 20

    def spilled(self, **wrote: float) -> list[Finding]:
        figure = {"name": SPILLED, "to_try": "more memory", "operations": wrote}
        others = {"name": "hits", "to_try": None, "operations": {"q1": 1e12}}
        operations = [operation(name, share=0.2) for name in ("q1", "q2", "q3", "q4", "q5")]
        return spilled(RUN, operations, {"counters": [others, figure]})

    def test_it_names_who_spilled_most_first(self) -> None:
        (told,) = self.spilled(q1=2 * self.MIB, q2=5 * self.MIB, q3=0.0)
        assert told.claim == (
            "q2 spilled 5 MiB to temporary files, q1 2 MiB, by the engine's own count;"
            " they are 40 % of the time"
        )
        assert (told.effect_share, told.to_try) == (0.4, "more memory")

    def test_many_are_counted(self) -> None:
        names = ("q1", "q2", "q3", "q4", "q5")
        (told,) = self.spilled(**dict.fromkeys(names, 2.0 * self.MIB))
        assert "and 2 more did" in told.claim

    @pytest.mark.parametrize("wrote", [0.0, MIB - 1])
    def test_next_to_nothing_is_not_told(self, wrote: float) -> None:
        assert self.spilled(q1=wrote) == []

    def test_an_engine_that_counts_nothing_spilled_nothing_that_is_known(self) -> None:
        assert spilled(RUN, [operation()], None) == []
