"""Gains are what they were made to be, and a verdict says no more than the runs do."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest

from assay.analysis.diagnose.judging import ALPHA, judge
from assay.analysis.try_.trial import HIT_FACTOR, Times, judge_trial, times_of
from assay.record.reader import Run
from tests.loads import an_operation, closed, open_load, write_load
from tests.records import MS, OPERATIONS, write_run

BEFORE = {"q01": 0.4, "q02": 0.1}


def rounds(
    factors: list[float], *, before: dict[str, float] | None = None, drift: float = 1.0
) -> list[tuple[Times, Times]]:
    """Rounds in which all operations take so many times their time; each is slower by `drift`."""
    document = before or BEFORE
    made = []
    for number, factor in enumerate(factors):
        slow = drift**number
        made.append(
            (
                Times({name: seconds * slow for name, seconds in document.items()}),
                Times({name: seconds * slow * factor for name, seconds in document.items()}),
            )
        )
    return made


class TestGain:
    def test_a_quarter_less_is_a_gain_of_a_quarter_whatever_drifts(self) -> None:
        trial = judge_trial(rounds([0.75, 0.75, 0.75], drift=1.3), 0.25, ["q01"])
        assert trial.gain is not None
        assert trial.gain.share == pytest.approx(0.25)
        assert trial.gain.interval == pytest.approx((0.25, 0.25))
        assert trial.gain.before_s == pytest.approx(0.5 * 1.3)
        assert trial.gain.after_s == pytest.approx(0.75 * 0.5 * 1.3)

    def test_the_interval_is_students_of_the_log_ratios(self) -> None:
        """By hand: logs of 0.7, 0.75, 0.8; t of 97.5 % with two degrees of freedom is 4.3027."""
        trial = judge_trial(rounds([0.7, 0.75, 0.8]), 0.25, [])
        logs = [math.log(x) for x in (0.7, 0.75, 0.8)]
        mean = sum(logs) / 3
        half = 4.3027 * math.sqrt(sum((x - mean) ** 2 for x in logs) / 2 / 3)
        expected = (1 - math.exp(mean + half), 1 - math.exp(mean - half))
        assert trial.gain is not None
        assert trial.gain.interval == pytest.approx(expected, rel=1e-4)

    def test_an_operation_that_failed_once_is_in_no_total_and_is_named(self) -> None:
        made = rounds([0.5, 0.5])
        made[1] = (made[1][0], Times({"q01": 0.2}))
        trial = judge_trial(made, 0.5, ["q01", "q02"])
        assert trial.left_out == ("q02",)
        assert trial.gain is not None
        assert trial.gain.before_s == pytest.approx(0.4)
        by_name = {gain.operation: gain for gain in trial.operations}
        assert by_name["q02"].gain is None
        assert by_name["q02"].predicted is None

    def test_what_is_predicted_of_all_is_spread_over_those_that_are_named(self) -> None:
        trial = judge_trial(rounds([0.8, 0.8]), 0.2, ["q01"])
        (gain,) = trial.operations
        assert gain.predicted == pytest.approx(0.2 * 0.5 / 0.4)
        assert judge_trial(rounds([0.8, 0.8]), 0.9, ["q02"]).operations[0].predicted == 1.0

    def test_without_any_operation_nothing_is_compared(self) -> None:
        trial = judge_trial([(Times({}), Times({}))], 0.2, ["q01"])
        assert (trial.gain, trial.verdict, trial.hit) == (None, "not compared", None)


class TestVerdict:
    def test_an_interval_that_was_looked_at_after_each_round_decides_by_its_own_width(self) -> None:
        """Student's interval of the same rounds is valid for one look only."""
        tried = rounds([0.7, 0.75, 0.8])
        once = judge_trial(tried, 0.25, ["q01"])
        judgement = judge(tried, ["q01"], ALPHA)
        looked_at = judge_trial(tried, 0.25, ["q01"], judgement.gain)
        assert once.verdict == "came true"
        assert looked_at.judged.gain == judgement.gain
        assert (looked_at.verdict, looked_at.hit) == ("undecided", None)

    @pytest.mark.parametrize(
        ("factors", "predicted", "verdict", "hit"),
        [
            ([0.75, 0.75, 0.76], 0.25, "came true", True),
            ([0.75, 0.75, 0.76], 0.25 / HIT_FACTOR + 0.01, "came true", True),
            ([0.75, 0.75, 0.76], 0.25 * HIT_FACTOR + 0.02, "smaller", False),
            ([0.75, 0.75, 0.76], 0.1, "larger", False),
            ([0.7, 0.65, 0.75], 0.4, "came true", True),
            ([0.7, 0.6, 0.8], 0.3, "undecided", None),
            ([0.96, 0.95, 0.98], 0.03, "undecided", None),
            ([0.3, 0.5, 0.7], 0.1, "undecided", None),
            ([1.0, 1.001, 0.999], 0.25, "no gain", False),
            ([1.2, 1.2, 1.21], 0.25, "slower", False),
            ([0.5, 1.5, 0.9], 0.25, "undecided", None),
            ([0.75], 0.25, "undecided", None),
            # Wide intervals that the prediction is outside of are no hits of chance.
            ([0.62, 0.6, 0.65], 0.05, "larger", False),
            ([1.05, 1.0, 1.02], 0.04, "no gain", False),
            ([0.75, 0.75, 0.76], None, "gain", None),
            ([1.0, 1.001, 0.999], None, "no gain", None),
            ([1.2, 1.2, 1.21], None, "slower", None),
        ],
    )
    def test_it_says_what_the_runs_say(
        self, factors: list[float], predicted: float | None, verdict: str, *, hit: bool | None
    ) -> None:
        trial = judge_trial(rounds(factors), predicted, [])
        assert (trial.verdict, trial.hit) == (verdict, hit)

    def test_it_is_of_the_operations_that_the_finding_names(self) -> None:
        """As it came with an index for TPC-H q12: all that is saved of it drowns in the others."""
        made = []
        for before, after in ((4.0, 3.98), (4.02, 3.93), (3.95, 3.94)):
            times = Times({"q12": 0.3, "q01": before - 0.3})
            made.append((times, Times({"q12": 0.3 * 0.77, "q01": after - 0.3 * 0.77})))
        trial = judge_trial(made, 0.05, ["q12"])
        assert trial.judged.operations == ("q12",)
        assert trial.judged.gain is not None
        assert trial.judged.gain.share == pytest.approx(0.23)
        assert trial.judged.predicted == pytest.approx(0.05 * 4.0 / 0.3, rel=0.01)
        assert (trial.verdict, trial.hit) == ("smaller", False)

    def test_operations_are_judged_together(self) -> None:
        each = {"q01": 0.4, "q02": 0.1, "q03": 5.0}
        changed = {"q01": 0.2, "q02": 0.1, "q03": 5.0}
        trial = judge_trial([(Times(each), Times(changed))] * 3, 0.2 / 5.5, ["q01", "q02"])
        assert trial.judged.gain is not None
        assert trial.judged.gain.before_s == pytest.approx(0.5)
        assert trial.judged.gain.share == pytest.approx(0.4)
        assert (trial.verdict, trial.hit) == ("came true", True)

    def test_named_operations_that_failed_are_not_judged_by_the_others(self) -> None:
        made = [(Times(BEFORE), Times({"q01": 0.2}))] * 2
        assert judge_trial(made, 0.5, ["q02"]).verdict == "not compared"

    def test_noise_alone_is_seldom_taken_for_a_change(self) -> None:
        """A/A: both sides alike, so 5 % of the intervals may leave out zero."""
        drawn = random.Random(5)
        tries, wrong = 2000, 0
        for _ in range(tries):
            factors = [math.exp(drawn.gauss(0, 0.1) - drawn.gauss(0, 0.1)) for _ in range(3)]
            wrong += judge_trial(rounds(factors), None, []).verdict != "no gain"
        # Three standard deviations of a binomial count.
        assert abs(wrong - 0.05 * tries) <= 3 * math.sqrt(tries * 0.05 * 0.95)


