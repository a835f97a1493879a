"""Evaluates a search for better settings, and tests whether its result is more than luck.

Every run of a setting has a run of the default in the same round, and their ratio counts.
Invariant: claims about a setting come from runs that took no part in its choice.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.analysis.metrics import default_metric, metric_named, value_of
from assay.analysis.quantities import text
from assay.analysis.stats.anytime import anytime_interval
from assay.analysis.stats.student import mean_of
from assay.analysis.stats.variance import explained_share
from assay.analysis.study_runs import SETTING
from assay.model.errors import UsageError
from assay.model.units import number_of
from assay.model.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from assay.analysis.metrics import Metric
    from assay.analysis.stats.student import Mean
    from assay.analysis.study_runs import StudyRun

DEFAULT = "default"
FIRST, SEARCH, RACE, HOLD_OUT = "first", "search", "race", "hold-out"
# Probability that a tune recommends a setting that is not better.
ALPHA = 0.05
# Number of hold-out pairs before the first evaluation, and after which a setting is given up.
PAIRS_MIN, PAIRS_MAX = 4, 20
# With this many settings, the share of variance that each knob explains is reported.
SETTINGS_MIN = 10
# Numbers with more values than this are grouped in thirds.
VALUES_MAX, GROUPS = 5, 3


@dataclass(frozen=True)
class Trial:
    """One run in a search for better settings.

    Attributes:
        part: Part of the study.
        setting: Text of its levels, from `setting_words`.
        levels: Values of knobs, by `set.` and the setting's name; empty for the default.
        round: Number of the round, from 1. Runs of one part and round were executed side by
            side.
        value: Value of the metric; None if there is none.
        cost: Logarithm of the value, with the sign that makes lower better; None if the run
            failed.
        reason: Reason for the failure.
    """

    part: str
    setting: str
    levels: Mapping[str, str]
    round: int
    value: float | None
    cost: float | None
    reason: str | None = None


@dataclass(frozen=True)
class Standing:
    """The results of one group of settings during the search.

    Attributes:
        setting: Text of the setting.
        levels: Values of knobs, as in `Trial`.
        ratio: Mean logarithm of its cost divided by the default's; None if it failed, or has no
            default beside it.
        rounds: Number of rounds.
        failed: Reason why a run of it failed; None if none did.
    """

    setting: str
    levels: Mapping[str, str]
    ratio: Mean | None
    rounds: int
    failed: str | None


@dataclass(frozen=True)
class HoldOut:
    """The best settings of a search compared with the default, in separate runs.

    Attributes:
        part: Part of the study.
        ratios: Logarithms of cost divided by the default's, one per round.
        interval: Interval of their mean at the part's error probability, valid at any time. None
            means no bound yet.
    """

    part: str
    setting: str
    levels: Mapping[str, str]
    ratios: tuple[float, ...]
    interval: tuple[float, float] | None
    failed: str | None

    @property
    def alpha(self) -> float:
        """The error probability of this hold-out; those of all hold-outs sum to `ALPHA`."""
        number = _place(self.part)
        return ALPHA / (number * (number + 1))

    @property
    def mean(self) -> float | None:
        """The mean of the logarithmic cost ratios; None without rounds."""
        return math.fsum(self.ratios) / len(self.ratios) if self.ratios else None

    @property
    def is_better(self) -> bool:
        """True if the setting is better than the default: the interval excludes equality."""
        is_measured = self.failed is None and len(self.ratios) >= PAIRS_MIN
        return is_measured and self.interval is not None and self.interval[1] < 0

    @property
    def is_given_up(self) -> bool:
        """True if further runs of these settings are not worth their time."""
        if self.failed is not None or self.is_better:
            return not self.is_better
        mean = self.mean
        pairs = len(self.ratios)
        return pairs >= PAIRS_MAX or (pairs >= PAIRS_MIN and mean is not None and mean >= 0)


@dataclass(frozen=True)
class Told:
    """The search results of one value, or group of values, of a setting.

    Attributes:
        knob: The setting's name.
        values: A value, or the first and last value of a third of all values.
        settings: Number of tried settings with one of these values.
        ratio: Mean logarithm of cost divided by the default's.
    """

    knob: str
    values: str
    settings: int
    ratio: float


def setting_words(levels: Mapping[str, str]) -> str:
    """Return settings and their values as text; `default` for the default settings."""
    assignments = (f"{name.removeprefix(SETTING)}={value}" for name, value in levels.items())
    return ", ".join(assignments) or DEFAULT


def kind_of(part: str) -> str:
    """Return the purpose of a group of runs in a settings search, from the group's name."""
    return part.rpartition("-")[0] or part


def metric_of(name: str | None, run: StudyRun) -> Metric:
    """Return the metric to improve: by its name, or else the runs' default metric."""
    return default_metric(run.run) if name is None else metric_named(name, run.run)


def trial_of(run: StudyRun, metric: Metric) -> Trial:
    """Return a run of a settings search, with its cost.

    The trial has failed if the run's answers are wrong, or it has no value of the metric.

    Raises:
        UsageError: If the metric may be zero, so that no ratio is defined.
    """
    wrong = next((check for check in run.checks if check.verdict is Verdict.INVALID), None)
    value = value_of(run.run, metric)
    reason = None if wrong is None else wrong.reason
    if value is None and reason is None:
        reason = f"it has no {metric.title}: operations failed, or were cancelled"
    if value is not None and value <= 0:
        raise UsageError(
            f"--objective {metric.name}: the metric is {text(value, metric.unit)} here"
        )
    cost = None
    if value is not None and reason is None:
        cost = math.log(value) if metric.is_better == "lower" else -math.log(value)
    levels = dict(run.levels)
    return Trial(run.part, setting_words(levels), levels, run.round, value, cost, reason)


