"""Places the levels of a study's factor along a chart's axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.study_runs import ENGINE
from assay.model.errors import UsageError, suggestion
from assay.model.units import number_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.analysis.study_runs import StudyRun


def most_levels(runs: Sequence[StudyRun]) -> str:
    """Return the study factor with the most levels; the engine only if no other factor varies."""
    levels: dict[str, set[str]] = {}
    for run in runs:
        for factor, name in run.levels.items():
            levels.setdefault(factor, set()).add(name)
    return max(levels, key=lambda name: (name != ENGINE, len(levels[name])), default="")


def places_of(runs: Sequence[StudyRun], factor: str) -> dict[str, float | None]:
    """Return the levels of a study's factor in order, each with its position on a numeric axis.

    If a level is neither a number nor a size, all positions are None and the levels keep the order
    of the runs.

    Raises:
        UsageError: If no run has a level of the factor.
    """
    levels = list(dict.fromkeys(run.levels[factor] for run in runs if factor in run.levels))
    if not levels:
        factors = list(dict.fromkeys(name for run in runs for name in run.levels))
        hint = suggestion(factor, factors) if factors else "these runs have none"
        raise UsageError(f"no run has a level of the factor {factor!r}; {hint}")
    positions = [_place(level) for level in levels]
    if None in positions:
        return dict.fromkeys(levels)
    return dict(sorted(zip(levels, positions, strict=True), key=lambda pair: pair[1] or 0.0))


def _place(level: str) -> float | None:
    """Return a factor level's number or size as axis position; None if it has neither."""
    numbers = [number_of(text) for text in (level, *level.split()[:1])]
    return next((at for at in numbers if at is not None), None)
