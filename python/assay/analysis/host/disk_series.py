"""Computes the use of block devices over time as iostat -x reports it.

As in iostat, kB means KiB. Where iostat prints 0.00 because there was no request, such as an
await, the value is null.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import polars as pl

from assay.analysis.host.slots import SECONDS, TIME, between, thinned
from assay.analysis.host.timeline import origin_ns
from assay.analysis.operations import NS

if TYPE_CHECKING:
    from assay.record.reader import Run

KIB = 1024
MS_PER_NS = 1e-6
AQUEUE, UTIL = "aqu-sz", "%util"


@dataclass(frozen=True)
class _Direction:
    """The direction of disk requests (read, write): iostat's letter and its counters."""

    letter: str
    requests: str
    merged: str
    size_bytes: str
    time_ns: str


DIRECTIONS = (
    _Direction("r", "reads", "reads_merged", "read_bytes", "read_ns"),
    _Direction("w", "writes", "writes_merged", "write_bytes", "write_ns"),
    _Direction("d", "discards", "discards_merged", "discard_bytes", "discard_ns"),
)
COUNTERS = (
    *(name for of in DIRECTIONS for name in (of.requests, of.merged, of.size_bytes, of.time_ns)),
    "flushes",
    "flush_ns",
    "io_ns",
    "weighted_io_ns",
)


def disk_series(
    run: Run, interval_s: float | None = 1.0, device: str | None = None
) -> pl.DataFrame:
    """Return the use of block devices in iostat's terms, one row per device and interval.

    Columns: time_s (end of the interval, since the measured part began; negative in the
    warm-up), seconds (length of the interval), device, kind (disk, partition, stacked; null if
    not known), then r/s, rkB/s, rrqm/s, %rrqm, r_await (ms), rareq-sz (KiB), the same columns
    for writes (w) and discards (d), f/s, f_await (ms), aqu-sz and %util. Rates refer to the time
    between the two samples that are nearest to the interval's ends.

    Args:
        run: Any run, complete or not.
        interval_s: Length of an interval; None means one row between consecutive samples.
        device: Only this device; None means all devices. Sum only over devices of kind `disk`,
            because I/O of a partition or a stacked device is counted again at the disks below
            it.

    The table is empty if disks were not sampled.
    """
    if not run.has("disks"):
        return pl.DataFrame(schema=_schema())
    samples = run.table("disks").with_columns(pl.col("device", "kind").cast(pl.String))
    if device is not None:
        samples = samples.filter(pl.col("device") == device)
    zero_ns = origin_ns(run.table("events"))
    return iostat(thinned(samples, "device", zero_ns, interval_s), zero_ns)


def iostat(samples: pl.DataFrame, zero_ns: int) -> pl.DataFrame:
    """Return the use of block devices between consecutive samples in iostat's terms."""
    kinds = samples.group_by("device", maintain_order=True).agg(pl.col("kind").drop_nulls().first())
    rows = between(samples, "device", COUNTERS, zero_ns).join(
        kinds, on="device", maintain_order="left"
    )
    figures = [figure for of in DIRECTIONS for figure in _of_direction(of)]
    return (
        rows.select(
            TIME,
            SECONDS,
            "device",
            "kind",
            *figures,
            _per_s("flushes").alias("f/s"),
            _each("flush_ns", "flushes", MS_PER_NS).alias("f_await"),
            (_per_s("weighted_io_ns") * NS).alias(AQUEUE),
            (_per_s("io_ns") * NS * 100).alias(UTIL),
        )
        .sort(TIME, "device")
        .cast(_schema())  # type: ignore[arg-type]
    )


def data_device(run: Run) -> str | None:
    """Return the block device that holds the instance's data, as /proc/diskstats names it.

    The result is None if the data are not on a block device (memory, network), or the device was
    not sampled.
    """
    host = run.environment.get("host") or {}
    if "data_device" in host:
        device: dict[str, Any] | None = host["data_device"]
        return None if device is None else str(device["name"])
    # Older records contain only the name under which the file system is mounted.
    mounted = str((host.get("data_filesystem") or {}).get("device", ""))
    name = PurePath(mounted).name
    if not mounted.startswith("/dev/") or not run.has("disks"):
        return None
    devices = run.table("disks")["device"].cast(pl.String)
    return name if (devices == name).any() else None


def _of_direction(of: _Direction) -> list[pl.Expr]:
    letter, asked = of.letter, pl.col(of.requests) + pl.col(of.merged)
    return [
        _per_s(of.requests).alias(f"{letter}/s"),
        (_per_s(of.size_bytes) / KIB).alias(f"{letter}kB/s"),
        _per_s(of.merged).alias(f"{letter}rqm/s"),
        pl.when(asked > 0).then(pl.col(of.merged) / asked * 100).alias(f"%{letter}rqm"),
        _each(of.time_ns, of.requests, MS_PER_NS).alias(f"{letter}_await"),
        _each(of.size_bytes, of.requests, 1 / KIB).alias(f"{letter}areq-sz"),
    ]


def _per_s(counter: str) -> pl.Expr:
    return pl.col(counter) / pl.col(SECONDS)


def _each(counter: str, requests: str, unit: float) -> pl.Expr:
    """Return an expression: a disk counter's growth per request; null without requests."""
    return pl.when(pl.col(requests) > 0).then(pl.col(counter) / pl.col(requests) * unit)


def _schema() -> dict[str, type[pl.DataType]]:
    columns: dict[str, type[pl.DataType]] = {TIME: pl.Float64, SECONDS: pl.Float64}
    columns |= {"device": pl.String, "kind": pl.String}
    for letter in (of.letter for of in DIRECTIONS):
        columns |= dict.fromkeys(
            (
                f"{letter}/s",
                f"{letter}kB/s",
                f"{letter}rqm/s",
                f"%{letter}rqm",
                f"{letter}_await",
                f"{letter}areq-sz",
            ),
            pl.Float64,
        )
    return columns | dict.fromkeys(("f/s", "f_await", AQUEUE, UTIL), pl.Float64)
