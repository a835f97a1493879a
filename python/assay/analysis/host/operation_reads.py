"""Disk reads of each execution, with the CPU use during it.

The counters of the data's device are read just outside of each execution, with the counters of
the engine's tasks. For other devices, and in older records, there are only periodic samples,
which do not coincide with the edges of executions. The reads between two samples are divided
among the executions in that time, in proportion to their length, because idle time causes no
reads. CPU use is divided by time, because idle is one of its values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.host.cpu_series import PARTS, cpu_time
from assay.analysis.host.disk_series import data_device
from assay.analysis.host.task_counters import readings
from assay.analysis.operations import NS, is_counted, plain

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.record.reader import Run

DEVICE_COUNTERS = ("reads", "reads_merged", "read_bytes", "writes", "write_bytes", "io_ns")
SHARES = {
    "usr_share": "user_ns",
    "sys_share": "system_ns",
    "iowait_share": "iowait_ns",
    "idle_share": "idle_ns",
    "steal_share": "steal_ns",
}
SCHEMA = {
    "sequence": pl.UInt64,
    "operation": pl.String,
    "pass": pl.UInt32,
    "seconds": pl.Float64,
    **dict.fromkeys(DEVICE_COUNTERS[:-1], pl.Float64),
    "mean_read_bytes": pl.Float64,
    "reads_per_s": pl.Float64,
    "read_bytes_per_s": pl.Float64,
    "util_share": pl.Float64,
    **dict.fromkeys(SHARES, pl.Float64),
    "metered": pl.Boolean,
    "samples": pl.UInt32,
}
METERED = "device_"


def operation_reads(run: Run, device: str | None = None) -> pl.DataFrame:
    """Return the disk reads of each successful measured execution, in time order.

    Columns: sequence, operation, pass, seconds (service time); reads, reads_merged, read_bytes,
    writes, write_bytes of the device; mean_read_bytes (null without reads), reads_per_s and
    read_bytes_per_s during the execution, util_share (share of the time with a request in
    progress, 0 to 1); usr_share, sys_share, iowait_share, idle_share, steal_share of all CPUs;
    metered (whether the device was read at the edges of the execution) and samples (number of
    device samples within it; unless metered, few samples make the figures inaccurate).

    Args:
        run: Any run, complete or not.
        device: Name as in /proc/diskstats; None means the device that holds the data.

    Figures are null if nothing was sampled. The table is empty if operations overlap, because a
    device's reads cannot be assigned to them.
    """
    events = run.table("events")
    ok = is_counted(events) & (pl.col("outcome") == "ok")
    done = events.lazy().filter(ok).sort("started_ns")
    times = done.select("started_ns", "finished_ns").collect()
    if times.is_empty() or _overlap(times):
        return pl.DataFrame(schema=SCHEMA)
    executions = plain(done.collect())
    rows = executions.select(
        "sequence",
        "operation",
        "pass",
        ((pl.col("finished_ns") - pl.col("started_ns")) * NS).alias("seconds"),
    )
    own = data_device(run)
    name = device or own
    columns = {**_of_device(run, name, events, executions), **_of_cpus(run, executions)}
    metered = _metered(run, executions) if name == own else None
    columns["metered"] = pl.Series([metered is not None] * executions.height, dtype=pl.Boolean)
    columns |= metered or {}
    seen = rows.with_columns(values.alias(column) for column, values in columns.items())
    return _with_rates(seen).select(pl.col(column).cast(kind) for column, kind in SCHEMA.items())


def own_read_bytes(run: Run, operation: str) -> float | None:
    """Return the median bytes that the engine read from devices in an execution of an operation.

    The result is None if the kernel did not count these reads.
    """
    if not (run.has("events") and run.has("tasks")):
        return None
    table = readings(run.table("events"), run.table("tasks"))
    read_bytes = table.filter(pl.col("operation") == operation)["read_bytes"]
    if read_bytes.null_count() or read_bytes.is_empty():
        return None
    median = read_bytes.median()
    return median if isinstance(median, float) else None


def _with_rates(rows: pl.DataFrame) -> pl.DataFrame:
    reads = pl.when(pl.col("reads") > 0).then(pl.col("reads"))
    return rows.with_columns(
        (pl.col("read_bytes") / reads).alias("mean_read_bytes"),
        (pl.col("reads") / pl.col("seconds")).alias("reads_per_s"),
        (pl.col("read_bytes") / pl.col("seconds")).alias("read_bytes_per_s"),
        (pl.col("io_ns") * NS / pl.col("seconds")).clip(0, 1).alias("util_share"),
    )


def _overlap(executions: pl.DataFrame) -> bool:
    before = pl.col("finished_ns").shift(1)
    return bool(executions.select((pl.col("started_ns") < before).any()).item())


def _of_device(
    run: Run, device: str | None, events: pl.DataFrame, executions: pl.DataFrame
) -> dict[str, pl.Series]:
    """Return the growth of a disk's counters in each execution; null if not sampled."""
    samples = _samples(run, device)
    if samples is None:
        return _unknown((*DEVICE_COUNTERS, "samples"), executions.height)
    looked_ns = samples["time_ns"]
    busy = _BusyTime(plain(events))
    at_looks = busy.until(looked_ns)
    growths = samples.select(
        pl.col(name).cast(pl.Int64).diff().fill_null(0) for name in DEVICE_COUNTERS
    )
    is_working = at_looks.diff().fill_null(0) > 0
    totals = growths.select(
        pl.when(is_working).then(pl.all()).otherwise(0).cast(pl.Float64).cum_sum()
    )
    ended = _Interpolation(busy.until(executions["finished_ns"]), at_looks).of(totals)
    begun = _Interpolation(busy.until(executions["started_ns"]), at_looks).of(totals)
    seen = _seen(executions, looked_ns)
    # A device that was removed and added again counts from zero.
    is_reset = {name: bool((growths[name] < 0).any()) for name in DEVICE_COUNTERS}
    during = {
        name: (ended[name] - begun[name]).set(~seen | is_reset[name], None)
        for name in DEVICE_COUNTERS
    }
    since = looked_ns.search_sorted(executions["started_ns"], side="left")
    until = looked_ns.search_sorted(executions["finished_ns"], side="right")
    return during | {"samples": until.cast(pl.Int64) - since.cast(pl.Int64)}


