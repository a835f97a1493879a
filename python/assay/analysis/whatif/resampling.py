"""Resamples the passes over a run's operations, for the intervals of predictions."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from assay.analysis.whatif.metrics import Metric
    from assay.analysis.whatif.timing import Measured

# Minimum number of passes for a bootstrap.
PASSES_MIN = 5
RESAMPLES = 400
SEED = 1


@dataclass(frozen=True)
class Resamples:
    """Times of a run's operations in bootstrap resamples of its passes.

    Attributes:
        times: Seconds of the operations, in their order, in each resample; empty with too few
            passes and under a load.
    """

    times: list[list[float]]
    _values: dict[str, list[float]] = field(default_factory=dict)

    def values(self, metric: Metric) -> list[float]:
        """Return a metric's value in each bootstrap resample."""
        if metric.name not in self._values:
            self._values[metric.name] = [metric.of(times) for times in self.times]
        return self._values[metric.name]


NO_RESAMPLES = Resamples([])


def passes_of(measured: Measured) -> int:
    """Return the number of passes over all operations in a run; 0 under a load."""
    return max((len(operation.passes) for operation in measured.operations), default=0)


def resamples(measured: Measured) -> Resamples:
    """Return median operation times in bootstrap resamples of the run's passes.

    A pass is drawn as a whole, because a disturbance may affect all queries of a pass. Empty
    with too few passes and under a load.
    """
    count = passes_of(measured)
    if count < PASSES_MIN:
        return NO_RESAMPLES
    table = pl.DataFrame({op.name: op.passes for op in measured.operations})
    drawn = random.Random(SEED)  # noqa: S311 - nothing is to be kept secret
    places = [place for _ in range(RESAMPLES) for place in drawn.choices(range(count), k=count)]
    sample = pl.Series([number for number in range(RESAMPLES) for _ in range(count)])
    medians = table[places].group_by(sample, maintain_order=True).median()
    return Resamples([list(times) for times in medians.drop_nulls()[:, 1:].rows()])
