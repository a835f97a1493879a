"""Data of a timeline chart: use of resources over time, and the operations in progress.

All series share one axis of ticks, so that a reader can compare their values at one moment. Each
series uses its own sample nearest to a tick, and its rate refers to the times of its own
samples. So fewer ticks give means over longer intervals, not selected values. A rate is null if
its counter is missing or decreased.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.host.accounts import (
    BUSY_TIME,
    STEAL_TIME,
    cpu_used,
    machine_used,
    used_at,
)
from assay.analysis.load_plan import load_of
from assay.analysis.operations import NS, is_measured, plain, window_ns
from assay.record.layout import ACCOUNT_ENGINE, ACCOUNT_ENGINE_AND_DRIVER

if TYPE_CHECKING:
    from assay.record.reader import Run

# A screen shows no more points. Five series with this many ticks are 2,000 points.
TICKS_MAX = 400
BANDS_MAX = 2_000

BACKGROUND = "background"
STEAL = STEAL_TIME
# Only whole disks count: partitions and mapped devices would count the same bytes again.
WHOLE_DISK = "disk"
ENGINE_ACCOUNTS = (ACCOUNT_ENGINE, ACCOUNT_ENGINE_AND_DRIVER)
PRESSURES = ("cpu_some", "io_some", "io_full", "memory_some", "memory_full")

CPU_SCHEMA = {"time_s": pl.Float64, "account": pl.String, "cores": pl.Float64}
CUMULATED_SCHEMA = {"time_ns": pl.Int64, "account": pl.String, "cpu_ns": pl.Float64}
MEMORY_SCHEMA = {"time_s": pl.Float64, "account": pl.String, "resident_bytes": pl.Int64}
DISK_SCHEMA = {"time_s": pl.Float64, "direction": pl.String, "bytes_per_s": pl.Float64}
PRESSURE_SCHEMA = {"time_s": pl.Float64, "pressure": pl.String, "share": pl.Float64}
BANDS_SCHEMA = {
    "operation": pl.String,
    "phase": pl.String,
    "pass": pl.UInt32,
    "session": pl.UInt32,
    "begin_s": pl.Float64,
    "end_s": pl.Float64,
    "seconds": pl.Float64,
    "outcome": pl.String,
}


@dataclass(frozen=True)
class Timeline:
    """Data of a timeline chart, over seconds since the start of the measured part.

    Attributes:
        cpu: time_s, account (Assay's and the engine's, background, steal), cores.
        memory: time_s, account, resident_bytes of the engine.
        disk: time_s, direction (read, write), bytes_per_s over all whole disks.
        pressure: time_s, pressure (such as io_some), share of the time in which tasks were
            stalled.
        bands: One row per operation: operation, phase, pass, session, begin_s, end_s, seconds,
            outcome. Under a load, where operations are many and overlap, one row per phase.
        passes: Rows of `passes`, for as many complete passes as fit.
        samples: Number of samples in the displayed time.
        ticks: Number of samples that are kept.
        operations: Number of operations, of which `bands` keeps the longest.
    """

    cpu: pl.DataFrame
    memory: pl.DataFrame
    disk: pl.DataFrame
    pressure: pl.DataFrame
    bands: pl.DataFrame
    passes: pl.DataFrame
    samples: int
    ticks: int
    operations: int


def timeline(run: Run) -> Timeline:
    """Return the data of a run's timeline chart, with empty frames for missing streams."""
    events = run.table("events")
    zero_ns = origin_ns(events)
    is_load = load_of(run.facts) is not None
    every_band = phase_bands(events, zero_ns) if is_load else readable_bands(events, zero_ns)
    sampled = _sample_times(run, every_band, zero_ns)
    ticks = thinned(sampled, TICKS_MAX)
    cpus, processes = _stream(run, "cpus"), _stream(run, "processes")
    disks, system = _stream(run, "disks"), _stream(run, "system")
    return Timeline(
        cpu=cpu_cores(cpus, processes, ticks, zero_ns),
        memory=engine_memory(processes, ticks, zero_ns),
        disk=disk_bytes_per_s(disks, ticks, zero_ns),
        pressure=pressure_shares(system, ticks, zero_ns),
        bands=every_band.top_k(BANDS_MAX, by="seconds").sort("begin_s"),
        passes=_whole_passes(passes(every_band.clear() if is_load else every_band)),
        samples=len(sampled),
        ticks=len(ticks),
        operations=every_band.height,
    )


