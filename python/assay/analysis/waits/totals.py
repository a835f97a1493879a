"""Sums the CPU clocks of threads over executions, with stolen and throttled time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.profile.placing import as_one
from assay.analysis.waits.machine import stolen_ns, throttled_ns
from assay.analysis.waits.spans import existed, growth
from assay.record.layout import ENGINE_ACCOUNTS

if TYPE_CHECKING:
    from assay.record.reader import Run

COUNTED = ("on_cpu_ns", "run_delay_ns", "stolen_ns", "throttled_ns")


def whole_pass(passes: pl.DataFrame) -> pl.DataFrame:
    """Return the measured part as a single execution."""
    return as_one(passes).with_columns(pl.lit(0, dtype=pl.UInt64).alias("sequence"))


def grown_within(spans: pl.DataFrame, lives: pl.DataFrame, passes: pl.DataFrame) -> pl.DataFrame:
    """Return the growth of threads' CPU clocks within each execution."""
    names = ("on_cpu_grown_ns", "run_delay_grown_ns")
    alive = existed(lives.drop("session"), passes)
    return growth(spans, alive).group_by("sequence", maintain_order=True).agg(pl.col(names).sum())


def with_machine(run: Run, counted: pl.DataFrame, passes: pl.DataFrame) -> pl.DataFrame:
    """Return sums by operation, with the time taken by a hypervisor and by a CPU limit."""
    stolen, held = pl.lit(None, dtype=pl.Float64), pl.lit(0.0)
    if run.has("cpus"):
        counted = counted.join(stolen_ns(run.table("cpus"), passes), on="sequence", how="left")
        share = (pl.col("on_cpu_ns") / pl.col("busy_ns")).clip(0.0, 1.0).fill_nan(0.0)
        stolen = pl.col("steal_ns") * share
    if run.has("cgroup"):
        counted = counted.join(throttled_ns(run.table("cgroup"), passes), on="sequence", how="left")
        held = pl.col("throttled_ns")
    # A plain sum would count a null value as zero.
    sums = [
        pl.when(pl.col(name).null_count() == 0)
        .then(pl.col(name).cast(pl.Float64).sum())
        .alias(name)
        for name in COUNTED
    ]
    terms = counted.with_columns(stolen.alias("stolen_ns"), held.alias("throttled_ns"))
    return terms.group_by("operation", maintain_order=True).agg(sums)


def ticks_share(run: Run, operations: pl.DataFrame, pids: pl.Series | None = None) -> pl.DataFrame:
    """Return the user mode share of CPU time for all operations, from clock ticks."""
    share = None
    if run.has("processes"):
        seen = run.table("processes").with_columns(pl.col("account").cast(pl.String))
        seen = seen.filter(pl.col("account").is_in(ENGINE_ACCOUNTS))
        if pids is not None:
            seen = seen.filter(pl.col("pid").is_in(pids.implode()))
        ticks = pl.col("user_ns", "system_ns")
        grown = seen.group_by("pid", "started_ns", maintain_order=True).agg(
            ticks.max() - ticks.min()
        )
        user, both = pl.col("user_ns").sum(), pl.sum_horizontal(ticks.sum())
        share = grown.select((user / both).fill_nan(None)).item()
    user_share = pl.lit(share, dtype=pl.Float64).alias("user_share")
    return operations.select("operation", user_share)
