"""Percentiles are those that a definition gives, series and cells lose no operation."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from assay.analysis.host.timeline import timeline
from assay.analysis.load.latency import (
    Distribution,
    Window,
    by_interval,
    curve,
    distribution,
    heat_map,
    interval_for,
    measured_times,
    succeeded,
)
from assay.analysis.load.metrics import load_metrics
from assay.analysis.load.summary import per_second, summarise_load
from assay.analysis.load.view import CURVES_MAX, load_view
from assay.analysis.load.wasted_work import Work
from assay.analysis.load_plan import load_of
from assay.record.reader import Run
from tests.conftest import stream_table
from tests.loads import OPERATIONS, SKIPPED, an_operation, closed, open_load, played_run, write_load
from tests.records import BEGUN_NS, MS, S, write_run

RNG_SEED = 1


def times(rows: list[dict[str, Any]]) -> pl.DataFrame:
    frame = pl.from_arrow(stream_table("events", rows))
    assert isinstance(frame, pl.DataFrame)
    return measured_times(frame)


def window(seconds: float) -> Window:
    return Window(BEGUN_NS, BEGUN_NS + round(seconds * S))


class TestDistribution:
    """Oracle: the definition of the nearest rank, counted by hand."""

    def by_definition(self, values: list[int], share: float) -> float:
        return min(v for v in values if sum(w <= v for w in values) >= share * len(values)) / S

    @pytest.mark.parametrize("count", [2, 10, 11, 99, 100, 101, 1000])
    def test_it_is_the_smallest_that_the_share_does_not_exceed(self, count: int) -> None:
        rng = random.Random(RNG_SEED)
        values = [rng.randrange(1, 400) for _ in range(count)]
        time_distribution = distribution(pl.Series(values))
        assert time_distribution.p50 == self.by_definition(values, 0.5)
        for name, share, least in (("p90", 0.9, 10), ("p99", 0.99, 100), ("p999", 0.999, 1000)):
            wanted = self.by_definition(values, share) if count >= least else None
            assert getattr(time_distribution, name) == wanted, name
        assert time_distribution.max == max(values) / S
        assert time_distribution.count == count

    def test_of_nothing_there_is_nothing(self) -> None:
        empty = distribution(pl.Series([], dtype=pl.Int64))
        assert empty == Distribution(0, None, None, None, None, None, None)

    def test_of_one_value_only_its_size_is_known(self) -> None:
        assert distribution(pl.Series([7 * MS])) == Distribution(
            1, None, None, None, None, None, 0.007
        )

    def test_of_equal_values_every_percentile_is_that_value(self) -> None:
        time_distribution = distribution(pl.Series([30] * 1000))
        assert {
            time_distribution.p50,
            time_distribution.p90,
            time_distribution.p95,
            time_distribution.p99,
            time_distribution.p999,
            time_distribution.max,
        } == {3e-8}


class TestCurve:
    def test_it_goes_from_the_median_to_the_longest(self) -> None:
        points = curve(pl.Series(range(1, 1001)))
        assert points[0] == (0.5, 500 / S)
        assert points[-1] == (0.001, 1000 / S)

    def test_it_never_falls(self) -> None:
        rng = random.Random(RNG_SEED)
        points = curve(pl.Series([rng.randrange(10**6) for _ in range(12_345)]))
        assert [s for _, s in points] == sorted(s for _, s in points)
        assert [b for b, _ in points] == sorted((b for b, _ in points), reverse=True)

    @pytest.mark.parametrize("count", [0, 1, 2, 3])
    def test_of_few_values_it_has_few_points(self, count: int) -> None:
        points = curve(pl.Series(range(1, count + 1), dtype=pl.Int64))
        assert len(points) <= count
        assert [seconds for _, seconds in points[-1:]] == [count / S] * (count > 0)


class TestSeries:
    def series(self, rows: list[dict[str, Any]], seconds: float, interval_s: float) -> pl.DataFrame:
        return by_interval(times(rows), window(seconds), interval_s)

    def test_no_operation_is_lost_and_none_counts_twice(self) -> None:
        rng = random.Random(RNG_SEED)
        rows = [
            an_operation(n, n * MS, 0, rng.randrange(1, 3 * S))
            | (SKIPPED if n % 7 == 0 else {"outcome": "failed"} if n % 5 == 0 else {})
            for n in range(2_000)
        ]
        series = self.series(rows, 5.2, 1.0)
        for word in ("ok", "failed", "skipped"):
            counted = (series[f"{word}_per_s"] * series["width_s"]).sum()
            assert counted == pytest.approx(sum(row["outcome"] == word for row in rows)), word

    def test_a_short_rest_belongs_to_the_interval_before(self) -> None:
        rows = [an_operation(n, n * 100 * MS, 0, MS) for n in range(24)]
        assert self.series(rows, 2.4, 1.0)["width_s"].to_list() == pytest.approx([1.0, 1.4])
        assert self.series(rows, 2.6, 1.0)["width_s"].to_list() == pytest.approx([1.0, 1.0, 0.6])

    def test_an_interval_in_which_nothing_ended_has_a_rate_of_zero_and_no_latency(self) -> None:
        rows = [an_operation(0, 0, 0, MS), an_operation(1, 0, 0, 2 * S + MS)]
        series = self.series(rows, 3.0, 1.0)
        assert series["ok_per_s"].to_list() == [1.0, 0.0, 1.0]
        assert series["max_seconds"].to_list() == [0.001, None, pytest.approx(2.001)]

    def test_percentiles_of_an_interval_are_those_of_its_operations(self) -> None:
        rng = random.Random(RNG_SEED)
        rows = [an_operation(n, n * MS, 0, rng.randrange(1, MS)) for n in range(3_000)]
        series = self.series(rows, 3.0, 1.0)
        second = times(rows).filter(
            pl.col("finished_ns").is_between(BEGUN_NS + S, BEGUN_NS + 2 * S, closed="left")
        )
        whole = distribution(second["finished_ns"] - second["scheduled_ns"])
        row = series.row(1, named=True)
        assert row["p50_seconds"] == pytest.approx(whole.p50)
        assert row["p99_seconds"] == pytest.approx(whole.p99)

    def test_a_p99_of_99_operations_is_none(self) -> None:
        rows = [an_operation(n, n * MS, 0, MS) for n in range(99)]
        assert self.series(rows, 1.0, 1.0)["p99_seconds"].to_list() == [None]

    @pytest.mark.parametrize(
        ("seconds", "limit", "interval_s"),
        [(2.0, 60, 0.1), (30.0, 60, 1.0), (61.0, 60, 2.0), (86_400.0, 300, 300.0)],
    )
    def test_intervals_are_as_short_as_their_number_allows(
        self, seconds: float, limit: int, interval_s: float
    ) -> None:
        assert interval_for(seconds, limit) == interval_s


class TestHeatMap:
    def test_every_operation_is_in_one_cell_that_contains_it(self) -> None:
        rng = random.Random(RNG_SEED)
        rows = [an_operation(n, n * MS, 0, int(rng.lognormvariate(13, 2))) for n in range(4_000)]
        ended = succeeded(times(rows))
        cells = heat_map(ended, window(4.0))
        assert cells["operations"].sum() == len(rows)
        latency_s = ended["latency_ns"][0] / S
        at_s = (ended["finished_ns"][0] - BEGUN_NS) / S
        inside = cells.filter(
            (pl.col("begin_s") <= at_s)
            & (pl.col("end_s") > at_s)
            & (pl.col("low_seconds") <= latency_s)
            & (pl.col("high_seconds") > latency_s)
        )
        assert inside.height == 1

    def test_a_latency_of_no_time_at_all_has_a_cell(self) -> None:
        ended = succeeded(times([an_operation(0, 0, 0, 0)]))
        assert heat_map(ended, window(1.0))["operations"].to_list() == [1]

    @pytest.mark.parametrize("seconds", [0.05, 1.0, 30.0, 3_000.0, 100_000.0])
    def test_columns_are_bounded(self, seconds: float) -> None:
        step = round(seconds * S / 5_000)
        ended = succeeded(times([an_operation(n, n * step, 0, 9) for n in range(5_000)]))
        assert heat_map(ended, window(seconds))["column"].n_unique() <= 91


class TestPlayedLoads:
    def test_the_percentiles_are_near_those_that_the_driver_counted(self, tmp_path: Path) -> None:
        """Oracle: the driver's own histogram, which keeps three significant digits."""
        run = Run(played_run(tmp_path, closed(2), 0.3))
        load = summarise_load(run)
        assert load is not None
        assert run.driver_report is not None
        (phase,) = run.driver_report["phases"]
        counted = {op["operation"]: op["counts"] for op in phase["operations"]}
        assert {name: op.ok for name, op in load.by_name.items()} == {
            name: counted[name]["ok"] for name in OPERATIONS
        }
        assert load.all_operations.latency.count == sum(c["ok"] for c in counted.values())
        assert load.schedule is None
        assert load.window.seconds >= 0.3

    def test_the_mix_is_in_the_shares(self, tmp_path: Path) -> None:
        load = summarise_load(Run(played_run(tmp_path, closed(1), 0.2)))
        assert load is not None
        shares = [op.service_share or 0.0 for op in load.by_name.values()]
        assert sum(shares) == pytest.approx(1.0)

    def test_a_power_run_is_no_load(self, tmp_path: Path) -> None:
        run = Run(write_run(tmp_path))
        assert load_of(run.facts) is None
        assert summarise_load(run) is None
        assert per_second(run) is None
        assert load_view(run) is None

    def test_its_timeline_has_phases_for_operations(self, tmp_path: Path) -> None:
        run = Run(played_run(tmp_path, closed(2), 0.1))
        assert timeline(run).bands["operation"].to_list() == ["measured"]
        assert timeline(run).passes.is_empty()

    def test_a_load_of_which_nothing_ended_has_no_figures(self, tmp_path: Path) -> None:
        rows = [an_operation(n, n * MS, 0, 0, **SKIPPED) for n in range(3)]
        run = Run(write_load(tmp_path, open_load(1_000, 1), rows, 0.003))
        assert summarise_load(run) is None
        assert load_view(run) is None