class TestTimes:
    def test_of_an_order_they_are_the_medians(self, tmp_path: Path) -> None:
        times = times_of(Run(write_run(tmp_path)))
        assert times.operations == pytest.approx(OPERATIONS)
        assert times.whole_s is None

    def test_an_operation_that_failed_has_none(self, tmp_path: Path) -> None:
        assert "q02" not in times_of(Run(write_run(tmp_path, failing="q02"))).operations

    def test_of_a_closed_load_the_whole_is_what_an_operation_takes_of_the_run(
        self, tmp_path: Path
    ) -> None:
        events = [
            an_operation(n, n * 20 * MS, 0, (5 if n % 4 == 3 else 1) * MS) for n in range(100)
        ]
        times = times_of(Run(write_load(tmp_path, closed(1), events, 2.0)))
        assert times.whole_s == pytest.approx(2.0 / 100, rel=0.01)
        assert times.operations == pytest.approx({"select": 0.001, "update": 0.005})

    def test_of_an_open_load_it_is_the_mean_latency(self, tmp_path: Path) -> None:
        events = [an_operation(n, n * 20 * MS, 3 * MS, 1 * MS) for n in range(100)]
        times = times_of(Run(write_load(tmp_path, open_load(50.0, 4), events, 2.0)))
        assert times.whole_s == pytest.approx(0.004)
        assert times.operations == pytest.approx({"select": 0.001, "update": 0.001})

    def test_of_a_load_nothing_is_predicted_of_single_operations(self) -> None:
        pair = (Times(BEFORE, 0.01), Times(BEFORE, 0.005))
        trial = judge_trial([pair, pair], 0.5, ["q01"])
        assert trial.verdict == "came true"
        assert trial.operations[0].predicted is None
