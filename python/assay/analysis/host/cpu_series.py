"""Computes the host's CPU use over time as mpstat reports it, from /proc/stat.

The kernel's counters of user and nice time include guests. As in mpstat, guests are subtracted
from %usr and %nice. The kernel's iowait counter may decrease; a decrease counts as no growth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.host.slots import SECONDS, TIME, thinned
from assay.analysis.host.timeline import origin_ns
from assay.analysis.operations import NS

if TYPE_CHECKING:
    from assay.record.reader import Run

# The parts of CPU time in mpstat's names and order, with the kernel's counter of each.
PARTS = {
    "%usr": "user_ns",
    "%nice": "nice_ns",
    "%sys": "system_ns",
    "%iowait": "iowait_ns",
    "%irq": "irq_ns",
    "%soft": "softirq_ns",
    "%steal": "steal_ns",
    "%guest": "guest_ns",
    "%gnice": "guest_nice_ns",
    "%idle": "idle_ns",
}
GUESTS = {"user_ns": "guest_ns", "nice_ns": "guest_nice_ns"}
ALL = "all"
SCHEMA = {
    TIME: pl.Float64,
    SECONDS: pl.Float64,
    "cpu": pl.String,
    **dict.fromkeys(PARTS, pl.Float64),
}


def cpu_series(run: Run, interval_s: float | None = 1.0, *, each_cpu: bool = False) -> pl.DataFrame:
    """Return CPU use over time as mpstat reports it, one row per interval (and per CPU).

    Columns: time_s (end of the interval, since the measured part began; negative in the
    warm-up),
    seconds (length of the interval), cpu (`all`, and with `each_cpu` the number of each CPU),
    %usr, %nice, %sys, %iowait, %irq, %soft, %steal, %guest, %gnice, %idle. A part that the
    kernel does not count is null.

    Args:
        run: Any run, complete or not.
        interval_s: Length of an interval; None means one row between consecutive samples.
        each_cpu: Whether each CPU has its own rows besides those for all CPUs.

    The table is empty if CPUs were not sampled.
    """
    if not run.has("cpus"):
        return pl.DataFrame(schema=SCHEMA)
    zero_ns = origin_ns(run.table("events"))
    return mpstat(
        thinned(run.table("cpus"), "cpu", zero_ns, interval_s), zero_ns, each_cpu=each_cpu
    )


def mpstat(samples: pl.DataFrame, zero_ns: int, *, each_cpu: bool = False) -> pl.DataFrame:
    """Return CPU use between consecutive samples in mpstat's terms."""
    spent = cpu_time(samples)
    whole = spent.group_by("time_ns", maintain_order=True).agg(
        pl.col(SECONDS).first(), pl.lit(ALL).alias("cpu"), *[_sum(name) for name in PARTS.values()]
    )
    rows = whole
    if each_cpu:
        own = spent.with_columns(pl.col("cpu").cast(pl.String)).select(whole.columns)
        rows = pl.concat([whole, own])
    return (
        rows.with_columns(((pl.col("time_ns") - zero_ns) * NS).alias(TIME))
        .select(TIME, SECONDS, "cpu", *shares())
        .sort(TIME, maintain_order=True)
        .cast(SCHEMA)  # type: ignore[arg-type]
    )


def cpu_time(samples: pl.DataFrame) -> pl.DataFrame:
    """Return the CPU time of each CPU since its previous sample, by kind of use.

    Columns: time_ns, seconds, cpu and the counters of `PARTS` in ns. Guest time is counted only
    as guest time.
    """
    ordered = samples.sort("time_ns").with_columns(
        pl.col(name).cast(pl.Int64) for name in PARTS.values()
    )
    alone = [
        (
            pl.col(name) - pl.col(GUESTS[name]).fill_null(0) if name in GUESTS else pl.col(name)
        ).alias(name)
        for name in PARTS.values()
    ]
    elapsed_ns = pl.col("time_ns") - pl.col("time_ns").shift(1).over("cpu")
    growth = [
        (pl.col(name) - pl.col(name).shift(1).over("cpu")).clip(lower_bound=0).alias(name)
        for name in PARTS.values()
    ]
    return (
        ordered.with_columns(alone)
        .with_columns((elapsed_ns * NS).alias(SECONDS), *growth)
        .filter(pl.col(SECONDS) > 0)
        .select("time_ns", SECONDS, "cpu", *PARTS.values())
    )


def shares() -> list[pl.Expr]:
    """Return expressions for the shares of CPU time in %, in mpstat's terms."""
    total = pl.sum_horizontal(PARTS.values())
    return [
        pl.when(total > 0).then(pl.col(counter) / total * 100).alias(word)
        for word, counter in PARTS.items()
    ]


def _sum(name: str) -> pl.Expr:
    """Return a sum that is null if any value is null: absence must not count as zero."""
    return pl.when(pl.col(name).null_count() == 0).then(pl.col(name).sum()).alias(name)
