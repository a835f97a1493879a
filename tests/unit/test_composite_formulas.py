"""TPC-H's arithmetic against values worked out by hand, and against mistakes of the field."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from assay.analysis.composite.formulas import composite, power, throughput
from assay.analysis.composite.memory import (
    MemoryPeak,
    at_larger_scales,
    extrapolated_bytes,
)
from assay.analysis.composite.played import larger_scales
from assay.analysis.composite.rounding import counted_s, elapsed_s, raised, reported
from assay.analysis.composite.utilisation import utilised_share
from assay.workloads.recording import recorded
from assay.workloads.streams import minimum_at
from tests.specified import tpch

S = 1_000_000_000
MS = 1_000_000


def larger(scale: float) -> tuple[tuple[float, int], ...]:
    """Scales above one that TPC-H names."""
    return larger_scales({"workload": recorded(tpch())}, scale)


class TestRounding:
    @pytest.mark.parametrize(
        ("length_ns", "seconds"),
        [
            (1_004_999_999, 1.00),
            (1_005_000_000, 1.01),
            (1_000_000_000, 1.00),
            (14_999_999, 0.01),
            (15_000_000, 0.02),
            (4_999_999, 0.01),
            (5_000_000, 0.01),
            (1, 0.01),
            (0, 0.01),
        ],
    )
    def test_an_interval_counts_to_the_nearest_hundredth_and_never_as_none(
        self, length_ns: int, seconds: float
    ) -> None:
        assert counted_s(length_ns) == seconds

    @pytest.mark.parametrize(
        ("length_ns", "seconds"),
        [
            (923_741_000_000, 923.75),
            (100 * S, 100.0),
            (100 * S + 1, 100.01),
            (923_750_000_000, 923.75),
        ],
    )
    def test_the_elapsed_time_is_rounded_up(self, length_ns: int, seconds: float) -> None:
        assert elapsed_s(length_ns) == seconds

    @pytest.mark.parametrize(("value", "tenths"), [(2387.97, 2388.0), (0.04, 0.0), (0.05, 0.1)])
    def test_a_metric_is_reported_to_a_tenth(self, value: float, tenths: float) -> None:
        assert reported(value) == tenths


class TestOneToAThousand:
    def test_shorter_ones_count_as_a_thousandth_of_the_longest(self) -> None:
        lengths = [2000 * S, *[500 * MS] * 21]
        assert [counted_s(fraction) for fraction in raised(lengths)] == [2000.0, *[2.0] * 21]

    def test_a_thousandth_itself_is_left_alone(self) -> None:
        assert raised([1000 * MS, MS]) == [1000 * MS, MS]
        assert raised([1001 * MS, MS]) == [1001 * MS, Fraction(1001, 1000) * MS]

    def test_rounding_comes_after_raising(self) -> None:
        # 5.6 s over a thousand is 5.6 ms, which then counts as 0.01 s.
        assert counted_s(raised([5600 * MS, 1])[1]) == 0.01


class TestPower:
    def test_a_second_each_is_3600(self) -> None:
        assert power([1.0] * 22, [1.0] * 2, 1.0) == pytest.approx(3600.0)

    def test_it_grows_with_the_scale(self) -> None:
        assert power([1.0] * 22, [1.0] * 2, 100.0) == pytest.approx(360_000.0)

    def test_the_mean_is_over_24_intervals_and_not_over_22(self) -> None:
        power_value = power([1.0] * 22, [16.0, 16.0], 1.0)
        assert power_value == pytest.approx(3600.0 / 256 ** (1 / 24))
        assert power_value != pytest.approx(3600.0 / 256 ** (1 / 22), rel=1e-3)

    def test_refresh_functions_count_as_they_are(self) -> None:
        # One query of 2000 s raises those of 0.5 s to 2 s; refresh functions of 1 s stay.
        power_value = power([2000.0, *[2.0] * 21], [1.0, 1.0], 1.0)
        logs = math.log(2000.0) + 21 * math.log(2.0)
        assert power_value == pytest.approx(3600.0 * math.exp(-logs / 24))

    def test_without_refresh_functions_the_mean_is_over_what_was_played(self) -> None:
        assert power([4.0] * 22, [], 1.0) == pytest.approx(900.0)

    def test_what_takes_no_time_has_no_bound(self) -> None:
        assert power([0.0, 1.0], [], 1.0) == math.inf


class TestThroughput:
    def test_it_has_the_22_queries_of_each_stream(self) -> None:
        assert throughput(2, 100.0, 1.0, 22) == pytest.approx(1584.0)
        assert throughput(2, 100.0, 1.0, 22) == 22 * throughput(2, 100.0, 1.0, 1)

    def test_it_grows_with_streams_and_scale(self) -> None:
        assert throughput(5, 165.0, 100.0, 22) == pytest.approx(5 * 22 * 3600 / 165 * 100)

    def test_what_takes_no_time_has_no_bound(self) -> None:
        assert throughput(2, 0.0, 1.0, 22) == math.inf


def test_the_composite_is_their_geometric_mean() -> None:
    assert reported(composite(3600.0, 1584.0)) == 2388.0


class TestScales:
    @pytest.mark.parametrize(
        ("scale", "streams"),
        [(1, 2), (5, 2), (10, 3), (99, 4), (100, 5), (10_000, 9), (1e6, 11), (0.1, 2)],
    )
    def test_the_fewest_streams_are_those_of_the_largest_scale_up_to_this_one(
        self, scale: float, streams: int
    ) -> None:
        assert minimum_at(tpch().facts.streams, scale) == streams

    @pytest.mark.parametrize(("scale", "orders"), [(1, 1500), (0.1, 150), (100, 150_000)])
    def test_a_refresh_function_is_of_1500_orders_at_scale_1(
        self, scale: float, orders: int
    ) -> None:
        assert tpch().refresh_orders(scale) == orders

    def test_only_larger_ones_are_looked_at(self) -> None:
        assert larger(30_000) == ((100_000, 11),)
        assert larger(100_000) == ()

    def test_a_workload_that_names_none_has_none(self) -> None:
        assert larger_scales({"workload": {}}, 1.0) == ()


class TestMemory:
    def test_it_grows_with_scale_and_streams(self) -> None:
        # 3.5 GB at SF 100 and 5 streams are 630 GB at SF 10000 and 9.
        assert extrapolated_bytes(3.5e9, 100, 5, 10_000, 9) == pytest.approx(630e9)

    def test_nothing_is_told_of_more_than_a_hundred_times_the_scale(self) -> None:
        peak = MemoryPeak("all", 2, 1)
        assert [row.scale for row in at_larger_scales(peak, 0.1, larger(0.1))] == [1, 10]
        assert at_larger_scales(peak, 100_000, larger(100_000)) == ()

    def test_each_larger_scale_has_its_fewest_streams(self) -> None:
        peak = MemoryPeak("all", 5, 3_500_000)
        by_scale = {row.scale: row for row in at_larger_scales(peak, 100, larger(100))}
        assert sorted(by_scale) == [300, 1000, 3000, 10_000]
        assert (by_scale[10_000].streams, by_scale[10_000].bytes) == (9, pytest.approx(630e6))


def test_a_power_test_that_leaves_a_fifth_of_the_machine_unused() -> None:
    # 165 s of five streams are 33 s each, of which a power test of 42 s makes four fifths.
    assert utilised_share(42.0, 165.0, 5) == pytest.approx(0.786, abs=5e-4)
