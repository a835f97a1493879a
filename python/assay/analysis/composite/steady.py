"""When power passes became steady, and what they take then.

A pass is steady if its sum and its geometric mean are each within a tolerance of the medians of
all passes from there on. Passes are steady from the first one on which this holds for every later
one, and there must be three. Each query's steady time is its median over these passes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING

from assay.analysis.composite.intervals import PowerTest
from assay.analysis.operations import geometric_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

TOLERANCE = 0.05
STEADY_PASSES_MIN = 3


@dataclass(frozen=True)
class PassFigures:
    """One pass, or the steady figure of several, in seconds.

    Attributes:
        sum_s: All intervals together.
        geometric_mean_s: Of the intervals; None where one is 0.
    """

    sum_s: float
    geometric_mean_s: float | None


@dataclass(frozen=True)
class Steady:
    """What passes came to.

    Attributes:
        passes: Each pass, in order.
        before: Passes before they became steady; None if they did not.
        tests: The steady passes; the last three of those that did not become steady.
        test: Their steady times as one power test; None of fewer than three passes.
    """

    passes: tuple[PassFigures, ...]
    before: int | None
    tests: tuple[PowerTest, ...]
    test: PowerTest | None

    @property
    def figure(self) -> PassFigures | None:
        """Of the steady times; None of fewer than three passes."""
        return None if self.test is None else _figures(self.test)


def steady(tests: Sequence[PowerTest]) -> Steady | None:
    """When the passes of a steady test became so; None without a whole pass."""
    if not tests:
        return None
    passes = tuple(_figures(test) for test in tests)
    by_sum = steady_from([one.sum_s for one in passes])
    means = [one.geometric_mean_s for one in passes]
    known = [mean for mean in means if mean is not None]
    by_mean = steady_from(known) if len(known) == len(means) else None
    before = None if by_sum is None or by_mean is None else max(by_sum, by_mean)
    chosen = tuple(tests[-STEADY_PASSES_MIN:] if before is None else tests[before:])
    enough = len(chosen) >= STEADY_PASSES_MIN
    return Steady(passes, before, chosen, _middle(chosen) if enough else None)


def steady_from(values: Sequence[float], tolerance: float = TOLERANCE) -> int | None:
    """The first place from which on every value is within a tolerance of their median.

    None if that leaves fewer than three.
    """
    for place in range(len(values) - STEADY_PASSES_MIN + 1):
        rest = values[place:]
        middle = median(rest)
        if all(abs(value - middle) <= tolerance * middle for value in rest):
            return place
    return None


def _middle(tests: Sequence[PowerTest]) -> PowerTest:
    """The median length of each query; passes play them in one order."""
    columns = zip(*(test.queries for test in tests), strict=True)
    return PowerTest(
        tuple(
            replace(column[0], length_ns=round(median(one.length_ns for one in column)))
            for column in columns
        )
    )


def _figures(test: PowerTest) -> PassFigures:
    return PassFigures(test.seconds, geometric_mean([one.seconds for one in test.queries]))
