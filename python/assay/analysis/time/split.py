"""Splits an operation's time by cause.

The engine's tasks are read just outside each timed interval. Their thread-seconds are CPU in user
mode, CPU in the kernel, waiting for a CPU and waiting for disk; what is left of
`threads at work x wall` is `uncovered` (idle workers, locks, whatever has no counter). Each part is
scaled to the wall time by that product, so the parts of an operation add up to its time.

Above `COVERAGE_MAX` the parts are null: the reading around an operation of microseconds costs
more than the operation.

A server's processes tell their CPU time in ticks, which are longer than many an operation. There
the sum comes from the scheduler's clock, and ticks only tell user mode from the kernel.

Coverage is the accounted share before any scaling. It comes from independent sources (rusage, the
scheduler, delay accounting against the clock), so it can be wrong, and then it is seen to be: above
1 more was accounted than there was time.
"""

from __future__ import annotations

import polars as pl

from assay.analysis.causes import UNCOVERED

# The causes that these counters tell; `analysis.waiting` tells all of them.
COUNTED = ("cpu_user", "cpu_system", "run_queue", "disk", UNCOVERED)

BY_DELAY_ACCOUNTING = "delay accounting"
BY_THREAD_STATES = "thread states, approximate"
BY_NO_STORAGE = "no storage was read or written"
NOT_MEASURED = "not measured"

# In proc(5) CPU times are hundredths of a second, whatever the kernel counts in.
TICK_NS = 10_000_000

# Coverage above this means that an operation is too short for its counters.
COVERAGE_MAX = 1.2


def disk_states_ns(
    readings_table: pl.DataFrame, processes: pl.DataFrame, account: str
) -> pl.DataFrame:
    """Thread-time in uninterruptible sleep within each operation, from samples of thread states.

    Each sample stands for the time since the one before it. Columns: sequence, disk_state_ns (null
    if no sample fell into the operation).
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
    """One row per operation: its parts as shares of wall time, and how sure that is.

    Columns: operation; those of `COUNTED` (shares that add up to 1; null if their counter is);
    coverage (before scaling; null without counters); parallelism (CPU seconds a second of wall);
    threads_at_work (mean, weighted by time); memory_peak_bytes, memory_growth_bytes (highest of the
    passes); read_bytes, write_bytes, minor_faults (median); disk_method.
    """
    with_states = _without_ticks(readings_table).join(disk_states, on="sequence", how="left")
    sums = with_states.group_by("operation", maintain_order=True).agg(
        pl.col("wall_ns").sum(),
        # The sum of a column that is null somewhere would count absence as zero.
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
    """User mode's share of each operation's CPU time: operation, user_share.

    It is that of its passes, or of the run where they were too short for a tick; null if there
    is none in the run.
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
    """Rescale the scheduler's time to whole ticks, where all CPU times are ticks.

    The proportion is that of an operation's passes, or of the run's where they were too short.
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
    """Null where more was accounted for than there was: the operation was too short."""
    too_much = pl.col("coverage") > COVERAGE_MAX
    return pl.when(~too_much.fill_null(value=False)).then(pl.col(name)).alias(name)


def _sum_if_whole(values: pl.Expr, name: str) -> pl.Expr:
    return pl.when(values.null_count() == 0).then(values.sum()).alias(name)


def _accounted_ns() -> pl.Expr:
    parts = ("user_ns", "system_ns", "run_delay_ns", "disk_ns")
    measured = pl.any_horizontal(pl.col(name).is_not_null() for name in parts)
    return pl.when(measured).then(pl.sum_horizontal(parts)).alias("accounted_ns")


def _whole_ns() -> pl.Expr:
    # Without the number of threads there is nothing that the parts could be shares of.
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
