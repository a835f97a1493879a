"""From which mix on a run is steady: courses that are known, and how often chance deceives."""

from __future__ import annotations

from dataclasses import replace
from statistics import pvariance

import pytest

from assay.analysis.load.steady_state import (
    ASKED,
    BATCHES_MAX,
    BATCHES_MIN,
    FETCHED,
    THROUGHPUT,
    THROUGHPUT_WITHIN,
    Mark,
    batched,
    judged,
    trend,
    truncation,
)
from tests.mixes import MIB, Course, falling, marks

MIXES = 600
# How often something is drawn anew: rates of errors are known to some per cent.
DRAWS = 60


def share_steady(
    rate: Course = lambda _: 10.0,
    reads: Course = lambda _: 0.0,
    *,
    mixes: int = MIXES,
    noise: float = 0.1,
    likeness: float = 0.0,
) -> float:
    """How often mixes are called steady."""
    each = (
        judged(marks(mixes, rate, reads, noise=noise, likeness=likeness, seed=seed), 1)
        for seed in range(DRAWS)
    )
    return sum(state.steady is True for state in each) / DRAWS


def rising(change: float) -> Course:
    """A rate that grows by so much of itself over the second half of `MIXES`."""
    return lambda number: 10.0 * (1 + change * (2 * number / MIXES - 1))


class TestErrors:
    """Rates of both errors by simulation; seeds are fixed, so they are the same each time."""

    def test_flat_mixes_are_found_steady(self) -> None:
        assert share_steady() >= 0.95

    def test_mixes_that_differ_by_a_fifth_each_are_as_a_rule(self) -> None:
        assert share_steady(noise=0.2) >= 0.75

    def test_noise_alone_is_not_called_steady_before_it_is_known(self) -> None:
        assert share_steady(mixes=40, noise=0.5) <= 0.05

    @pytest.mark.parametrize("likeness", [0.0, 0.8])
    def test_a_drift_of_just_what_may_be_deceives_one_time_in_twenty(self, likeness: float) -> None:
        assert share_steady(rising(THROUGHPUT_WITHIN), likeness=likeness) <= 0.05 + 0.05

    @pytest.mark.parametrize("change", [0.15, 0.3, -0.15])
    def test_a_larger_one_does_not(self, change: float) -> None:
        assert share_steady(rising(change)) == 0.0

    def test_mixes_that_are_like_those_before_are_not_taken_for_many(self) -> None:
        drifting = rising(THROUGHPUT_WITHIN * 1.5)
        assert share_steady(drifting, likeness=0.9, noise=0.3) <= 0.05


class TestCourses:
    def test_steady_from_the_first(self) -> None:
        state = judged(marks(MIXES), 1)
        assert state.steady
        assert state.rate == pytest.approx(10.0, rel=0.02)

    @pytest.mark.parametrize("at", [60, 180])
    def test_a_step_is_where_the_steady_part_begins(self, at: int) -> None:
        state = judged(marks(MIXES, lambda number: 10.0 if number >= at else 6.0), 1)
        assert state.steady
        assert state.first_mix is not None
        assert abs(state.first_mix - at) <= 2 * MIXES / BATCHES_MAX
        drift = state.drift(THROUGHPUT)
        assert drift is not None
        assert drift.differed_before
        assert drift.before == pytest.approx(6.0, rel=0.1)

    def test_a_step_in_the_second_half_leaves_too_little(self) -> None:
        state = judged(marks(MIXES, lambda number: 10.0 if number >= 0.7 * MIXES else 6.0), 1)
        assert state.steady is False

    def test_reads_that_fall_are_waited_for_where_throughput_looks_flat(self) -> None:
        early = judged(marks(MIXES, reads=falling(150)), 1)
        throughput, asked = early.drift(THROUGHPUT), early.drift(ASKED)
        assert throughput is not None
        assert throughput.kept
        assert asked is not None
        assert asked.drifts
        assert asked.change < 0
        assert early.steady is False
        late = judged(marks(20 * MIXES, reads=falling(150), noise=0.02), 1)
        assert late.steady
        assert late.first_mix is not None
        assert late.first_mix > 500
        read = late.drift(FETCHED)
        assert read is not None
        assert read.before is not None
        assert read.before > 100 * read.level

    def test_reads_that_stay_are_no_drift(self) -> None:
        assert judged(marks(4 * MIXES, reads=lambda _: 3.0 * MIB), 1).steady

    def test_less_than_a_page_a_mix_is_no_reading(self) -> None:
        assert judged(marks(MIXES, reads=lambda number: 6.0 * number, noise=0.01), 1).steady

    def test_without_reads_throughput_alone_decides(self) -> None:
        state = judged(marks(MIXES, reads=None), 1)
        assert state.steady
        assert [drift.series for drift in state.drifts] == [THROUGHPUT]

    def test_reads_that_are_lost_in_the_middle_are_no_series(self) -> None:
        mix_marks = marks(MIXES, reads=lambda _: 3.0 * MIB)
        mix_marks = [
            *mix_marks[:300],
            *(replace(mark, asked_bytes=None) for mark in mix_marks[300:]),
        ]
        assert [drift.series for drift in judged(mix_marks, 1).drifts] == [THROUGHPUT, FETCHED]

    def test_throughput_falls_by_all_at_most_however_much_it_differs(self) -> None:
        wild = [Mark(0, 0)]
        for number in range(1, 21):
            wild.append(Mark(number, wild[-1].time_ns + 10**8 * (1 + 40 * (number % 7 == 3))))
        for mix_marks in (wild, marks(20, lambda number: 10.0 / 2**number, noise=0.6)):
            drift = judged(mix_marks, 1).drift(THROUGHPUT)
            assert drift is not None
            assert drift.low > -drift.level
        halved = judged(marks(MIXES, lambda number: 10.0 / 2 ** (number / MIXES), noise=0.0), 1)
        fell = halved.drift(THROUGHPUT)
        assert fell is not None
        rest = 1 - (halved.first_mix or 0) / MIXES
        assert fell.change / fell.level == pytest.approx(0.5**rest - 1, abs=0.02)

    def test_all_equal_values(self) -> None:
        state = judged([Mark(number, number * 1_000, 0, 0) for number in range(MIXES)], 1)
        assert state.steady
        assert state.first_mix == 0
        assert [(drift.change, drift.low, drift.high) for drift in state.drifts][1] == (0, 0, 0)


