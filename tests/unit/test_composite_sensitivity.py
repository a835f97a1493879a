"""What each interval weighs, against slopes and against what the changed test would give."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from assay.analysis.composite.figures import figures
from assay.analysis.composite.intervals import PerformanceRun
from assay.analysis.composite.memory import memory_peaks
from assay.analysis.composite.played import Played, played_of
from assay.analysis.composite.sensitivity import interval_weights, power_weights
from assay.analysis.composite.utilisation import utilisation
from assay.analysis.whatif import predict, sensitivity, worth
from assay.analysis.whatif.changes import RemoveWait, ScaleOperation, SetCores, SetTime
from assay.analysis.whatif.metrics import metrics_of
from assay.analysis.whatif.timing import Measured, TimedOperation
from assay.model.errors import UsageError
from tests.specified import QUERIES, REFRESHES, PlayedTest, even_times

STEP = 1e-5


def played(**about: Any) -> Played:
    test = PlayedTest(**about)
    return played_of(test.facts(), pl.DataFrame(test.events(), infer_schema_length=None))


def reported(test: Played) -> PerformanceRun:
    assert test.reported is not None
    return test.reported


def slope(run: PerformanceRun, name: str, kind: str) -> float:
    """Of the logarithm of a metric, by a small change of one operation's time in both tests."""

    def at(step: float) -> float:
        metric_figures = figures(run.scaled({name: math.exp(step)}), 1.0, rounded=False)
        return math.log(getattr(metric_figures, kind))

    return (at(STEP) - at(-STEP)) / (2 * STEP)


def measured(test: Played, **about: Any) -> Measured:
    """The test as predictions see it, with the times of the reported run."""
    run = reported(test)
    assert run.power is not None
    every = (*run.power.queries, *run.power.refreshes)
    operations = tuple(TimedOperation(finding.operation, finding.seconds) for finding in every)
    return Measured("r", test.scale, operations, cores=2, test=test, **about)


class TestWeights:
    @pytest.mark.parametrize("kind", ["power", "throughput", "composite"])
    @pytest.mark.parametrize("name", ["q01", "q22", "rf1"])
    def test_they_are_the_slopes_of_the_metrics(self, kind: str, name: str) -> None:
        test = played()
        weights = {
            weight.operation: weight
            for weight in interval_weights(reported(test), test.powers, 1.0)
        }
        expected = slope(reported(test), name, kind)
        assert getattr(weights[name], kind) == pytest.approx(expected, abs=1e-5)

    def test_every_interval_weighs_the_same_in_power(self) -> None:
        run = reported(played())
        assert run.power is not None
        assert set(power_weights(run.power).values()) == {-1 / 24}

    def test_the_longest_query_weighs_for_those_that_it_raises(self) -> None:
        times = even_times() | {"q09": 2000.0} | dict.fromkeys(("q01", "q02"), 0.5)
        run = reported(played(kind="power", seconds=times))
        assert run.power is not None
        weights = power_weights(run.power)
        raised = [name for name in QUERIES if times[name] < 1.999]
        assert weights["q01"] == 0.0
        assert weights["q09"] == pytest.approx(-(1 + len(raised)) / 24)
        assert weights["rf1"] == pytest.approx(-1 / 24)
        assert weights["q09"] == pytest.approx(slope(run, "q09", "power"), abs=1e-5)

    def test_together_they_make_one_per_cent_of_one(self) -> None:
        weights = interval_weights(reported(played(gap_ns=0)), (), 1.0)
        assert sum(weight.power or 0.0 for weight in weights) == pytest.approx(-1.0)
        assert sum(weight.throughput or 0.0 for weight in weights) == pytest.approx(-1.0)

    def test_what_the_other_run_took_moves_the_composite(self) -> None:
        test = played(factors=(1.0, 0.5), gap_ns=0)
        weight = interval_weights(reported(test), test.powers, 1.0)[0]
        assert weight.operation == "q14"
        assert (weight.shortest_s, weight.longest_s) == pytest.approx((0.7, 1.4))
        assert weight.at_longest == 0.0
        assert weight.at_shortest == pytest.approx(2 ** (1 / 48) - 1)

    def test_the_same_variation_moves_a_power_test_alike_wherever_it_falls(self) -> None:
        # A query of 120 ms that takes 220 ms at times, and one of 6 s that takes 11 s.
        for name, seconds in (("q02", 0.120), ("q13", 6.0)):
            times = even_times() | {name: seconds}
            slow = played(kind="power", seconds=times | {name: seconds * 220 / 120})
            fast = played(kind="power", seconds=times)
            lost = slow.figures().power / fast.figures().power  # type: ignore[operator]
            assert lost == pytest.approx((120 / 220) ** (1 / 24), rel=5e-3)


