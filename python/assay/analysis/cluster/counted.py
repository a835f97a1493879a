"""What nodes counted in spans of a run and in one execution of each operation, as lines."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.cluster.line import (
    BY_ENGINE,
    BY_KERNEL,
    Line,
    NodeFigures,
    span_seconds,
    together,
)
from assay.analysis.cluster_counters import CPU, GAUGES, MEMORY
from assay.analysis.operations import NS, measured

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.analysis.cluster.node_clocks import NodeClock
    from assay.analysis.cluster.nodes import ClusterNode

# So many intervals of a run are told; of more, several are one.
INTERVALS_MAX = 300
EDGES = ("start", "end")


@dataclass(frozen=True)
class Interval:
    """A line of a part of the run.

    Attributes:
        begun_s, ended_s: Since the measured part began.
        line: What was done in it.
    """

    begun_s: float
    ended_s: float
    line: Line


class NodeReadings:
    """Readings of all nodes through time.

    Args:
        readings: As `cluster_counters.node_readings` has them, of `engine.arrows`.
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
            key: [after for before, after in pairwise(told) if told[after] < told[before]]
            for key, told in self._values.items()
            if key[1] not in GAUGES
        }

    def around(self, begun_ns: int, ended_ns: int) -> list[int]:
        """Times of readings from the last before a span to the first after it."""
        before = [time for time in self.times_ns if time <= begun_ns][-1:]
        after = [time for time in self.times_ns if time >= ended_ns][:1]
        first = before[0] if before else begun_ns
        last = after[0] if after else ended_ns
        return [time for time in self.times_ns if first <= time <= last]

    def grown(self, node: str, begun_ns: int, ended_ns: int) -> dict[str, float]:
        """By word what a node's counters grew by between two readings, and its gauges at the end.

        What was reset between them, or is absent in either, is left out.
        """
        found = {}
        for (name, word), told in self._values.items():
            if name != node or ended_ns not in told:
                continue
            if word in GAUGES:
                found[word] = told[ended_ns]
            elif begun_ns in told and not any(
                begun_ns < time <= ended_ns for time in self._resets[name, word]
            ):
                found[word] = told[ended_ns] - told[begun_ns]
        return found

    def counts(self, node: str) -> frozenset[str]:
        """Words that a node counts at any time."""
        return frozenset(word for name, word in self._values if name == node)


def line_between(
    readings: NodeReadings | None,
    clocks: Mapping[str, NodeClock],
    nodes: Sequence[ClusterNode],
    span: tuple[int, int],
) -> Line:
    """What was done between two instants, which are times of readings where there are any."""
    begun_ns, ended_ns = span
    each = tuple(_within(readings, clocks.get(node.name), node, span) for node in nodes)
    return Line(span_seconds(begun_ns, ended_ns), together(each), each)


def _within(
    readings: NodeReadings | None, clock: NodeClock | None, node: ClusterNode, span: tuple[int, int]
) -> NodeFigures:
    grown = {} if readings is None else readings.grown(node.name, *span)
    untold = frozenset() if readings is None else readings.counts(node.name) - grown.keys()
    told = _node(node, grown, _kernel_cpu_s(clock, *span), _kernel_memory(clock, span[1]))
    return replace(told, untold=untold)


def intervals(
    readings: NodeReadings,
    clocks: Mapping[str, NodeClock],
    nodes: Sequence[ClusterNode],
    window: tuple[int, int],
) -> tuple[Interval, ...]:
    """A line for each interval between two readings of a window, or for fewer and longer ones."""
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
    events: pl.DataFrame,
    around_operations: pl.DataFrame | None,
    tasks: pl.DataFrame | None,
    clocks: Mapping[str, NodeClock],
    nodes: Sequence[ClusterNode],
) -> dict[str, Line]:
    """A line of one execution of each operation: medians of those that were measured.

    Args:
        events: Of a run whose operations follow one another.
        around_operations: Readings of nodes at their edges; None: there are none.
        tasks: CPU time of all nodes together around each; None where some are elsewhere.
        clocks: Of nodes on this host.
        nodes: Of the cluster.
    """
    done = measured(events).filter(pl.col("outcome") == "ok")
    grown = _grown_each(around_operations)
    cpu_s = {} if tasks is None else _task_cpu_s(tasks)
    found = {}
    for (name,), executions in done.group_by("operation", maintain_order=True):
        rows = list(executions.select("sequence", "started_ns", "finished_ns").iter_rows())
        each = tuple(_executed(node, rows, grown, clocks.get(node.name)) for node in nodes)
        known = [cpu_s[sequence] for sequence, _, _ in rows if sequence in cpu_s]
        seconds = median((ended - begun) * NS for _, begun, ended in rows)
        whole = together(each, median(known) if known else None)
        found[str(name)] = Line(seconds, whole, each)
    return found