class TestTooFew:
    @pytest.mark.parametrize("mixes", [0, 1, BATCHES_MIN - 1])
    def test_nothing_is_said(self, mixes: int) -> None:
        state = judged(marks(mixes), 1)
        assert (state.steady, state.first_mix, state.rate) == (None, None, None)

    def test_nor_without_a_mark(self) -> None:
        assert judged([], 1).steady is None

    def test_a_batch_has_a_mix_of_each_client(self) -> None:
        assert judged(marks(BATCHES_MIN * 16 - 1, noise=0.01), 16).steady is None
        assert judged(marks(BATCHES_MIN * 16, noise=0.01), 16).steady


class TestBatches:
    def test_they_are_mixes_one_after_another(self) -> None:
        mix_marks = marks(1_000, reads=lambda _: 100.0, noise=0.0)
        batches = batched(mix_marks, 4)
        assert len(batches) <= BATCHES_MAX
        assert [batch.first for batch in batches[1:]] == [
            batch.first + batch.mixes for batch in batches[:-1]
        ]
        assert [batch.throughput for batch in batches] == pytest.approx([10.0] * len(batches))
        assert [batch.asked for batch in batches] == pytest.approx([100.0] * len(batches))

    def test_looks_that_are_far_apart_make_larger_ones(self) -> None:
        batches = batched(marks(1_000)[::70], 1)
        assert {batch.mixes for batch in batches} == {70}

    def test_mixes_that_ended_at_one_look_are_no_batch(self) -> None:
        assert batched([Mark(0, 5), Mark(400, 5)], 1) == ()


class TestTruncation:
    def test_it_leaves_the_rest_whose_mean_is_known_best(self) -> None:
        values = [9.0, 7.0, 4.0, 5.0, 4.0, 6.0, 5.0, 4.0, 6.0, 5.0, 4.0, 5.0]
        widths = [
            pvariance(values[left_out:]) / (len(values) - left_out)
            for left_out in range(len(values) // 2 + 1)
        ]
        assert truncation(values) == widths.index(min(widths)) == 2


class TestTrend:
    def test_a_line_grows_by_its_slope(self) -> None:
        assert trend([2.0 * at for at in range(30)]) == pytest.approx((58.0, 58.0, 58.0))

    def test_one_wild_value_changes_nothing(self) -> None:
        values = [10.0] * 15 + [10_000.0] + [10.0] * 15
        assert trend(values) == (0.0, 0.0, 0.0)

    def test_the_interval_is_sens(self) -> None:
        # Ranks by hand: 10 values have 45 slopes, and 1.645 times the square root of 125 is 18.4.
        values = [1.0, 3.0, 2.0, 5.0, 4.0, 7.0, 6.0, 9.0, 8.0, 10.0]
        slopes = sorted(
            (values[j] - values[i]) / (j - i) for i in range(10) for j in range(i + 1, 10)
        )
        change, low, high = trend(values)
        assert change == pytest.approx(9 * slopes[22])
        assert (low, high) == pytest.approx((9 * slopes[12], 9 * slopes[32]))


class TestAgainAndAgain:
    """A run that goes on until it is steady is judged at each tenth more mixes."""

    def first_steady(self, mix_marks: list[Mark], least: int) -> int | None:
        look = least
        while look < len(mix_marks):
            if judged(mix_marks[: look + 1], 1).steady:
                return look
            look = int(look * 1.1)
        return None

    def test_what_drifts_by_a_sixth_in_each_half_never_passes(self) -> None:
        first_steady = [
            self.first_steady(marks(1_000, lambda number: (number + 1) ** 0.25, seed=seed), 60)
            for seed in range(15)
        ]
        assert first_steady == [None] * 15

    def test_what_is_flat_and_noisy_passes_in_time(self) -> None:
        first_steady = [
            self.first_steady(marks(1_500, noise=0.3, seed=seed), 60) for seed in range(15)
        ]
        assert None not in first_steady
