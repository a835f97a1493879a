"""CPU time of the cluster nodes on this host at any instant of a run, from kernel samples.

A process belongs to the node of its root process. CPU use is taken as even between two samples,
so a span must contain several samples.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.operations import NS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from assay.analysis.cluster.nodes import ClusterNode

# An execution with fewer samples is too short for an estimate of its CPU time.
LOOKS_MIN = 3
# Another probe reads the engine's counters, so its first and last reading may lie just outside
# the sampled time.
OUTSIDE_MAX = 0.1
PROCESS = ["pid", "started_ns"]
NEEDED = {"ppid", "pid", "started_ns"}


@dataclass(frozen=True)
class NodeClock:
    """The CPU time of one node at each sample, counted from the first sample.

    Attributes:
        times_ns: Times of the samples in nanoseconds, ascending.
        cpu_ns: CPU time in nanoseconds.
        ready_ns: Nanoseconds that the node's tasks were ready to run and waited for a CPU.
        rss_bytes: Resident memory at each sample.
    """

    times_ns: tuple[int, ...]
    cpu_ns: tuple[int, ...]
    ready_ns: tuple[int, ...]
    rss_bytes: tuple[int, ...]

    def cpu_s(self, begun_ns: int, ended_ns: int) -> float | None:
        """Return the CPU seconds of a time span; None if too few samples cover it.

        At most a tenth of the span may lie outside the sampled time.
        """
        times = self.times_ns
        within = bisect_right(times, ended_ns) - bisect_left(times, begun_ns)
        first, last = max(begun_ns, times[0]), min(ended_ns, times[-1])
        span_ns = ended_ns - begun_ns
        if within < LOOKS_MIN or span_ns - (last - first) > OUTSIDE_MAX * span_ns:
            return None
        return (self._at(last) - self._at(first)) * NS * span_ns / (last - first)

    def memory_bytes(self, at_ns: int) -> int | None:
        """Return the resident memory in bytes at the last sample up to an instant; None before."""
        place = bisect_right(self.times_ns, at_ns) - 1
        return None if place < 0 else self.rss_bytes[place]

    def _at(self, time_ns: int) -> float:
        right = bisect_left(self.times_ns, time_ns)
        if self.times_ns[right] == time_ns:
            return self.cpu_ns[right]
        before, after = self.times_ns[right - 1], self.times_ns[right]
        part = (time_ns - before) / (after - before)
        return self.cpu_ns[right - 1] + part * (self.cpu_ns[right] - self.cpu_ns[right - 1])


def node_clocks(processes: pl.DataFrame, nodes: Sequence[ClusterNode]) -> dict[str, NodeClock]:
    """Return the CPU clocks of the nodes on this host, by node name.

    Args:
        processes: Rows of `processes.arrows`.
        nodes: Nodes of the cluster.
    """
    roots = {pid: node.name for node in nodes for pid in node.pids}
    if not roots or processes.is_empty() or NEEDED - set(processes.columns):
        return {}
    owned = _owned(processes, roots)
    if owned.is_empty():
        return {}
    first_ns, times = processes["time_ns"].min(), processes["time_ns"].unique().sort()
    grown = owned.sort("time_ns").with_columns(
        _growth("cpu_ns", first_ns), _growth("ready_ns", first_ns)
    )
    looks = pl.DataFrame({"time_ns": times}).join(
        pl.DataFrame({"node": list(dict.fromkeys(roots.values()))}), how="cross"
    )
    sums = grown.group_by("node", "time_ns").agg(
        pl.col("cpu_ns", "ready_ns", "rss_bytes").sum().cast(pl.Int64)
    )
    readings = looks.join(sums, on=["node", "time_ns"], how="left").sort("time_ns")
    return {
        str(node): NodeClock(
            times_ns=tuple(rows["time_ns"]),
            cpu_ns=tuple(rows["cpu_ns"].fill_null(0).cum_sum()),
            ready_ns=tuple(rows["ready_ns"].fill_null(0).cum_sum()),
            rss_bytes=tuple(rows["rss_bytes"].fill_null(0)),
        )
        for (node,), rows in readings.group_by("node", maintain_order=True)
    }


def _growth(name: str, first_ns: object) -> pl.Expr:
    """Return a counter's growth since the previous sample; new processes count from zero.

    A counter that decreases counts as no growth.
    """
    before = pl.when(pl.col("time_ns") == first_ns).then(pl.col(name)).otherwise(0)
    return (
        (pl.col(name) - pl.col(name).shift(1).over(PROCESS).fill_null(before))
        .clip(lower_bound=0)
        .alias(name)
    )


def _owned(processes: pl.DataFrame, roots: Mapping[int, str]) -> pl.DataFrame:
    """Return the process samples that belong to a cluster node, with the name of that node."""
    # A process whose parent ended gets another parent. Its first parent counts.
    parents: dict[int, int] = {}
    for pid, parent in processes.select("pid", "ppid").unique(maintain_order=True).iter_rows():
        parents.setdefault(pid, parent)
    names = {pid: _owner(pid, parents, roots) for pid in parents}
    ticks = pl.col("user_ns") + pl.col("system_ns")
    return (
        processes.select(
            *PROCESS,
            "time_ns",
            pl.col("pid").replace_strict(names, return_dtype=pl.String).alias("node"),
            pl.coalesce("on_cpu_ns", ticks).cast(pl.Int64).alias("cpu_ns"),
            pl.col("run_delay_ns").cast(pl.Int64).fill_null(0).alias("ready_ns"),
            pl.col("rss_bytes").cast(pl.Int64),
        )
        .drop_nulls("node")
        .unique(["pid", "started_ns", "time_ns"], maintain_order=True)
    )


def _owner(pid: int, parents: Mapping[int, int], roots: Mapping[int, str]) -> str | None:
    """Return the cluster node whose root process is the nearest ancestor of a process, or None."""
    seen: set[int] = set()
    here: int | None = pid
    while here is not None and here not in seen:
        if here in roots:
            return roots[here]
        seen.add(here)
        here = parents.get(here)
    return None


def cores_at_work(clocks: Iterable[NodeClock], *, ready: bool = False) -> list[float]:
    """Return the mean number of cores that cluster nodes used between consecutive samples.

    Args:
        clocks: CPU clocks, read at the same samples.
        ready: Whether tasks that wait for a CPU count as well.
    """
    every = list(clocks)
    if not every:
        return []
    times = every[0].times_ns
    used = [
        sum(clock.cpu_ns[at] + (clock.ready_ns[at] if ready else 0) for clock in every)
        for at in range(len(times))
    ]
    return [(used[at + 1] - used[at]) / (times[at + 1] - times[at]) for at in range(len(times) - 1)]
