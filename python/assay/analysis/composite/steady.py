"""Computes the times of repeated power passes once they are steady, and of the first pass.

The driver executes passes until the last three differ by at most 5 % between shortest and
longest, or until 30 passes are done. Each query's steady time is its median over these three
passes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING, Any

from assay.analysis.composite.intervals import PowerTest
from assay.analysis.operations import geometric_mean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# The driver's rule, for older plans that do not contain it.
STEADY_PASSES = 3
WITHIN = 0.05


@dataclass(frozen=True)
class PassFigures:
    """Query times of one pass over all queries, or of several steady passes, in seconds.

    Attributes:
        sum_s: Sum of all intervals.
        geometric_mean_s: Geometric mean of the intervals; None if one is 0.
    """

    sum_s: float
    geometric_mean_s: float | None


@dataclass(frozen=True)
class Steady:
    """The query times of all passes in a TPC-H test that repeats until times are steady.

    Attributes:
        passes: Times of each pass, in order.
        before: Number of passes before the steady ones; None if the passes did not become
            steady.
        tests: The last three passes, which are steady unless `before` is None.
        test: Median time of each query over these passes, as one power test; None if there are too
            few passes.
    """

    passes: tuple[PassFigures, ...]
    before: int | None
    tests: tuple[PowerTest, ...]
    test: PowerTest | None

    @property
    def figure(self) -> PassFigures | None:
        """The steady query times, from median intervals; None with fewer than three passes."""
        return None if self.test is None else _figures(self.test)


def steady(tests: Sequence[PowerTest], rule: Mapping[str, Any]) -> Steady | None:
    """Return the query times of complete passes over the queries; None without one.

    Args:
        tests: The complete passes, in order.
        rule: Entry `steady` of the phase in the plan: `passes`, `within`, `passes_max`.
    """
    if not tests:
        return None
    count = int(rule.get("passes", STEADY_PASSES))
    last = tuple(tests[-count:])
    is_whole = len(last) == count
    # The driver compares elapsed times, and ends before its maximum only if passes are alike.
    ended_early = len(tests) < int(rule.get("passes_max", 0))
    lengths_s = [test.seconds for test in last]
    alike = ended_early or are_alike(lengths_s, float(rule.get("within", WITHIN)))
    return Steady(
        passes=tuple(_figures(test) for test in tests),
        before=len(tests) - count if is_whole and alike else None,
        tests=last,
        test=_middle(last) if is_whole else None,
    )


def are_alike(lengths_s: Sequence[float], within: float) -> bool:
    """Return True if the longest time is at most the share `within` above the shortest."""
    return max(lengths_s) - min(lengths_s) <= within * min(lengths_s)


def _middle(tests: Sequence[PowerTest]) -> PowerTest:
    """Return a power test in which each query has the median interval of the given passes."""
    columns = zip(*(test.queries for test in tests), strict=True)
    return PowerTest(
        tuple(
            replace(column[0], length_ns=round(median(interval.length_ns for interval in column)))
            for column in columns
        )
    )


def _figures(test: PowerTest) -> PassFigures:
    return PassFigures(
        test.seconds, geometric_mean([interval.seconds for interval in test.queries])
    )
