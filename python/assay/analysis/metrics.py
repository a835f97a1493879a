"""The metrics of a run, by their names in study files."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from assay.analysis.composite.figures import Figures, figures
from assay.analysis.composite.naming import COMPOSITE, POWER, THROUGHPUT
from assay.analysis.composite.played import Played, played
from assay.analysis.load_plan import load_of
from assay.analysis.operations import operation_table, total_and_mean
from assay.analysis.quantities import BYTES, COUNT, PER_HOUR, PER_SECOND, SECONDS, SHARE
from assay.analysis.summarise import summarise
from assay.analysis.summary import Summary
from assay.model.errors import UsageError, suggestion

if TYPE_CHECKING:
    from assay.record.reader import Run

TOTAL, MEAN = "total_seconds", "geometric_mean_seconds"


@dataclass(frozen=True)
class Metric:
    """One metric of a run, such as throughput or total time.

    Attributes:
        name: Name in study files.
        title: Label of an axis.
        unit: Unit, as in `quantities.text`.
        is_better: Better direction, `higher` or `lower`.
    """

    name: str
    title: str
    unit: str
    is_better: str


METRICS = (
    Metric(TOTAL, "seconds of all operations", SECONDS, "lower"),
    Metric(MEAN, "geometric mean of operations", SECONDS, "lower"),
    Metric(POWER, "power", PER_HOUR, "higher"),
    Metric(THROUGHPUT, "throughput", PER_HOUR, "higher"),
    Metric(COMPOSITE, "composite", PER_HOUR, "higher"),
    *(
        Metric(f"{kind}_{number}", f"{kind} of the {place} run", PER_HOUR, "higher")
        for kind in (POWER, THROUGHPUT)
        for number, place in enumerate(("first", "second"), 1)
    ),
    Metric("throughput_per_s", "operations a second", PER_SECOND, "higher"),
    Metric("statements_per_s", "statements a second", PER_SECOND, "higher"),
    Metric("latency_seconds_p50", "median latency", SECONDS, "lower"),
    Metric("latency_seconds_p99", "latency of the 99th percentile", SECONDS, "lower"),
    Metric("retries", "attempts beyond the first", COUNT, "lower"),
    Metric("failed_share", "operations that failed", SHARE, "lower"),
    Metric("wasted_share", "time in attempts that failed", SHARE, "lower"),
    Metric("memory_peak_bytes", "peak memory", BYTES, "lower"),
)
BY_NAME = {metric.name: metric for metric in METRICS}
# Kinds of runs by the metrics they have. Peak memory is known for all runs.
ORDER, LOAD, TEST = "order", "load", "test"


def metric_named(name: str, run: Run) -> Metric:
    """Return a metric by its name, or the time of an operation by the operation's name.

    Raises:
        UsageError: If the name is neither a metric nor an operation.
    """
    if name in BY_NAME:
        return BY_NAME[name]
    operations = list(run.facts["plan"]["operations"])
    if name in operations:
        return Metric(name, f"seconds of {name}", SECONDS, "lower")
    raise UsageError(f"unknown metric {name!r}: {suggestion(name, [*BY_NAME, *operations])}")


def kind_of_metric(metric: Metric) -> str | None:
    """Return the only kind of run that has a metric; None if all kinds have it."""
    if metric.unit == PER_HOUR:
        return TEST
    if metric.name in (TOTAL, MEAN):
        return ORDER
    return None if metric.unit == BYTES else LOAD


def default_metric(run: Run) -> Metric:
    """Return the main metric of a run: a TPC-H result, throughput, or total time."""
    if run.facts.get("test") is not None:
        test = test_of(run)
        return BY_NAME[TOTAL if test is None else test.metrics[0]]
    return BY_NAME["throughput_per_s" if load_of(run.facts) is not None else TOTAL]


def value_of(run: Run, metric: Metric) -> float | None:
    """Return the value of a metric in a run; None if the run does not have it."""
    if metric.unit == PER_HOUR:
        kind, _, number = metric.name.partition("_")
        return _test_metric(run, kind, int(number) if number else None)
    if metric.name in BY_NAME and metric.name not in (TOTAL, MEAN):
        return summary_of(run).metrics.get(metric.name)
    seconds = seconds_of(run)
    if metric.name not in BY_NAME:
        return seconds.get(metric.name)
    # In a load, operations run concurrently and have no total time.
    if load_of(run.facts) is not None:
        return None
    total_seconds, mean_seconds = total_and_mean(list(seconds.values()))
    return total_seconds if metric.name == TOTAL else mean_seconds


@lru_cache(maxsize=512)
def seconds_of(run: Run) -> dict[str, float | None]:
    """Return the median seconds of each operation of a run, in the order of its first pass."""
    table = operation_table(run.table("events"))
    return dict(table.select("operation", "seconds").iter_rows())


@lru_cache(maxsize=512)
def test_of(run: Run) -> Played | None:
    """Return the TPC-H test that a run executed; None without one."""
    return played(run)


@lru_cache(maxsize=256)
def summary_of(run: Run) -> Summary:
    """Return the summary of a run, computed once for all metrics."""
    return summarise(run)


def metric_of_run(run: Run, kind: str, number: int) -> float | None:
    """Return a TPC-H metric of run `number` (from 1) of a test; None if it has none."""
    return _test_metric(run, kind, number)


def _test_metric(run: Run, kind: str, number: int | None) -> float | None:
    test = test_of(run)
    if test is None or test.why_not:
        return None
    if number is None:
        return metric_of_kind(test.figures(), kind)
    played_run = next((run for run in test.runs if run.number == number), None)
    return None if played_run is None else metric_of_kind(figures(played_run, test.scale), kind)


def metric_of_kind(metrics: Figures, kind: str) -> float | None:
    """Return TPC-H's power, throughput or composite metric by its name."""
    return {POWER: metrics.power, THROUGHPUT: metrics.throughput, COMPOSITE: metrics.composite}[
        kind
    ]
