"""Ratios of engines or settings to a base engine, within a round so that drift cancels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.quantities import Spread
from assay.analysis.stats.rounds import factor_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from assay.analysis.figures.subjects import Subject
    from assay.analysis.stats.rounds import Factor
    from assay.record.reader import Run

BASE = "the engine that others are told in times of; without it, or where it was not run, the first"


def base_of(subjects: Sequence[Subject], wanted: object) -> Subject | None:
    """Return the engine or setting that others are compared with; None for a single one.

    Args:
        subjects: Subjects of the figure, in its order.
        wanted: Name of the engine to compare with.
    """
    if len(subjects) < 2:  # noqa: PLR2004 - nothing to compare
        return None
    named = (subject for subject in subjects if subject.first.facts["engine"]["name"] == wanted)
    return next(named, subjects[0])


def key_of(key: str, base: Subject, wanted: object) -> str:
    """Return the unique key of a ratio to a base engine, which the key may include."""
    is_asked = wanted is None or base.first.facts["engine"]["name"] == wanted
    return key if is_asked else f"{key} of {base.name}"


def versions(subjects: Sequence[Subject]) -> Iterator[tuple[Subject, Subject]]:
    """Return pairs of an engine's first version and each later version."""
    first: dict[str, Subject] = {}
    for subject in subjects:
        engine = subject.first.facts["engine"]
        old = first.setdefault(str(engine["name"]), subject)
        if old.first.facts["engine"]["version"] != engine["version"]:
            yield old, subject


def by_round(subject: Subject, quantity: Callable[[Run], float | None]) -> dict[int, float]:
    """Return a quantity of each round's run, without rounds where it is unknown or 0."""
    values = {run.round: quantity(run.run) for run in subject.runs}
    return {number: value for number, value in values.items() if value}


def times(values: Mapping[int, float], base: Mapping[int, float]) -> Factor | None:
    """Return the factor of a quantity relative to the base engine over common rounds."""
    return factor_of([value / base[number] for number, value in values.items() if number in base])


def spread_of(factor: Factor | None) -> Spread | None:
    """Return a factor as a spread whose lowest and highest values are its interval's ends."""
    if factor is None:
        return None
    low, high = factor.interval or (factor.times, factor.times)
    return Spread(factor.times, low, high, factor.rounds)


def ends_of(factor: Factor | None) -> tuple[float | None, float | None, float | None]:
    """Return the value and interval ends of a factor as table cells; None without an interval."""
    if factor is None:
        return None, None, None
    return factor.times, *(factor.interval or (None, None))


def alone(factors: Sequence[Factor | None]) -> bool:
    """Return True if no factor has an interval because only one round was measured."""
    measured = [factor for factor in factors if factor is not None]
    return bool(measured) and all(factor.interval is None for factor in measured)


ONE_ROUND = "One round: these ratios may be noise."
SEVERAL = (
    "Ratios are taken within a round; shown is their geometric mean over the rounds with its 95 %"
    " interval (Student's t)."
)
