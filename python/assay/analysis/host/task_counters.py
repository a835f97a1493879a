"""Computes how the kernel's counters of the engine's threads grow in each operation."""

from __future__ import annotations

import polars as pl

from assay.analysis.operations import NS, measured

COUNTERS = (
    "user_ns",
    "system_ns",
    "on_cpu_ns",
    "run_delay_ns",
    "block_delay_ns",
    "read_bytes",
    "write_bytes",
    "minor_faults",
    "major_faults",
)
# What grows in an execution, in the units of `executions`.
GROWTH = {"system_s": pl.Float64(), "minor_faults": pl.Float64(), "read_bytes": pl.Float64()}
EXECUTIONS: dict[str, pl.DataType] = {
    "phase": pl.Categorical(),
    "pass": pl.UInt32(),
    "operation": pl.Categorical(),
    "seconds": pl.Float64(),
    **GROWTH,
}


def readings(events: pl.DataFrame, tasks: pl.DataFrame) -> pl.DataFrame:
    """Return wall time and counter growth of each successful measured execution.

    A counter that is missing or decreased is null, never 0.
    """
    read = events.join(tasks.select("sequence"), on="sequence", how="semi")
    timed = (
        measured(read, "sequence", "operation", "outcome", "started_ns", "finished_ns")
        .filter(pl.col("outcome") == "ok")
        .drop("outcome")
        .with_columns((pl.col("finished_ns") - pl.col("started_ns")).alias("wall_ns"))
    )
    tasks = tasks.with_columns(pl.col("edge").cast(pl.String))
    start = tasks.filter(pl.col("edge") == "start").select(
        "sequence", *COUNTERS, pl.col("rss_bytes").alias("rss_before_bytes")
    )
    end = tasks.filter(pl.col("edge") == "end").drop("edge", "time_ns")
    joined = timed.join(start, on="sequence").join(end, on="sequence", suffix="_end")
    grown = [
        pl.when(pl.col(f"{name}_end") >= pl.col(name))
        .then(pl.col(f"{name}_end") - pl.col(name))
        .alias(name)
        for name in COUNTERS
    ]
    gauges = ["threads_at_work", "rss_peak_bytes", "pss_bytes"]
    growth = pl.col("rss_peak_bytes").cast(pl.Int64) - pl.col("rss_before_bytes").cast(pl.Int64)
    return joined.select(
        "sequence",
        "operation",
        "started_ns",
        "finished_ns",
        "wall_ns",
        *grown,
        *gauges,
        growth.alias("rss_growth_bytes"),
    ).sort("sequence")


def executions(events: pl.DataFrame, tasks: pl.DataFrame | None) -> pl.DataFrame:
    """Return the kernel counters of each successful execution of any phase.

    Columns: phase and operation (categories, because a load has millions of executions), pass,
    seconds, system_s, minor_faults, read_bytes; sorted by start. Counters that were not measured,
    or decreased, are null.
    """
    done = (
        events.lazy()
        .filter(pl.col("outcome") == "ok")
        .select(
            "sequence",
            "phase",
            "pass",
            "operation",
            "started_ns",
            ((pl.col("finished_ns") - pl.col("started_ns")) * NS).alias("seconds"),
        )
        .sort("started_ns")
        .drop("started_ns")
        .collect()
    )
    if tasks is None or tasks.is_empty():
        unknown = [pl.lit(None, kind).alias(name) for name, kind in GROWTH.items()]
        return done.drop("sequence").with_columns(unknown)
    edges = tasks.with_columns(pl.col("edge").cast(pl.String))
    start, end = (edges.filter(pl.col("edge") == edge) for edge in ("start", "end"))
    grown = start.join(end, on="sequence", suffix="_end").select(
        "sequence",
        (_growth("system_ns") * NS).alias("system_s"),
        _growth("minor_faults").cast(pl.Float64),
        _growth("read_bytes").cast(pl.Float64),
    )
    joined = done.join(grown, on="sequence", how="left", maintain_order="left")
    return joined.select(list(EXECUTIONS))


def _growth(name: str) -> pl.Expr:
    grown = pl.col(f"{name}_end").cast(pl.Int64) - pl.col(name).cast(pl.Int64)
    return pl.when(grown >= 0).then(grown).alias(name)
