"""A tune recommends what is better, and refuses in the noise as often as it says."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from assay.analysis.metrics import BY_NAME, TOTAL
from assay.analysis.stats.anytime import EFFECT_VARIANCE, anytime_interval
from assay.analysis.tune.search import (
    ALPHA,
    DEFAULT,
    FIRST,
    HOLD_OUT,
    PAIRS_MAX,
    SEARCH,
    by_value,
    gain,
    hold_outs,
    kind_of,
    leaders,
    sensitivities,
    standings,
)
from assay.engines.knobs import KnobsFacts
from assay.model.errors import UsageError
from assay.running.asked.request import RunRequest
from assay.study.tuning import planning
from assay.study.tuning.knobs import SearchedKnob, searched_knobs
from assay.study.tuning.optimiser import suggest
from assay.study.tuning.planning import Left
from tests.tunes import KNOBS, MEMORY, WORKERS, Tuned, flat, valley

SEQUENCES, LOOKS = 2_000, 20
TUNES = 100
NO_KNOBS = KnobsFacts()
SOME_KNOBS = KnobsFacts.model_validate(
    {
        "knobs": {
            "memory": {
                "setting": "work_mem",
                "about": "memory of a sort",
                "values": "bytes",
                "low": "1MB",
                "high": "1GB",
            },
            "jit": {"setting": "jit", "about": "?", "values": "switch", "choices": ["on", "off"]},
            "vector": {
                "setting": "rows",
                "about": "rows at once",
                "values": "count",
                "low": "10",
                "high": "99",
                "beside": {"adjust": "0"},
            },
            "untold": {"setting": "untold", "about": "?", "values": "count"},
        }
    }
)


def drawn_by_chance(
    knobs: Sequence[SearchedKnob], trials: Sequence[Any], count: int, seed: int, own: object
) -> list[dict[str, str]]:
    """As `suggest`, without an optimiser: whether a claim holds is not its affair."""
    del knobs, own
    drawn = random.Random(seed * 1000 + len(trials))
    return [
        {"work_mem": f"{drawn.randint(1, 1024)}MB", "workers": drawn.choice("0124")}
        for _ in range(count)
    ]


def bayes_factor(values: Sequence[float]) -> float:
    """How much more likely values are with an effect than without, of a normal distribution.

    Priors: deviation by its logarithm, the same for both; the effect's size normal.
    """
    by = 0.05
    width = math.sqrt(EFFECT_VARIANCE)
    effects = [number * by for number in range(-400, 401)]
    weights = [
        math.exp(-((effect / width) ** 2) / 2) / width / math.sqrt(math.tau) for effect in effects
    ]
    with_one = without = 0.0
    for step in range(-120, 120):
        deviation = math.exp(step * by)
        likely = [
            math.prod(math.exp(-((value / deviation - effect) ** 2) / 2) for value in values)
            for effect in (0.0, *effects)
        ]
        scale = deviation ** -len(values)
        without += likely[0] * scale
        pairs = zip(likely[1:], weights, strict=True)
        with_one += scale * by * math.fsum(value * weight for value, weight in pairs)
    return with_one / without


class TestInterval:
    @pytest.mark.parametrize("tail", ["normal", "long"])
    def test_whoever_looks_after_every_round_is_wrong_no_more_often_than_said(
        self, tail: str
    ) -> None:
        drawn = random.Random(5)
        wrong = 0
        for _ in range(SEQUENCES):
            signs = (drawn.choice((-1, 1)) for _ in range(LOOKS))
            values = [
                drawn.gauss(0, 1) if tail == "normal" else sign * drawn.expovariate(1)
                for sign in signs
            ]
            ends = [anytime_interval(values[:count], ALPHA) for count in range(2, LOOKS + 1)]
            wrong += any(end is not None and not end[0] <= 0 <= end[1] for end in ends)
        assert wrong / SEQUENCES < ALPHA

    def test_a_difference_that_is_clear_is_seen_after_few_rounds(self) -> None:
        ends = anytime_interval([-0.30, -0.32, -0.29, -0.31], ALPHA)
        assert ends is not None
        assert ends[1] < 0

    def test_at_its_ends_the_bayes_factor_is_one_by_alpha(self) -> None:
        """The factor by its definition: integrated over the deviation and the effect's size."""
        values = [0.9, 2.1, 3.2, 3.9, 5.0]
        ends = anytime_interval(values, ALPHA)
        assert ends is not None
        for end in ends:
            assert bayes_factor([value - end for value in values]) == pytest.approx(
                1 / ALPHA, rel=1e-3
            )

    def test_of_one_round_or_two_anything_is_possible(self) -> None:
        assert anytime_interval([], ALPHA) is None
        assert anytime_interval([0.1], ALPHA) is None
        assert anytime_interval([0.1, 0.2], ALPHA) is None

    def test_of_rounds_that_are_all_equal_it_is_a_point(self) -> None:
        assert anytime_interval([0.5] * 6, ALPHA) == (0.5, 0.5)


