"""Splits an operation's time by cause, from counters read around each execution.

The counters of the engine's tasks are read just outside each timed interval. The thread-seconds
of these tasks are CPU time in user mode, CPU time in the kernel, waits for a CPU and waits for
disk. The rest of `threads at work x wall` is `uncovered`: idle workers, locks, and all other
time without a counter. Each part is divided by this product and scaled to the wall time, so the
parts of an operation add up to its time.

Above `COVERAGE_MAX` the parts are null: reading counters around an operation of microseconds
costs more than the operation.

Processes of a server report CPU time in ticks, which are longer than many operations. With such
ticks the sum of CPU time comes from the scheduler's clock, and ticks only divide it between user
mode and kernel.

Coverage is the accounted share before any scaling. Coverage combines independent sources
(rusage, the scheduler, delay accounting, and the clock), so errors become visible: above 1, more
time was accounted for than elapsed.
"""

from __future__ import annotations

import polars as pl

from assay.analysis.causes import UNCOVERED

# The causes that these counters measure; `analysis.waiting` distinguishes all causes.
COUNTED = ("cpu_user", "cpu_system", "run_queue", "disk", UNCOVERED)

BY_DELAY_ACCOUNTING = "delay accounting"
BY_THREAD_STATES = "thread states, approximate"
BY_NO_STORAGE = "no storage was read or written"
NOT_MEASURED = "not measured"

# proc(5) reports CPU times in hundredths of a second, whatever the kernel's own unit.
TICK_NS = 10_000_000

# Coverage above this means that an operation is too short for its counters.
COVERAGE_MAX = 1.2


def disk_states_ns(
    readings_table: pl.DataFrame, processes: pl.DataFrame, account: str
) -> pl.DataFrame:
    """Return thread time waiting for the disk per operation, from samples of thread states.

    Each sample represents the time since the previous sample. Columns: sequence, disk_state_ns
    (null if no sample fell into the operation).
    """
    samples = (
        processes.with_columns(pl.col("account").cast(pl.String))
        .filter(pl.col("account") == account)
        .group_by("time_ns", maintain_order=True)
        .agg(pl.col("threads_disk").sum())
        .sort("time_ns")
        .with_columns((pl.col("time_ns") - pl.col("time_ns").shift(1)).alias("gap_ns"))
        .drop_nulls("gap_ns")
    )
    placed = samples.join_asof(
        readings_table.select("sequence", "started_ns", "finished_ns").sort("started_ns"),
        left_on="time_ns",
        right_on="started_ns",
        strategy="backward",
    ).filter(pl.col("time_ns") <= pl.col("finished_ns"))
    return placed.group_by("sequence", maintain_order=True).agg(
        (pl.col("threads_disk").cast(pl.Int64) * pl.col("gap_ns")).sum().alias("disk_state_ns")
    )


def split_table(readings_table: pl.DataFrame, disk_states: pl.DataFrame) -> pl.DataFrame:
    """Return the causes of each operation's time as shares, and how much they cover.

    Columns: operation; those of `COUNTED` (shares that add up to 1; null if their counter is
    null); coverage (before scaling; null without counters); parallelism (CPU seconds per second
    of wall time); threads_at_work (mean, weighted by time); memory_peak_bytes,
    memory_growth_bytes (maximum over the passes); read_bytes, write_bytes, minor_faults
    (median); disk_method.
    """
    with_states = _without_ticks(readings_table).join(disk_states, on="sequence", how="left")
    sums = with_states.group_by("operation", maintain_order=True).agg(
        pl.col("wall_ns").sum(),
        # A plain sum would count a null value as zero.
        *[
            _sum_if_whole(pl.col(name), name)
            for name in ("user_ns", "system_ns", "run_delay_ns", "block_delay_ns")
        ],
        pl.col("disk_state_ns").sum().alias("disk_state_ns"),
        pl.col("disk_state_ns").count().alias("disk_samples"),
        _sum_if_whole(pl.col("threads_at_work").cast(pl.Float64) * pl.col("wall_ns"), "thread_ns"),
        _sum_if_whole(pl.col("read_bytes") + pl.col("write_bytes"), "storage_bytes"),
        pl.col("rss_peak_bytes").max().alias("memory_peak_bytes"),
        pl.col("rss_growth_bytes").max().alias("memory_growth_bytes"),
        pl.col("read_bytes", "write_bytes", "minor_faults").median(),
    )
    return (
        sums.with_columns(_disk_method())
        .with_columns(_disk_ns())
        .with_columns(_accounted_ns())
        .with_columns(
            (pl.col("accounted_ns") / pl.col("thread_ns")).alias("coverage"),
            _whole_ns(),
        )
        .select(
            "operation",
            (pl.col("user_ns") / pl.col("whole_ns")).alias("cpu_user"),
            (pl.col("system_ns") / pl.col("whole_ns")).alias("cpu_system"),
            (pl.col("run_delay_ns") / pl.col("whole_ns")).alias("run_queue"),
            (pl.col("disk_ns") / pl.col("whole_ns")).alias("disk"),
            (1 - pl.col("accounted_ns") / pl.col("whole_ns")).alias(UNCOVERED),
            "coverage",
            ((pl.col("user_ns") + pl.col("system_ns")) / pl.col("wall_ns")).alias("parallelism"),
            (pl.col("thread_ns") / pl.col("wall_ns")).alias("threads_at_work"),
            "memory_peak_bytes",
            "memory_growth_bytes",
            "read_bytes",
            "write_bytes",
            "minor_faults",
            "disk_method",
        )
        .with_columns(pl.col(*COUNTED, "coverage").fill_nan(None))
        .with_columns(_if_believable(name) for name in (*COUNTED, "parallelism"))
    )


