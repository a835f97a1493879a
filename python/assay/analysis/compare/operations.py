"""Computes the times of each operation in two runs, with an interval for their ratio.

The typical time of an operation is the geometric mean over its passes. Under a load, consecutive
executions depend on each other, so they are grouped into batches, and each batch counts once, by
its median. The interval is Welch's, for the difference of the means of logarithms. The interval
covers the variation of passes in these two runs, but not the variation between runs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

from assay.analysis.load.latency import measured_times, succeeded
from assay.analysis.stats.student import difference_of_means

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.record.reader import Run

NS = 1e-9
# With fewer values an interval would depend mainly on the assumed distribution.
VALUES_MIN = 3
BATCHES = 20


@dataclass(frozen=True)
class OperationTimes:
    """The times of one operation in two runs.

    Attributes:
        operation: Name of the operation.
        before_s, after_s: Typical seconds in each run; None if the operation did not succeed in
            it.
        factor: `after_s` divided by `before_s`; None if either is missing.
        interval: 95 % interval of the factor; None if a run has fewer than `VALUES_MIN` executions.
    """

    operation: str
    before_s: float | None
    after_s: float | None
    factor: float | None = None
    interval: tuple[float, float] | None = None

    @property
    def differs(self) -> bool | None:
        """True if the interval of the time ratio excludes 1; None without an interval."""
        if self.interval is None:
            return None
        low, high = self.interval
        return not low <= 1.0 <= high


def operation_times(before: Run, after: Run) -> list[OperationTimes]:
    """Return the times of all operations in two runs, in the second run's order.

    Raises:
        RecordUnreadableError: If the events of a run cannot be read.
    """
    old, new = _values(before), _values(after)
    return [
        times_of(name, old.get(name, ()), new.get(name, ())) for name in dict.fromkeys([*new, *old])
    ]


def times_of(name: str, before: Sequence[float], after: Sequence[float]) -> OperationTimes:
    """Return the times of one operation in two runs, with the interval of their ratio.

    Args:
        name: Name of the operation.
        before: Seconds of its executions in one run, in their order; above zero.
        after: Seconds of its executions in the later run, in their order; above zero.
    """
    old, new = _logarithms(before), _logarithms(after)
    before_s = math.exp(_mean(old)) if old else None
    after_s = math.exp(_mean(new)) if new else None
    if not (old and new):
        return OperationTimes(name, before_s, after_s)
    ratio = difference_of_means(old, new)
    interval = None
    if ratio.interval is not None and min(len(old), len(new)) >= VALUES_MIN:
        interval = math.exp(ratio.interval[0]), math.exp(ratio.interval[1])
    return OperationTimes(name, before_s, after_s, math.exp(ratio.value), interval)


def _values(run: Run) -> dict[str, list[float]]:
    if not run.has("events"):
        return {}
    events = succeeded(measured_times(run.table("events")))
    values: dict[str, list[float]] = {}
    for name, service_ns in events.select("operation", "service_ns").iter_rows():
        if service_ns > 0:
            values.setdefault(str(name), []).append(service_ns * NS)
    return values


def _logarithms(values: Sequence[float]) -> list[float]:
    """Return the logarithms of values, or of their batch medians if there are many."""
    if len(values) > 2 * BATCHES:
        edges = [len(values) * number // BATCHES for number in range(BATCHES + 1)]
        values = [median(values[begin:end]) for begin, end in pairwise(edges)]
    return [math.log(value) for value in values]


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
