"""Computes how the kernel's counters of the engine's threads grow in each operation."""

from __future__ import annotations

import polars as pl

from assay.analysis.operations import NS, measured, plain

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
EXECUTIONS = {
    "phase": pl.String,
    "pass": pl.UInt32,
    "operation": pl.String,
    "seconds": pl.Float64,
    "system_s": pl.Float64,
    "minor_faults": pl.Float64,
    "read_bytes": pl.Float64,
}


def readings(events: pl.DataFrame, tasks: pl.DataFrame) -> pl.DataFrame:
    """Return wall time and counter growth of each successful measured execution.

    A counter that is missing or decreased is null, never 0.
    """
    timed = (
        measured(events)
        .filter(pl.col("outcome") == "ok")
        .select("sequence", "operation", "started_ns", "finished_ns")
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

    Counters that were not measured, or decreased, are null.
    """
    done = (
        plain(events)
        .filter(pl.col("outcome") == "ok")
        .with_columns(((pl.col("finished_ns") - pl.col("started_ns")) * NS).alias("seconds"))
    )
    if tasks is None:
        grown = pl.DataFrame(schema={"sequence": pl.UInt64})
    else:
        edges = tasks.with_columns(pl.col("edge").cast(pl.String))
        start, end = (edges.filter(pl.col("edge") == edge) for edge in ("start", "end"))
        grown = start.join(end, on="sequence", suffix="_end").select(
            "sequence",
            (_growth("system_ns") * NS).alias("system_s"),
            _growth("minor_faults"),
            _growth("read_bytes"),
        )
    joined = done.join(grown, on="sequence", how="left")
    columns = [
        (pl.col(name) if name in joined.columns else pl.lit(None)).cast(kind).alias(name)
        for name, kind in EXECUTIONS.items()
    ]
    return joined.sort("started_ns").select(columns)


def _growth(name: str) -> pl.Expr:
    grown = pl.col(f"{name}_end").cast(pl.Int64) - pl.col(name).cast(pl.Int64)
    return pl.when(grown >= 0).then(grown).alias(name)
