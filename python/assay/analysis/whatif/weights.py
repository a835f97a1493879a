"""Computes how much each operation's time weighs in each metric of a run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.analysis.whatif.metrics import Metric, Of, metrics_of

if TYPE_CHECKING:
    from assay.analysis.whatif.timing import Measured, TimedOperation

# Half the step of a numerical slope, in logarithms.
STEP = 1e-4


@dataclass(frozen=True)
class Weight:
    """The weight of one operation's time in one metric.

    Attributes:
        metric: Name of the metric.
        elasticity: Change of the metric in per cent per per cent of the operation's time.
        at_min, at_max: Relative change of the metric if each pass of the operation were as fast
            as its fastest or as slow as its slowest; None without passes.
    """

    metric: str
    elasticity: float
    at_min: float | None
    at_max: float | None

    def facts(self) -> dict[str, Any]:
        """Return the weight of an operation in a metric as JSON values."""
        return {
            "metric": self.metric,
            "elasticity": self.elasticity,
            "at_min": self.at_min,
            "at_max": self.at_max,
        }


@dataclass(frozen=True)
class Sensitivity:
    """The weights of one operation's time in all metrics.

    Attributes:
        operation: The measured operation.
        weights: Its weight in each metric, in their order.
    """

    operation: TimedOperation
    weights: tuple[Weight, ...]

    def facts(self) -> dict[str, Any]:
        """Return the weights of an operation in all metrics as JSON values."""
        return {
            "operation": self.operation.name,
            "seconds": self.operation.seconds,
            "seconds_min": self.operation.seconds_min,
            "seconds_max": self.operation.seconds_max,
            "weights": [weight.facts() for weight in self.weights],
        }


def sensitivity(measured: Measured) -> tuple[Sensitivity, ...]:
    """Return each operation's weights in all metrics of a run.

    The result is empty if an operation has no time, because no metric has a value then.
    """
    if measured.why_not is not None or not measured.operations:
        return ()
    seconds = [operation.seconds for operation in measured.operations]
    metrics = metrics_of(measured)
    return tuple(
        Sensitivity(
            operation, tuple(_weight(metric, seconds, place, operation) for metric in metrics)
        )
        for place, operation in enumerate(measured.operations)
    )


def _weight(metric: Metric, seconds: list[float], place: int, operation: TimedOperation) -> Weight:
    def at(value: float | None) -> float | None:
        if value is None:
            return None
        moved = metric.of([*seconds[:place], value, *seconds[place + 1 :]])
        return moved / metric.of(seconds) - 1

    slope = _slope(metric.smooth or metric.of, seconds, place)
    return Weight(metric.name, slope, at(operation.seconds_min), at(operation.seconds_max))


def _slope(of: Of, seconds: list[float], place: int) -> float:
    """Return the elasticity of a metric to the time of one operation (ratio of log changes)."""

    def at(step: float) -> float:
        moved = seconds[place] * math.exp(step)
        return math.log(of([*seconds[:place], moved, *seconds[place + 1 :]]))

    return (at(STEP) - at(-STEP)) / (2 * STEP)
