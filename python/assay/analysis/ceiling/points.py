"""Summarises trials of a host's disk, memory and cores over rounds: one point per trial kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.ceiling.trials import (
    BUFFERED,
    CHASE,
    DIRECT,
    READ,
    WRITE,
    Ceiling,
    Estimate,
    estimate,
)
from assay.analysis.operations import NS

if TYPE_CHECKING:
    from collections.abc import Iterator

DISK_KEY = ("operation", "pattern", "cache", "method", "depth", "size_bytes")
MACHINE_KEY = ("kernel", "threads")
LATENCIES = ("p50", "p90", "p99", "p999", "max")
# Largest share of other programs' bytes at which the device's counters count as the trial's own.
OTHERS_SHARE_MAX = 0.02


@dataclass(frozen=True)
class DiskPoint:
    """The measured speed of one kind of disk request.

    Attributes:
        operation: `read`, `write`, `fsync` or `fdatasync`.
        pattern, cache, method, depth, size_bytes: Names and numbers from the record.
        iops: Requests per second.
        bytes_per_s: Bytes per second in the same rounds.
        cpu_s: CPU seconds of the trial's threads per request.
        latency_s: Quantiles of the latency of a request, as medians over rounds; for `max` the
            longest of all rounds.
        device_requests: Device requests per request of the trial: below 1 if requests were merged,
            above 1 if they were split; None if others used the device in all rounds, if it does not
            count them, or for trials through the page cache.
    """

    operation: str
    pattern: str
    cache: str
    method: str
    depth: int
    size_bytes: int
    iops: Estimate
    bytes_per_s: Estimate
    cpu_s: Estimate | None
    latency_s: dict[str, float]
    device_requests: float | None


@dataclass(frozen=True)
class MachinePoint:
    """The measured speed of one kind of memory access or computation.

    Attributes:
        kernel: Name of the loop kernel in the record.
        threads: Number of threads.
        array_bytes: Bytes of each array; None means a trial of cores.
        per_s: Bytes or steps per second, of all threads together. For `chase`, seconds per load.
    """

    kernel: str
    threads: int
    array_bytes: int | None
    per_s: Estimate


def disk_points(ceiling: Ceiling) -> list[DiskPoint]:
    """Return the measured points of the disk: reads before writes, direct ones first."""
    order = {word: place for place, word in enumerate((READ, WRITE, "fsync", "fdatasync"))}
    points = (
        _disk_point(key, rows) for key, rows in ceiling.disk.group_by(DISK_KEY, maintain_order=True)
    )
    return sorted(
        (point for point in points if point is not None),
        key=lambda point: (
            order.get(point.operation, len(order)),
            point.cache == BUFFERED,
            point.depth,
            point.pattern != "sequential",
            point.size_bytes,
        ),
    )


def memory_points(ceiling: Ceiling) -> list[MachinePoint]:
    """Return the memory bandwidth in bytes per second, by kernel and number of threads."""
    streams = ceiling.memory.filter(pl.col("kernel") != CHASE)
    return sorted(
        _machine_points(streams, "bytes_per_s"), key=lambda point: (point.kernel, point.threads)
    )


def chase_points(ceiling: Ceiling) -> list[MachinePoint]:
    """Return the seconds per dependent memory load, by the size of the array."""
    chases = ceiling.memory.filter(kernel=CHASE)
    return sorted(_machine_points(chases, "load_ns"), key=lambda point: point.array_bytes or 0)


def core_points(ceiling: Ceiling) -> list[MachinePoint]:
    """Return the speed of cores in steps per second, by kernel and number of threads."""
    return sorted(
        _machine_points(ceiling.core, "steps_per_s"),
        key=lambda point: (point.kernel, point.threads),
    )


def _disk_point(key: tuple[object, ...], rows: pl.DataFrame) -> DiskPoint | None:
    iops = estimate(rows["iops"])
    bytes_per_s = estimate(rows["bytes_per_s"])
    if iops is None or bytes_per_s is None:
        return None
    operation, pattern, cache, method, depth, size_bytes = key
    cpu_ns = estimate(rows["cpu_ns_per_request"])
    return DiskPoint(
        str(operation),
        str(pattern),
        str(cache),
        str(method),
        int(str(depth)),
        int(str(size_bytes)),
        iops,
        bytes_per_s,
        None if cpu_ns is None else cpu_ns.times(NS),
        _latencies(rows),
        _device_requests(rows),
    )


def _latencies(rows: pl.DataFrame) -> dict[str, float]:
    chosen = rows.select(
        pl.col(f"latency_{name}_ns").median() if name != "max" else pl.col("latency_max_ns").max()
        for name in LATENCIES
    ).row(0)
    return {name: value * NS for name, value in zip(LATENCIES, chosen, strict=True)}


def _device_requests(rows: pl.DataFrame) -> float | None:
    made = pl.col("requests") + pl.col("requests_outside")
    own = rows.filter(
        pl.col("cache") == DIRECT,
        pl.col("others_bytes") <= OTHERS_SHARE_MAX * made * pl.col("size_bytes"),
    )
    middle = own.select((pl.col("device_requests") / made).median()).item()
    return None if middle is None else float(middle)


def _machine_points(trials: pl.DataFrame, column: str) -> Iterator[MachinePoint]:
    has_arrays = "array_bytes" in trials.columns
    key = [*MACHINE_KEY, "array_bytes"] if has_arrays else [*MACHINE_KEY]
    factor = NS if column == "load_ns" else 1.0
    for values, rows in trials.group_by(key, maintain_order=True):
        estimated = estimate(rows[column])
        if estimated is not None:
            array_bytes = int(str(values[2])) if has_arrays else None
            yield MachinePoint(
                str(values[0]), int(str(values[1])), array_bytes, estimated.times(factor)
            )
