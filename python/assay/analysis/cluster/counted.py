"""Counters of cluster nodes, over intervals of a run and over single executions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.cluster.counters import (
    GAUGES,
    declared_cluster,
    grown_by_operation,
    node_readings,
)
from assay.analysis.cluster.line import (
    BY_ENGINE,
    BY_KERNEL,
    Line,
    NodeFigures,
    span_seconds,
    together,
)
from assay.analysis.cluster.words import CPU, MEMORY
from assay.analysis.counters.engine_counters import END, execution_growth
from assay.analysis.operations import NS, measured
from assay.analysis.profile.shares import metered_cpu

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.analysis.cluster.node_clocks import NodeClock
    from assay.analysis.cluster.nodes import ClusterNode
    from assay.record.reader import Run

# Largest number of intervals that are reported; with more readings an interval spans several.
INTERVALS_MAX = 300


@dataclass(frozen=True)
class Interval:
    """The counters of all cluster nodes in one interval of the run.

    Attributes:
        begun_s, ended_s: Start and end, in seconds since the measured part began.
        line: Figures of the nodes in the interval.
    """

    begun_s: float
    ended_s: float
    line: Line


class NodeReadings:
    """Counter readings of all nodes over time.

    Args:
        readings: Rows of `cluster_counters.node_readings`, from `engine.arrows`.
    """

    def __init__(self, readings: pl.DataFrame) -> None:
        ordered = readings.sort("time_ns", maintain_order=True)
        self.times_ns: list[int] = ordered["time_ns"].unique(maintain_order=True).to_list()
        self.names: list[str] = ordered["node"].unique(maintain_order=True).to_list()
        self._values: dict[tuple[str, str], dict[int, float]] = {}
        for node, word, time_ns, value in ordered.select(
            "node", "word", "time_ns", "value"
        ).iter_rows():
            if value is not None:
                self._values.setdefault((node, word), {})[time_ns] = value
        self._resets = {
            key: [after for before, after in pairwise(values) if values[after] < values[before]]
            for key, values in self._values.items()
            if key[1] not in GAUGES
        }

    def around(self, begun_ns: int, ended_ns: int) -> list[int]:
        """Return the times in ns of readings from the last before a span to the first after it."""
        before = [time for time in self.times_ns if time <= begun_ns][-1:]
        after = [time for time in self.times_ns if time >= ended_ns][:1]
        first = before[0] if before else begun_ns
        last = after[0] if after else ended_ns
        return [time for time in self.times_ns if first <= time <= last]

    def grown(self, node: str, begun_ns: int, ended_ns: int) -> dict[str, float]:
        """Return the growth of a node's counters between two readings, and its last gauge values.

        Counters that were reset in between, or that lack either reading, are left out.
        """
        growth = {}
        for (name, word), values in self._values.items():
            if name != node or ended_ns not in values:
                continue
            if word in GAUGES:
                growth[word] = values[ended_ns]
                continue
            # A node that joined later counts from zero.
            came_later = min(values) > begun_ns
            began = 0.0 if came_later else values.get(begun_ns)
            resets = self._resets[name, word]
            if began is not None and not any(begun_ns < time <= ended_ns for time in resets):
                growth[word] = values[ended_ns] - began
        return growth

    def counts(self, node: str) -> frozenset[str]:
        """Return the names of all counters that a cluster node reports."""
        return frozenset(word for name, word in self._values if name == node)


def line_between(
    readings: NodeReadings | None,
    clocks: Mapping[str, NodeClock],
    nodes: Sequence[ClusterNode],
    span: tuple[int, int],
) -> Line:
    """Return the counters of cluster nodes between two instants at which they were read."""
    begun_ns, ended_ns = span
    figures = tuple(_within(readings, clocks.get(node.name), node, span) for node in nodes)
    return Line(span_seconds(begun_ns, ended_ns), together(figures), figures)


def _within(
    readings: NodeReadings | None, clock: NodeClock | None, node: ClusterNode, span: tuple[int, int]
) -> NodeFigures:
    grown = {} if readings is None else readings.grown(node.name, *span)
    untold = frozenset() if readings is None else readings.counts(node.name) - grown.keys()
    cpu_s = _kernel_cpu_s(clock, *span)
    figures = _node(node, grown, cpu_s, _kernel_memory(clock, span[1]))
    if clock is not None and cpu_s is None:
        # CPU time of another clock than the neighbouring parts' would draw a false step.
        figures = replace(figures, cpu_s=None, cpu_by=())
    return replace(figures, untold=untold)


def intervals(
    readings: NodeReadings,
    clocks: Mapping[str, NodeClock],
    nodes: Sequence[ClusterNode],
    window: tuple[int, int],
) -> tuple[Interval, ...]:
    """Return the counters of cluster nodes for each interval between two readings of a window.

    With more than `INTERVALS_MAX` readings, an interval spans several of them.
    """
    times = readings.around(*window)
    last = len(times) - 1
    count = min(INTERVALS_MAX, last)
    edges = [times[round(place * last / count)] for place in range(count + 1)] if count > 0 else []
    return tuple(
        Interval(
            round((begun - window[0]) * NS, 6),
            round((ended - window[0]) * NS, 6),
            line_between(readings, clocks, nodes, (begun, ended)),
        )
        for begun, ended in pairwise(edges)
    )


def operation_lines(
    run: Run, clocks: Mapping[str, NodeClock], nodes: Sequence[ClusterNode]
) -> dict[str, Line]:
    """Return the cluster counters of one execution of each operation: medians over executions.

    If all nodes are on this host, the kernel counts their total CPU time around each execution.

    Args:
        run: A run whose operations do not overlap.
        clocks: CPU clocks of the nodes on this host.
        nodes: Nodes of the cluster.
    """
    done = measured(run.table("events")).filter(pl.col("outcome") == "ok")
    grown, gauges = _growth_by_operation(run), _gauges(run, done)
    all_here = all(node.is_here for node in nodes)
    metered = metered_cpu(run).iter_rows() if all_here else ()
    cpu_s = {sequence: cpu_ns * NS for sequence, cpu_ns in metered}
    lines = {}
    for (name,), executions in done.group_by("operation", maintain_order=True):
        rows = list(executions.select("sequence", "started_ns", "finished_ns").iter_rows())
        spans = [(begun, ended) for _, begun, ended in rows]
        figures = tuple(
            _executed_node(
                node,
                spans,
                grown.get((str(name), node.name), {}) | gauges.get((str(name), node.name), {}),
                clocks.get(node.name),
            )
            for node in nodes
        )
        used_s = [cpu_s[sequence] for sequence, _, _ in rows if sequence in cpu_s]
        seconds = median((ended - begun) * NS for begun, ended in spans)
        whole = together(figures, median(used_s) if used_s else None)
        lines[str(name)] = Line(seconds, whole, figures)
    return lines


def execution_lines(
    run: Run, clocks: Mapping[str, NodeClock], nodes: Sequence[ClusterNode]
) -> dict[str, list[Line]]:
    """Return the cluster counters of each execution, by operation.

    Only executions with counter readings around them count. If nodes report no counters, all
    executions count, with the kernel's figures.
    """
    done = measured(run.table("events")).filter(pl.col("outcome") == "ok")
    grown = _growth_by_execution(run)
    lines: dict[str, list[Line]] = {}
    columns = ("operation", "sequence", "started_ns", "finished_ns")
    for operation, sequence, begun_ns, ended_ns in done.select(columns).iter_rows():
        if sequence in grown or (clocks and not grown):
            figures = tuple(
                _executed_node(
                    node,
                    [(begun_ns, ended_ns)],
                    grown.get(sequence, {}).get(node.name, {}),
                    clocks.get(node.name),
                )
                for node in nodes
            )
            line = Line(span_seconds(begun_ns, ended_ns), together(figures), figures)
            lines.setdefault(operation, []).append(line)
    return lines


def _growth_by_execution(run: Run) -> dict[int, dict[str, dict[str, float]]]:
    """Return the growth of each counter by execution and cluster node, without reset counters."""
    declared = declared_cluster(run)
    if declared is None or not run.has("engine-operations"):
        return {}
    readings = node_readings(run.table("engine-operations"), declared)
    by_sequence: dict[int, dict[str, dict[str, float]]] = {}
    for sequence, node, word, value in execution_growth(readings, ["node", "word"]).iter_rows():
        by_sequence.setdefault(sequence, {}).setdefault(node, {})[word] = value
    return by_sequence


def _executed_node(
    node: ClusterNode,
    spans: Sequence[tuple[int, int]],
    grown: Mapping[str, float],
    clock: NodeClock | None,
) -> NodeFigures:
    """Return a cluster node's counters and CPU time for one execution of an operation."""
    used = [_kernel_cpu_s(clock, begun, ended) for begun, ended in spans]
    cpu_s = [value for value in used if value is not None]
    memory = [_kernel_memory(clock, ended) for _, ended in spans]
    resident = [value for value in memory if value is not None]
    return _node(
        node, grown, median(cpu_s) if cpu_s else None, median(resident) if resident else None
    )


