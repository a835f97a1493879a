"""A query whose tasks did known things is split into exactly those, and doubt is shown."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from assay.analysis.host.task_counters import readings
from assay.analysis.time.split import (
    BY_DELAY_ACCOUNTING,
    BY_NO_STORAGE,
    BY_THREAD_STATES,
    COUNTED,
    NOT_MEASURED,
    disk_states_ns,
    split_table,
)
from tests.conftest import MS, an_event, stream_table

WALL_MS = 1000
NO_STATES = pl.DataFrame(schema={"sequence": pl.UInt64, "disk_state_ns": pl.Int64})
# Parts are quotients of integers below 2^53, so only the last bit of a float is lost.
FLOAT_ABSOLUTE = 1e-12

# A second on one thread: 70 % in user mode, 20 % in the kernel, 10 % waiting for a CPU.
TRUTH = {
    "user_ns": 700 * MS,
    "system_ns": 200 * MS,
    "run_delay_ns": 100 * MS,
    "block_delay_ns": None,
    "read_bytes": 0,
    "write_bytes": 0,
    "minor_faults": 5,
    "major_faults": 0,
    "threads_at_work": 1,
}
# Counters never begin at zero in the field.
BEFORE = dict.fromkeys(TRUTH, 12_345)


def frame(stream: str, rows: list[dict[str, Any]]) -> pl.DataFrame:
    made = pl.from_arrow(stream_table(stream, rows))
    assert isinstance(made, pl.DataFrame)
    return made


def tasks_of(*grown: dict[str, Any]) -> pl.DataFrame:
    """Readings around passes: how much each counter grows; None: the kernel does not tell."""
    rows = []
    for sequence, growth in enumerate(grown):
        names = {name for name, value in growth.items() if value is not None}
        start = {name: BEFORE.get(name, 0) for name in names}
        end = {name: start[name] + growth[name] for name in names}
        end["threads_at_work"] = growth["threads_at_work"]
        about = {"sequence": sequence}
        rows.append({**start, **about, "edge": "start", "threads_at_work": None})
        rows.append({**end, **about, "edge": "end"})
    return frame("tasks", rows)


def events_of(passes: int, wall_ms: int = WALL_MS, operation: str = "q1") -> pl.DataFrame:
    step_ns = 2 * wall_ms * MS
    return frame("events", [an_event(n, operation, n * step_ns, wall_ms) for n in range(passes)])


def split_of(*grown: dict[str, Any], states: pl.DataFrame = NO_STATES) -> dict[str, Any]:
    read = readings(events_of(len(grown)), tasks_of(*grown))
    return split_table(read, states).row(0, named=True)


def parts_of(split: dict[str, Any]) -> dict[str, float | None]:
    return {name: split[name] for name in COUNTED}


def the_parts_add_up_to_the_whole(split: dict[str, Any]) -> bool:
    return sum(split[name] or 0.0 for name in COUNTED) == pytest.approx(1.0, abs=FLOAT_ABSOLUTE)


class TestServersThatCountInTicks:
    """Operations of 4 ms on a server whose CPU times are printed in hundredths of a second."""

    WALL_MS = 4
    # By the scheduler's clock each pass used 3 ms; ticks fall into one pass of three.
    PASS = TRUTH | {"on_cpu_ns": 3 * MS, "user_ns": 0, "system_ns": 0, "run_delay_ns": 1 * MS}
    WITH_TICK = PASS | {"user_ns": 10 * MS}

    def split(self, *grown: dict[str, Any]) -> dict[str, Any]:
        read = readings(events_of(len(grown), self.WALL_MS), tasks_of(*grown))
        return split_table(read, NO_STATES).row(0, named=True)

    def test_the_sum_is_the_scheduler_s(self) -> None:
        split = self.split(self.PASS, self.WITH_TICK, self.PASS)
        assert split["cpu_user"] == pytest.approx(0.75)
        assert split["cpu_system"] == pytest.approx(0.0)
        assert split["coverage"] == pytest.approx(1.0)
        assert split["parallelism"] == pytest.approx(0.75)

    def test_ticks_tell_user_mode_from_the_kernel(self) -> None:
        split = self.split(self.WITH_TICK, self.WITH_TICK, self.PASS | {"system_ns": 20 * MS})
        assert split["cpu_user"] == pytest.approx(0.375)
        assert split["cpu_system"] == pytest.approx(0.375)

    def test_without_a_tick_nothing_tells_them_apart(self) -> None:
        split = self.split(self.PASS, self.PASS)
        assert (split["cpu_user"], split["cpu_system"]) == (None, None)

    def test_exact_times_are_left_alone(self) -> None:
        exact = self.PASS | {"user_ns": 2 * MS + 1, "system_ns": 0}
        assert self.split(exact)["parallelism"] == pytest.approx((2 * MS + 1) / (4 * MS))


class TestTruth:
    def test_known_readings_are_found_exactly(self) -> None:
        split = split_of(TRUTH)
        assert parts_of(split) == pytest.approx(
            {"cpu_user": 0.7, "cpu_system": 0.2, "run_queue": 0.1, "disk": 0.0, "uncovered": 0.0},
            abs=FLOAT_ABSOLUTE,
        )
        assert split["coverage"] == pytest.approx(1.0)
        assert split["parallelism"] == pytest.approx(0.9)

    def test_passes_are_pooled_by_their_time(self) -> None:
        idle = TRUTH | {"user_ns": 0, "system_ns": 0, "run_delay_ns": 0}
        split = split_of(TRUTH, idle)
        assert parts_of(split) == pytest.approx(
            {"cpu_user": 0.35, "cpu_system": 0.1, "run_queue": 0.05, "disk": 0.0, "uncovered": 0.5},
            abs=FLOAT_ABSOLUTE,
        )

    def test_idle_threads_at_work_are_other_and_the_parts_are_of_thread_time(self) -> None:
        split = split_of(TRUTH | {"threads_at_work": 2})
        assert split["cpu_user"] == pytest.approx(0.35)
        assert split["uncovered"] == pytest.approx(0.5)
        assert split["coverage"] == pytest.approx(0.5)
        assert split["parallelism"] == pytest.approx(0.9)

    def test_two_operations_do_not_mix(self) -> None:
        events = pl.concat(
            [
                frame("events", [an_event(0, "q1", 0, WALL_MS)]),
                frame("events", [an_event(1, "q2", 2 * WALL_MS * MS, WALL_MS)]),
            ]
        )
        other = TRUTH | {"user_ns": 100 * MS, "system_ns": 0, "run_delay_ns": 0}
        table = split_table(readings(events, tasks_of(TRUTH, other)), NO_STATES)
        assert dict(table.select("operation", "cpu_user").iter_rows()) == pytest.approx(
            {"q1": 0.7, "q2": 0.1}
        )

    def test_storage_and_faults_are_the_median_of_the_passes(self) -> None:
        grown = [TRUTH | {"read_bytes": count, "minor_faults": count} for count in (1, 3, 90)]
        split = split_of(*grown)
        assert (split["read_bytes"], split["minor_faults"]) == (3, 3)

    def test_a_failed_pass_is_not_part_of_it(self) -> None:
        events = frame(
            "events",
            [
                an_event(0, "q1", 0, WALL_MS),
                an_event(1, "q1", 5000 * MS, WALL_MS, outcome="failed"),
            ],
        )
        assert readings(events, tasks_of(TRUTH, TRUTH))["sequence"].to_list() == [0]


class TestAbsence:
    @pytest.mark.parametrize(
        ("counter", "part", "share"),
        [
            ("user_ns", "cpu_user", 0.7),
            ("system_ns", "cpu_system", 0.2),
            ("run_delay_ns", "run_queue", 0.1),
        ],
    )
    def test_without_its_source_a_part_is_null_and_the_rest_grows(
        self, counter: str, part: str, share: float
    ) -> None:
        split = split_of(TRUTH | {counter: None})
        assert split[part] is None
        assert split["uncovered"] == pytest.approx(share)
        assert split["coverage"] == pytest.approx(1 - share)
        assert the_parts_add_up_to_the_whole(split)

    def test_absence_in_one_pass_is_absence_in_the_sum(self) -> None:
        assert split_of(TRUTH, TRUTH | {"run_delay_ns": None})["run_queue"] is None

    def test_without_cpu_times_there_is_no_parallelism(self) -> None:
        assert split_of(TRUTH | {"user_ns": None})["parallelism"] is None

    def test_without_any_counter_nothing_is_covered(self) -> None:
        nothing = dict.fromkeys(TRUTH) | {"threads_at_work": 1}
        split = split_of(nothing)
        assert parts_of(split) == dict.fromkeys(COUNTED)
        assert split["coverage"] is None
        assert split["disk_method"] == NOT_MEASURED

    def test_without_the_number_of_threads_there_is_nothing_to_be_a_share_of(self) -> None:
        split = split_of(TRUTH | {"threads_at_work": None})
        assert parts_of(split) == dict.fromkeys(COUNTED)
        assert split["coverage"] is None
        assert split["parallelism"] == pytest.approx(0.9)

    @pytest.mark.parametrize("counter", ["user_ns", "run_delay_ns", "read_bytes", "minor_faults"])
    def test_a_counter_that_went_backwards_is_null_and_not_zero(self, counter: str) -> None:
        read = readings(events_of(1), tasks_of(TRUTH | {counter: -1}))
        assert read[counter].to_list() == [None]

    def test_a_counter_that_stood_still_is_zero_and_not_null(self) -> None:
        read = readings(events_of(1), tasks_of(TRUTH | {"user_ns": 0}))
        assert read["user_ns"].to_list() == [0]

    def test_an_operation_without_readings_is_not_there(self) -> None:
        read = readings(events_of(2), tasks_of(TRUTH))
        assert read["sequence"].to_list() == [0]


class TestCoverage:
    def test_more_than_there_was_is_shown_and_the_parts_still_add_up(self) -> None:
        split = split_of(TRUTH | {"user_ns": 800 * MS})
        assert split["coverage"] == pytest.approx(1.1)
        assert split["uncovered"] == pytest.approx(0.0)
        assert split["cpu_user"] == pytest.approx(8 / 11)
        assert the_parts_add_up_to_the_whole(split)

    def test_far_more_than_there_was_is_shown_and_nothing_is_split(self) -> None:
        split = split_of(TRUTH | {"user_ns": 1700 * MS})
        assert split["coverage"] == pytest.approx(2.0)
        assert [split[part] for part in (*COUNTED, "parallelism")] == [None] * 6

    def test_less_than_there_was_is_other(self) -> None:
        split = split_of(TRUTH | {"user_ns": 200 * MS})
        assert split["coverage"] == pytest.approx(0.5)
        assert split["uncovered"] == pytest.approx(0.5)
        assert the_parts_add_up_to_the_whole(split)


class TestDisk:
    def samples(self, *threads_disk: int, account: str = "engine") -> pl.DataFrame:
        """Samples every 100 ms from the beginning of the operation on."""
        return frame(
            "processes",
            [
                {"time_ns": n * 100 * MS, "pid": 1, "account": account, "threads_disk": count}
                for n, count in enumerate(threads_disk)
            ],
        )

    def test_delay_accounting_is_exact_and_goes_first(self) -> None:
        split = split_of(TRUTH | {"user_ns": 300 * MS, "block_delay_ns": 400 * MS, "read_bytes": 9})
        assert split["disk_method"] == BY_DELAY_ACCOUNTING
        assert split["disk"] == pytest.approx(0.4)
        assert split["coverage"] == pytest.approx(1.0)
        assert the_parts_add_up_to_the_whole(split)

    def test_delay_accounting_that_saw_nothing_is_zero(self) -> None:
        split = split_of(TRUTH | {"block_delay_ns": 0, "read_bytes": 9})
        assert (split["disk_method"], split["disk"]) == (BY_DELAY_ACCOUNTING, 0.0)

    def test_without_storage_traffic_nothing_can_have_waited_for_it(self) -> None:
        split = split_of(TRUTH)
        assert (split["disk_method"], split["disk"]) == (BY_NO_STORAGE, 0.0)

    @pytest.mark.parametrize("unknown", ["read_bytes", "write_bytes"])
    def test_unknown_traffic_is_not_no_traffic(self, unknown: str) -> None:
        split = split_of(TRUTH | {unknown: None})
        assert (split["disk_method"], split["disk"]) == (NOT_MEASURED, None)

    def test_thread_states_stand_in_with_the_word_approximate(self) -> None:
        grown = TRUTH | {"user_ns": 300 * MS, "read_bytes": 9}
        read = readings(events_of(1), tasks_of(grown))
        states = disk_states_ns(read, self.samples(9, 1, 1, 1, 1, 0, 0, 0, 0, 0), "engine")
        split = split_table(read, states).row(0, named=True)
        assert split["disk_method"] == BY_THREAD_STATES
        assert "approximate" in split["disk_method"]
        assert split["disk"] == pytest.approx(0.4)

    def test_states_of_others_do_not_count(self) -> None:
        read = readings(events_of(1), tasks_of(TRUTH))
        assert disk_states_ns(read, self.samples(1, 1, account="probes"), "engine").is_empty()

    def test_samples_between_operations_belong_to_none(self) -> None:
        read = readings(events_of(2), tasks_of(TRUTH, TRUTH))
        states = disk_states_ns(read, self.samples(*[1] * 35), "engine")
        expected_ns = {0: 1000 * MS, 1: 1100 * MS}
        assert dict(states.sort("sequence").iter_rows()) == expected_ns

    def test_without_samples_it_is_not_measured(self) -> None:
        split = split_of(TRUTH | {"read_bytes": 9})
        assert (split["disk_method"], split["disk"]) == (NOT_MEASURED, None)
        assert the_parts_add_up_to_the_whole(split)
