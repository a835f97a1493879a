"""Times of a run as its passes might have come out: what intervals of predictions are from."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from assay.analysis.whatif.metrics import Metric
    from assay.analysis.whatif.timing import Measured

# Of fewer passes a bootstrap tells nothing.
PASSES_MIN = 5
RESAMPLES = 400
SEED = 1


@dataclass(frozen=True)
class Resamples:
    """Times of one run as its passes might have come out.

    Attributes:
        times: Seconds of the operations, in their order, in each resample; empty for too few
            passes and under a load.
    """

    times: list[list[float]]
    _values: dict[str, list[float]] = field(default_factory=dict)

    def values(self, metric: Metric) -> list[float]:
        """Return a metric of the run in each resample; computed once for all predictions."""
        if metric.name not in self._values:
            self._values[metric.name] = [metric.of(times) for times in self.times]
        return self._values[metric.name]


NO_RESAMPLES = Resamples([])


def passes_of(measured: Measured) -> int:
    """Passes of the power order; 0 under a load."""
    return max((len(operation.passes) for operation in measured.operations), default=0)


def resamples(measured: Measured) -> Resamples:
    """Return medians of the operations over passes drawn with replacement, in their order.

    A pass is drawn as a whole: what slowed one query of it may have slowed all. Empty for too few
    passes and under a load.
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