class TestTune:
    def test_a_better_setting_is_recommended_and_its_gain_is_the_true_one(self) -> None:
        tuned = Tuned(valley)
        last = hold_outs(tuned.whole())[-1]
        assert last.is_better
        assert last.interval is not None
        setting = {name.removeprefix("set."): value for name, value in last.levels.items()}
        assert last.interval[0] < math.log(valley(setting)) < last.interval[1] < 0
        assert valley(setting) < 0.75
        assert len(tuned.trials) < tuned.budget

    def test_in_pure_noise_it_recommends_no_more_often_than_it_says(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(planning, "suggest", drawn_by_chance)
        recommended = several = 0
        for seed in range(TUNES):
            held = hold_outs(Tuned(flat, noise=0.1, budget=150, seed=seed).whole())
            recommended += any(lock.is_better for lock in held)
            several += len(held) > 1
        assert several > TUNES / 4
        assert recommended / TUNES <= ALPHA

    def test_one_that_fails_is_a_point_and_no_end(self) -> None:
        def truth(setting: Mapping[str, str]) -> float | None:
            return None if setting.get("workers") == "4" else valley(setting)

        tuned = Tuned(truth)
        held = hold_outs(tuned.whole())
        assert held[-1].is_better
        failed = [standing for standing in standings(tuned.trials) if standing.failed]
        assert failed
        assert all(standing.ratio is None for standing in failed)

    def test_where_every_setting_fails_nothing_is_left_to_be_compared(self) -> None:
        tuned = Tuned(lambda setting: None if setting else 1.0)
        assert hold_outs(tuned.whole()) == []
        assert leaders(standings(tuned.trials)) == []

    def test_a_leader_that_fails_when_it_is_repeated_is_given_up(self) -> None:
        tuned = Tuned(valley)
        while not tuned.parts or kind_of(tuned.parts[-1].name) != HOLD_OUT:
            tuned.truth = valley
            following = tuned.tune.following(tuned.parts, tuned.trials, tuned.left)
            assert following is not None
            if kind_of(following[-1].name) == HOLD_OUT:
                tuned.truth = lambda setting: None if setting else 1.0
            tuned.step()
        (held,) = hold_outs(tuned.trials)
        assert held.is_given_up
        assert not held.is_better
        tuned.truth = valley
        assert hold_outs(tuned.whole())[-1].setting != held.setting

    def test_a_short_budget_still_compares_its_leader(self) -> None:
        tuned = Tuned(valley, budget=20)
        kinds = [kind_of(trial.part) for trial in tuned.whole()]
        assert kinds.count(HOLD_OUT) >= 8
        assert len(kinds) <= 20

    def test_every_round_has_the_default_beside_the_settings(self) -> None:
        tuned = Tuned(valley)
        rounds = {(trial.part, trial.round) for trial in tuned.whole()}
        defaults = {(trial.part, trial.round) for trial in tuned.trials if trial.setting == DEFAULT}
        assert rounds == defaults

    def test_what_decides_had_no_part_in_the_choice(self) -> None:
        tuned = Tuned(valley)
        tuned.whole()
        searched = {id(trial) for trial in tuned.trials if kind_of(trial.part) != HOLD_OUT}
        last = hold_outs(tuned.trials)[-1]
        pairs = [trial for trial in tuned.trials if trial.part == last.part]
        assert not searched & {id(pair) for pair in pairs}
        assert len(last.ratios) * 2 == len(pairs)

    def test_an_interrupted_one_goes_on_as_if_it_had_not_been(self) -> None:
        whole = Tuned(valley)
        whole.whole()
        part = Tuned(valley)
        for _ in range(5):
            part.step()
        part_facts = [study_part.facts() for study_part in part.parts]
        part.parts = [part.tune.part_again(trial_facts) for trial_facts in part_facts]
        assert part.whole() == whole.trials

    def test_a_hold_out_ends_after_so_many_pairs(self) -> None:
        tuned = Tuned(lambda setting: 0.97 if setting else 1.0, noise=0.3, budget=400)
        held = hold_outs(tuned.whole())
        assert all(len(lock.ratios) <= PAIRS_MAX for lock in held)
        assert [lock.alpha for lock in held[:2]] == [ALPHA / 2, ALPHA / 6][: len(held)]


class TestBeside:
    """What a knob needs beside it is of its settings, and not of the default."""

    def planned(self, *texts: str, **own: str) -> list[dict[str, str]]:
        base = RunRequest(workload="tpch", engine="e", scale=1.0, settings=own)
        tune = planning.Tune(base, searched_knobs(texts, SOME_KNOBS, "e"))
        (part,) = tune.following([tune.part(FIRST, ())], [], Left(None, 1.0))[1:] or ()
        again = tune.part_again(part.facts())
        assert again == part
        rows = [dict(beside.request.settings) for beside in part.variants]
        for variant, settings in zip(part.variants[1:], rows[1:], strict=True):
            assert settings == {
                **own,
                **{k.removeprefix("set."): v for k, v in variant.levels.items()},
            }
        return rows

    def test_each_setting_has_it_and_tells_it_to_whoever_applies_it(self) -> None:
        for texts in (["vector"], ["rows=10..99"], ["vector=10,99", "jit"]):
            default, *others = self.planned(*texts)
            assert default == {}
            assert others
            assert {other["adjust"] for other in others} == {"0"}

    def test_what_a_person_asks_for_of_all_runs_holds(self) -> None:
        assert {planned_run["adjust"] for planned_run in self.planned("vector", adjust="1")} == {
            "1"
        }

    def test_what_is_searched_itself_has_its_own_values(self) -> None:
        others = self.planned("vector=10,99", "adjust=0,1")[1:]
        assert {other["adjust"] for other in others} == {"0", "1"}

    def test_the_same_is_not_proposed_again_and_it_is_no_knob(self) -> None:
        tuned = Tuned(
            lambda setting: 0.5 if setting else 1.0,
            knobs=searched_knobs(["rows=10,20,30,40,50"], SOME_KNOBS, "e"),
        )
        all_standings = standings(tuned.whole())
        searched = [trial.levels for trial in tuned.trials if kind_of(trial.part) == SEARCH]
        assert len([settings for settings in searched if settings]) == 5
        assert {knob_value.knob for knob_value in by_value(all_standings)} == {"rows"}


class TestSuggestions:
    def test_none_is_tried_twice_or_is_the_default_itself(self) -> None:
        trials = [({"workers": "0"}, 0.1), ({"workers": "4"}, None)]
        suggestion = suggest((WORKERS,), trials, 3, 1, {"workers": "1"})
        assert suggestion == [{"workers": "2"}]

    def test_values_are_within_the_ends_and_of_few_digits(self) -> None:
        for row in suggest(KNOBS, [], 8, 3):
            number = MEMORY.number(row["work_mem"])
            assert 1 <= number <= 1024
            assert float(f"{number:.2g}") == number or number in (1, 1024)
            assert row["workers"] in WORKERS.choices

    def test_the_same_record_and_seed_give_the_same(self) -> None:
        trials = [({"work_mem": "4MB", "workers": "2"}, -0.1)]
        assert suggest(KNOBS, trials, 3, 7) == suggest(KNOBS, trials, 3, 7)
        assert suggest(KNOBS, trials, 3, 7) != suggest(KNOBS, trials, 3, 8)


class TestKnobs:
    def test_a_range_is_searched_in_the_unit_that_it_was_written_in(self) -> None:
        (knob,) = searched_knobs(["work_mem=512kB..1GB"], NO_KNOBS, "postgresql")
        assert (knob.low, knob.high, knob.unit) == (512, 1 << 20, "kB")
        assert (knob.whole, knob.logarithmic) == (True, True)
        assert knob.ends == ("512kB", "1048576kB")

    def test_numbers_may_be_broken_and_short_ranges_are_even(self) -> None:
        (knob,) = searched_knobs(["random_page_cost=1.1..4"], NO_KNOBS, "postgresql")
        assert (knob.whole, knob.logarithmic) == (False, False)
        assert knob.text(knob.rounded(2.2345)) == "2.2"

    def test_those_of_the_engine_are_taken_by_either_name_or_all(self) -> None:
        by_setting = searched_knobs(["work_mem"], SOME_KNOBS, "postgresql")
        assert by_setting == searched_knobs(["memory"], SOME_KNOBS, "postgresql")
        assert [searched_knob.setting for searched_knob in searched_knobs([], SOME_KNOBS, "e")] == [
            "work_mem",
            "jit",
            "rows",
        ]
        (own,) = searched_knobs(["memory=1MB..2MB"], SOME_KNOBS, "postgresql")
        assert (own.setting, own.high) == ("work_mem", 2)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("work_mem=4MB", "a search needs several values: write LOW..HIGH or a,b,c, or use"),
            ("work_mem=4MB..1MB", "the lower end 4MB is not below the upper end 1MB"),
            ("work_mem=4MB..x", "'x' is not a number:"),
            ("work_mem=4MB..9s", "the same unit"),
            ("work_mem=0.5MB..4MB", "write whole numbers in a smaller unit,"),
            ("work_mem=", "write it as NAME=LOW..HIGH"),
            ("=1..2", "write it as NAME=LOW..HIGH"),
            ("work_mem=1MB,1MB", "1MB is given twice"),
            ("clients=1..8", "an option of assay run"),
            ("wrk_mem", "declares no values of this setting: give them"),
            ("untold", "declares no values of this setting; did you mean"),
        ],
    )
    def test_what_is_no_knob_is_refused_with_the_mend(self, text: str, message: str) -> None:
        with pytest.raises(UsageError) as error:
            searched_knobs([text], NO_KNOBS if text != "untold" else SOME_KNOBS, "postgresql")
        assert message.partition(";")[0] in str(error.value)

    def test_twice_or_none_is_refused(self) -> None:
        with pytest.raises(UsageError, match="given twice"):
            searched_knobs(["a=1..2", "a=3..4"], NO_KNOBS, "postgresql")
        with pytest.raises(UsageError, match="declares no knobs with values:"):
            searched_knobs([], NO_KNOBS, "postgresql")


class TestTold:
    def test_a_knob_that_matters_tells_most_of_what_settings_differ_by(self) -> None:
        def truth(setting: Mapping[str, str]) -> float:
            return 2.0 ** -int(setting["workers"]) if setting else 1.0

        tuned = Tuned(truth, budget=60)
        tuned.whole()
        all_standings = standings(tuned.trials)
        shares = sensitivities(all_standings)
        assert shares["workers"] > 0.9
        assert shares["work_mem"] < 0.5
        ratios = {
            knob_value.values: knob_value.ratio
            for knob_value in by_value(all_standings)
            if knob_value.knob == "workers"
        }
        assert ratios["4"] == pytest.approx(-4 * math.log(2), abs=0.1)

    def test_of_few_settings_nothing_is_told(self) -> None:
        assert sensitivities([]) == {}

    def test_a_gain_is_a_share_of_the_default(self) -> None:
        less, more = BY_NAME[TOTAL], BY_NAME["throughput_per_s"]
        assert gain(math.log(0.8), less) == pytest.approx(0.2)
        assert gain(math.log(0.8), more) == pytest.approx(0.25)
