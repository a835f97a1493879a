"""Plans the next runs of a settings search: search, races, final hold-out.

Each step is a separate part of a growing study: every round includes the default settings, too.
Planning has no side effects. A step follows from earlier parts and trials and from the remaining
time, so an interrupted search continues from its record.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from assay.analysis.study_runs import SETTING
from assay.analysis.tune.search import (
    DEFAULT,
    FIRST,
    HOLD_OUT,
    PAIRS_MIN,
    RACE,
    SEARCH,
    hold_outs,
    kind_of,
    leaders,
    setting_words,
    standings,
)
from assay.engines.knobs import beside_of
from assay.record.studies import StudyFigure
from assay.study.tuning.optimiser import suggest
from assay.study.variants import Part, Study, Variant

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.analysis.tune.search import Standing, Trial
    from assay.running.asked.request import RunRequest
    from assay.study.tuning.knobs import SearchedKnob

KIND = "tuning"
# Number of settings in a round of the search, in addition to the default.
BLOCK = 3
# Rounds of the first search per knob, their maximum, and rounds of each later search.
BLOCKS_EACH, BLOCKS_MAX, BLOCKS_AGAIN = 3, 9, 3
# Maximum share of the budget for the first search.
SEARCH_SHARE = 0.5
# In a race, one in this many settings continues, after this many rounds.
ETA, RACE_ROUNDS = 3, 2
# Factor of the default's slowest operation after which an operation is cancelled, and its minimum
# in seconds.
CUT_OFF, LIMIT_MIN_S = 5.0, 2.0
ABOUT = {
    FIRST: "The default alone: what it takes says what a setting may take.",
    SEARCH: "Settings beside the default, each once.",
    RACE: "Those that looked best, repeated beside the default.",
    HOLD_OUT: "The leader and the default, in runs that had no part in choosing it.",
}


@dataclass(frozen=True)
class Left:
    """The remaining budget of a settings search, in runs.

    Attributes:
        runs: Number of runs that still fit; None if the duration of a run is not known yet.
        share: Share of the budget, from 0 to 1.
    """

    runs: int | None
    share: float


@dataclass(frozen=True)
class Tune:
    """A search for better engine settings.

    Attributes:
        base: The requested run, with default settings.
        knobs: Knobs to search.
        metric: Name of the objective; None means the main metric of the runs.
        limit_s: Seconds after which an operation of a setting is cancelled; None if not known yet.
        titles: Titles of the engine and the workload; empty means their names are used.
    """

    base: RunRequest
    knobs: tuple[SearchedKnob, ...]
    metric: str | None = None
    limit_s: float | None = None
    titles: tuple[str, str] | None = None

    def study(self, parts: Sequence[Part], failed: Mapping[str, str]) -> Study:
        """Return the study of a settings search with these sections.

        Args:
            parts: All parts so far, including the next one.
            failed: Reason for a failed run, by settings.
        """
        names = ", ".join(knob.setting for knob in self.knobs)
        engine, workload = self.titles or (self.base.engine, self.base.workload)
        question = (
            f"With which {names} is {workload} on {engine} better than by default, beyond noise?"
        )
        all_options = {"metric": self.metric, "failed": dict(failed)}
        options = {name: value for name, value in all_options.items() if value}
        figure = StudyFigure(KIND, tuple(part.name for part in parts), KIND, "Settings", options)
        title = f"Tuning of {engine} for {workload}"
        return Study(question, tuple(parts), self.base.seed, title, (figure,))

    def part(self, name: str, settings: Sequence[Mapping[str, str]], repetitions: int = 1) -> Part:
        """Return a study section that runs the default and the given settings."""
        kind = kind_of(name)
        limited = self.base if kind == FIRST else self._limited()
        variants = [Variant(DEFAULT, limited)]
        for values in settings:
            whole = {**values, **self._beside()}
            levels = {f"{SETTING}{knob}": value for knob, value in whole.items()}
            request = limited.changed(settings={**limited.settings, **whole})
            variants.append(Variant(setting_words(levels), request, levels))
        return Part(name, tuple(variants), repetitions, ABOUT[kind], apart=True)

    def part_again(self, part_facts: Mapping[str, Any]) -> Part:
        """Return a study section from its stored form."""
        settings = [
            _setting(variant["levels"]) for variant in part_facts["variants"] if variant["levels"]
        ]
        return self.part(part_facts["name"], settings, part_facts["repetitions"])

    def ends(self) -> Part:
        """Return a study section with each setting at its extreme values, to validate them."""
        settings = [{knob.setting: value} for knob in self.knobs for value in knob.ends]
        return replace(self.part(SEARCH, settings), name="knobs")

    def following(
        self, parts: Sequence[Part], trials: Sequence[Trial], left: Left
    ) -> list[Part] | None:
        """Return the search's sections with one more, or with more rounds; None at the end."""
        if not parts:
            return [self.part(FIRST, ())]
        kind = kind_of(parts[-1].name)
        held = {hold_out.part: hold_out for hold_out in hold_outs(trials)}
        now = held.get(parts[-1].name)
        if now is not None and not now.is_given_up:
            return None if now.is_better else self._another_pair(parts, left)
        if kind != RACE and self._may_search(parts, left):
            searched = self._searched(parts, trials)
            if searched is not None:
                return searched
        raced = self._raced(parts, trials, left)
        # If no setting looked better, the remaining budget is used for further settings.
        if raced is None and (left.runs is None or left.runs >= BLOCK + 1 + 2 * PAIRS_MIN):
            return self._searched(parts, trials)
        return raced

    def _another_pair(self, parts: Sequence[Part], left: Left) -> list[Part] | None:
        """Return the hold-out comparison with one more round; None if the budget is too small."""
        last = parts[-1]
        if left.runs is not None and left.runs < len(last.variants):
            return None
        return [*parts[:-1], replace(last, repetitions=last.repetitions + 1)]

    def _beside(self) -> dict[str, str]:
        """Return other settings that the varied ones need."""
        needed = beside_of(self.knobs, [knob.setting for knob in self.knobs])
        return {name: value for name, value in needed.items() if name not in self.base.settings}

    def _limited(self) -> RunRequest:
        """Return the request with a time limit for operations, from the default's slowest one."""
        if self.base.operation_deadline_s or self.limit_s is None:
            return self.base
        return self.base.changed(operation_deadline_s=self.limit_s)

    def _may_search(self, parts: Sequence[Part], left: Left) -> bool:
        """Return True if the search can continue and leave budget for a race and a hold-out."""
        kinds = [kind_of(part.name) for part in parts]
        is_first = not {RACE, HOLD_OUT}.intersection(kinds)
        blocks = 0
        for kind in reversed(kinds):
            if kind != SEARCH:
                break
            blocks += 1
        if is_first and not blocks:
            return True
        if is_first and left.share < 1 - SEARCH_SHARE:
            return False
        most = min(BLOCKS_MAX, BLOCKS_EACH * len(self.knobs)) if is_first else BLOCKS_AGAIN
        room = BLOCK + 1 + RACE_ROUNDS * (1 + BLOCK) + 2 * PAIRS_MIN
        return blocks < most and (left.runs is None or left.runs >= room)

    def _searched(self, parts: Sequence[Part], trials: Sequence[Trial]) -> list[Part] | None:
        """Return a search round with untried settings; None without any."""
        tried = [
            (self._knob_values(standing.levels), _cost_of(standing))
            for standing in standings(trials)
        ]
        # Settings equal to the default's own value are not counted as changes.
        own = {knob.setting: self.base.settings.get(knob.setting) for knob in self.knobs}
        settings = suggest(self.knobs, tried, BLOCK, self.base.seed, own)
        return [*parts, self.part(_next(parts, SEARCH), settings)] if settings else None

    def _knob_values(self, levels: Mapping[str, str]) -> dict[str, str]:
        """Return the values of the searched settings, without those of others."""
        values = _setting(levels)
        return {knob.setting: values[knob.setting] for knob in self.knobs}

    def _raced(
        self, parts: Sequence[Part], trials: Sequence[Trial], left: Left
    ) -> list[Part] | None:
        """Return a race of the best settings, or the next hold-out comparison."""
        held = {hold_out.setting for hold_out in hold_outs(trials)}
        candidates = [
            standing for standing in leaders(standings(trials)) if standing.setting not in held
        ]
        runs = math.inf if left.runs is None else left.runs
        if not candidates or (held and runs < 2 * PAIRS_MIN):
            return None
        last = parts[-1]
        if kind_of(last.name) == RACE:
            racing = {variant.name for variant in last.variants}
            candidates = [standing for standing in candidates if standing.setting in racing]
        # Before any repetition, at least two settings race, because one run is no measurement.
        least = 1 if kind_of(last.name) == RACE else min(2, len(candidates))
        count = max(least, math.ceil(len(candidates) / ETA))
        room = (runs - 2 * PAIRS_MIN) / RACE_ROUNDS - 1
        count = int(min(count, room))
        if count >= 2:  # noqa: PLR2004 - one has nobody to race with
            settings = [_setting(standing.levels) for standing in candidates[:count]]
            return [*parts, self.part(_next(parts, RACE), settings, RACE_ROUNDS)]
        return self._held_out(parts, candidates)

    def _held_out(self, parts: Sequence[Part], candidates: Sequence[Standing]) -> list[Part] | None:
        """Return the hold-out comparison of the best settings; None if none is better."""
        best = candidates[0] if candidates else None
        if best is None or best.ratio is None or best.ratio.value >= 0:
            return None
        name = _next(parts, HOLD_OUT)
        return [*parts, self.part(name, [_setting(best.levels)], PAIRS_MIN)]


def limit_s(slowest_s: float) -> float:
    """Return the seconds after which an operation is cancelled, from the default's slowest."""
    return round(max(LIMIT_MIN_S, CUT_OFF * slowest_s), 3)


def _cost_of(standing: Standing) -> float | None:
    """Return the cost of some settings for the optimiser; None if their run failed."""
    if standing.ratio is not None:
        return standing.ratio.value
    return None if standing.failed else 0.0


def _setting(levels: Mapping[str, str]) -> dict[str, str]:
    return {name.removeprefix(SETTING): value for name, value in levels.items()}


def _next(parts: Sequence[Part], kind: str) -> str:
    return f"{kind}-{Counter(kind_of(part.name) for part in parts)[kind] + 1}"
