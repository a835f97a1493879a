"""Chooses the settings to try next, with Optuna's tree-structured Parzen estimator.

The optimiser is created for each suggestion from the recorded trials, so an interrupted search
continues unchanged. Only this module uses Optuna.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import optuna
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.samplers import RandomSampler, TPESampler

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.study.tuning.knobs import SearchedKnob

    # Values by name of the setting.
    Settings = Mapping[str, str]

# Number of random settings before the first one that is chosen from results.
DRAWN = 6
# Logarithmic penalty of failed settings compared with the worst cost, because similar settings are
# likely to fail.
WORSE = math.log(2.0)
# Maximum number of draws to find untried settings.
TRIES = 30


def suggest(
    knobs: Sequence[SearchedKnob],
    tried: Sequence[tuple[Settings, float | None]],
    count: int,
    seed: int,
    own: Mapping[str, str | None] | None = None,
) -> list[dict[str, str]]:
    """Return untried settings to try next; fewer than requested if no others remain.

    Args:
        knobs: Knobs to search.
        tried: Settings tried so far, in order, with the logarithm of their cost. A cost of None
            means that the run failed.
        count: Number of settings to suggest.
        seed: Seed, the same for the whole search.
        own: Default values, which are not suggested.
    """
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    spaces = {knob.setting: _space(knob) for knob in knobs}
    costs = [cost for _, cost in tried if cost is not None]
    failed = max([0.0, *costs]) + WORSE
    guided = optuna.create_study(
        sampler=TPESampler(seed=seed + len(tried), n_startup_trials=DRAWN, multivariate=True)
    )
    chance = optuna.create_study(sampler=RandomSampler(seed=seed + len(tried)))
    for settings, cost in tried:
        value = failed if cost is None else cost
        params = {knob.setting: _param(knob, settings[knob.setting]) for knob in knobs}
        guided.add_trial(
            optuna.trial.create_trial(params=params, distributions=spaces, value=value)
        )
    seen: list[Mapping[str, str | None]] = [dict(settings) for settings, _ in tried]
    seen += [own] if own else []
    suggested: list[dict[str, str]] = []
    for attempt in range(2 * TRIES):
        if len(suggested) == count:
            break
        asked = (guided if attempt < TRIES else chance).ask(spaces)
        settings = {knob.setting: _text(knob, asked.params[knob.setting]) for knob in knobs}
        if settings not in seen:
            seen.append(settings)
            suggested.append(settings)
    return suggested


def _space(knob: SearchedKnob) -> BaseDistribution:
    if knob.choices:
        return CategoricalDistribution(knob.choices)
    if knob.whole:
        return IntDistribution(int(knob.low), int(knob.high), log=knob.logarithmic)
    return FloatDistribution(knob.low, knob.high, log=knob.logarithmic)


def _param(knob: SearchedKnob, text: str) -> str | float:
    if knob.choices:
        return text
    number = knob.number(text)
    return int(number) if knob.whole else number


def _text(knob: SearchedKnob, param: str | float) -> str:
    return knob.text(param if isinstance(param, str) else knob.rounded(param))
