"""Measures disk read contiguity: the distance of each read from the end of the previous one.

The requests are those that the device's driver received, after the kernel's merging and
read-ahead. If several sequential streams alternate, each request is far from the previous one.
So requests near any of the last few requests are counted as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.host.disk_series import data_device
from assay.analysis.operations import measured, plain
from assay.record.layout import ENGINE_ACCOUNTS

if TYPE_CHECKING:
    from assay.record.reader import Run

SECTOR_BYTES = 512
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
# A rotating disk, or the usual read-ahead, still treats such a distance as near.
NEAR_BYTES = 128 * KIB
# Number of alternating streams that are recognised.
RECENT = 16
# Upper bounds of distances, forwards and backwards. The last class has no bound.
DISTANCES_BYTES = (0, 4 * KIB, 32 * KIB, NEAR_BYTES, MIB, 16 * MIB, 256 * MIB, 4 * GIB)
ALL = "all"
OPERATIONS_SCHEMA = {
    "operation": pl.String,
    "reads": pl.Int64,
    "read_bytes": pl.Int64,
    "mean_read_bytes": pl.Float64,
    "read_ahead_share": pl.Float64,
    "sequential_share": pl.Float64,
    "near_share": pl.Float64,
    "random_share": pl.Float64,
    "near_recent_share": pl.Float64,
    "runs": pl.Int64,
    "mean_run_reads": pl.Float64,
    "mean_run_bytes": pl.Float64,
}


@dataclass(frozen=True)
class Contiguity:
    """The contiguity of a device's reads in the measured part.

    Attributes:
        devices: Devices whose requests were traced: the device with the data, or the disks below
            it.
        operations: One row per operation, and one for `all`: operation, reads, read_bytes,
            mean_read_bytes, read_ahead_share (share by the kernel's read-ahead);
            sequential_share (begin at the end of the previous read), near_share (within 128 KiB
            of it, in either direction) and random_share, which add up to 1, null with fewer than
            two reads; near_recent_share (within 128 KiB of the end of one of the 16 previous
            reads, including sequential ones); runs (of sequential reads), mean_run_reads,
            mean_run_bytes. If operations overlap, `all` is the only row.
        distances: operation, forward, at_most_bytes (null: no bound; 0: sequential), reads.
        run_lengths: operation, at_most_reads (a power of two), runs, reads, read_bytes.
        others_reads: Number of reads of other processes, which the tables exclude; None if the
            engine's processes are not known, so that the tables include all reads.
    """

    devices: tuple[str, ...]
    operations: pl.DataFrame
    distances: pl.DataFrame
    run_lengths: pl.DataFrame
    others_reads: int | None


def contiguity(run: Run, device: str | None = None) -> Contiguity | None:
    """Return the contiguity of disk reads, in total and by operation; None if not traced.

    Args:
        run: Any run, complete or not.
        device: The kernel's name of a device; None means the device that holds the data.
    """
    devices = (device,) if device is not None else traced_devices(run)
    if not devices or not run.has("requests"):
        return None
    every, pids = _reads(run, devices), _engine_pids(run)
    reads = every if pids is None else every.filter(pl.col("pid").is_in(pids) | pl.col("queued"))
    others = None if pids is None else every.height - reads.height
    whole = _placed(
        reads.with_columns(pl.lit(ALL).alias("operation"), pl.lit(0).alias("execution"))
    )
    by_operation = _placed(_of_executions(run, reads))
    reads_placed = pl.concat([whole, by_operation])
    return Contiguity(
        devices,
        _operations(reads_placed),
        _distances(reads_placed),
        _run_lengths(reads_placed),
        others,
    )


def traced_devices(run: Run) -> tuple[str, ...]:
    """Return the block devices that hold the data; for a partition, its disks."""
    device = (run.environment.get("host") or {}).get("data_device") or {}
    if device.get("kind") in ("partition", "stacked"):
        return tuple(device["disks"])
    name = data_device(run)
    return () if name is None else (name,)


def _engine_pids(run: Run) -> list[int] | None:
    """Return the ids of the engine's processes in samples; None if they are not known."""
    if not run.has("processes"):
        return None
    processes = run.table("processes")
    is_engine = processes["account"].cast(pl.String).is_in(list(ENGINE_ACCOUNTS))
    return processes.filter(is_engine)["pid"].unique().to_list() or None


def _reads(run: Run, devices: tuple[str, ...]) -> pl.DataFrame:
    """Return the traced disk reads of the measured part, ordered by time.

    Columns: time_ns, device, begin, end, bytes, ahead, pid, queued.
    A read that a kernel thread submitted (`queued`) may belong to any process.
    """
    events = measured(run.table("events"))
    begun_ns, ended_ns = events["started_ns"].min(), events["finished_ns"].max()
    letters = pl.col("rwbs").cast(pl.String)
    begin = pl.col("sector").cast(pl.Int64) * SECTOR_BYTES
    size = pl.col("bytes").cast(pl.Int64)
    return (
        run.table("requests")
        .with_columns(pl.col("device").cast(pl.String))
        .filter(
            pl.col("device").is_in(list(devices))
            & letters.str.starts_with("R")
            & pl.col("time_ns").is_between(begun_ns, ended_ns)
        )
        .sort("time_ns")
        .select(
            "time_ns",
            "device",
            begin.alias("begin"),
            (begin + size).alias("end"),
            size.alias("bytes"),
            letters.str.contains("A").alias("ahead"),
            "pid",
            pl.col("pid").is_null().alias("queued"),
        )
    )


def _of_executions(run: Run, reads: pl.DataFrame) -> pl.DataFrame:
    """Return the disk reads within executions, with their operation; empty if these overlap."""
    spans = (
        plain(measured(run.table("events")))
        .drop_nulls(["started_ns", "finished_ns"])
        .sort("started_ns")
        .select("started_ns", "finished_ns", "operation", pl.col("sequence").alias("execution"))
    )
    if bool((spans["started_ns"] < spans["finished_ns"].shift(1)).any()):
        spans = spans.clear()
    return (
        reads.join_asof(spans, left_on="time_ns", right_on="started_ns", strategy="backward")
        .filter(pl.col("time_ns") <= pl.col("finished_ns"))
        .select(*reads.columns, "operation", pl.col("execution").cast(pl.Int32))
    )


def _placed(reads: pl.DataFrame) -> pl.DataFrame:
    """Return disk reads with the columns `distance`, `recent` and `run`.

    `distance` is the number of bytes from the end of the previous read, `recent` from the
    nearest of several previous reads. Both are null for the first read of an execution on a
    device. `run` numbers sequences of reads that each begin at the end of the previous one.
    """
    stream = ["device", "execution"]
    begin, end = pl.col("begin"), pl.col("end")
    distance = (begin - end.shift(1)).over(stream)
    recent = [(begin - end.shift(back)).abs().over(stream) for back in range(1, RECENT + 1)]
    return (
        reads.with_columns(distance.alias("distance"), pl.min_horizontal(recent).alias("recent"))
        .with_columns((pl.col("distance") != 0).fill_null(value=True).alias("is_first"))
        .with_columns(pl.col("is_first").cum_sum().over(stream).alias("run"))
        .select(*reads.columns, "distance", "recent", "run")
    )


def _operations(placed: pl.DataFrame) -> pl.DataFrame:
    distance, count = pl.col("distance"), pl.col("distance").count()
    is_near = (distance != 0) & (distance.abs() <= NEAR_BYTES)

    def share(matching: pl.Expr) -> pl.Expr:
        return pl.when(count > 0).then(matching.sum() / count)

    runs = pl.struct("device", "execution", "run").n_unique()
    rows = placed.group_by("operation", maintain_order=True).agg(
        pl.len().alias("reads"),
        pl.col("bytes").sum().alias("read_bytes"),
        pl.col("bytes").mean().alias("mean_read_bytes"),
        pl.col("ahead").mean().alias("read_ahead_share"),
        share(distance == 0).alias("sequential_share"),
        share(is_near).alias("near_share"),
        share(distance.abs() > NEAR_BYTES).alias("random_share"),
        share(pl.col("recent") <= NEAR_BYTES).alias("near_recent_share"),
        runs.alias("runs"),
    )
    return rows.with_columns(
        (pl.col("reads") / pl.col("runs")).alias("mean_run_reads"),
        (pl.col("read_bytes") / pl.col("runs")).alias("mean_run_bytes"),
    ).select(pl.col(name).cast(kind) for name, kind in OPERATIONS_SCHEMA.items())


def _distances(placed: pl.DataFrame) -> pl.DataFrame:
    """Return the number of disk reads in classes of distance from the end of the previous read."""
    far = pl.col("distance").abs()
    classed = pl.lit(None, dtype=pl.Int64)
    for bound in reversed(DISTANCES_BYTES):
        classed = pl.when(far <= bound).then(pl.lit(bound, dtype=pl.Int64)).otherwise(classed)
    return (
        placed.drop_nulls("distance")
        .with_columns(classed.alias("at_most_bytes"), (pl.col("distance") >= 0).alias("forward"))
        .group_by("operation", "forward", "at_most_bytes", maintain_order=True)
        .agg(pl.len().cast(pl.Int64).alias("reads"))
        .sort("operation", "forward", "at_most_bytes", nulls_last=True)
    )


def _run_lengths(placed: pl.DataFrame) -> pl.DataFrame:
    """Return the number of sequential stretches of reads by their length, in powers of two."""
    length = pl.col("reads").log(2).ceil()
    return (
        placed.group_by("operation", "device", "execution", "run", maintain_order=True)
        .agg(pl.len().cast(pl.Int64).alias("reads"), pl.col("bytes").sum().alias("read_bytes"))
        .with_columns((2**length).cast(pl.Int64).alias("at_most_reads"))
        .group_by("operation", "at_most_reads", maintain_order=True)
        .agg(pl.len().cast(pl.Int64).alias("runs"), pl.col("reads", "read_bytes").sum())
        .sort("operation", "at_most_reads")
    )
