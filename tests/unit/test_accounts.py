"""Engine, driver, probes and background are separate accounts, and they sum to the machine."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from assay.analysis.host.accounts import Accounts, accounts
from assay.analysis.summarise import window_accounts
from tests.conftest import MS, S, SyntheticRun, stream_table

CPUS = 4
# A second's sum of nanoseconds as a float loses less than this.
FLOAT_ABSOLUTE_S = 1e-9


def frame(stream: str, rows: list[dict[str, Any]]) -> pl.DataFrame:
    made = pl.from_arrow(stream_table(stream, rows))
    assert isinstance(made, pl.DataFrame)
    return made


def machine(times_s: list[float], **a_second_ns: int | None) -> pl.DataFrame:
    """Counters of all CPUs that grow by so many ns a second; None: a column the kernel lacks."""
    rows = [
        {"time_ns": round(at * S), "cpu": cpu}
        | {k: None if v is None else round(at * v) for k, v in a_second_ns.items()}
        for at in times_s
        for cpu in range(CPUS)
    ]
    return frame("cpus", rows)


def process(
    times_s: list[float], pid: int, account: str, user: float, **other: Any
) -> list[dict[str, Any]]:
    """Samples of a process that uses `user` CPU seconds a second."""
    return [
        {"time_ns": round(at * S), "pid": pid, "account": account, "user_ns": round(at * user * S)}
        | other
        for at in times_s
    ]


def within(
    cpus: pl.DataFrame, processes: list[dict[str, Any]], begun_s: float, ended_s: float
) -> Accounts:
    cpu_accounts = accounts(
        cpus, frame("processes", processes), round(begun_s * S), round(ended_s * S)
    )
    assert cpu_accounts is not None
    return cpu_accounts


TIMES_S = [0.0, 1.0, 2.0, 3.0, 4.0]
QUARTER = 250 * MS
ALL = {"user_ns": QUARTER, "system_ns": QUARTER, "iowait_ns": QUARTER, "idle_ns": QUARTER}
FULL = ALL | {"irq_ns": 0, "softirq_ns": 0, "steal_ns": 0}
OURS = [
    *process(TIMES_S, 1, "engine", 1.0),
    *process(TIMES_S, 2, "driver", 0.25),
    *process(TIMES_S, 3, "probes", 0.05),
]


class TestIdentity:
    def test_the_four_accounts_sum_to_what_the_machine_was_busy_with(self) -> None:
        used = within(machine(TIMES_S, **FULL), OURS, 1.0, 3.0)
        assert used.by_process == pytest.approx({"engine": 2.0, "driver": 0.5, "probes": 0.1})
        assert used.background_s == pytest.approx(4.0 - 2.6)
        assert sum(used.by_process.values()) + used.background_s == pytest.approx(used.busy_s)

    def test_children_too_short_to_be_seen_are_told_by_their_parent(self) -> None:
        parent = process(TIMES_S, 1, "engine", 0.1)
        for at, row in zip(TIMES_S, parent, strict=True):
            row["children_user_ns"] = round(at * 0.8 * S)
            row["children_system_ns"] = round(at * 0.1 * S)
        used = within(machine(TIMES_S, **FULL), parent, 1.0, 3.0)
        assert used.by_process == pytest.approx({"engine": 2.0})

    def test_a_child_that_was_seen_and_ended_counts_once(self) -> None:
        parent = process(TIMES_S, 1, "engine", 0.0)
        for row in parent[3:]:
            row["children_user_ns"] = 2 * S
        child = process([0.0, 1.0, 2.0], 9, "engine", 1.0, ppid=1)
        used = within(machine(TIMES_S, **FULL), [*parent, *child], 1.0, 3.0)
        assert used.by_process == pytest.approx({"engine": 1.0})

    def test_busy_and_idle_and_stolen_sum_to_the_capacity(self) -> None:
        stolen = FULL | {"idle_ns": 150 * MS, "steal_ns": 100 * MS}
        used = within(machine(TIMES_S, **stolen), OURS, 1.0, 3.0)
        assert used.steal_s == pytest.approx(0.1 * CPUS * 2)
        assert used.busy_s + used.idle_s + (used.steal_s or 0) == pytest.approx(used.capacity_s)

    def test_the_synthetic_run_has_nothing_in_the_background(self, synthetic: SyntheticRun) -> None:
        used = window_accounts(synthetic.write())
        assert used is not None
        assert used.background_s == pytest.approx(0.0, abs=FLOAT_ABSOLUTE_S)

    def test_background_is_never_negative_when_clocks_disagree(self) -> None:
        greedy = process(TIMES_S, 1, "engine", 9.0)
        assert within(machine(TIMES_S, **FULL), greedy, 1.0, 3.0).background_s == 0.0


class TestEdges:
    def test_the_window_goes_to_the_samples_just_outside(self) -> None:
        used = within(machine(TIMES_S, **FULL), OURS, 1.2, 2.1)
        assert used.window_s == pytest.approx(2.0)
        assert used.by_process["engine"] == pytest.approx(2.0)

    def test_a_sample_at_the_very_edge_counts(self) -> None:
        assert within(machine(TIMES_S, **FULL), OURS, 1.0, 3.0).window_s == pytest.approx(2.0)

    def test_samples_that_end_early_give_the_part_they_saw(self) -> None:
        used = within(machine(TIMES_S, **FULL), OURS, -1.0, 99.0)
        assert used.window_s == pytest.approx(4.0)

    @pytest.mark.parametrize("times_s", [[], [1.0]])
    def test_fewer_than_two_samples_are_no_measurement(self, times_s: list[float]) -> None:
        cpu_accounts = accounts(machine(times_s, **FULL), frame("processes", OURS), S, 3 * S)
        assert cpu_accounts is None

    def test_without_samples_of_processes_all_is_background(self) -> None:
        used = within(machine(TIMES_S, **FULL), [], 1.0, 3.0)
        assert used.by_process == {}
        assert used.background_s == pytest.approx(used.busy_s)


class TestAbsence:
    def test_steal_that_the_kernel_does_not_tell_is_none(self) -> None:
        assert within(machine(TIMES_S, **ALL), OURS, 1.0, 3.0).steal_s is None

    def test_an_absent_column_does_not_take_the_others_with_it(self) -> None:
        used = within(machine(TIMES_S, user_ns=QUARTER, idle_ns=3 * QUARTER), OURS, 1.0, 3.0)
        assert used.busy_s == pytest.approx(0.25 * CPUS * 2)
        assert used.idle_s == pytest.approx(0.75 * CPUS * 2)


class TestProcesses:
    def test_processes_of_one_account_are_added(self) -> None:
        two = [*process(TIMES_S, 1, "engine", 0.5), *process(TIMES_S, 2, "engine", 0.25)]
        assert within(machine(TIMES_S, **FULL), two, 0.0, 4.0).by_process == {
            "engine": pytest.approx(3.0)
        }

    def test_all_that_a_process_used_counts_if_it_began_within_the_window(self) -> None:
        born = [*process([0.0, 1.0], 1, "engine", 0.0), {**process([1.0], 2, "engine", 0.5)[0]}]
        assert within(machine(TIMES_S, **FULL), born, 0.0, 1.0).by_process[
            "engine"
        ] == pytest.approx(0.5)

    def test_a_process_that_ended_keeps_what_it_was_last_seen_with(self) -> None:
        rows = [*process(TIMES_S, 1, "engine", 0.0), *process(TIMES_S[:3], 2, "engine", 1.0)]
        assert within(machine(TIMES_S, **FULL), rows, 0.0, 4.0).by_process[
            "engine"
        ] == pytest.approx(2.0)

    def test_a_number_that_the_kernel_gave_out_again_is_another_process(self) -> None:
        first = process([0.0, 1.0], 7, "engine", 10.0, started_ns=1)
        second = process([2.0, 3.0, 4.0], 7, "engine", 0.0, started_ns=2)
        used = within(machine(TIMES_S, **FULL), [*first, *second], 0.0, 4.0)
        assert used.by_process["engine"] == pytest.approx(10.0)
