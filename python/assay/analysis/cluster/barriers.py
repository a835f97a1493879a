"""Finds barriers: times at which nearly all cluster nodes wait between phases of full load.

The input is a series: the number of cores that nodes used or waited for between consecutive
samples. A barrier is a trough of several samples below the low level, between two peaks above
the high level, within one execution (a Schmitt trigger). CPU use by other programs makes no
trough, because tasks that wait for a CPU count as working.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from assay.analysis.cluster.node_clocks import cores_at_work
from assay.analysis.operations import NS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from assay.analysis.cluster.node_clocks import NodeClock

# Shares of the platform's cores. Above the high level the platform is in full use, although one
# thread per core rarely keeps all cores busy for a whole sampling interval. Below the low level
# less than a third of the cores is busy.
HIGH, LOW = 0.7, 0.3
# A trough of one or two samples may be an accident of the sampling times.
LOOKS_MIN = 3
# An execution with fewer samples is too short for two peaks and a distinguishable trough.
EXECUTION_LOOKS_MIN = 10
TOLD_MAX = 100


@dataclass(frozen=True)
class Execution:
    """The time span of one execution of an operation, or of a whole load (empty name)."""

    operation: str
    begun_ns: int
    ended_ns: int


@dataclass(frozen=True)
class Barrier:
    """One barrier: a trough of the cluster's CPU use between two peaks.

    Attributes:
        operation: The operation in progress; empty under a load.
        begun_s, ended_s: Start and end, in seconds since the measured part began.
        cores: Mean number of busy cores in the trough.
        peak_cores: Mean number of busy cores in the peaks before and after the trough.
    """

    operation: str
    begun_s: float
    ended_s: float
    cores: float
    peak_cores: float

    @property
    def seconds(self) -> float:
        """The duration of the barrier in seconds."""
        return self.ended_s - self.begun_s

    @property
    def lost_s(self) -> float:
        """The seconds that the barrier costs, compared with the CPU use of the peaks around it."""
        return self.seconds * max(0.0, 1 - self.cores / self.peak_cores)

    def facts(self) -> dict[str, Any]:
        """Return the cluster barrier as JSON values."""
        return asdict(self) | {"lost_s": self.lost_s}


@dataclass(frozen=True)
class Barriers:
    """The barriers of a run: times at which nearly all cluster nodes waited.

    Attributes:
        barriers: Barriers in the order of time.
        platform_cores: Number of cores of the platform, the base of the high and low level.
        looked_s: Seconds of executions that were long enough to analyse, by operation.
        too_short: Operations without an execution that was long enough to analyse.
        missing: Reason why barriers are not known; None if they are known.
    """

    barriers: tuple[Barrier, ...] = ()
    platform_cores: float | None = None
    looked_s: Mapping[str, float] | None = None
    too_short: tuple[str, ...] = ()
    missing: str | None = None

    @property
    def lost_shares(self) -> dict[str, float]:
        """The share of each operation's time that was lost to barriers."""
        lost = dict.fromkeys(self.looked_s or {}, 0.0)
        for barrier in self.barriers:
            lost[barrier.operation] += barrier.lost_s
        return {name: lost[name] / spent for name, spent in (self.looked_s or {}).items() if spent}

    @property
    def lost_share(self) -> float | None:
        """Share of the observed time that was lost at barriers; None without observations."""
        spent = sum((self.looked_s or {}).values())
        return sum(barrier.lost_s for barrier in self.barriers) / spent if spent else None

    def facts(self) -> dict[str, Any]:
        """Return the cluster barriers as JSON values."""
        longest = sorted(self.barriers, key=lambda barrier: -barrier.lost_s)[:TOLD_MAX]
        shown = sorted(longest, key=lambda barrier: barrier.begun_s)
        return {
            "missing": self.missing,
            "platform_cores": self.platform_cores,
            "lost_share": self.lost_share,
            "operations": self.lost_shares,
            "too_short": list(self.too_short),
            "count": len(self.barriers),
            "found": [barrier.facts() for barrier in shown],
        }


def find_barriers(
    clocks: Iterable[NodeClock],
    executions: Sequence[Execution],
    platform_cores: float,
    zero_ns: int,
) -> Barriers:
    """Return the barriers of a cluster within executions, from the CPU use of its nodes.

    Args:
        clocks: CPU clocks of all nodes, read at the same samples; at least one.
        executions: Executions that do not overlap.
        platform_cores: Number of cores that the nodes may use.
        zero_ns: Start of the measured part in nanoseconds.
    """
    every = list(clocks)
    times, cores = every[0].times_ns, cores_at_work(every, ready=True)
    barriers: list[Barrier] = []
    looked_s: dict[str, float] = {}
    for execution in executions:
        # Only samples within the execution: their intervals hold nothing from before or after
        # it.
        first, last = (
            bisect_left(times, execution.begun_ns),
            bisect_right(times, execution.ended_ns) - 1,
        )
        if last - first < EXECUTION_LOOKS_MIN:
            continue
        looked_s[execution.operation] = (
            looked_s.get(execution.operation, 0.0) + (execution.ended_ns - execution.begun_ns) * NS
        )
        shares = [value / platform_cores for value in cores[first:last]]
        for begin, end, peak in troughs(shares):
            low = shares[begin:end]
            barriers.append(
                Barrier(
                    execution.operation,
                    (times[first + begin] - zero_ns) * NS,
                    (times[first + end] - zero_ns) * NS,
                    platform_cores * sum(low) / len(low),
                    platform_cores * peak,
                )
            )
    names = dict.fromkeys(execution.operation for execution in executions)
    short = tuple(name for name in names if name not in looked_s)
    return Barriers(tuple(barriers), platform_cores, looked_s, short)


def troughs(shares: Sequence[float]) -> list[tuple[int, int, float]]:
    """Return the troughs between peaks of CPU use in one evenly sampled series.

    Args:
        shares: Busy share of the platform at each sample.

    Returns:
        For each trough: the index of its first sample, the index after its last sample, and the
            mean share in the surrounding peaks, at most 1.
    """
    runs = _low_runs(shares)
    ends = [0, *(end for _, end in runs)]
    begins = [*(begin for begin, _ in runs), len(shares)]
    peaks = [_peak(shares[end:begin]) for end, begin in zip(ends, begins, strict=True)]
    bounds = []
    for at, (begin, end) in enumerate(runs):
        before, after = peaks[at], peaks[at + 1]
        if before and after:
            bounds.append((begin, end, min(1.0, (sum(before) + sum(after)) / len(before + after))))
    return bounds


def _peak(shares: Sequence[float]) -> list[float]:
    """Return the numbers of samples in which all cores of the cluster were in use."""
    return [share for share in shares if share >= HIGH]


def _low_runs(shares: Sequence[float]) -> list[tuple[int, int]]:
    """Return (begin, end) of each long enough stretch of samples with low CPU use."""
    runs, begin = [], None
    for at, share in enumerate([*shares, 1.0]):
        if share <= LOW:
            begin = at if begin is None else begin
        elif begin is not None:
            if at - begin >= LOOKS_MIN:
                runs.append((begin, at))
            begin = None
    return runs
