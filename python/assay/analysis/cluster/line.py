"""Counters of cluster nodes in a time span, as one line of text for all and for each node.

Counts have four significant digits and the suffix of a power of 1000, as in Virtuoso's activity
line. A KB is 1024 bytes, and 100 % CPU is one core.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from assay.analysis.cluster import counters, words
from assay.analysis.counters.meters import scaled_text
from assay.analysis.operations import NS

KIB = 1024.0
PERCENT = 100.0
BY_KERNEL, BY_ENGINE = "kernel", "engine"
# Waits that exceed the total time of tasks were measured with another clock than the tasks.
WAITS_MAX = 1.02
# The figures of one node or of all nodes; the end of each name is its unit.
FIGURES = (
    "messages_per_s",
    "bytes_per_s",
    "rows_per_s",
    "local_messages_per_s",
    "local_bytes_per_s",
    "read_bytes_per_s",
    "cpu_cores",
    "waiting_share",
    "wait_share",
    "blocked_share",
    "scheduling_share",
    "bytes_a_message",
    "memory_bytes",
)


@dataclass(frozen=True)
class NodeFigures:
    """The counters of one cluster node, or of all nodes together, in a time span.

    A figure that was not counted is None.

    Attributes:
        name: Name of the node; empty means all nodes.
        role: Role of the node; empty for all nodes together.
        grown: Growth of each counter by its name in `cluster_counters`, times in ns. For a
            gauge, its value.
        cpu_s: CPU seconds.
        cpu_by: Source of the CPU time, `kernel` or `engine`, or both for several nodes.
        memory_bytes: Memory by the engine's gauge, or else resident memory by the kernel.
        untold: Counters without a value in the span, because of a reset or a missing reading.
    """

    name: str
    role: str
    grown: Mapping[str, float] = field(default_factory=dict)
    cpu_s: float | None = None
    cpu_by: tuple[str, ...] = ()
    memory_bytes: float | None = None
    untold: frozenset[str] = frozenset()

    def share_of_tasks(self, *counted: str) -> float | None:
        """Return the share (0 to 1) of the tasks' time that the given wait counters add up to.

        The share is None if a counter is missing, or if waits add up to more than the tasks'
        time.
        """
        parts = [self.grown[word] for word in counted if word in self.grown]
        task_ns = self.grown.get(words.TASK)
        if not parts or not task_ns or sum(parts) > WAITS_MAX * task_ns:
            return None
        return min(1.0, sum(parts) / task_ns)

    @property
    def scheduling_share(self) -> float | None:
        """Scheduling time divided by scheduling plus task time, 0 to 1; None if not counted."""
        spent, task_ns = self.grown.get(words.SCHEDULING), self.grown.get(words.TASK)
        if spent is None or task_ns is None or spent + task_ns <= 0:
            return None
        return spent / (spent + task_ns)

    @property
    def bytes_a_message(self) -> float | None:
        """Mean length in bytes of messages received from other nodes; None without messages."""
        messages, length = self.grown.get(words.MESSAGES), self.grown.get(words.BYTES)
        return length / messages if messages and length is not None else None

    def figures(self, seconds: float) -> dict[str, float | None]:
        """Return the rates and shares named in `FIGURES` for a span of this number of seconds."""

        def per_s(word: str) -> float | None:
            value = self.grown.get(word)
            return None if value is None or seconds <= 0 else value / seconds

        return {
            "messages_per_s": per_s(words.MESSAGES),
            "bytes_per_s": per_s(words.BYTES),
            "rows_per_s": per_s(words.ROWS),
            "local_messages_per_s": per_s(words.LOCAL_MESSAGES),
            "local_bytes_per_s": per_s(words.LOCAL_BYTES),
            "read_bytes_per_s": per_s(words.READ_BYTES),
            "cpu_cores": None if self.cpu_s is None or seconds <= 0 else self.cpu_s / seconds,
            "waiting_share": self.share_of_tasks(words.WAIT, words.BLOCKED),
            "wait_share": self.share_of_tasks(words.WAIT),
            "blocked_share": self.share_of_tasks(words.BLOCKED),
            "scheduling_share": self.scheduling_share,
            "bytes_a_message": self.bytes_a_message,
            "memory_bytes": self.memory_bytes,
        }


@dataclass(frozen=True)
class Line:
    """The counters of a cluster's nodes in a time span, for all nodes and for each.

    Attributes:
        seconds: Length of the span in seconds.
        whole: Figures of all nodes together.
        nodes: Figures of each node, in the order of the record.
    """

    seconds: float
    whole: NodeFigures
    nodes: tuple[NodeFigures, ...]

    @property
    def head(self) -> str:
        """The line of text with the counters of all nodes together."""
        count = len(self.nodes)
        nodes = f"Cluster {count} node{'' if count == 1 else 's'}" if count else "One server"
        lead = f"{nodes}, {_seconds(self.seconds)}."
        return f"{lead} {figures_text(self.whole.figures(self.seconds))}"

    @property
    def each(self) -> tuple[str, ...]:
        """One line of text with the counters of each node."""
        return tuple(
            f"{node.name}: {figures_text(node.figures(self.seconds))}" for node in self.nodes
        )

    def facts(self) -> dict[str, Any]:
        """Return the counters of all nodes together and of each node as JSON values."""
        return {
            "seconds": self.seconds,
            "whole": self._node(self.whole, self.head),
            "nodes": [
                self._node(node, text) for node, text in zip(self.nodes, self.each, strict=True)
            ],
        }

    def _node(self, node: NodeFigures, text: str) -> dict[str, Any]:
        about = {"name": node.name, "role": node.role, "text": text, "cpu_by": list(node.cpu_by)}
        return about | node.figures(self.seconds)


def together(nodes: tuple[NodeFigures, ...], cpu_s: float | None = None) -> NodeFigures:
    """Return the sum of the counters of all given cluster nodes.

    Args:
        nodes: Figures of each node.
        cpu_s: CPU seconds of all nodes if they were counted together; None to add up the nodes'
            values.
    """
    grown: dict[str, float] = {}
    for word in words.WORDS:
        counts = [node.grown[word] for node in nodes if word in node.grown]
        if counts and not any(word in node.untold for node in nodes):
            grown[word] = sum(counts)
    cpu_times = [node.cpu_s for node in nodes]
    if cpu_s is None and cpu_times and None not in cpu_times:
        cpu_s = sum(value for value in cpu_times if value is not None)
    memory = [node.memory_bytes for node in nodes if node.memory_bytes is not None]
    by = tuple(dict.fromkeys(by for node in nodes for by in node.cpu_by))
    return NodeFigures("", "", grown, cpu_s, by or (BY_KERNEL,), sum(memory) if memory else None)


def at_rates_of(line: Line, whole: Line) -> Line:
    """Return a span's counters, estimated from the rates of an enclosing span.

    Args:
        line: Figures of an execution without counter readings around it. The result keeps their
            length and CPU time.
        whole: Figures of the enclosing span, for the same nodes.
    """
    factor = line.seconds / whole.seconds if whole.seconds > 0 else 0.0

    def with_rates(own: NodeFigures, rates: NodeFigures) -> NodeFigures:
        grown = {
            word: value if word in counters.GAUGES else value * factor
            for word, value in rates.grown.items()
        }
        return replace(own, grown=grown)

    by_name = {node.name: node for node in whole.nodes}
    nodes = tuple(with_rates(node, by_name.get(node.name, node)) for node in line.nodes)
    return Line(line.seconds, with_rates(line.whole, whole.whole), nodes)


def figures_text(figures: Mapping[str, float | None]) -> str:
    """Return known cluster counters as one line of text, such as `1.2K m/s`."""
    parts = [
        f"{_scaled(value / unit)} {word}"
        for name, unit, word in (
            ("messages_per_s", 1.0, "m/s"),
            ("bytes_per_s", KIB, "KB/s"),
            ("read_bytes_per_s", KIB, "KB/s read"),
        )
        if (value := figures[name]) is not None
    ]
    cores = figures["cpu_cores"]
    if cores is not None:
        parts.insert(2 if len(parts) > 1 else len(parts), f"{cores * PERCENT:.4g}% cpu")
    waiting = figures["waiting_share"]
    if waiting is not None:
        parts.append(f"{_percent(waiting)} clw{_waits_text(figures)}")
    scheduling = figures["scheduling_share"]
    if scheduling is not None:
        parts.append(f"{_percent(scheduling)} sched")
    memory = figures["memory_bytes"]
    if memory is not None:
        parts.append(f"{scaled_text(memory, KIB).strip()}B mem")
    return " ".join(parts) or "nothing was counted"


def _waits_text(figures: Mapping[str, float | None]) -> str:
    """Return the shares of fetch waits and blocked time as text; empty if one is not counted."""
    wait, blocked = figures["wait_share"], figures["blocked_share"]
    if wait is None or blocked is None:
        return ""
    return f" ({_percent(wait)} fetch, {_percent(blocked)} blocked)"


def _percent(share: float) -> str:
    return f"{share * PERCENT:.3g}%"


def _scaled(value: float) -> str:
    return scaled_text(value).strip()


def _seconds(seconds: float) -> str:
    return f"{seconds:.4g} s"


def span_seconds(begun_ns: int, ended_ns: int) -> float:
    """Return the length of a time span in seconds."""
    return (ended_ns - begun_ns) * NS
