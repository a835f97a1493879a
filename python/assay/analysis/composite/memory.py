"""Computes the peak memory of TPC-H queries, and predicts it for other scales and streams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from assay.record.layout import ENGINE_ACCOUNTS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.analysis.composite.intervals import PerformanceRun
    from assay.analysis.summary import OperationSummary

# No measurement supports larger scales: memory that does not grow with the data would dominate.
SCALE_FACTOR_MAX = 100
FORMULA = "M(SF', S') = M x (SF' / SF) x (S' / S)"


@dataclass(frozen=True)
class MemoryPeak:
    """Peak memory of a TPC-H query or test, beyond the resident memory before its start.

    Attributes:
        what: Description of the consumer.
        streams: Number of concurrent query streams.
        bytes: Peak in bytes.
    """

    what: str
    streams: int
    bytes: int


@dataclass(frozen=True)
class MemoryAt:
    """Predicted peak memory of TPC-H queries at another scale.

    Attributes:
        scale: Scale factor.
        streams: Minimum number of query streams at that scale.
        bytes: Predicted memory of the queries.
    """

    scale: float
    streams: int
    bytes: float


def extrapolated_bytes(
    peak_bytes: float, scale: float, streams: int, to_scale: float, to_streams: int
) -> float:
    """Return predicted bytes of queries, proportional to scale and to the number of streams.

    Hash tables and sorts grow with the data, and each stream has its own. Caches are not
    included, because a setting determines their size.
    """
    return peak_bytes * (to_scale / scale) * (to_streams / streams)


def at_larger_scales(
    peak: MemoryPeak, scale: float, larger: Iterable[tuple[float, int]]
) -> tuple[MemoryAt, ...]:
    """Extrapolate a memory peak to scales up to a hundred times the measured one.

    Args:
        peak: Peak at the measured scale.
        scale: The measured scale.
        larger: Larger scales, each with its minimum number of query streams.
    """
    return tuple(
        MemoryAt(size, streams, extrapolated_bytes(peak.bytes, scale, peak.streams, size, streams))
        for size, streams in larger
        if size <= SCALE_FACTOR_MAX * scale
    )


def memory_peaks(
    runs: Iterable[PerformanceRun],
    operations: Iterable[OperationSummary],
    processes: pl.DataFrame | None,
) -> tuple[MemoryPeak, ...]:
    """Return the measured memory peaks of TPC-H queries; the highest per stream is first.

    Queries and tests without extra memory are left out.

    Args:
        runs: Runs of the test.
        operations: Queries of the power tests, with their memory.
        processes: Samples of the engine's processes; None without samples.
    """
    played = [(run.number, run.throughput) for run in runs if run.throughput is not None]
    peaks = []
    for number, test in played if processes is not None else []:
        begun_ns = test.begun_ns
        grown = _growth_bytes(processes, begun_ns, begun_ns + test.elapsed_ns)
        if grown:
            peaks.append(MemoryPeak(f"throughput test {number}", len(test.streams), grown))
    queries = list(operations)
    own = [(op.engine_memory_bytes, op.name) for op in queries if op.engine_memory_bytes]
    grown_by = [(op.memory_growth_bytes, op.name) for op in queries if op.memory_growth_bytes]
    for sizes, source in ((own, "by the engine's own account"), (grown_by, "by what was resident")):
        if sizes:
            most, name = max(sizes)
            peaks.append(MemoryPeak(f"{name} alone, {source}", 1, most))
    return tuple(sorted(peaks, key=lambda peak: -peak.bytes / peak.streams))


def _growth_bytes(processes: pl.DataFrame | None, begun_ns: int, ended_ns: int) -> int | None:
    """Return the engine's highest resident bytes in a period, minus the last sample before it."""
    if processes is None:
        return None
    # Memory that a server's processes share holds caches, so it is left out.
    shared = pl.col("rss_shared_bytes").fill_null(0)
    resident = (
        processes.filter(pl.col("account").cast(pl.String).is_in(ENGINE_ACCOUNTS))
        .group_by("time_ns")
        .agg((pl.col("rss_bytes").cast(pl.Int64) - shared.cast(pl.Int64)).sum().alias("bytes"))
        .sort("time_ns")
    )
    before = resident.filter(pl.col("time_ns") <= begun_ns)["bytes"]
    within = resident.filter(pl.col("time_ns").is_between(begun_ns, ended_ns))["bytes"]
    if before.is_empty() or within.is_empty():
        return None
    return max(0, int(within.max()) - int(before[-1]))  # type: ignore[arg-type]