def _executed(
    node: ClusterNode,
    executions: Sequence[tuple[int, int, int]],
    grown: Mapping[tuple[int, str], Mapping[str, float]],
    clock: NodeClock | None,
) -> NodeFigures:
    """Medians of one node over the executions of an operation: sequence, begin and end of each."""
    told = [
        grown[sequence, node.name]
        for sequence, _, _ in executions
        if (sequence, node.name) in grown
    ]
    counted = {
        word: median(one[word] for one in told if word in one)
        for word in dict.fromkeys(word for one in told for word in one)
    }
    used = [_kernel_cpu_s(clock, begun, ended) for _, begun, ended in executions]
    known = [value for value in used if value is not None]
    memory = [_kernel_memory(clock, ended) for _, _, ended in executions]
    resident = [value for value in memory if value is not None]
    return _node(
        node, counted, median(known) if known else None, median(resident) if resident else None
    )


def _node(
    node: ClusterNode,
    grown: Mapping[str, float],
    kernel_cpu_s: float | None,
    resident_bytes: float | None,
) -> NodeFigures:
    """By the kernel's count on this host, by the engine's own elsewhere and of short spans."""
    told = grown.get(CPU)
    by_engine = None if told is None else told * NS
    cpu_s = by_engine if kernel_cpu_s is None else kernel_cpu_s
    by = BY_ENGINE if kernel_cpu_s is None else BY_KERNEL
    memory = grown.get(MEMORY, resident_bytes)
    sources = () if cpu_s is None else (by,)
    return NodeFigures(node.name, node.role, dict(grown), cpu_s, sources, memory)


def _kernel_cpu_s(clock: NodeClock | None, begun_ns: int, ended_ns: int) -> float | None:
    return None if clock is None else clock.cpu_s(begun_ns, ended_ns)


def _kernel_memory(clock: NodeClock | None, at_ns: int) -> float | None:
    return None if clock is None else clock.memory_bytes(at_ns)


def _grown_each(readings: pl.DataFrame | None) -> dict[tuple[int, str], dict[str, float]]:
    """By execution and node the growth of each word; of a gauge its value at the end."""
    if readings is None or readings.is_empty():
        return {}
    start, end = (readings.filter(pl.col("edge") == edge) for edge in EDGES)
    key = ["sequence", "node", "word"]
    before = start.unique(key, keep="last").select(*key, pl.col("value").alias("before"))
    both = end.unique(key, keep="last").join(before, on=key, how="left")
    found: dict[tuple[int, str], dict[str, float]] = {}
    for sequence, node, word, value, began in both.select(*key, "value", "before").iter_rows():
        if value is None:
            continue
        if word in GAUGES:
            found.setdefault((sequence, node), {})[word] = value
        elif began is not None and value >= began:
            found.setdefault((sequence, node), {})[word] = value - began
    return found


def _task_cpu_s(tasks: pl.DataFrame) -> dict[int, float]:
    """CPU seconds of the engine in each execution."""
    ticks = pl.col("user_ns") + pl.col("system_ns")
    told = tasks.select(
        "sequence",
        pl.col("edge").cast(pl.String),
        pl.coalesce("on_cpu_ns", ticks).cast(pl.Int64).alias("cpu_ns"),
    )
    start, end = (told.filter(pl.col("edge") == edge) for edge in EDGES)
    grown = start.join(end, on="sequence", suffix="_end").select(
        "sequence", (pl.col("cpu_ns_end") - pl.col("cpu_ns")).alias("grown")
    )
    return {
        sequence: value * NS for sequence, value in grown.drop_nulls().iter_rows() if value >= 0
    }
