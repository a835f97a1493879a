"""Computes by how much each query interval changes TPC-H's composite metric, in closed form.

With n intervals in a power test and C = sqrt(P x T):

- d ln P / d ln QI = -1/n; for the longest query -(1 + k)/n if k shorter ones are raised to a
  thousandth of it, and 0 for these k queries;
- d ln T / d ln Ts = -1, and d ln Ts / d ln QI = QI(q, s) / Ts of the stream s that ends last;
- d ln C = (d ln P + d ln T) / 2.

Rounding is left out, because a rounded metric does not change between two hundredths of a
second.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.analysis.composite.figures import figures
from assay.analysis.composite.intervals import PerformanceRun, PowerTest
from assay.analysis.composite.rounding import SPREAD_MAX
from assay.analysis.operations import NS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.analysis.composite.intervals import Interval, ThroughputTest


@dataclass(frozen=True)
class IntervalWeight:
    """The elasticity of TPC-H's metrics to one operation: % change of a metric per % of time.

    Attributes:
        operation: Name of the query or refresh function.
        power_s: Seconds of the operation's interval in the power test; None without one.
        throughput_s: Mean seconds of its intervals in the throughput test; None without one.
        power: Weight in the power metric; None without a power test.
        throughput: Weight in the throughput metric; None without a throughput test.
        composite: Weight in the geometric mean of both; None without both tests.
        shortest_s, longest_s: Shortest and longest interval over all power tests; None if there is
            only one.
        at_shortest, at_longest: Relative change of the composite (or else of the power metric)
            if the operation took its shortest or longest interval; None with a single power
            test.
    """

    operation: str
    power_s: float | None
    throughput_s: float | None
    power: float | None
    throughput: float | None
    composite: float | None
    shortest_s: float | None = None
    longest_s: float | None = None
    at_shortest: float | None = None
    at_longest: float | None = None


def interval_weights(
    run: PerformanceRun, powers: Sequence[PowerTest], scale: float
) -> tuple[IntervalWeight, ...]:
    """Return the elasticity of TPC-H's metrics to the time of each operation.

    Args:
        run: The reported run.
        powers: All power tests, for the variation of intervals.
        scale: Scale factor.
    """
    in_power = {} if run.power is None else power_weights(run.power)
    in_throughput = {} if run.throughput is None else throughput_weights(run.throughput)
    weights = []
    for name in in_power or in_throughput:
        power, throughput = in_power.get(name), in_throughput.get(name)
        weight = IntervalWeight(
            operation=name,
            power_s=None if run.power is None else interval_of(run.power, name).seconds,
            throughput_s=None if run.throughput is None else _mean_s(run.throughput, name),
            power=power,
            throughput=throughput,
            composite=None if power is None or throughput is None else (power + throughput) / 2,
        )
        weights.append(_with_spread(weight, run, powers, scale))
    return tuple(weights)


def power_weights(test: PowerTest) -> dict[str, float]:
    """Return the elasticity d ln P / d ln time of each operation of a power test."""
    every = (*test.queries, *test.refreshes)
    longest = max(test.queries, key=lambda interval: interval.length_ns)
    is_raised = {
        interval: interval.length_ns * SPREAD_MAX < longest.length_ns for interval in test.queries
    }
    count = len(every)
    elasticities = {
        interval.operation: -float(not is_raised.get(interval, False)) / count for interval in every
    }
    elasticities[longest.operation] -= sum(is_raised.values()) / count
    return elasticities


def throughput_weights(test: ThroughputTest) -> dict[str, float]:
    """Return d ln T / d ln time of each operation, from the stream that ended last."""
    elapsed_ns = test.elapsed_ns
    elasticities = dict.fromkeys(_operations(test), 0.0)
    for interval in test.last.intervals:
        elasticities[interval.operation] -= interval.length_ns / elapsed_ns
    return elasticities


def interval_seconds(run: PerformanceRun, name: str) -> float | None:
    """Return the seconds of an operation in the power test, else its mean in the throughput test.

    The result is None if neither test executed the operation.
    """
    if run.power is not None:
        played = {interval.operation for interval in (*run.power.queries, *run.power.refreshes)}
        return interval_of(run.power, name).seconds if name in played else None
    return None if run.throughput is None else _mean_s(run.throughput, name)


def interval_of(test: PowerTest, name: str) -> Interval:
    """Return the interval of an operation in a power test that executed it."""
    return next(
        interval for interval in (*test.queries, *test.refreshes) if interval.operation == name
    )


def _with_spread(
    weight: IntervalWeight, run: PerformanceRun, powers: Sequence[PowerTest], scale: float
) -> IntervalWeight:
    """Return the elasticity with the effect of the operation's variation between power tests."""
    if run.power is None or len(powers) < 2:  # noqa: PLR2004 - one has no spread
        return weight
    name = weight.operation
    lengths = [interval_of(test, name).length_ns for test in powers]
    shortest, longest = min(lengths), max(lengths)
    return replace(
        weight,
        shortest_s=shortest * NS,
        longest_s=longest * NS,
        at_shortest=_change(run, name, shortest, scale),
        at_longest=_change(run, name, longest, scale),
    )


def _change(run: PerformanceRun, name: str, length_ns: int, scale: float) -> float | None:
    """Return the relative change of the main metric if one power interval had another length."""

    def moved(every: Sequence[Interval]) -> tuple[Interval, ...]:
        return tuple(
            replace(interval, length_ns=length_ns) if interval.operation == name else interval
            for interval in every
        )

    assert run.power is not None  # noqa: S101 - asked for above
    power = PowerTest(moved(run.power.queries), moved(run.power.refreshes))
    before, after = (
        figures(performance, scale, rounded=False).first_known
        for performance in (run, replace(run, power=power))
    )
    return after / before - 1 if before and after else None


def _operations(test: ThroughputTest) -> list[str]:
    return list(
        dict.fromkeys(
            interval.operation for stream in test.sessions for interval in stream.intervals
        )
    )


def _mean_s(test: ThroughputTest, name: str) -> float | None:
    """Return an operation's mean seconds over all streams; None if no stream executed it."""
    seconds = [
        interval.seconds
        for stream in test.sessions
        for interval in stream.intervals
        if interval.operation == name
    ]
    return sum(seconds) / len(seconds) if seconds else None
