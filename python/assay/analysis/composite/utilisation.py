"""Estimates how fully a single query stream uses the machine, from concurrent streams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.analysis.operations import NS

if TYPE_CHECKING:
    from assay.analysis.composite.intervals import PerformanceRun


@dataclass(frozen=True)
class Utilisation:
    """The time of one TPC-H power test compared with that of the throughput test of its run.

    Attributes:
        run: Number of the run.
        power_s: Sum of all intervals of the power test in seconds.
        elapsed_s: Elapsed seconds of the throughput test.
        streams: Number of query streams.
        stream_s: Elapsed seconds divided by streams: the time of one stream's work on a shared
            machine.
        share: `stream_s` divided by `power_s`. Below 1, the power test left part of the machine
            unused; above 1, streams obstructed each other.
    """

    run: int
    power_s: float
    elapsed_s: float
    streams: int
    stream_s: float
    share: float


def utilisation(run: PerformanceRun) -> Utilisation | None:
    """Return a single stream's share of the machine, from both TPC-H tests; None without both."""
    if run.power is None or run.throughput is None or run.power.seconds <= 0:
        return None
    streams, elapsed_s = len(run.throughput.streams), run.throughput.elapsed_ns * NS
    share = utilised_share(run.power.seconds, elapsed_s, streams)
    return Utilisation(
        run.number, run.power.seconds, elapsed_s, streams, elapsed_s / streams, share
    )


def utilised_share(power_s: float, elapsed_s: float, streams: int) -> float:
    """Return a stream's mean time in concurrent execution divided by its time alone."""
    return elapsed_s / streams / power_s