def user_share(readings_table: pl.DataFrame) -> pl.DataFrame:
    """Return user mode's share of each operation's CPU time: operation, user_share.

    The share is that of all its passes, or of the run if they were too short for a tick. The
    share is null if the run has no CPU time.
    """
    return (
        readings_table.group_by("operation", maintain_order=True)
        .agg(pl.col("user_ns", "system_ns").sum())
        .select(
            "operation", _user_share(pl.col("user_ns"), pl.col("system_ns")).alias("user_share")
        )
    )


def _user_share(user: pl.Expr, system: pl.Expr) -> pl.Expr:
    of_run = user.sum() / (user + system).sum()
    return pl.coalesce((user / (user + system)).fill_nan(None), of_run.fill_nan(None))


def _without_ticks(readings_table: pl.DataFrame) -> pl.DataFrame:
    """Return scheduler time rescaled to user and kernel time if CPU times are in ticks.

    The proportion is that of an operation's passes, or of the run if they were too short for a
    tick.
    """
    in_ticks = pl.all_horizontal((pl.col("user_ns", "system_ns") % TICK_NS == 0).all())
    has_scheduler_time = pl.col("on_cpu_ns").null_count() == 0
    if not readings_table.select(in_ticks & has_scheduler_time).item():
        return readings_table
    user_ns = (pl.col("on_cpu_ns") * pl.col("user_share")).round().cast(pl.UInt64)
    shares = readings_table.join(
        user_share(readings_table), on="operation", how="left", maintain_order="left"
    )
    return (
        shares.with_columns(user_ns.alias("user_ns"))
        .with_columns((pl.col("on_cpu_ns") - pl.col("user_ns")).alias("system_ns"))
        .drop("user_share")
    )


def _if_believable(name: str) -> pl.Expr:
    """Return a column, null if more time was accounted for than elapsed."""
    too_much = pl.col("coverage") > COVERAGE_MAX
    return pl.when(~too_much.fill_null(value=False)).then(pl.col(name)).alias(name)


def _sum_if_whole(values: pl.Expr, name: str) -> pl.Expr:
    return pl.when(values.null_count() == 0).then(values.sum()).alias(name)


def _accounted_ns() -> pl.Expr:
    parts = ("user_ns", "system_ns", "run_delay_ns", "disk_ns")
    measured = pl.any_horizontal(pl.col(name).is_not_null() for name in parts)
    return pl.when(measured).then(pl.sum_horizontal(parts)).alias("accounted_ns")


def _whole_ns() -> pl.Expr:
    # Without the number of threads the parts have no total.
    threads_known = pl.col("thread_ns").is_not_null()
    whole = pl.max_horizontal("accounted_ns", "thread_ns")
    return pl.when(threads_known).then(whole).alias("whole_ns")


def _disk_method() -> pl.Expr:
    idle = pl.col("storage_bytes") == 0
    return (
        pl.when(pl.col("block_delay_ns").is_not_null())
        .then(pl.lit(BY_DELAY_ACCOUNTING))
        .when(idle)
        .then(pl.lit(BY_NO_STORAGE))
        .when(pl.col("disk_samples") > 0)
        .then(pl.lit(BY_THREAD_STATES))
        .otherwise(pl.lit(NOT_MEASURED))
        .alias("disk_method")
    )


def _disk_ns() -> pl.Expr:
    method = pl.col("disk_method")
    return (
        pl.when(method == BY_DELAY_ACCOUNTING)
        .then(pl.col("block_delay_ns").cast(pl.Float64))
        .when(method == BY_NO_STORAGE)
        .then(0.0)
        .when(method == BY_THREAD_STATES)
        .then(pl.col("disk_state_ns").cast(pl.Float64))
        .alias("disk_ns")
    )
