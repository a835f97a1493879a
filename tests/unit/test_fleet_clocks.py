"""Offsets of other hosts' clocks, whatever the ways there and back take."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.running.fleet.clocks import ClockOf, Exchange, Offset, estimated

S = 1_000_000_000
delays = st.lists(st.tuples(st.integers(0, S), st.integers(0, S)), min_size=1, max_size=30)
offsets = st.integers(-(10**15), 10**15)


def exchanges(offset_ns: int, ways: list[tuple[int, int]]) -> list[Exchange]:
    """Questions at each second, each with its way there and its way back."""
    asked = [(number * 3 * S, there, back) for number, (there, back) in enumerate(ways)]
    return [
        Exchange(sent, sent + there + offset_ns, sent + there + back) for sent, there, back in asked
    ]


@given(offsets, delays)
def test_the_true_offset_is_within_the_uncertainty_however_unequal_the_ways(offset_ns, ways):
    offset = estimated(exchanges(offset_ns, ways))
    assert abs(offset.offset_ns - offset_ns) <= offset.uncertainty_ns
    assert offset.uncertainty_ns <= min(there + back for there, back in ways) // 2 + 2
    assert offset.exchanges == len(ways)


def test_one_quick_exchange_tells_more_than_many_slow_ones():
    slow, quick = [(900_000_000, 0)] * 20, [(40_000, 60_000)]
    offset = estimated(exchanges(5_000_000, slow + quick + slow))
    assert offset.uncertainty_ns < 60_000
    assert offset.offset_ns == pytest.approx(5_000_000, abs=10_001)


@given(offsets, st.floats(-200e-6, 200e-6), st.integers(0, 3600 * S))
def test_a_clock_that_drifts_is_followed_between_two_measurements(offset_ns, slope, after_ns):
    end_ns = 3600 * S
    before = Offset(0, offset_ns, 1000, 40)
    after = Offset(end_ns, offset_ns + round(end_ns * slope), 1000, 40)
    clock = ClockOf(before, after)
    theirs_ns = after_ns + offset_ns + round(after_ns * slope)
    # What gains by 200 in a million in an hour is followed to the square of that.
    assert abs(clock.ours_ns(theirs_ns) - after_ns) <= 200e-6**2 * end_ns + 2
    assert clock.facts()["drift_ppm"] == pytest.approx(slope * 1e6, abs=1e-3)


@given(offsets, st.lists(st.none() | st.integers(0, 10**14), max_size=20))
def test_a_column_moves_as_each_of_its_moments_does(offset_ns, moments):
    clock = ClockOf(Offset(S, offset_ns, 5, 1), Offset(100 * S, offset_ns + 70_000, 7, 1))
    moved = clock.ours(pl.Series(moments, dtype=pl.Int64)).to_list()
    alone = [None if moment is None else clock.ours_ns(moment) for moment in moments]
    assert [moment is None for moment in moved] == [moment is None for moment in alone]
    # One is computed with 53 bits, and so is the other.
    assert all(
        abs(moved_ns - other) <= 1
        for moved_ns, other in zip(moved, alone, strict=True)
        if moved_ns is not None and other is not None
    )


def test_a_clock_that_is_the_run_s_own_is_not_moved():
    clock = ClockOf(Offset(0, 12_345, 100, 40), same=True)
    assert (clock.ours_ns(7), clock.theirs_ns(7), clock.uncertainty_ns) == (7, 7, 0)
    assert clock.facts()["before"]["offset_ns"] == 12_345
    assert clock.facts()["drift_ppm"] is None


def test_a_host_that_died_has_the_offset_that_was_known_before():
    clock = ClockOf(Offset(0, 500, 100, 40))
    assert (clock.ours_ns(1_500), clock.theirs_ns(1_000)) == (1_000, 1_500)
    assert clock.uncertainty_ns == 100
