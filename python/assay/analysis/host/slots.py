"""Thins counter samples to equal time slots, and computes growth between samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.operations import NS

if TYPE_CHECKING:
    from collections.abc import Sequence

# Columns that `between` adds, so that no counter may have their names.
TIME, SECONDS = "time_s", "seconds"


def thinned(samples: pl.DataFrame, by: str, zero_ns: int, interval_s: float | None) -> pl.DataFrame:
    """Return the sample nearest to each multiple of the interval since `zero_ns`, by time.

    Args:
        samples: Rows with `time_ns` and the column `by`.
        by: Column with the name of the row's subject, such as a device.
        zero_ns: Start of the first interval.
        interval_s: Distance between two rows of a subject. None, or less than the distance of
            samples, keeps all samples.
    """
    if interval_s is None:
        return samples.sort("time_ns")
    from_zero_ns = pl.col("time_ns") - zero_ns
    interval_ns = round(interval_s / NS)
    slot = (from_zero_ns + interval_ns // 2) // interval_ns
    off_ns = (from_zero_ns - slot * interval_ns).abs()
    return (
        samples.with_columns(slot.alias("slot"), off_ns.alias("off_ns"))
        .filter(pl.col("off_ns") == pl.col("off_ns").min().over(by, "slot"))
        .unique([by, "slot"], keep="first", maintain_order=True)
        .drop("slot", "off_ns")
        .sort("time_ns")
    )


def around(samples: pl.DataFrame, begun_ns: int, ended_ns: int) -> pl.DataFrame:
    """Return the last counter samples up to a begin and the first from an end on.

    Without a sample before or after, the first or last sample is used. All samples taken
    together have one time.
    """
    times = samples["time_ns"]
    before, after = times.filter(times <= begun_ns).max(), times.filter(times >= ended_ns).min()
    edges = [times.min() if before is None else before, times.max() if after is None else after]
    return samples.filter(pl.col("time_ns").is_in(edges))


def between(samples: pl.DataFrame, by: str, counters: Sequence[str], zero_ns: int) -> pl.DataFrame:
    """Return the growth of counters since the previous sample of the same process or device.

    Columns: time_s (of the sample, since `zero_ns`), seconds (since the previous sample), `by`,
    and the growth of each counter: null if it is missing at either end or decreased (a reset).
    """
    elapsed_ns = pl.col("time_ns") - pl.col("time_ns").shift(1).over(by)
    return (
        samples.sort("time_ns")
        .with_columns(
            ((pl.col("time_ns") - zero_ns) * NS).alias(TIME),
            (elapsed_ns * NS).alias(SECONDS),
            *[grown(name, by) for name in counters],
        )
        .filter(pl.col(SECONDS) > 0)
        .select(TIME, SECONDS, by, *counters)
    )


def grown(counter: str, by: str) -> pl.Expr:
    """Return an expression: a counter's growth since the previous row; null if it decreased."""
    now = pl.col(counter).cast(pl.Int64)
    growth = now - now.shift(1).over(by)
    return pl.when(growth >= 0).then(growth).alias(counter)
