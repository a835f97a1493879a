"""What rounds say of a cause, what changes do to one another, and which experiments there are."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, cast, get_args

import numpy as np
import pytest

from assay.analysis.diagnose.judging import (
    ALPHA,
    GAIN_MIN,
    TRIED_ROUNDS_MAX,
    Judgement,
    judge,
    judge_slowed,
)
from assay.analysis.diagnose.way import Step, Tried, interactions
from assay.analysis.try_.trial import Gain, Times
from assay.model.finding import AdviceKind, Finding
from assay.report.diagnosis.document import verdict_words
from assay.report.diagnosis.words import beside
from assay.study.experiment_table import with_table
from assay.study.experiments.discovery import experiments

OPERATIONS = ("q1", "q2")
MIB = 1 << 20


def rounds(*pairs: tuple[float, float], other: float = 1.0) -> list[tuple[Times, Times]]:
    """Rounds of q1 before and after; q2 takes as long in both, times `other` after."""
    return [
        (Times({"q1": before, "q2": 1.0}), Times({"q1": after, "q2": other}))
        for before, after in pairs
    ]


class TestVerdict:
    def test_a_gain_beyond_noise_is_confirmed(self) -> None:
        judgement = judge(rounds((1.0, 0.5), (1.01, 0.51), (0.99, 0.5), (1.0, 0.49)), ["q1"])
        assert judgement.verdict == "confirmed"
        assert judgement.gain is not None
        assert judgement.gain.interval is not None
        low, high = judgement.gain.interval
        assert low < judgement.gain.share < high
        assert judgement.gain.share == pytest.approx(0.5, abs=0.01)
        assert judgement.whole is not None
        assert judgement.whole.share == pytest.approx(0.25, abs=0.01)

    def test_the_same_time_is_refuted(self) -> None:
        pairs = [(1.0, 1.001), (1.0, 0.999), (1.0, 1.0), (1.0, 1.0005), (1.0, 1.0)]
        assert judge(rounds(*pairs), ["q1"]).verdict == "refuted"

    def test_a_longer_time_is_refuted(self) -> None:
        judgement = judge(rounds((1.0, 2.0), (1.0, 2.01), (1.0, 1.99), (1.0, 2.0)), ["q1"])
        assert judgement.verdict == "refuted"
        assert "longer" in verdict_words(judgement, None)

    def test_noise_is_undecided_and_says_what_it_would_take(self) -> None:
        judgement = judge(rounds((1.0, 0.6), (1.0, 0.9), (1.0, 0.55), (1.0, 0.8)), ["q1"])
        assert judgement.verdict == "undecided"
        assert judgement.rounds_needed is not None
        assert 4 < judgement.rounds_needed <= TRIED_ROUNDS_MAX
        more = judgement.rounds_needed - 4
        assert f"{more} more would" in verdict_words(judgement, 5.0)

    def test_rounds_that_no_diagnosis_makes_are_not_promised(self) -> None:
        judgement = judge(rounds((1.0, 0.7), (1.0, 1.0), (1.0, 0.8), (1.0, 1.05)), ["q1"])
        assert judgement.rounds_needed is not None
        assert judgement.rounds_needed > TRIED_ROUNDS_MAX
        said = verdict_words(judgement, 5.0)
        assert "more would" not in said
        assert said.endswith(f"a step makes at most {TRIED_ROUNDS_MAX}")

    def test_one_round_decides_nothing(self) -> None:
        assert judge(rounds((1.0, 0.1)), ["q1"]).verdict == "undecided"
        assert judge([], ["q1"]).verdict == "undecided"

    def test_two_rounds_decide_on_a_large_gain_only(self) -> None:
        judgement = judge(rounds((1.0, 0.05), (1.4, 0.06)), ["q1"])
        assert judgement.verdict == "confirmed"
        assert judgement.gain is not None
        low, high = judgement.gain.interval or (0.0, 0.0)
        assert 0.5 < low < judgement.gain.share < high
        assert judge(rounds((1.0, 0.5), (1.0, 0.5)), ["q1"]).verdict == "undecided"

    def test_two_rounds_that_vary_widely_decide_nothing(self) -> None:
        assert judge(rounds((1.0, 0.01), (1.0, 0.1)), ["q1"]).verdict == "undecided"

    @pytest.mark.parametrize("noise", [0.1, math.log(1.5)])
    def test_a_change_without_an_effect_is_seldom_confirmed(self, noise: float) -> None:
        drawn, trials = np.random.default_rng(7), 100
        confirmed = 0
        for _ in range(trials):
            pairs = [tuple(np.exp(drawn.normal(0.0, noise, 2))) for _ in range(12)]
            seen = (judge(rounds(*pairs[:count]), ["q1"]) for count in range(1, 13))
            confirmed += any(judgement.verdict == "confirmed" for judgement in seen)
        assert confirmed <= ALPHA * trials

    def test_plans_that_stayed_refute_at_once(self) -> None:
        judgement = judge(rounds((1.0, 0.1)), ["q1"], plans_stayed=True)
        assert (judgement.verdict, judgement.by_plan) == ("refuted", True)
        assert "plan" in verdict_words(judgement, None)

    def test_other_operations_that_take_longer_are_named(self) -> None:
        pairs = [(1.0, 0.5), (1.0, 0.51), (1.0, 0.5), (1.0, 0.49)]
        judgement = judge(rounds(*pairs, other=3.0), ["q1"])
        assert judgement.verdict == "confirmed"
        (slower,) = judgement.slower
        assert slower.operation == "q2"
        assert slower.share == pytest.approx(2.0)
        assert judgement.saved_s == pytest.approx(0.5 - 2.0, abs=0.01)

    def test_the_whole_holds_what_others_take_longer(self) -> None:
        """Without named operations, or under a load, the saving is that of all of them."""
        pairs = [(10.0, 5.0), (10.0, 5.1), (10.0, 5.0), (10.0, 4.9)]
        judgement = judge(rounds(*pairs, other=4.0), [])
        assert [slower.operation for slower in judgement.slower] == ["q2"]
        assert judgement.saved_s == pytest.approx(5.0 - 3.0, abs=0.01)

    def test_a_load_is_judged_by_its_throughput(self) -> None:
        """With 16 clients an operation takes 16 times as long as the load has time for it."""
        load = [
            (
                Times({"sale": 0.016, "report": 0.16}, 0.001),
                Times({"sale": faster, "report": 0.2}, 0.0007 * noise),
            )
            for faster, noise in ((0.008, 1.0), (0.0081, 1.01), (0.0079, 0.99), (0.008, 1.0))
        ]
        judgement = judge(load, ["sale"])
        assert (judgement.verdict, judgement.operations) == ("confirmed", ())
        assert [slower.operation for slower in judgement.slower] == ["report"]
        assert judgement.saved_s == pytest.approx(0.0003, rel=0.05)

    def test_many_small_losses_of_other_operations_count(self) -> None:
        """None of them is above the noise of an operation, but all of them are above the gain."""
        others = [f"o{number}" for number in range(20)]
        pairs = [
            (
                Times({"q1": 1.0} | dict.fromkeys(others, 1.0)),
                Times({"q1": after} | dict.fromkeys(others, 1.04)),
            )
            for after in (0.5, 0.51, 0.5, 0.49)
        ]
        judgement = judge(pairs, ["q1"])
        assert (judgement.verdict, judgement.slower) == ("confirmed", ())
        assert judgement.saved_s == pytest.approx(0.5 - 20 * 0.04, abs=0.01)

    def test_an_operation_that_failed_is_not_compared(self) -> None:
        pairs = [(Times({"q1": 1.0}), Times({"q2": 1.0}))] * 4
        judgement = judge(pairs, ["q1"])
        assert judgement.verdict == "undecided"
        assert judgement.gain is None


def slowed(*times: float) -> list[tuple[Times, Times]]:
    """Rounds of a run of a second, which takes so many times as long with a slow resource."""
    return [(Times({"q1": 1.0}), Times({"q1": many})) for many in times]


class TestSlowed:
    def test_time_that_follows_depends_on_the_resource(self) -> None:
        judgement = judge_slowed(slowed(1.8, 1.81, 1.79, 1.8), 2.0)
        assert judgement.verdict == "confirmed"
        assert judgement.dependence is not None
        assert judgement.dependence.share == pytest.approx(0.8, abs=0.01)
        low, high = judgement.dependence.interval or (0.0, 0.0)
        assert low < 0.8 < high
        assert verdict_words(judgement, None).startswith("80 % of the time depends on it, ")

    def test_time_that_does_not_follow_refutes_it(self) -> None:
        judgement = judge_slowed(slowed(1.01, 1.0, 1.02, 1.01, 1.0), 2.0)
        assert judgement.verdict == "refuted"
        assert verdict_words(judgement, None).startswith("0.8 % of the time depends on it, ")

    def test_noise_makes_no_share_above_all_of_the_time(self) -> None:
        said = verdict_words(judge_slowed(slowed(2.8, 2.81, 2.8, 2.79, 2.8), 2.0), None)
        assert said == "100 % of the time depends on it, 100 % to 100 %"

    def test_the_factor_counts(self) -> None:
        judgement = judge_slowed(slowed(1.4, 1.41, 1.4, 1.39), 1.5)
        assert judgement.dependence is not None
        assert judgement.dependence.share == pytest.approx(0.8, abs=0.01)

    def test_noise_says_what_it_would_take(self) -> None:
        judgement = judge_slowed(slowed(1.1, 2.0, 1.0), 2.0)
        assert judgement.verdict == "undecided"
        assert judgement.rounds_needed is None or judgement.rounds_needed > 3
        assert "3 rounds do not separate it from noise" in verdict_words(judgement, None)

    def test_two_rounds_are_too_few_to_know_the_noise(self) -> None:
        judgement = judge_slowed(slowed(1.9, 2.1), 2.0)
        assert judgement.verdict == "undecided"
        said = verdict_words(judgement, 5.0)
        assert said.startswith("two rounds are too few to know the noise; ")
        assert "more would" in said

    def test_no_rounds_and_one_round_decide_nothing(self) -> None:
        assert judge_slowed([], 2.0).verdict == "undecided"
        assert judge_slowed(slowed(2.0), 2.0).verdict == "undecided"

    def test_nothing_is_confirmed_where_the_time_does_not_follow(self) -> None:
        drawn, trials = np.random.default_rng(5), 300
        confirmed = 0
        for _ in range(trials):
            times = np.exp(drawn.normal(0.0, 0.05, 12))
            seen = (judge_slowed(slowed(*times[:count]), 2.0) for count in range(1, 13))
            confirmed += any(judgement.verdict == "confirmed" for judgement in seen)
        assert confirmed <= ALPHA * trials


class TestHowOftenItIsWrong:
    """Whoever looks after each round is wrong as rarely as is said, though the noise is large."""

    TRIALS, ROUNDS_MAX, NOISE = 600, 12, 0.05

    def looked_at(self, gain: float, seed: int) -> list[Judgement]:
        """What is said when it is decided, or after the last round, of each trial."""
        drawn = np.random.default_rng(seed)
        said = []
        for _ in range(self.TRIALS):
            logs = drawn.normal(math.log(1 - gain), self.NOISE, self.ROUNDS_MAX)
            pairs = [(1.0, math.exp(value)) for value in logs]
            for count in range(1, self.ROUNDS_MAX + 1):
                judgement = judge(rounds(*pairs[:count]), ["q1"])
                if judgement.verdict != "undecided":
                    break
            said.append(judgement)
        return said

    def test_nothing_is_confirmed_where_there_is_nothing(self) -> None:
        confirmed = [said for said in self.looked_at(0.0, 1) if said.verdict == "confirmed"]
        assert len(confirmed) <= ALPHA * self.TRIALS

    def test_a_real_gain_is_hardly_ever_refuted_and_mostly_confirmed(self) -> None:
        said = self.looked_at(0.3, 2)
        assert sum(one.verdict == "refuted" for one in said) <= ALPHA * self.TRIALS
        assert sum(one.verdict == "confirmed" for one in said) >= 0.9 * self.TRIALS

    def test_intervals_cover_the_gain(self) -> None:
        covering = 0
        for judgement in self.looked_at(0.3, 3):
            assert judgement.gain is not None
            low, high = judgement.gain.interval or (-9.0, 1.0)
            covering += low <= 0.3 <= high
        assert covering >= (1 - ALPHA) * self.TRIALS

    def test_a_gain_that_counts_for_nothing_is_not_confirmed_as_more(self) -> None:
        for judgement in self.looked_at(GAIN_MIN / 3, 4):
            if judgement.verdict == "confirmed":
                assert judgement.gain is not None
                assert judgement.gain.interval is not None
                assert judgement.gain.interval[1] >= GAIN_MIN


def tried(change: str, verdict: str, interval: tuple[float, float] = (0.1, 0.2)) -> Tried:
    finding = Finding("made up", 0.5, None, (), "made-up")
    gain = Gain(1.0, 0.85, 0.15, interval)
    judgement = Judgement(cast("Any", verdict), (), gain, gain, 4)
    return Tried(finding, change, "setting", judgement, ())


def step(on_top_of: tuple[str, ...], *causes: Tried) -> Step:
    return Step(cast("Any", None), on_top_of, causes, (), (), None)


class TestInteractions:
    def test_a_gain_that_is_gone_on_top_of_another(self) -> None:
        first = step((), tried("work_mem=64MB", "confirmed"), tried("index", "confirmed"))
        second = step(("index",), tried("work_mem=64MB", "refuted", (-0.02, 0.02)))
        (sentence,) = interactions([first, second])
        assert sentence == (
            "work_mem=64MB saves time by itself, and saves nothing more once there is index"
        )

    def test_one_that_undoes_another(self) -> None:
        first = step((), tried("a", "confirmed"))
        second = step(("b",), tried("a", "refuted", (-0.5, -0.2)))
        (sentence,) = interactions([first, second])
        assert "makes it slower once there is b" in sentence

    def test_two_that_only_work_together(self) -> None:
        first = step((), tried("a", "refuted"))
        second = step(("b",), tried("a", "confirmed"))
        (sentence,) = interactions([first, second])
        assert sentence == "a saves nothing by itself, and saves time together with b"

    def test_what_was_tried_once_says_nothing(self) -> None:
        assert not list(interactions([step((), tried("a", "confirmed"))]))


def test_each_kind_of_advice_has_an_experiment_and_says_what_it_costs() -> None:
    assert set(experiments()) == set(get_args(AdviceKind))
    for experiment in experiments().values():
        assert experiment.changes
        assert experiment.set_up
        assert experiment.undo


def test_the_page_lists_the_experiments_that_there_are() -> None:
    page = (Path(__file__).parents[2] / "docs/numbers/trying.md").read_text(encoding="utf-8")
    assert page == with_table(page), "make experiments"
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    listed = {row.split("`")[1] for row in rows}
    assert listed >= set(experiments())


def test_what_a_change_of_the_data_costs_stands_beside_its_gain() -> None:
    costs: Any = {
        "slower": [],
        "memory": (None, None),
        "disk": (100 * MIB, 130 * MIB),
        "set_up_s": 1.25,
        "cause": {"change": None},
    }
    assert list(beside(costs)) == [
        "data of 130 MiB on disk, 30 % more than without it",
        "made in 1.25 s on the loaded data",
    ]
    assert list(beside({**costs, "disk": (100 * MIB, 101 * MIB), "set_up_s": None})) == []