def origin_ns(events: pl.DataFrame) -> int:
    """Return the origin of the time axis in ns: begin of the measured part, or first operation."""
    window = window_ns(events)
    if window is not None:
        return window[0]
    first = events["started_ns"].min()
    return first if isinstance(first, int) else 0


def bands(events: pl.DataFrame, zero_ns: int) -> pl.DataFrame:
    """Return the operations of all phases as intervals, in the order of their start."""
    started = (pl.col("started_ns") - zero_ns) * NS
    finished = (pl.col("finished_ns") - zero_ns) * NS
    return (
        plain(events)
        .drop_nulls(["started_ns", "finished_ns"])
        .sort("started_ns")
        .with_columns(
            started.alias("begin_s"),
            finished.alias("end_s"),
            ((pl.col("finished_ns") - pl.col("started_ns")) * NS).alias("seconds"),
        )
        .select(pl.col(name).cast(kind) for name, kind in BANDS_SCHEMA.items())
    )


def readable_bands(events: pl.DataFrame, zero_ns: int) -> pl.DataFrame:
    """Return one band per operation for a single session, or one per phase for several."""
    several = pl.col("session").n_unique().over("phase") > 1
    together = phase_bands(events.filter(several), zero_ns)
    return pl.concat([bands(events.filter(~several), zero_ns), together]).sort("begin_s")


def phase_bands(events: pl.DataFrame, zero_ns: int) -> pl.DataFrame:
    """Return the phases of a load as time intervals, with the phase name as the operation."""
    spans = (
        events.lazy()
        .filter(pl.col("finished_ns").is_not_null())
        .group_by("phase", maintain_order=True)
        .agg(pl.col("started_ns").min(), pl.col("finished_ns").max())
        .with_columns(pl.col("phase").cast(pl.String))
        .sort("started_ns")
        .collect()
    )
    begin_s, end_s = (pl.col("started_ns") - zero_ns) * NS, (pl.col("finished_ns") - zero_ns) * NS
    zero = pl.lit(0)
    columns = {
        "operation": pl.col("phase"),
        "phase": pl.col("phase"),
        "pass": zero,
        "session": zero,
        "begin_s": begin_s,
        "end_s": end_s,
        "seconds": end_s - begin_s,
        "outcome": pl.lit("ok"),
    }
    return spans.select(columns[name].cast(kind).alias(name) for name, kind in BANDS_SCHEMA.items())


def passes(every_band: pl.DataFrame) -> pl.DataFrame:
    """Return successful measured executions, with the relative distance from their median time.

    Columns: operation, pass, seconds, median_seconds, from_median_share (0.1 means a tenth
    slower).
    """
    median = pl.col("seconds").median().over("operation")
    return (
        every_band.filter(is_measured(every_band) & (pl.col("outcome") == "ok"))
        .with_columns(median.alias("median_seconds"))
        .with_columns(
            pl.when(pl.col("median_seconds") > 0)
            .then(pl.col("seconds") / pl.col("median_seconds") - 1)
            .alias("from_median_share")
        )
        .select("operation", "pass", "seconds", "median_seconds", "from_median_share")
    )