class TestWithFailed:
    """A server that refuses what would be slow must not look fast."""

    def run_of(self, root: Path, *, limit_ns: int) -> Run:
        fine = [an_operation(n, n * MS, 0, MS) for n in range(90)]
        refused = [
            an_operation(n, n * MS, 0, MS, outcome="failed", error="53300") for n in range(90, 96)
        ]
        late = [an_operation(96, 96 * MS, 0, 3 * S, outcome="failed", error="deadline")]
        skipped = [an_operation(n, n * MS, 0, 0, **SKIPPED) for n in range(97, 100)]
        directory = write_load(
            root, open_load(1_000, 1), [*fine, *refused, *late, *skipped], 0.1, limit_ns=limit_ns
        )
        return Run(directory)

    def test_what_failed_or_never_started_counts_at_its_time_out(self, tmp_path: Path) -> None:
        load = summarise_load(self.run_of(tmp_path, limit_ns=2 * S))
        assert load is not None
        failing = load.all_operations.latency_with_failed
        assert failing is not None
        assert (load.all_operations.latency.count, failing.count) == (90, 100)
        assert load.all_operations.latency.p95 == pytest.approx(0.001)
        assert (failing.p50, failing.p90) == (pytest.approx(0.001), pytest.approx(0.001))
        assert (failing.p95, failing.p99) == (pytest.approx(2.0), pytest.approx(2.0))
        assert failing.max == pytest.approx(3.0)
        metrics = load_metrics(load, None, Work(0, None, 0, {}, 0.0, 0.0))
        assert metrics["latency_with_failed_seconds_p99"] == pytest.approx(2.0)

    def test_without_a_time_out_nobody_can_say(self, tmp_path: Path) -> None:
        load = summarise_load(self.run_of(tmp_path, limit_ns=0))
        assert load is not None
        assert load.all_operations.latency_with_failed is None

    def test_where_all_succeeded_it_would_be_the_same(self, tmp_path: Path) -> None:
        rows = [an_operation(n, n * MS, 0, MS) for n in range(9)]
        directory = write_load(tmp_path, open_load(1_000, 1), rows, 0.01, limit_ns=S)
        load = summarise_load(Run(directory))
        assert load is not None
        assert load.all_operations.latency_with_failed is None


class TestView:
    def test_it_is_as_small_for_many_operations_as_for_few(self, tmp_path: Path) -> None:
        rows = [an_operation(n, n * MS // 2, 0, MS) for n in range(20_000)]
        view = load_view(Run(write_load(tmp_path, open_load(2_000, 8), rows, 10.0)))
        assert view is not None
        frames = (view.series, view.heat, view.curves, view.backlog)
        assert max(frame.height for frame in frames if frame is not None) < 1_000
        assert view.curves["operation"].n_unique() <= CURVES_MAX

    def test_the_seconds_carry_the_backlog(self, tmp_path: Path) -> None:
        rows = [an_operation(n, n * 10 * MS, n * 10 * MS, 9 * MS) for n in range(100)]
        seconds = per_second(Run(write_load(tmp_path, open_load(100, 1), rows, 1.0)))
        assert seconds is not None
        assert seconds.height == math.floor(99 * 0.02 + 0.009 + 0.5)
        # At the last instant within the first second 100 are due and numbers 0 to 49 were started.
        assert seconds["waiting"][0] == 50