class TestUtilisation:
    def test_it_is_a_stream_of_several_over_one_alone(self) -> None:
        used = utilisation(reported(played(factors=(1.0, 1.0), beside=1.5, gap_ns=0)))
        assert used is not None
        queries = sum(even_times()[name] for name in QUERIES)
        assert used.power_s == pytest.approx(queries + 1.0)
        assert used.stream_s == pytest.approx(1.5 * queries / 2)
        assert used.share == pytest.approx(used.stream_s / used.power_s)

    def test_it_needs_both_tests(self) -> None:
        assert utilisation(reported(played(kind="power"))) is None
        assert utilisation(reported(played(kind="throughput"))) is None


class TestPredictions:
    def test_they_begin_at_what_is_reported(self) -> None:
        test = played()
        names = {
            metric.name: metric.value([op.seconds for op in measured(test).operations])
            for metric in metrics_of(measured(test))
        }
        metric_figures = test.figures()
        assert names == {
            "test_power_per_h": metric_figures.power,
            "test_throughput_per_h": metric_figures.throughput,
            "test_composite_per_h": metric_figures.composite,
        }

    def test_two_queries_in_half_the_time(self) -> None:
        test = played(factors=(1.0, 1.2), gap_ns=0)
        halved = [ScaleOperation(name, 0.5) for name in ("q15", "q17")]
        prediction = predict(measured(test), halved)
        # Every other interval stays, so the power metric grows by the 24th root of four.
        power = prediction.metric("test_power_per_h")
        assert power.change == pytest.approx(4 ** (1 / 24) - 1, rel=1e-3)
        seconds = 1.5 * sum(even_times()[name] for name in QUERIES)
        saved = 1.5 * (even_times()["q15"] + even_times()["q17"]) / 2
        throughput = prediction.metric("test_throughput_per_h")
        assert throughput.change == pytest.approx(seconds / (seconds - saved) - 1, rel=1e-3)
        composite = prediction.metric("test_composite_per_h")
        assert composite.after == pytest.approx(math.sqrt(power.after * throughput.after))  # type: ignore[operator]

    def test_it_is_what_the_changed_test_would_have_given(self) -> None:
        times = even_times()
        changed = played(seconds=times | {"q15": 0.4}, gap_ns=0).figures()
        prediction = predict(measured(played(gap_ns=0)), [SetTime("q15", 0.4)])
        for kind in ("power", "throughput", "composite"):
            after = prediction.metric(f"test_{kind}_per_h").after
            assert after == pytest.approx(getattr(changed, kind), rel=1e-3)

    def test_the_reported_run_can_be_the_other_one_afterwards(self) -> None:
        test = played(factors=(1.0, 1.0), gap_ns=0)
        first, second = test.runs
        assert second.power is not None
        queries = tuple(
            replace(
                interval, length_ns=interval.length_ns * (3 if interval.operation == "q01" else 1)
            )
            for interval in second.power.queries
        )
        second = replace(second, power=replace(second.power, queries=queries))
        both = replace(test, runs=(replace(first, number=2), replace(second, number=1)))
        prediction = predict(measured(both), [ScaleOperation("q01", 0.1)])
        lower = min(figures(run.scaled({"q01": 0.1}), 1.0).composite or 0.0 for run in both.runs)
        assert prediction.metric("test_composite_per_h").after == lower

    def test_a_stream_that_does_not_end_last_gives_nothing_but_perhaps_all_gain_alike(self) -> None:
        slow = even_times() | {"rf1": 100.0}
        prediction = predict(measured(played(seconds=slow, gap_ns=0)), [ScaleOperation("q22", 0.5)])
        throughput = prediction.metric("test_throughput_per_h")
        assert throughput.change == 0.0
        assert throughput.change_most is not None
        assert throughput.change_most > 0.0
        assert "the one that ends last decides" in prediction.assumptions[-1]

    def test_changes_below_a_hundredth_of_a_second_change_no_reported_metric(self) -> None:
        times = dict.fromkeys((*QUERIES, *REFRESHES), 1.0)
        prediction = predict(
            measured(played(kind="power", seconds=times, gap_ns=0)), [SetTime("q01", 1.004)]
        )
        assert prediction.metric("test_power_per_h").change == 0.0

    def test_weights_are_those_of_the_closed_form(self) -> None:
        test = played()
        closed = {weight.operation: weight for weight in interval_weights(reported(test), (), 1.0)}
        for interval_weight in sensitivity(measured(test)):
            elasticities = {weight.metric: weight.elasticity for weight in interval_weight.weights}
            expected = closed[interval_weight.operation.name].composite
            assert elasticities["test_composite_per_h"] == pytest.approx(expected, abs=1e-4)

    def test_a_test_without_a_metric_has_no_prediction(self) -> None:
        test = played(failing=("power-2", 0, "q07"))
        run = Measured("r", "tpch", 1.0, (TimedOperation("q01", 1.0),), test=test)
        assert sensitivity(run) == ()
        assert worth(run) == ()
        with pytest.raises(UsageError, match="q07 of power-2 failed"):
            predict(run, [ScaleOperation("q01", 0.5)])

    def test_cores_of_streams_that_share_them_are_not_predicted(self) -> None:
        with pytest.raises(UsageError, match="--test power"):
            predict(measured(played()), [SetCores(4)])

    def test_what_is_worth_most_improves_the_metric_most(self) -> None:
        run = measured(played(kind="power", gap_ns=0))
        waiting = tuple(
            replace(
                op,
                thread_s={"cpu_user": op.seconds * 0.5, "disk_read": 0.4 * op.seconds, "lock": 0.1},
                threads=1.0,
            )
            for op in run.operations
        )
        worths = worth(replace(run, operations=waiting))
        assert worths[0].subject == "disk_read"
        assert [operation_worth.gain for operation_worth in worths] == sorted(
            (operation_worth.gain for operation_worth in worths), reverse=True
        )
        removed = predict(replace(run, operations=waiting), [RemoveWait("disk_read")])
        assert worths[0].gain == removed.metrics[0].change


class TestMemory:
    PROCESSES = pl.DataFrame(
        {
            "time_ns": [999_000_000_000, 1_050_000_000_000, 1_060_000_000_000] * 2,
            "account": ["engine"] * 3 + ["probes"] * 3,
            "rss_bytes": [100, 400, 300, 5, 5000, 5],
            "rss_shared_bytes": [50, 90, 50, 0, 0, 0],
        }
    )

    def test_growth_is_over_what_was_resident_before_without_what_is_shared(self) -> None:
        test = played(kind="throughput", streams=4, factors=(), beside=10.0)
        (peak,) = memory_peaks(test.runs, (), self.PROCESSES)
        assert (peak.what, peak.streams, peak.bytes) == ("throughput test 1", 4, 310 - 50)

    def test_nothing_before_the_test_is_nothing_known(self) -> None:
        test = played(kind="throughput", streams=4, factors=(), beside=10.0)
        late = self.PROCESSES.filter(pl.col("time_ns") > 1_000_000_000_000)
        assert memory_peaks(test.runs, (), late) == ()
        assert memory_peaks(test.runs, (), None) == ()