def _growth_by_operation(run: Run) -> dict[tuple[str, str], dict[str, float]]:
    """Return the growth of each counter in one execution, by operation and cluster node."""
    growth: dict[tuple[str, str], dict[str, float]] = {}
    columns = ("operation", "node", "word", "growth")
    for operation, node, word, value in grown_by_operation(run).select(columns).iter_rows():
        growth.setdefault((operation, node), {})[word] = value
    return growth


def _gauges(run: Run, done: pl.DataFrame) -> dict[tuple[str, str], dict[str, float]]:
    """Return the gauges of cluster nodes at the end of an execution, by operation and node."""
    declared = declared_cluster(run)
    if declared is None or not run.has("engine-operations"):
        return {}
    readings = node_readings(run.table("engine-operations"), declared).filter(
        pl.col("word").is_in(GAUGES), pl.col("edge") == END
    )
    middles = (
        done.select("sequence", "operation")
        .join(readings, on="sequence")
        .group_by("operation", "node", "word", maintain_order=True)
        .agg(pl.col("value").median())
    )
    gauges: dict[tuple[str, str], dict[str, float]] = {}
    for operation, node, word, value in middles.drop_nulls("value").iter_rows():
        gauges.setdefault((operation, node), {})[word] = value
    return gauges


def _node(
    node: ClusterNode,
    grown: Mapping[str, float],
    kernel_cpu_s: float | None,
    resident_bytes: float | None,
) -> NodeFigures:
    """Return a cluster node's counters, with CPU time from the kernel or else the engine."""
    cpu_ns = grown.get(CPU)
    by_engine = None if cpu_ns is None else cpu_ns * NS
    cpu_s = by_engine if kernel_cpu_s is None else kernel_cpu_s
    by = BY_ENGINE if kernel_cpu_s is None else BY_KERNEL
    memory = grown.get(MEMORY, resident_bytes)
    sources = () if cpu_s is None else (by,)
    return NodeFigures(node.name, node.role, dict(grown), cpu_s, sources, memory)


def _kernel_cpu_s(clock: NodeClock | None, begun_ns: int, ended_ns: int) -> float | None:
    return None if clock is None else clock.cpu_s(begun_ns, ended_ns)


def _kernel_memory(clock: NodeClock | None, at_ns: int) -> float | None:
    return None if clock is None else clock.memory_bytes(at_ns)
