"""The measurements of a run's cluster: counters, skew, barriers and time series."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from assay.analysis.cluster.barriers import Barriers, Execution, find_barriers
from assay.analysis.cluster.counted import (
    Interval,
    NodeReadings,
    execution_lines,
    intervals,
    line_between,
    operation_lines,
)
from assay.analysis.cluster.counters import declared_cluster, node_readings
from assay.analysis.cluster.line import at_rates_of
from assay.analysis.cluster.node_clocks import LOOKS_MIN, NodeClock, cores_at_work, node_clocks
from assay.analysis.cluster.nodes import ClusterNode, cluster_nodes, shared_cores
from assay.analysis.cluster.skew import skews, skews_over
from assay.analysis.cluster.words import WORDS
from assay.analysis.load_plan import load_of
from assay.analysis.operations import NS, measured, window_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.analysis.cluster.counters import ClusterFacts
    from assay.analysis.cluster.line import Line
    from assay.analysis.cluster.skew import Skew
    from assay.record.reader import Run

# Largest number of points of each node in a chart.
POINTS_MAX = 1500
NOT_DECLARED = "the engine declares no counters of nodes"
NOT_READ = "the probe of the engine's counters did not run"
NOT_TOLD = "the engine reported nothing of it in this run"
ELSEWHERE = "some nodes are on other hosts, whose CPUs are not sampled often enough"
NOT_FOLLOWED = "no processes of its nodes were sampled"
CORES_UNKNOWN = "how many cores the nodes may use was not recorded"


@dataclass(frozen=True)
class Cluster:
    """The cluster of one run with its counters, skew and barriers.

    Attributes:
        title: The engine's kind of node, for readers.
        nodes: The nodes, the coordinator first.
        says: Exact meaning of each counter, by its name in `cluster_counters`.
        missing: Reason why a counter is not available, by its name.
        platform_cores: Number of cores that the nodes may use; None if some nodes are on other
            hosts.
        run: Figures of the measured part; None if it has no end.
        intervals: Figures of each interval between counter readings.
        operations: Figures of one execution of each operation; empty under a load.
        uneven: Skew of each operation's executions.
        barriers: Barriers found in the time series.
        series: Busy cores of each node between samples, and `time_s` at their ends.
        notes: Notes for readers.
    """

    title: str
    nodes: tuple[ClusterNode, ...]
    says: Mapping[str, str]
    missing: Mapping[str, str]
    platform_cores: float | None
    run: Line | None
    intervals: tuple[Interval, ...]
    operations: Mapping[str, Line]
    barriers: Barriers
    uneven: Mapping[str, tuple[Skew, ...]] = field(default_factory=dict)
    series: Mapping[str, Sequence[float]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def skew(self, operation: str | None = None) -> tuple[Skew, ...]:
        """Return the skew between cluster nodes, in the measured part or in one operation."""
        if operation is not None:
            return self.uneven.get(operation, ())
        return () if self.run is None else skews(self.run, self.nodes)

    def facts(self) -> dict[str, Any]:
        """Return the cluster measurements as JSON values."""
        return {
            "title": self.title,
            "nodes": [
                {"name": node.name, "role": node.role, "host": node.host, "is_here": node.is_here}
                for node in self.nodes
            ],
            "platform_cores": self.platform_cores,
            "says": dict(self.says),
            "missing": dict(self.missing),
            "notes": list(self.notes),
            "run": None if self.run is None else self._line(self.run, self.skew()),
            "intervals": [
                {"begun_s": interval.begun_s, "ended_s": interval.ended_s} | interval.line.facts()
                for interval in self.intervals
            ],
            "operations": [
                {"name": name} | self._line(line, self.skew(name))
                for name, line in self.operations.items()
            ],
            "barriers": self.barriers.facts(),
            "series": {name: list(values) for name, values in self.series.items()},
        }

    def _line(self, line: Line, uneven: tuple[Skew, ...]) -> dict[str, Any]:
        return line.facts() | {"skew": [skew.facts() for skew in uneven]}


def cluster_of(run: Run) -> Cluster | None:
    """Return the cluster measurements of a run; None if its engine is not a cluster.

    Raises:
        ValueError: If the engine's declarations cannot be read.
    """
    if not cluster_nodes(run):
        return None
    declared = declared_cluster(run)
    readings = _readings(run, declared)
    nodes = cluster_nodes(run, () if readings is None else readings.names)
    clocks = node_clocks(run.table("processes"), nodes) if run.has("processes") else {}
    window = window_of(run)
    cores = platform_cores(run) if all(node.is_here for node in nodes) else None
    operations = {} if load_of(run.facts) is not None else operation_lines(run, clocks, nodes)
    whole = (
        None if window is None else line_between(readings, clocks, nodes, _span(readings, window))
    )
    unread = _unread(operations, whole)
    if whole is not None and len(operations) == len(unread) == 1:
        operations = {name: at_rates_of(line, whole) for name, line in operations.items()}
    parts = () if readings is None or window is None else intervals(readings, clocks, nodes, window)
    return Cluster(
        title="nodes" if declared is None else declared.title,
        nodes=nodes,
        says={} if declared is None else _said(declared),
        missing=_missing(declared, readings, [whole, *operations.values()]),
        platform_cores=cores,
        run=whole,
        intervals=parts,
        operations=operations,
        barriers=_barriers(run, clocks, nodes, window, cores),
        uneven={
            name: skews_over(lines, nodes)
            for name, lines in execution_lines(run, clocks, nodes).items()
            if name in operations
        },
        series={} if window is None else node_series(clocks, window),
        notes=(*_notes(run, nodes, operations), *_unread_notes(unread, operations)),
    )


def platform_cores(run: Run) -> float | None:
    """Return the number of cores that cluster nodes on this host may use after pins and limits."""
    allowed = run.environment.get("host", {}).get("cpu", {}).get("allowed") or []
    pinned = (run.environment.get("pin") or {}).get("engine") or []
    limited = (run.facts["request"].get("limits") or {}).get("cpu")
    core_counts = [float(len(cpus)) for cpus in (allowed, pinned) if cpus]
    core_counts += [] if limited is None else [float(limited)]
    return min(core_counts) if core_counts else None


def node_series(clocks: Mapping[str, NodeClock], window: tuple[int, int]) -> dict[str, list[float]]:
    """Return the busy cores of each cluster node over time, with the times of the samples.

    With more than `POINTS_MAX` samples, each point is the mean of several.
    """
    if not clocks:
        return {}
    times = next(iter(clocks.values())).times_ns
    chosen = [at for at, time in enumerate(times) if window[0] <= time <= window[1]]
    step = max(1, -(-len(chosen) // POINTS_MAX))
    edges = chosen[::step]
    if len(edges) < 2:  # noqa: PLR2004 - a difference is of two
        return {}
    series = {"time_s": [(times[at] - window[0]) * NS for at in edges[1:]]}
    for name, clock in clocks.items():
        some = NodeClock(
            *(
                tuple(column[at] for at in edges)
                for column in (clock.times_ns, clock.cpu_ns, clock.ready_ns, clock.rss_bytes)
            )
        )
        series[name] = cores_at_work([some])
    return series


def _unread(operations: Mapping[str, Line], whole: Line | None) -> tuple[str, ...]:
    """Return the operations of which no execution has cluster counters around it."""
    if whole is None or not whole.whole.grown:
        return ()
    return tuple(name for name, line in operations.items() if not line.whole.grown)


def _unread_notes(unread: tuple[str, ...], operations: Mapping[str, Line]) -> tuple[str, ...]:
    if not unread:
        return ()
    lead = (
        f"nodes' counters were read around no execution of {', '.join(unread)}, because reading"
        " takes longer than a tenth of that time"
    )
    only = len(operations) == 1
    return (f"{lead}: rates and shares are those of the measured part" if only else lead,)


def _readings(run: Run, declared: ClusterFacts | None) -> NodeReadings | None:
    if declared is None or not run.has("engine"):
        return None
    nodes_read = node_readings(run.table("engine"), declared)
    return None if nodes_read.is_empty() else NodeReadings(nodes_read)


def _span(readings: NodeReadings | None, window: tuple[int, int]) -> tuple[int, int]:
    """Return the time span of the counter readings around a window, or the window without them."""
    times = [] if readings is None else readings.around(*window)
    return (times[0], times[-1]) if len(times) > 1 else window


def _said(declared: ClusterFacts) -> dict[str, str]:
    return {word: declared.says.get(word, WORDS[word][0]) for word in declared.counters}


def _missing(
    declared: ClusterFacts | None, readings: NodeReadings | None, lines: Sequence[Line | None]
) -> dict[str, str]:
    """Return why a cluster counter has no value, by the name of the counter."""
    if declared is None:
        return dict.fromkeys(WORDS, NOT_DECLARED)
    counted = {word for line in lines if line is not None for word in line.whole.grown}
    why = NOT_READ if readings is None else NOT_TOLD
    return {word: declared.missing.get(word, why) for word in WORDS if word not in counted}


def _barriers(
    run: Run,
    clocks: Mapping[str, NodeClock],
    nodes: Sequence[ClusterNode],
    window: tuple[int, int] | None,
    cores: float | None,
) -> Barriers:
    if not all(node.is_here for node in nodes):
        return Barriers(missing=ELSEWHERE)
    if not clocks or window is None:
        return Barriers(missing=NOT_FOLLOWED)
    if cores is None:
        return Barriers(missing=CORES_UNKNOWN)
    if load_of(run.facts) is not None:
        executions = [Execution("", *window)]
    else:
        done = measured(run.table("events")).filter(pl.col("outcome") == "ok").sort("started_ns")
        rows = done.select("operation", "started_ns", "finished_ns").iter_rows()
        executions = [Execution(*row) for row in rows]
    return find_barriers(clocks.values(), executions, cores, window[0])


def _notes(
    run: Run, nodes: Sequence[ClusterNode], operations: Mapping[str, Line]
) -> tuple[str, ...]:
    here = [node for node in nodes if node.is_here]
    shared = shared_cores(run)
    notes = [] if shared is None else [f"speed-up over nodes is not measured: {shared}"]
    engines = [
        name
        for name, line in operations.items()
        if any(
            node.name == figures.name and "engine" in figures.cpu_by
            for figures in line.nodes
            for node in here
        )
    ]
    if engines:
        notes.append(
            f"CPU time of single nodes in {', '.join(engines)} is the engine's own count: an"
            f" execution holds fewer than {LOOKS_MIN} samples of the kernel's"
        )
    return tuple(notes)