def cpu_cores(
    cpus: pl.DataFrame | None, processes: pl.DataFrame | None, ticks: pl.Series, zero_ns: int
) -> pl.DataFrame:
    """Return the cores in use by each account, by other programs and by the hypervisor.

    The sum over time of an account is its CPU time in the header, because both are growth of the
    same value. A tick outside the samples of either stream is left out.
    """
    streams = [stream["time_ns"] for stream in (cpus, processes) if stream is not None]
    if any(not len(times) for times in streams):
        return pl.DataFrame(schema=CPU_SCHEMA)
    for times in streams:
        ticks = ticks.filter(ticks.is_between(times.min(), times.max()))
    parts = [pl.DataFrame(schema=CUMULATED_SCHEMA)]
    if processes is not None:
        parts.append(used_at(cpu_used(processes), ticks))
    if cpus is not None:
        machine = used_at(machine_used(cpus), ticks)
        parts.append(machine.filter(pl.col("account") == STEAL_TIME))
        if processes is not None:
            parts.append(_others(parts[1], machine))
    used = pl.concat(parts).sort("time_ns", maintain_order=True)
    return (
        used.with_columns((rate_per_s("cpu_ns", "account") * NS).alias("cores"))
        .drop_nulls("cores")
        .select(((pl.col("time_ns") - zero_ns) * NS).round(6).alias("time_s"), "account", "cores")
        .sort("time_s", maintain_order=True)
    )


def _others(ours: pl.DataFrame, machine: pl.DataFrame) -> pl.DataFrame:
    """Return the machine's busy time beyond the run's own processes, as a series that never falls.

    CPUs and processes are sampled at different moments, so their difference fluctuates. The
    returned value is the mean of the maximum so far and the minimum from then on. This mean
    equals the difference wherever the difference rises for good.
    """
    of_ours = ours.group_by("time_ns").agg(pl.col("cpu_ns").sum().alias("ours_ns"))
    difference = pl.col("cpu_ns") - pl.col("ours_ns").fill_null(0.0)
    return (
        machine.filter(pl.col("account") == BUSY_TIME)
        .join(of_ours, on="time_ns", how="left")
        .sort("time_ns")
        .select(
            "time_ns",
            pl.lit(BACKGROUND).alias("account"),
            ((difference.cum_max() + difference.cum_min(reverse=True)) / 2).alias("cpu_ns"),
        )
    )


def engine_memory(processes: pl.DataFrame | None, ticks: pl.Series, zero_ns: int) -> pl.DataFrame:
    """Return the resident bytes of the engine's processes; shared pages count in each process."""
    if processes is None:
        return pl.DataFrame(schema=MEMORY_SCHEMA)
    engine = processes.with_columns(pl.col("account").cast(pl.String)).filter(
        pl.col("account").is_in(ENGINE_ACCOUNTS)
    )
    resident = engine.group_by("time_ns", "account", maintain_order=True).agg(
        pl.when(pl.col("rss_bytes").count() > 0).then(pl.col("rss_bytes").sum())
    )
    placed = _at_ticks(resident, ticks, zero_ns, ["account"])
    return placed.select(
        "time_s", "account", pl.col("rss_bytes").cast(pl.Int64).alias("resident_bytes")
    ).drop_nulls("resident_bytes")


def disk_bytes_per_s(disks: pl.DataFrame | None, ticks: pl.Series, zero_ns: int) -> pl.DataFrame:
    """Return the bytes per second read from and written to all disks."""
    if disks is None:
        return pl.DataFrame(schema=DISK_SCHEMA)
    whole = disks.with_columns(pl.col("device", "kind").cast(pl.String)).filter(
        pl.col("kind") == WHOLE_DISK
    )
    placed = _at_ticks(whole, ticks, zero_ns, ["device"])
    rates = placed.select(
        "time_s", read=rate_per_s("read_bytes", "device"), write=rate_per_s("write_bytes", "device")
    )
    summed = rates.group_by("time_s", maintain_order=True).agg(
        _whole_sum("read"), _whole_sum("write")
    )
    return (
        summed.unpivot(["read", "write"], index="time_s", variable_name="direction")
        .rename({"value": "bytes_per_s"})
        .drop_nulls("bytes_per_s")
        .cast(DISK_SCHEMA)  # type: ignore[arg-type]
    )


def pressure_shares(system: pl.DataFrame | None, ticks: pl.Series, zero_ns: int) -> pl.DataFrame:
    """Return the share of time in which some task or all tasks were stalled, by resource."""
    if system is None:
        return pl.DataFrame(schema=PRESSURE_SCHEMA)
    placed = _at_ticks(system, ticks, zero_ns, [])
    shares = [(rate_per_s(f"{name}_ns") * NS).alias(name) for name in PRESSURES]
    return (
        placed.select("time_s", *shares)
        .unpivot(PRESSURES, index="time_s", variable_name="pressure", value_name="share")
        .drop_nulls("share")
        .cast(PRESSURE_SCHEMA)  # type: ignore[arg-type]
    )


