"""Metrics of predictions against values that the specification's formulas give by hand."""

from __future__ import annotations

import math

import pytest

from assay.analysis.composite.formulas import throughput
from assay.analysis.composite.rounding import raised_s
from assay.analysis.whatif.metrics import (
    closed_loop,
    composite,
    geometric,
    metrics_of,
    power_like,
    weighted_mean,
)
from assay.analysis.whatif.weights import sensitivity
from tests.measured import timed


def test_a_second_a_query_is_3600_an_hour() -> None:
    assert power_like([1.0] * 22, 1.0) == pytest.approx(3600.0)
    assert power_like([1.0] * 22, 10.0) == pytest.approx(36_000.0)


def test_throughput_has_all_queries_of_all_streams() -> None:
    assert throughput(2, 100.0, 1.0, 22) == pytest.approx(1584.0)


def test_the_composite_is_their_geometric_mean() -> None:
    assert math.sqrt(3600.0 * throughput(2, 100.0, 1.0, 22)) == pytest.approx(2388.0, abs=0.05)
    # One stream of 22 seconds: 3600 of both.
    assert composite([1.0] * 22, 1.0) == pytest.approx(3600.0)
    # Power-like 3600/2, throughput-like 2*3600/5.
    assert composite([1.0, 4.0], 1.0) == pytest.approx(math.sqrt(1800.0 * 1440.0))


def test_no_interval_counts_less_than_a_thousandth_of_the_longest() -> None:
    assert raised_s([2000.0, *[0.5] * 21]) == [2000.0, *[2.0] * 21]
    assert raised_s([500.0, 0.5]) == [500.0, 0.5]
    shorter, as_short = [2000.0, *[0.5] * 21], [2000.0, *[2.0] * 21]
    assert power_like(shorter, 1.0) == pytest.approx(power_like(as_short, 1.0))


def test_what_takes_no_time_leaves_no_bound() -> None:
    assert geometric([0.0, 1.0]) == 0.0
    assert power_like([0.0], 1.0) == math.inf
    assert composite([0.0], 1.0) == math.inf
    assert closed_loop(10.0, 1.0, 0.0) == math.inf


def test_clients_that_wait_half_as_long_do_twice_as_much() -> None:
    assert closed_loop(100.0, 0.08, 0.04) == pytest.approx(200.0)


def test_the_mean_of_a_mix_counts_executions() -> None:
    assert weighted_mean([0.1, 0.2], [0.75, 0.25]) == pytest.approx(0.125)


def test_only_the_workload_of_the_specification_has_a_composite() -> None:
    names = [metric.name for metric in metrics_of(timed(1.0, has_composite=False))]
    assert names == ["total_seconds", "geometric_mean_seconds"]
    titles = {metric.name: metric.title for metric in metrics_of(timed(1.0))}
    assert titles["composite_per_h"] == "composite without refreshes, not a TPC metric"


class TestSensitivity:
    def weights(self, *seconds: float) -> list[dict[str, float]]:
        return [
            {weight.metric: weight.elasticity for weight in interval_weight.weights}
            for interval_weight in sensitivity(timed(*seconds))
        ]

    def test_each_query_weighs_as_much_in_a_geometric_mean(self) -> None:
        for weights in self.weights(0.12, 6.0, 1.0, 0.5):
            assert weights["geometric_mean_seconds"] == pytest.approx(1 / 4)
            assert weights["power_like_per_h"] == pytest.approx(-1 / 4)

    def test_a_query_weighs_its_share_in_a_total(self) -> None:
        first, second = self.weights(1.0, 3.0)
        assert first["total_seconds"] == pytest.approx(0.25)
        assert second["total_seconds"] == pytest.approx(0.75)
        assert second["composite_per_h"] == pytest.approx(-(0.5 + 0.75) / 2)

    def test_a_query_below_a_thousandth_of_the_longest_weighs_nothing_in_power(self) -> None:
        short, long = self.weights(0.5, 2000.0)
        assert short["power_like_per_h"] == pytest.approx(0.0)
        assert long["power_like_per_h"] == pytest.approx(-1.0)

    def test_a_short_query_that_varies_shakes_the_geometric_mean_and_not_the_total(self) -> None:
        from dataclasses import replace

        run = timed(0.12, *[2.0] * 21)
        varying = replace(run.operations[0], seconds_min=0.12, seconds_max=0.22)
        run = replace(run, operations=(varying, *run.operations[1:]))
        weights = {weight.metric: weight for weight in sensitivity(run)[0].weights}
        total, mean = weights["total_seconds"], weights["geometric_mean_seconds"]
        assert mean.at_max == pytest.approx((0.22 / 0.12) ** (1 / 22) - 1)
        assert total.at_max == pytest.approx(0.1 / 42.12)
        assert mean.at_min == pytest.approx(0.0)
        assert mean.at_max > 10 * total.at_max

    def test_a_run_without_a_metric_has_no_sensitivity(self) -> None:
        assert sensitivity(timed(1.0, without_time=("q02",))) == ()
