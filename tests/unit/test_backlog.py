"""The backlog is counted by its definition, and only one that grows is called growing."""

from __future__ import annotations

import random
from typing import Any

import polars as pl
import pytest

from assay.analysis.load.backlog import Schedule, backlog, chance_of_growth, schedule, tenths
from assay.analysis.load.latency import Window, measured_times
from assay.checks.thresholds import BACKLOG_TREND_CHANCE_MAX
from tests.conftest import stream_table
from tests.loads import SKIPPED, an_operation
from tests.records import BEGUN_NS, MS, S

LATE_START_S = 1.0
# Runs of a queue that does not grow; each is seeded, so that the count is the same every time.
A_A_RUNS = 200


def waiting(rows: list[dict[str, Any]], seconds: float, late_limit_ns: int = 0) -> pl.DataFrame:
    frame = pl.from_arrow(stream_table("events", rows))
    assert isinstance(frame, pl.DataFrame)
    return backlog(measured_times(frame), window(seconds), late_limit_ns)


def window(seconds: float) -> Window:
    return Window(BEGUN_NS, BEGUN_NS + round(seconds * S))


def queue(load: float, count: int, seed: int) -> list[int]:
    """Backlog at each arrival of a queue with one server, random service and this use of it."""
    rng = random.Random(seed)
    free, starts, waits = 0.0, [], []
    begun = 0
    for number in range(count):
        start = max(float(number), free)
        free = start + rng.expovariate(1 / load)
        starts.append(start)
        while begun < len(starts) and starts[begun] <= number:
            begun += 1
        waits.append(number + 1 - begun)
    return waits


class TestBacklog:
    def test_it_is_what_is_due_and_not_started(self) -> None:
        rows = [an_operation(n, n * 10 * MS, n * 10 * MS, MS) for n in range(100)]
        frame = waiting(rows, 1.0)
        half = frame.filter(pl.col("time_s") == 0.5)["waiting"].item()
        # At 500 ms 51 are due, and those up to number 25 were started.
        assert half == 51 - 26

    def test_what_is_started_when_it_is_due_never_waits(self) -> None:
        rows = [an_operation(n, n * 10 * MS, 0, 5 * MS) for n in range(100)]
        assert waiting(rows, 1.0)["waiting"].unique().to_list() == [0]

    def test_what_was_never_started_waits_to_the_end(self) -> None:
        rows = [an_operation(n, 0, 0, MS, **(SKIPPED if n else {})) for n in range(10)]
        assert waiting(rows, 1.0)["waiting"].unique().to_list() == [9]

    def test_or_until_it_was_later_than_the_limit(self) -> None:
        rows = [an_operation(n, 0, 0, MS, **(SKIPPED if n else {})) for n in range(10)]
        frame = waiting(rows, 1.0, late_limit_ns=S // 2)
        assert frame["waiting"][0] == 9
        assert frame["waiting"][-1] == 0


class TestTrend:
    @pytest.mark.parametrize("values", [[], [1.0], [1.0, 2.0], [5.0] * 10])
    def test_of_few_or_equal_values_nothing_is_said(self, values: list[float]) -> None:
        assert chance_of_growth(values) == 1.0

    def test_ten_that_rise_are_no_chance(self) -> None:
        assert chance_of_growth([float(n) for n in range(10)]) < 1e-4

    def test_ten_that_fall_are_no_growth(self) -> None:
        assert chance_of_growth([float(-n) for n in range(10)]) == 1.0

    def test_against_the_normal_deviate_of_kendalls_table(self) -> None:
        """Score 35 of ten values: z = 34 / sqrt(125) = 3.041, of which 0.00118 is beyond."""
        values = [1, 3, 2, 5, 4, 6, 10, 7, 8, 9]
        score = sum((b > a) - (b < a) for i, a in enumerate(values) for b in values[i + 1 :])
        assert score == 35
        assert chance_of_growth([float(v) for v in values]) == pytest.approx(0.00118, abs=1e-4)

    def test_one_late_spike_is_no_trend(self) -> None:
        assert chance_of_growth([2.0, 1, 3, 1, 2, 3, 1, 2, 1, 900]) > BACKLOG_TREND_CHANCE_MAX

    @pytest.mark.parametrize("load", [0.5, 0.9])
    def test_a_queue_that_does_not_grow_is_hardly_ever_called_growing(self, load: float) -> None:
        """A/A: busy servers have long queues, and those that hold their rate are not accused."""
        accused = sum(
            chance_of_growth(tenths(pl.Series(queue(load, 5_000, seed)))) < BACKLOG_TREND_CHANCE_MAX
            for seed in range(A_A_RUNS)
        )
        # Twice the promised share, since neighbouring tenths of a busy queue are not independent.
        assert accused <= 2 * BACKLOG_TREND_CHANCE_MAX * A_A_RUNS

    @pytest.mark.parametrize("load", [1.1, 2.0])
    def test_a_queue_that_grows_is_always_found(self, load: float) -> None:
        for seed in range(20):
            chance = chance_of_growth(tenths(pl.Series(queue(load, 5_000, seed))))
            assert chance < BACKLOG_TREND_CHANCE_MAX


class TestSchedule:
    def went(self, rows: list[dict[str, Any]], seconds: float, rate: float) -> Schedule:
        frame = pl.from_arrow(stream_table("events", rows))
        assert isinstance(frame, pl.DataFrame)
        times = measured_times(frame)
        series = backlog(times, window(seconds))
        return schedule(times, series, window(seconds), rate, LATE_START_S)

    def test_a_load_that_is_done_twice_as_slowly_as_it_comes(self) -> None:
        rows = [
            an_operation(n, n * 10 * MS, n * 10 * MS, 10 * MS) | (SKIPPED if n >= 100 else {})
            for n in range(200)
        ]
        behind = self.went(rows, 2.0, 100.0)
        assert behind.done_per_s == 50.0
        assert behind.waiting_end == 100
        assert behind.grown_per_s == pytest.approx(50.0, rel=0.02)
        assert behind.chance < BACKLOG_TREND_CHANCE_MAX

    def test_on_time_is_less_than_a_second_late(self) -> None:
        rows = [an_operation(0, 0, S - 1, MS), an_operation(1, 0, S, MS)]
        assert self.went(rows, 5.0, 1.0).on_time_share == 0.5

    def test_what_was_due_in_the_last_second_is_neither(self) -> None:
        rows = [
            an_operation(0, 0, 0, MS),
            an_operation(1, 3 * S, 0, 0, **SKIPPED),
            an_operation(2, 4 * S + S // 2, 0, 0, **SKIPPED),
        ]
        assert self.went(rows, 5.0, 1.0).on_time_share == 0.5
