"""TPC-H's metrics whatever the intervals are: how they grow, shrink, and do not depend on order."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.analysis.composite.formulas import composite, power, throughput
from assay.analysis.composite.intervals import Interval, PowerTest
from assay.analysis.composite.memory import extrapolated_bytes
from assay.analysis.composite.rounding import counted_s, elapsed_s, raised, reported
from assay.analysis.composite.sensitivity import power_weights
from assay.analysis.composite.steady import are_alike

LENGTHS_NS = st.integers(min_value=1, max_value=10**14)
SECONDS = st.floats(min_value=0.01, max_value=1e6)
TWENTY_TWO = st.lists(SECONDS, min_size=22, max_size=22)
PAIR = st.lists(SECONDS, min_size=2, max_size=2)
SCALES = st.sampled_from([1.0, 10.0, 100.0, 1000.0])
CLOSE = 1e-9


@given(LENGTHS_NS)
def test_rounding_moves_an_interval_by_at_most_half_a_hundredth(length_ns: int) -> None:
    counted = counted_s(length_ns)
    assert counted >= 0.01
    assert counted == 0.01 or abs(counted - length_ns * 1e-9) <= 0.005 + 1e-6


@given(LENGTHS_NS, LENGTHS_NS)
def test_rounding_never_turns_the_order_round(first: int, other: int) -> None:
    shorter, longer = sorted((first, other))
    assert counted_s(shorter) <= counted_s(longer)
    assert elapsed_s(shorter) <= elapsed_s(longer)


@given(LENGTHS_NS)
def test_the_elapsed_time_never_counts_as_less(length_ns: int) -> None:
    assert 0 <= elapsed_s(length_ns) - length_ns * 1e-9 + 1e-6 < 0.01 + 2e-6


@given(st.lists(LENGTHS_NS, min_size=1, max_size=22))
def test_raising_leaves_the_longest_and_no_one_below_a_thousandth(lengths: list[int]) -> None:
    made = raised(lengths)
    assert max(made) == max(lengths)
    assert min(made) * 1000 >= max(made)
    assert raised([math.ceil(length_s) for length_s in lengths]) == made
    assert all(after >= before for before, after in zip(lengths, made, strict=True))


@given(TWENTY_TWO, PAIR, SCALES)
def test_power_grows_with_the_scale_and_with_speed(
    queries: list[float], refreshes: list[float], scale: float
) -> None:
    power_value = power(queries, refreshes, 1.0)
    assert power(queries, refreshes, scale) == pytest.approx(scale * power_value)
    halved = power([query / 2 for query in queries], [refresh / 2 for refresh in refreshes], 1.0)
    assert halved == pytest.approx(2 * power_value)
    one_halved = power([queries[0] / 2, *queries[1:]], refreshes, 1.0)
    assert one_halved == pytest.approx(power_value * 2 ** (1 / 24))


@given(TWENTY_TWO, PAIR)
def test_power_does_not_depend_on_the_order(queries: list[float], refreshes: list[float]) -> None:
    turned = power(queries[::-1], refreshes[::-1], 1.0)
    assert turned == pytest.approx(power(queries, refreshes, 1.0))


@given(st.integers(1, 20), SECONDS, SCALES)
def test_throughput_grows_with_streams_and_scale(
    streams: int, elapsed: float, scale: float
) -> None:
    single_stream = throughput(1, elapsed, 1.0, 22)
    assert throughput(streams, elapsed, scale, 22) == pytest.approx(streams * scale * single_stream)
    assert throughput(streams, 2 * elapsed, scale, 22) < throughput(streams, elapsed, scale, 22)


@given(SECONDS, SECONDS)
def test_the_composite_lies_between_both(first: float, other: float) -> None:
    mean = composite(first, other)
    assert min(first, other) * (1 - CLOSE) <= mean <= max(first, other) * (1 + CLOSE)
    assert mean == pytest.approx(composite(other, first))


@given(SECONDS)
def test_reporting_moves_a_metric_by_at_most_half_a_tenth(value: float) -> None:
    assert abs(reported(value) - value) <= 0.05 + 1e-6


@given(st.lists(st.integers(10**6, 10**12), min_size=22, max_size=22))
def test_weights_of_a_power_test_add_up_to_one(lengths: list[int]) -> None:
    queries = tuple(
        Interval(f"q{place:02d}", 0, place, length_s) for place, length_s in enumerate(lengths, 1)
    )
    refreshes = (Interval("rf1", 1, 0, 10**9), Interval("rf2", 1, 99, 10**9))
    weights = power_weights(PowerTest(queries, refreshes))
    assert sum(weights.values()) == pytest.approx(-1.0)
    assert all(weight <= 0 for weight in weights.values())


@given(st.floats(1.0, 1e15), st.integers(1, 10), SCALES, st.integers(1, 10))
def test_memory_there_and_back_is_the_same(
    peak: float, streams: int, scale: float, others: int
) -> None:
    there = extrapolated_bytes(peak, 1.0, streams, scale, others)
    assert extrapolated_bytes(there, scale, others, 1.0, streams) == pytest.approx(peak)


@given(st.lists(SECONDS, min_size=1, max_size=5), st.floats(0.0, 1.0))
def test_alike_is_a_matter_of_the_longest_and_the_shortest(
    lengths: list[float], within: float
) -> None:
    assert are_alike(lengths, within) == are_alike([min(lengths), max(lengths)], within)
    assert are_alike([lengths[0]] * 3, within)
