"""Measures the time that a hypervisor or a CPU limit took from an operation."""

from __future__ import annotations

import polars as pl

BUSY = ("user_ns", "nice_ns", "system_ns", "irq_ns", "softirq_ns")


def stolen_ns(cpus: pl.DataFrame, passes: pl.DataFrame) -> pl.DataFrame:
    """Return the CPU time stolen by the hypervisor in each execution, and the busy time.

    Columns: sequence, steal_ns, busy_ns. A thread's share of the stolen time is its share of the
    busy time.
    """
    grown = [pl.sum_horizontal(pl.col(BUSY).cast(pl.Int64)).alias("busy_ns")]
    summed = (
        cpus.with_columns(pl.col("steal_ns").cast(pl.Int64), *grown)
        .group_by("time_ns", maintain_order=True)
        .agg(pl.col("steal_ns", "busy_ns").sum())
    )
    return _grown(summed, passes, ("steal_ns", "busy_ns"))


def throttled_ns(cgroup: pl.DataFrame, passes: pl.DataFrame) -> pl.DataFrame:
    """Return the time in which a CPU limit stopped the engine in each execution.

    All processes under one limit report the same time, so the maximum over processes is used.
    Columns: sequence, throttled_ns.
    """
    counted = cgroup.select("pid", "time_ns", pl.col("throttled_ns").cast(pl.Int64))
    grown = [_grown(of_one, passes, ("throttled_ns",)) for of_one in counted.partition_by("pid")]
    return (
        pl.concat(grown).group_by("sequence", maintain_order=True).agg(pl.col("throttled_ns").max())
    )


def _grown(counters: pl.DataFrame, passes: pl.DataFrame, names: tuple[str, ...]) -> pl.DataFrame:
    """Return the growth of counters in each execution, interpolated between samples."""
    at_edges = passes.select("sequence")
    for edge in ("started_ns", "finished_ns"):
        at = _between(counters, passes.select("sequence", pl.col(edge).alias("at_ns")), names)
        at_edges = at_edges.join(at, on="sequence", how="left", suffix="_end")
    return at_edges.select(
        "sequence", *[(pl.col(f"{name}_end") - pl.col(name)).alias(name) for name in names]
    )


def _between(counters: pl.DataFrame, moments: pl.DataFrame, names: tuple[str, ...]) -> pl.DataFrame:
    ordered, asked = counters.sort("time_ns"), moments.sort("at_ns")
    both = asked
    for strategy, suffix in (("backward", "_before"), ("forward", "_after")):
        renamed = ordered.rename({name: f"{name}{suffix}" for name in (*names, "time_ns")})
        both = both.join_asof(
            renamed,
            left_on="at_ns",
            right_on=f"time_ns{suffix}",
            strategy=strategy,  # type: ignore[arg-type]
        )
    gap_ns = pl.col("time_ns_after") - pl.col("time_ns_before")
    passed = (pl.col("at_ns") - pl.col("time_ns_before")) / gap_ns
    part = pl.when(gap_ns == 0).then(0.0).otherwise(passed)
    return both.select(
        "sequence",
        *[
            (
                pl.col(f"{name}_before")
                + (pl.col(f"{name}_after") - pl.col(f"{name}_before")) * part
            ).alias(name)
            for name in names
        ],
    )
