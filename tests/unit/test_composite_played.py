"""Tests as records tell them: intervals, metrics, names, and what makes none of them."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from assay.analysis.composite.figures import figures, short_share
from assay.analysis.composite.formulas import composite, power, throughput
from assay.analysis.composite.intervals import performance_runs
from assay.analysis.composite.played import Played, played_of
from assay.analysis.composite.played import played as played_in
from assay.analysis.composite.rounding import elapsed_s, reported
from assay.record.layout import DRIVER_FILE
from assay.record.reader import Run
from assay.record.writer import write_json
from assay.workloads.streams import stream_order
from tests.specified import QUERIES, REFRESHES, PlayedTest, even_times, tpch, write_test

S = 1_000_000_000


def frame(test: PlayedTest) -> pl.DataFrame:
    return pl.DataFrame(test.events(), infer_schema_length=None)


def played(**about: Any) -> Played:
    test = PlayedTest(**about)
    return played_of(test.facts(), frame(test))


OTHER_NAMES = ["composite", "power-like", "throughput-like"]


def changed_test(changed: dict[str, dict[str, Any]]) -> Played:
    """A whole test of which something else stands in run.json."""
    test = PlayedTest()
    facts = test.facts()
    test_facts = facts | {key: facts[key] | more for key, more in changed.items()}
    return played_of(test_facts, frame(test))


def whole_seconds(seconds: float = 1.0) -> dict[str, float]:
    """Every operation takes as long."""
    return dict.fromkeys((*QUERIES, *REFRESHES), seconds)


class TestIntervals:
    def test_a_query_lasts_until_the_next_one_is_submitted(self) -> None:
        run = performance_runs(frame(PlayedTest(gap_ns=S)), REFRESHES)[0]
        assert run.power is not None
        first, *_, last = run.power.queries
        assert first.seconds == pytest.approx(even_times()[first.operation] + 1.0)
        # The last one ends with its last output, though a refresh function follows.
        assert last.seconds == pytest.approx(even_times()[last.operation])

    def test_a_refresh_function_lasts_until_its_commit(self) -> None:
        run = performance_runs(frame(PlayedTest(gap_ns=S)), REFRESHES)[0]
        assert run.power is not None
        assert [interval.seconds for interval in run.power.refreshes] == [0.5, 0.5]

    def test_the_power_test_is_played_in_the_order_of_stream_0(self) -> None:
        run = performance_runs(frame(PlayedTest()), REFRESHES)[0]
        assert run.power is not None
        order = [interval.operation for interval in run.power.queries]
        assert order == list(stream_order(tpch(), 0)) != list(stream_order(tpch(), 1))
        assert order[:4] == ["q14", "q02", "q09", "q20"]

    def test_the_sessions_of_a_throughput_test_have_the_orders_of_their_streams(self) -> None:
        run = performance_runs(frame(PlayedTest(streams=3)), REFRESHES)[0]
        assert run.throughput is not None
        for number, stream in enumerate(run.throughput.streams, start=1):
            assert [interval.operation for interval in stream.intervals] == list(
                stream_order(tpch(), number)
            )
            assert {interval.variant for interval in stream.intervals} == {number}
        assert run.throughput.refreshes is not None
        played_pairs = [interval.operation for interval in run.throughput.refreshes.intervals]
        assert played_pairs == ["rf1", "rf2"] * 3

    def test_sets_are_consumed_in_sequence_over_both_runs(self) -> None:
        sets = [
            test_set.variant
            for run in performance_runs(frame(PlayedTest(streams=2)), REFRESHES)
            for test in (run.power, run.throughput and run.throughput.refreshes)
            for test_set in getattr(test, "refreshes", None) or getattr(test, "intervals", ())
            if test_set.operation == "rf1"
        ]
        assert sets == [1, 2, 3, 4, 5, 6]

    def test_the_elapsed_time_goes_to_the_last_output_or_commit_of_any_stream(self) -> None:
        slow = whole_seconds() | {"rf1": 50.0}
        run = performance_runs(frame(PlayedTest(seconds=slow, beside=1.0)), REFRESHES)[0]
        assert run.throughput is not None
        assert run.throughput.elapsed_ns == run.throughput.sessions[-1].busy_ns + 3 * 1_000_000
        assert run.throughput.last is run.throughput.refreshes


class TestMetrics:
    def test_all_of_a_second(self) -> None:
        test = played(seconds=whole_seconds(), factors=(1.0, 1.0), beside=100 / 22, gap_ns=0)
        metric_figures = test.figures()
        assert metric_figures.power == pytest.approx(3600.0)
        assert metric_figures.throughput == pytest.approx(1584.0)
        assert metric_figures.composite == pytest.approx(2387.97, abs=0.01)

    def test_they_are_of_rounded_intervals(self) -> None:
        test = played(seconds=whole_seconds(0.104), factors=(1.0, 1.0), gap_ns=0)
        assert test.figures().power == pytest.approx(3600 / 0.10)
        assert test.figures(rounded=False).power == pytest.approx(3600 / 0.104)

    def test_the_long_query_raises_queries_and_no_refresh_function(self) -> None:
        times = whole_seconds(0.5) | {"q09": 2000.0, "rf1": 1.0, "rf2": 1.0}
        metric_figures = played(kind="power", seconds=times, gap_ns=0).figures()
        assert metric_figures.power == pytest.approx(power([2000.0, *[2.0] * 21], [1.0, 1.0], 1.0))

    def test_the_example_of_the_documents(self) -> None:
        times = whole_seconds(1.004) | {"q09": 40.006, "q02": 0.012, "rf1": 0.5, "rf2": 0.003}
        test = played(seconds=times, factors=(1.0, 1.0), gap_ns=0)
        # Streams are as long as is asked for, whatever their queries take.
        elapsed = throughput(2, elapsed_s(100_001_000_000), 1.0, 22)
        powers, unrounded = test.figures().power, test.figures(rounded=False).power
        assert powers is not None
        assert unrounded is not None
        assert reported(powers) == 4402.2
        assert reported(elapsed) == 1583.8
        assert reported(composite(powers, elapsed)) == 2640.5
        assert reported(composite(unrounded, throughput(2, 100.001, 1.0, 22))) == 2703.2

    def test_a_throughput_test_is_not_raised(self) -> None:
        times = whole_seconds(0.5) | {"q09": 2000.0}
        run = played(seconds=times, beside=1.0, gap_ns=0).runs[0]
        assert figures(run, 1.0).throughput == pytest.approx(throughput(2, 2010.5, 1.0, 22))

    def test_queries_without_rows_count_as_all_others(self) -> None:
        test = PlayedTest(kind="power")
        rows = [row | {"rows": 0 if row["operation"] == "q20" else 4} for row in test.events()]
        play = played_of(test.facts(), pl.DataFrame(rows, infer_schema_length=None))
        assert play.figures() == played(kind="power").figures()

    def test_the_run_with_the_lower_composite_is_reported(self) -> None:
        assert [played(factors=pair).reported.number for pair in ((1.0, 0.9), (0.9, 1.0))] == [1, 2]  # type: ignore[union-attr]
        slow_first = played(factors=(1.2, 1.0))
        lower = min(figures(run, 1.0).composite or 0.0 for run in slow_first.runs)
        assert slow_first.figures().composite == lower

    def test_the_composite_is_of_one_run(self) -> None:
        metric_figures = played().figures()
        assert metric_figures.power is not None
        assert metric_figures.throughput is not None
        assert metric_figures.composite == composite(
            metric_figures.power, metric_figures.throughput
        )

    def test_short_intervals_are_a_share_of_all_24(self) -> None:
        times = whole_seconds() | dict.fromkeys(("q01", "q02", "q03"), 0.09)
        test = played(kind="power", seconds=times, gap_ns=0)
        assert test.runs[0].power is not None
        assert short_share(test.runs[0].power) == pytest.approx(3 / 24)
        assert test.rounding_dominates
        two = whole_seconds() | dict.fromkeys(("q01", "q02"), 0.09)
        assert not played(kind="power", seconds=two, gap_ns=0).rounding_dominates


class TestNames:
    def named(self, **about: Any) -> list[str]:
        test = played(**about)
        return [test.named(kind).label for kind in test.metrics]

    def test_only_a_whole_test_has_the_names_of_the_specification(self) -> None:
        assert self.named() == ["QphH@1GB", "Power@1GB", "Throughput@1GB"]

    @pytest.mark.parametrize(
        ("about", "message"),
        [
            ({"refresh": False}, "no refreshes"),
            ({"parameters": "default"}, "default parameters"),
            ({"scale": 0.1, "standard": False}, "SF 0.1 is no standard scale"),
            ({"streams": 1}, "1 of 2 streams"),
        ],
    )
    def test_what_is_left_out_changes_all_names(self, about: dict[str, Any], message: str) -> None:
        test = played(**about)
        assert test.left_out == (message,)
        assert self.named(**about) == ["composite", "power-like", "throughput-like"]
        assert test.named("composite").title == (
            f"composite ({message}), not QphH@{about.get('scale', 1):g}GB"
        )

    @pytest.mark.parametrize(
        ("changed", "message"),
        [
            ({"engine": {"answers": False}}, "no answers"),
            ({"request": {"prepare": {"indexes.sql": "create index"}}}, "changed by --prepare"),
            ({"workload": {"differs_from": "tpch"}}, "not the workload tpch"),
        ],
    )
    def test_what_is_not_the_specification_s_has_none_of_its_names(
        self, changed: dict[str, Any], message: str
    ) -> None:
        test = changed_test(changed)
        assert test.left_out == (message,)
        assert [test.named(kind).label for kind in test.metrics] == OTHER_NAMES

    def test_a_workload_without_a_specification_has_no_name_that_it_is_not(self) -> None:
        test = changed_test({"workload": {"metrics": None}})
        metric_name = test.named("composite")
        assert (metric_name.label, metric_name.title, metric_name.is_not) == (
            "composite",
            "composite",
            None,
        )

    @pytest.mark.parametrize(
        ("passes", "message"), [(1, "1 untimed pass before"), (3, "3 untimed passes before")]
    )
    def test_untimed_passes_stand_in_the_name(self, passes: int, message: str) -> None:
        assert played(untimed=passes).left_out == (message,)

    def test_one_test_alone_is_no_result(self) -> None:
        assert played(kind="power").left_out == ("no throughput test", "one run")
        assert played(kind="throughput").left_out == ("no power test before", "one run")
        assert self.named(kind="power") == ["power-like"]
        assert self.named(kind="throughput") == ["throughput-like"]

    def test_more_streams_than_are_asked_for_are_none_left_out(self) -> None:
        assert played(streams=3).left_out == ()

    def test_steady_passes_are_no_power_test(self) -> None:
        test = played(kind="steady", factors=(1.5, 1.0, 1.01, 1.02))
        assert test.left_out == ("no refreshes", "steady passes")
        assert test.named("power").label == "power-like"


class TestNoMetric:
    @pytest.mark.parametrize(
        ("place", "message"),
        [
            (("power-2", 0, "q07"), "q07 of power-2 failed: out_of_memory"),
            (("throughput-1", 1, "q07"), "q07 of throughput-1, stream 2 failed: out_of_memory"),
            (("power-1", 0, "rf2"), "rf2 of power-1 failed: out_of_memory"),
        ],
    )
    def test_an_operation_that_failed(self, place: tuple[str, int, str], message: str) -> None:
        test = played(failing=place)
        assert test.why_not == (message,)
        assert test.reported is None
        assert test.figures().composite is None

    @pytest.mark.parametrize(
        ("place", "message"),
        [
            (("power-1", 0, "q07"), "not played: q07 of power-1"),
            (("throughput-2", 0, "q07"), "not played: q07 of throughput-2, stream 1"),
        ],
    )
    def test_an_operation_that_was_never_played(
        self, place: tuple[str, int, str], message: str
    ) -> None:
        test = played(absent=place)
        assert test.why_not == (message,)
        assert test.figures().power is None

    def test_many_that_were_never_played_are_counted(self) -> None:
        test = PlayedTest()
        kept = frame(test).filter(pl.col("phase") != "throughput-2")
        (why,) = played_of(test.facts(), kept).why_not
        assert why.endswith(" and 44 more")

    def test_a_run_that_was_stopped(self) -> None:
        test = PlayedTest()
        play = played_of(test.facts() | {"status": "interrupted"}, frame(test))
        assert play.why_not == ("the run is interrupted",)

    def test_a_run_that_was_stopped_when_all_was_played(self, tmp_path: Path) -> None:
        """Only what came after its figures is missing, such as rows to compare answers with."""
        directory = write_test(tmp_path)
        facts = json.loads((directory / "run.json").read_text())
        write_json(directory / "run.json", facts | {"status": "interrupted"})
        stopped = played_in(Run(directory))
        assert stopped is not None
        assert stopped.why_not == ()
        assert stopped.figures() == played().figures()
        report = json.loads((directory / "raw" / DRIVER_FILE).read_text())
        write_json(directory / "raw" / DRIVER_FILE, report | {"ended": "cancelled"})
        cut = played_in(Run(directory))
        assert cut is not None
        assert cut.why_not == ("the run is interrupted",)

    def test_a_record_without_events_of_the_test(self) -> None:
        test = PlayedTest()
        play = played_of(test.facts(), frame(test).clear())
        assert play.runs == ()
        assert play.why_not
        assert play.figures().power is None


class TestSteady:
    def test_the_last_three_passes_are_the_steady_ones(self) -> None:
        test = played(kind="steady", factors=(1.6, 1.2, 1.0, 1.04, 1.02), gap_ns=0)
        assert test.steady is not None
        assert test.steady.before == 2
        assert test.steady.figure is not None
        assert test.steady.passes[0].sum_s == pytest.approx(1.6 * sum_of_queries())
        assert test.steady.figure.sum_s == pytest.approx(1.02 * sum_of_queries())
        means = [math.log(even_times()[name]) for name in QUERIES]
        mean = 1.02 * math.exp(sum(means) / 22)
        assert test.steady.figure.geometric_mean_s == pytest.approx(mean)

    def test_each_query_has_its_own_median(self) -> None:
        test = PlayedTest(kind="steady", factors=(1.0, 1.0, 1.0), gap_ns=0)
        rows = test.events()
        for row in rows:
            if row["operation"] == "q01" and row["pass"] == 1 and row["phase"] == "power-1":
                row["finished_ns"] += 10_000_000
        play = played_of(test.facts(), pl.DataFrame(rows, infer_schema_length=None))
        assert play.steady is not None
        assert play.steady.figure is not None
        assert play.steady.figure.sum_s == pytest.approx(sum_of_queries())

    def test_passes_that_never_became_alike_say_so(self) -> None:
        factors = tuple(1.0 + 0.3 * (number % 2) for number in range(30))
        test = played(kind="steady", factors=factors)
        assert test.steady is not None
        assert test.steady.before is None
        assert "passes did not become alike" in test.left_out

    def test_too_few_whole_passes_have_no_figure(self) -> None:
        test = played(kind="steady", factors=(1.0, 1.0))
        assert test.why_not == ("there are too few whole passes for a steady figure",)
        assert test.figures().power is None


def sum_of_queries() -> float:
    return sum(even_times()[name] for name in QUERIES)
