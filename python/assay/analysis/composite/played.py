"""Reads a TPC-H test from a record: its runs, left-out steps, and why it has no metric."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from assay.analysis.composite.completeness import planned_operations, why_not_whole
from assay.analysis.composite.figures import (
    SHORT_SHARE_MAX,
    Figures,
    figures,
    reported_run,
    short_share,
)
from assay.analysis.composite.intervals import (
    PerformanceRun,
    PowerTest,
    ended_events,
    performance_runs,
    power_passes,
)
from assay.analysis.composite.naming import (
    COMPOSITE,
    POWER,
    THROUGHPUT,
    MetricName,
    left_out,
    metric_name,
    specified_names,
)
from assay.analysis.composite.steady import Steady, steady
from assay.record.layout import PHASE_POWER, STATUS_COMPLETE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.record.reader import Run

STEADY = "steady"


@dataclass(frozen=True)
class Played:
    """The TPC-H test (power, throughput, full or steady) that a run executed.

    Attributes:
        kind: `power`, `throughput`, `full` or `steady`.
        scale: Scale factor.
        streams: Number of query streams of its throughput tests; None without a throughput test.
        refreshes: Names of the refresh functions; empty without refresh functions.
        runs: Power and throughput test of each run, as far as they were executed.
        steady: Results of the passes of a steady test. The test's run then has the steady times.
        queries: Number of different planned queries.
        left_out: Parts of the specification that were left out, a short phrase each.
        why_not: Sentences on why the test has no metric; empty if it has one.
        specified: The specification's name of each kind of metric; empty without a specification.
        larger: Larger scales of the specification, each with its minimum number of query
            streams.
    """

    kind: str
    scale: float
    streams: int | None
    refreshes: tuple[str, ...]
    runs: tuple[PerformanceRun, ...]
    steady: Steady | None = None
    queries: int = 0
    left_out: tuple[str, ...] = ()
    why_not: tuple[str, ...] = ()
    specified: Mapping[str, str] = field(default_factory=dict)
    larger: tuple[tuple[float, int], ...] = ()

    @property
    def reported(self) -> PerformanceRun | None:
        """The run whose metrics are reported: the one with the lower composite, or None."""
        return reported_run(self.runs, self.scale) if self.runs and not self.why_not else None

    def figures(self, *, rounded: bool = True) -> Figures:
        """Return the TPC-H metrics of the reported run; all None without a reported run."""
        run = self.reported
        return Figures(None, None) if run is None else figures(run, self.scale, rounded=rounded)

    def named(self, kind: str) -> MetricName:
        """Return the label and title of the power, throughput or composite metric."""
        return metric_name(kind, self.specified, self.left_out)

    @property
    def powers(self) -> tuple[PowerTest, ...]:
        """The power tests whose intervals show the variation of query times."""
        if self.steady is not None:
            return self.steady.tests
        return tuple(run.power for run in self.runs if run.power is not None)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of the metrics that this kind of TPC-H test has."""
        by_kind = {"full": (COMPOSITE, POWER, THROUGHPUT), "throughput": (THROUGHPUT,)}
        return by_kind.get(self.kind, (POWER,))

    @property
    def rounding_dominates(self) -> bool:
        """True if over a tenth of the reported power test's intervals are below 0.1 s."""
        run = self.reported
        if run is None or run.power is None:
            return False
        return short_share(run.power) > SHORT_SHARE_MAX


def played(run: Run) -> Played | None:
    """Return the TPC-H test that a run executed; None without one.

    Raises:
        RecordUnreadableError: If the events of the run cannot be read.
    """
    test = run.facts.get("test")
    return None if test is None else played_of(run.facts, run.table("events"), driven=run.driven)


def played_of(facts: dict[str, Any], events: pl.DataFrame, *, driven: bool = False) -> Played:
    """Return the TPC-H test described by `test` in run.json and by the events.

    Args:
        facts: Content of run.json.
        events: All events of the run.
        driven: Whether the load plan was executed to its end, even if the run was stopped
            afterwards.
    """
    test, scale = facts["test"], float(facts["request"]["scale"])
    refreshes = refresh_names(test)
    runs = performance_runs(events, refreshes)
    queries = len({name for _, _, name, _ in planned_operations(facts)} - set(refreshes))
    reasons = list(why_not_whole(facts, events))
    missing = left_out(facts, queries=queries, runs=len(runs))
    passes = None
    if test["kind"] == STEADY:
        passes = steady(_whole_passes(events, queries), _steady_rule(facts))
        runs = () if passes is None else (PerformanceRun(1, passes.test),)
        if passes is None or passes.test is None:
            reasons.append("there are too few whole passes for a steady figure")
        elif passes.before is None:
            missing = (*missing, "passes did not become alike")
    if facts["status"] != STATUS_COMPLETE and not driven:
        reasons.insert(0, f"the run is {facts['status']}")
    return Played(
        kind=test["kind"],
        scale=scale,
        streams=test["streams"],
        refreshes=refreshes,
        runs=runs,
        steady=passes,
        queries=queries,
        left_out=missing,
        why_not=tuple(reasons),
        specified=specified_names(facts),
        larger=larger_scales(facts, scale),
    )


def larger_scales(facts: dict[str, Any], scale: float) -> tuple[tuple[float, int], ...]:
    """Return the larger scales of the specification, each with its minimum number of streams."""
    scales = facts["workload"].get("streams_minimum", [])
    return tuple((size, streams) for size, streams in scales if size > scale)


def refresh_names(test: dict[str, Any]) -> tuple[str, ...]:
    """Return the names of the refresh functions in `test` of run.json, the insert first."""
    refresh = test["refresh"]
    return (refresh["insert"], refresh["delete"]) if refresh else ()


def _steady_rule(facts: dict[str, Any]) -> dict[str, Any]:
    phases = facts["plan"]["phases"]
    return next((phase["steady"] for phase in phases if phase.get("steady")), {})


def _whole_passes(events: pl.DataFrame, queries: int) -> tuple[PowerTest, ...]:
    """Return the executed passes over all queries, without a last pass that was cut short."""
    mine = ended_events(events).filter(pl.col("phase").str.starts_with(f"{PHASE_POWER}-"))
    if mine.is_empty():
        return ()
    return tuple(test for test in power_passes(mine, ()) if len(test.queries) == queries)