def _metered(run: Run, executions: pl.DataFrame) -> dict[str, pl.Series] | None:
    """Return the disk's counters from readings around each execution; None without readings."""
    names = [f"{METERED}{name}" for name in DEVICE_COUNTERS]
    if not run.has("tasks") or names[0] not in run.table("tasks").columns:
        return None
    tasks = run.table("tasks").select("sequence", pl.col("edge").cast(pl.String), *names)
    start, end = (
        executions.select("sequence").join(
            tasks.filter(pl.col("edge") == edge), on="sequence", how="left", maintain_order="left"
        )
        for edge in ("start", "end")
    )
    if start[names[0]].null_count() or end[names[0]].null_count():
        return None
    return {
        name: end[column].cast(pl.Float64) - start[column].cast(pl.Float64)
        for name, column in zip(DEVICE_COUNTERS, names, strict=True)
    }


def _samples(run: Run, device: str | None) -> pl.DataFrame | None:
    """Return the samples of one block device in time order; None with fewer than two."""
    if device is None or not run.has("disks"):
        return None
    disks = run.table("disks")
    own = disks.filter(pl.col("device").cast(pl.String) == device).unique("time_ns")
    return own.sort("time_ns") if own.height > 1 else None


def _of_cpus(run: Run, executions: pl.DataFrame) -> dict[str, pl.Series]:
    """Return the shares of CPU time by kind of use during each execution; null if not sampled."""
    if not run.has("cpus"):
        return _unknown(SHARES, executions.height)
    samples = run.table("cpus")
    spent = (
        cpu_time(samples)
        .group_by("time_ns")
        .agg(pl.col(name).sum() for name in PARTS.values())
        .sort("time_ns")
    )
    if spent.is_empty():
        return _unknown(SHARES, executions.height)
    # At the first sample no time has been counted.
    looked_ns = spent["time_ns"].extend_constant(samples["time_ns"].min(), 1).sort()
    totals = pl.DataFrame(
        [
            spent[name].cast(pl.Float64).cum_sum().extend_constant(0.0, 1).sort()
            for name in PARTS.values()
        ]
    )
    ended = _Interpolation(executions["finished_ns"], looked_ns).of(totals)
    parts = ended - _Interpolation(executions["started_ns"], looked_ns).of(totals)
    whole = parts.sum_horizontal()
    seen = _seen(executions, looked_ns) & (whole > 0)
    return {share: (parts[name] / whole).set(~seen, None) for share, name in SHARES.items()}


def _unknown(names: Iterable[str], height: int) -> dict[str, pl.Series]:
    return {name: pl.Series(name, [None] * height, dtype=pl.Float64) for name in names}


def _seen(executions: pl.DataFrame, looked_ns: pl.Series) -> pl.Series:
    """Return True for each execution with a sample before and one after it."""
    since: pl.Series = executions["started_ns"] >= looked_ns[0]
    until: pl.Series = executions["finished_ns"] <= looked_ns[-1]
    return since & until


class _Interpolation:
    """Interpolates values linearly between the sorted positions at which they are known."""

    def __init__(self, places: pl.Series, knots: pl.Series) -> None:
        self._after = knots.search_sorted(places, side="left").clip(1, len(knots) - 1)
        self._before = self._after - 1
        from_place, to_place = knots.gather(self._before), knots.gather(self._after)
        # Two equal knots have no distance, so the quotient is undefined.
        part = (places - from_place) / (to_place - from_place)
        self._part = part.fill_nan(0.0).clip(0.0, 1.0)

    def of(self, values: pl.DataFrame) -> pl.DataFrame:
        """Return the values of each column at the places."""
        begun, ended = (values.select(pl.all().gather(at)) for at in (self._before, self._after))
        return begun + (ended - begun) * self._part


class _BusyTime:
    """Computes the time up to a moment in which at least one operation ran."""

    def __init__(self, events: pl.DataFrame) -> None:
        spans = (
            events.drop_nulls(["started_ns", "finished_ns"])
            .sort("started_ns")
            # An operation of another session may span this one.
            .with_columns(pl.col("finished_ns").cum_max().alias("until_ns"))
            .with_columns(
                pl.max_horizontal("started_ns", pl.col("until_ns").shift(1)).alias("from_ns")
            )
            .filter(pl.col("until_ns") > pl.col("from_ns"))
            .with_columns((pl.col("until_ns") - pl.col("from_ns")).alias("length_ns"))
            .with_columns(pl.col("length_ns").cum_sum().alias("total_ns"))
        )
        begun = spans.select(
            pl.col("from_ns").alias("time_ns"), pl.col("total_ns") - pl.col("length_ns")
        )
        ended = spans.select(pl.col("until_ns").alias("time_ns"), "total_ns")
        edges = pl.concat([begun, ended]).sort("time_ns", "total_ns")
        self._times_ns, self._total_ns = edges["time_ns"], edges["total_ns"]

    def until(self, times_ns: pl.Series) -> pl.Series:
        totals = self._total_ns.to_frame()
        return _Interpolation(times_ns, self._times_ns).of(totals).to_series()
