"""Computes TPC-H's metrics of one run, with and without the specification's rounding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.analysis.composite.formulas import composite, power, throughput
from assay.analysis.composite.rounding import counted_s, elapsed_s, raised
from assay.analysis.operations import NS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.analysis.composite.intervals import PerformanceRun, PowerTest, ThroughputTest

# Rounding changes the length of shorter intervals by 5 % and more.
SHORT_NS = 100_000_000
# From this share of short intervals on, rounding dominates the composite.
SHORT_SHARE_MAX = 0.1


@dataclass(frozen=True)
class Figures:
    """TPC-H's power, throughput and composite metrics of a run; None if not executed.

    Attributes:
        power: The power metric: per hour, times the scale.
        throughput: The throughput metric: queries per hour, times the scale.
    """

    power: float | None
    throughput: float | None

    @property
    def composite(self) -> float | None:
        """The geometric mean of the power and throughput metrics; None if either is None."""
        if self.power is None or self.throughput is None:
            return None
        return composite(self.power, self.throughput)

    @property
    def first_known(self) -> float | None:
        """The composite metric, or else power, or else throughput; None if no metric is known."""
        return next(
            (
                metric
                for metric in (self.composite, self.power, self.throughput)
                if metric is not None
            ),
            None,
        )


def figures(run: PerformanceRun, scale: float, *, rounded: bool = True) -> Figures:
    """Return TPC-H's power, throughput and composite metrics of a complete run.

    Args:
        run: The run.
        scale: Scale factor.
        rounded: Whether intervals are rounded as in the specification. The 1000:1 rule applies in
            both cases. Without rounding no interval may be 0.
    """
    return Figures(
        None if run.power is None else _power(run.power, scale, rounded=rounded),
        None if run.throughput is None else _throughput(run.throughput, scale, rounded=rounded),
    )


def reported_run(runs: Sequence[PerformanceRun], scale: float) -> PerformanceRun:
    """Return the reported run of a TPC-H test: the run with the lower composite metric."""
    return min(runs, key=lambda run: figures(run, scale).first_known or 0.0)


def counted_power_s(test: PowerTest, *, rounded: bool = True) -> tuple[list[float], list[float]]:
    """Return the seconds of queries and refresh functions that count in TPC-H's power test."""
    queries = raised([interval.length_ns for interval in test.queries])
    if rounded:
        return [counted_s(length_ns) for length_ns in queries], [
            counted_s(interval.length_ns) for interval in test.refreshes
        ]
    return [float(length_ns) * NS for length_ns in queries], [
        interval.seconds for interval in test.refreshes
    ]


def counted_elapsed_s(test: ThroughputTest, *, rounded: bool = True) -> float:
    """Return the elapsed seconds that count in TPC-H's throughput test."""
    return elapsed_s(test.elapsed_ns) if rounded else test.elapsed_ns * NS


def short_share(test: PowerTest) -> float:
    """Return the share of a power test's intervals that are so short that rounding dominates."""
    every = (*test.queries, *test.refreshes)
    return sum(interval.length_ns < SHORT_NS for interval in every) / len(every)


def _power(test: PowerTest, scale: float, *, rounded: bool) -> float:
    return power(*counted_power_s(test, rounded=rounded), scale)


def _throughput(test: ThroughputTest, scale: float, *, rounded: bool) -> float:
    seconds = counted_elapsed_s(test, rounded=rounded)
    queries = max(len(stream.intervals) for stream in test.streams)
    return throughput(len(test.streams), seconds, scale, queries)
