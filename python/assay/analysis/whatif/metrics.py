"""Computes a run's metrics, such as throughput, from the times of its operations.

The power-like and the throughput-like metric have the form of the TPC-H specification's metrics,
for one stream without refresh functions: 22 intervals instead of 24, medians instead of one
execution, and unrounded times instead of multiples of 0.01 s. The power-like and throughput-like
metric are no TPC metrics, and neither is their geometric mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from assay.analysis.composite import formulas
from assay.analysis.composite.rounding import raised_s
from assay.analysis.operations import geometric_mean

if TYPE_CHECKING:
    from assay.analysis.whatif.timing import Measured

Of = Callable[[Sequence[float]], float]
Better = Literal["lower", "higher"]


@dataclass(frozen=True)
class Metric:
    """A metric of a whole run, computed from operations' times.

    Attributes:
        name: Name in documents.
        label: Label of a column.
        title: Full title, which says if it is no TPC metric.
        unit: `s`, `/h` or `/s`.
        better: Direction of an improvement.
        of: Function from the operations' seconds, in their order, to the metric; infinite if an
            operation takes no time.
        smooth: The same function without rounding, for slopes; None if it has none.
        also: Alternative functions that the model allows as well.
    """

    name: str
    label: str
    title: str
    unit: str
    better: Better
    of: Of
    smooth: Of | None = None
    also: tuple[Of, ...] = ()

    def value(self, seconds: Sequence[float]) -> float | None:
        """Return the metric's value for given operation times; None if it is infinite."""
        value = self.of(seconds)
        return value if math.isfinite(value) else None


def metrics_of(measured: Measured) -> tuple[Metric, ...]:
    """Return the metrics that can be predicted for a run."""
    if measured.has_test_metrics:
        # The other module creates metrics of this module's class.
        from assay.analysis.whatif.specified import metrics_of_test

        assert measured.test is not None  # noqa: S101 - asked for above
        return metrics_of_test(measured.test, measured.operations)
    if measured.clients is not None:
        return _load_metrics(measured)
    metrics = (
        Metric("total_seconds", "total", "total", "s", "lower", math.fsum),
        Metric(
            "geometric_mean_seconds", "geometric mean", "geometric mean", "s", "lower", geometric
        ),
    )
    return (*metrics, *_stream_metrics(measured.scale)) if measured.has_composite else metrics


def _stream_metrics(scale: float) -> tuple[Metric, ...]:
    def throughput(seconds: Sequence[float]) -> float:
        return throughput_like(seconds, scale)

    def made(name: str, label: str, of: Of) -> Metric:
        title = f"{label} without refreshes, not a TPC metric"
        return Metric(name, label, title, "/h", "higher", of)

    return (
        made("power_like_per_h", "power-like", lambda seconds: power_like(seconds, scale)),
        made("throughput_like_per_h", "throughput-like", throughput),
        made("composite_per_h", "composite", lambda seconds: composite(seconds, scale)),
    )


def _load_metrics(measured: Measured) -> tuple[Metric, ...]:
    weights = [operation.weight for operation in measured.operations]
    now_s = weighted_mean([op.seconds for op in measured.operations], weights)
    now_per_s = measured.throughput_per_s or 0.0

    def service(seconds: Sequence[float]) -> float:
        return weighted_mean(seconds, weights)

    def throughput(seconds: Sequence[float]) -> float:
        if measured.rate_per_s is not None:
            return now_per_s
        return closed_loop(now_per_s, now_s, service(seconds))

    title = "mean service"
    return (
        Metric("service_seconds_mean", title, title, "s", "lower", service),
        Metric("throughput_per_s", "throughput", "throughput", "/s", "higher", throughput),
    )


def geometric(seconds: Sequence[float]) -> float:
    """Return the geometric mean of times in seconds; 0 if a time is 0."""
    return geometric_mean(seconds) or 0.0


def power_like(seconds: Sequence[float], scale: float) -> float:
    """Return queries per hour by the geometric mean of one stream's times, times the scale."""
    return formulas.power(raised_s(seconds), (), scale)


def throughput_like(seconds: Sequence[float], scale: float) -> float:
    """Return queries per hour of one stream by the sum of its times, times the scale."""
    return formulas.throughput(1, math.fsum(seconds), scale, len(seconds))


def composite(seconds: Sequence[float], scale: float) -> float:
    """Return the geometric mean of the power-like and throughput-like metric of one stream."""
    return formulas.composite(power_like(seconds, scale), throughput_like(seconds, scale))


def closed_loop(throughput_per_s: float, before_s: float, after_s: float) -> float:
    """Return the throughput of a closed load after its operations' mean time has changed.

    The law of the closed loop is: clients = throughput x time of an operation.
    """
    return throughput_per_s * before_s / after_s if after_s > 0 else math.inf


def weighted_mean(seconds: Sequence[float], weights: Sequence[float]) -> float:
    """Return the mean seconds of an execution, weighted by each operation's frequency."""
    pairs = zip(seconds, weights, strict=True)
    return math.fsum(operation_s * weight for operation_s, weight in pairs) / math.fsum(weights)