def rate_per_s(counter: str, *by: str) -> pl.Expr:
    """Return an expression: a counter's growth per second since its previous row.

    The rate is null if the counter is missing at either end, decreased (a reset), or no time
    passed.
    """
    value, time_ns = pl.col(counter), pl.col("time_ns")
    before, elapsed_ns = value.shift(1), time_ns - time_ns.shift(1)
    rate = (
        pl.when((value >= before) & (elapsed_ns > 0))
        .then((value - before) / (elapsed_ns * NS))
        .alias(counter)
    )
    return rate.over(*by) if by else rate


def thinned(times: pl.Series, limit: int) -> pl.Series:
    """Return at most `limit` evenly chosen times, in order."""
    step = -(-len(times) // limit) if len(times) else 1
    return times.gather_every(step)


def _whole_passes(executions: pl.DataFrame) -> pl.DataFrame:
    """Return evenly chosen complete passes over the operations, with at most `BANDS_MAX` rows."""
    step = -(-executions.height // BANDS_MAX) or 1
    return executions.filter(pl.col("pass") % step == 0)


def _stream(run: Run, name: str) -> pl.DataFrame | None:
    return run.table(name) if run.has(name) else None


def _sample_times(run: Run, every_band: pl.DataFrame, zero_ns: int) -> pl.Series:
    """Return the sample times of the stream with most samples, around all operations."""
    streams = [_stream(run, name) for name in ("cpus", "processes", "disks", "system")]
    times = [stream["time_ns"].unique().sort() for stream in streams if stream is not None]
    if not times:
        return pl.Series("time_ns", [], dtype=pl.Int64)
    densest = max(times, key=len)
    first, last = every_band["begin_s"].min(), every_band["end_s"].max()
    if not isinstance(first, float) or not isinstance(last, float):
        return densest
    begun = densest.search_sorted(zero_ns + int(first / NS))
    ended = densest.search_sorted(zero_ns + int(last / NS))
    return densest.slice(max(0, begun - 1), ended - max(0, begun - 1) + 1)


def _at_ticks(stream: pl.DataFrame, ticks: pl.Series, zero_ns: int, by: list[str]) -> pl.DataFrame:
    """Return the sample of each series nearest to each tick of the time axis."""
    axis = pl.DataFrame({"tick_ns": ticks}, schema={"tick_ns": pl.Int64})
    gap = ticks.diff().median()
    keyed = axis.join(stream.select(by).unique(), how="cross").sort("tick_ns") if by else axis
    placed = keyed.join_asof(
        stream.sort("time_ns"),
        left_on="tick_ns",
        right_on="time_ns",
        by=by or None,
        strategy="nearest",
        tolerance=int(gap) if isinstance(gap, int | float) else None,
        coalesce=False,
        check_sortedness=False,
    )
    time_s = ((pl.col("tick_ns") - zero_ns) * NS).round(6).alias("time_s")
    return placed.with_columns(time_s).drop_nulls("time_ns").sort("tick_ns")


def _whole_sum(name: str) -> pl.Expr:
    """Return an expression: a sum that is null if any value is null."""
    return pl.when(pl.col(name).null_count() == 0).then(pl.col(name).sum()).alias(name)


def under_way(timeline_bands: pl.DataFrame, times: pl.Series) -> list[list[str]]:
    """Return for each time the operations that ran since the previous time."""
    spans = timeline_bands.sort("begin_s").select("begin_s", "end_s", "operation").rows()
    running: list[list[str]] = []
    before = times[0] if len(times) else 0.0
    first = 0
    for time in times:
        while first < len(spans) and spans[first][1] < before:
            first += 1
        names = []
        for begin_s, end_s, operation in spans[first:]:
            if begin_s > time:
                break
            if end_s >= before:
                names.append(operation)
        running.append(names)
        before = time
    return running