def ratios_of(trials: Sequence[Trial], kinds: Iterable[str]) -> dict[str, dict[str, list[float]]]:
    """Return logarithms of cost ratios to the default, by section and settings."""
    wanted = frozenset(kinds)
    defaults = {
        (trial.part, trial.round): trial.cost for trial in trials if trial.setting == DEFAULT
    }
    by_part: dict[str, dict[str, list[float]]] = {}
    for trial in sorted(trials, key=lambda trial: trial.round):
        if kind_of(trial.part) not in wanted or trial.setting == DEFAULT:
            continue
        base = defaults.get((trial.part, trial.round))
        ratios = by_part.setdefault(trial.part, {}).setdefault(trial.setting, [])
        if trial.cost is not None and base is not None:
            ratios.append(trial.cost - base)
    return by_part


def standings(trials: Sequence[Trial]) -> list[Standing]:
    """Return the results of all settings that a search tried, in time order."""
    of_parts = ratios_of(trials, (SEARCH, RACE)).values()
    searched = [trial for trial in trials if kind_of(trial.part) in (SEARCH, RACE)]
    levels = {trial.setting: trial.levels for trial in searched if trial.setting != DEFAULT}
    failed = {trial.setting: trial.reason for trial in searched if trial.cost is None}
    made = []
    for setting, setting_levels in levels.items():
        ratios = [ratio for part in of_parts for ratio in part.get(setting, ())]
        mean = mean_of(ratios) if ratios and setting not in failed else None
        made.append(Standing(setting, setting_levels, mean, len(ratios), failed.get(setting)))
    return made


def leaders(candidates: Iterable[Standing]) -> list[Standing]:
    """Return the tried settings with a mean cost ratio, the best first."""
    ranked = [
        (standing.ratio.value, at, standing)
        for at, standing in enumerate(candidates)
        if standing.ratio is not None
    ]
    return [standing for *_, standing in sorted(ranked, key=lambda row: row[:2])]


def hold_outs(trials: Sequence[Trial]) -> list[HoldOut]:
    """Return all hold-out comparisons of a settings search, in time order."""
    made = []
    of_parts = ratios_of(trials, (HOLD_OUT,))
    for part in sorted(of_parts, key=_place):
        ((setting, ratios),) = of_parts[part].items()
        own = [trial for trial in trials if trial.part == part and trial.setting == setting]
        failed = next((trial.reason for trial in own if trial.cost is None), None)
        bare = HoldOut(part, setting, own[0].levels, tuple(ratios), None, failed)
        made.append(replace(bare, interval=anytime_interval(ratios, bare.alpha)))
    return made


def _place(part: str) -> int:
    return int(part.rpartition("-")[2])


def gain(ratio: float, metric: Metric) -> float:
    """Return the gain over the default as a share, from a logarithmic cost ratio."""
    return -math.expm1(ratio) if metric.is_better == "lower" else math.expm1(-ratio)


def by_value(candidates: Iterable[Standing]) -> list[Told]:
    """Return the mean effect of each setting's values; numbers are grouped in thirds."""
    return [
        Told(knob, values, len(ratios), math.fsum(ratios) / len(ratios))
        for knob, groups in _groups(candidates).items()
        for values, ratios in groups.items()
    ]


def sensitivities(candidates: Iterable[Standing]) -> dict[str, float]:
    """Return the share of variance that each setting explains alone; empty with few trials."""
    tried = list(candidates)
    if len(leaders(tried)) < SETTINGS_MIN:
        return {}
    shares = {
        knob: explained_share(list(groups.values())) for knob, groups in _groups(tried).items()
    }
    return {knob: share for knob, share in shares.items() if share is not None}


def _groups(candidates: Iterable[Standing]) -> dict[str, dict[str, list[float]]]:
    """Return logarithmic cost ratios by setting and value."""
    ranked = leaders(candidates)
    made: dict[str, dict[str, list[float]]] = {}
    for knob in ranked[0].levels if ranked else ():
        of_value: dict[str, list[float]] = {}
        for standing in ranked:
            assert standing.ratio is not None  # noqa: S101 - leaders have one
            of_value.setdefault(standing.levels[knob], []).append(standing.ratio.value)
        # A value that all settings share (such as a knob required by another) shows no effect.
        if len(of_value) > 1:
            made[knob.removeprefix(SETTING)] = _thirds(of_value)
    return made


def _thirds(of_value: Mapping[str, list[float]]) -> dict[str, list[float]]:
    """Return numeric values grouped in thirds; unchanged if few or not numeric."""
    numbers = {value: number_of(value) for value in of_value}
    if None in numbers.values():
        return dict(of_value)
    ordered = sorted(of_value, key=lambda value: numbers[value] or 0.0)
    if len(ordered) <= VALUES_MAX:
        return {value: of_value[value] for value in ordered}
    cuts = [len(ordered) * at // GROUPS for at in range(GROUPS + 1)]
    parts = [ordered[begin:end] for begin, end in itertools.pairwise(cuts)]
    return {
        (part[0] if len(part) == 1 else f"{part[0]} to {part[-1]}"): [
            ratio for value in part for ratio in of_value[value]
        ]
        for part in parts
    }
