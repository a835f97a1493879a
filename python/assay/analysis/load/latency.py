"""Computes exact latencies under a closed or an open load from the events.

Latency counts from the time at which an operation was due, service time from its actual start.
Only successful operations have these times; failed and skipped operations are counted
separately. A percentile is the smallest recorded value that at least that share of the values
does not exceed (nearest rank), so it is always a time that occurred. A percentile is null unless
a value is expected beyond it: the 99.9th percentile of fewer than 1,000 values would be their
maximum.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.operations import NS, is_counted
from assay.model.units import NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterator

# Percentiles in thousandths, so that ranks are exact integers.
PER_MILLE = {"p50": 500, "p90": 900, "p95": 950, "p99": 990, "p999": 999}
WHOLE = 1000

SHORT_INTERVALS_S = (0.1, 0.2, 0.5)
INTERVALS_S = (1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0)
# A shorter window would have too few intervals of whole seconds for a useful chart.
SHORT_SECONDS = 12.0
# Cells of the heat map: columns over time, rows over latency.
HEAT_COLUMNS_MAX = 90
HEAT_COLUMNS_S = (0.01, 0.02, 0.05, *SHORT_INTERVALS_S, *INTERVALS_S)
HEAT_ROWS_A_DECADE = 16
# A tail curve has this many points between 90 % and 99 %, between 99 % and 99.9 %, and so on.
CURVE_POINTS_A_NINE = 12

NO_SECONDS = {
    "begin_s": pl.Float64,
    "width_s": pl.Float64,
    "ok_per_s": pl.Float64,
    "failed_per_s": pl.Float64,
    "skipped_per_s": pl.Float64,
    "p50_seconds": pl.Float64,
    "p99_seconds": pl.Float64,
    "max_seconds": pl.Float64,
}


@dataclass(frozen=True)
class Distribution:
    """Percentiles of times in seconds. A percentile of too few values is None.

    Attributes:
        count: Number of values.
        p50, p90, p95, p99, p999: Percentiles by nearest rank.
        max: The longest time; None without values.
    """

    count: int
    p50: float | None
    p90: float | None
    p95: float | None
    p99: float | None
    p999: float | None
    max: float | None


@dataclass(frozen=True)
class Window:
    """The measured part of a load, from begin to end in ns of CLOCK_MONOTONIC."""

    begun_ns: int
    ended_ns: int

    @property
    def seconds(self) -> float:
        """The length of the measured part in seconds."""
        return (self.ended_ns - self.begun_ns) * NS


def measured_times(events: pl.DataFrame) -> pl.DataFrame:
    """Return the times of measured operations that ended before the run was stopped.

    Columns: operation, outcome (categories), scheduled_ns, started_ns, finished_ns, retries, and
    lag_ns, which older records lack. Text columns stay categories: converting ten million of
    them to text takes longer than all percentiles.
    """
    columns = ["operation", "outcome", "scheduled_ns", "started_ns", "finished_ns", "retries"]
    columns += ["lag_ns"] if "lag_ns" in events.columns else []
    return events.lazy().filter(is_counted(events)).select(columns).collect()


def succeeded(times: pl.DataFrame) -> pl.DataFrame:
    """Return latency and service time of successful operations."""
    return (
        times.lazy()
        .filter(pl.col("outcome") == "ok")
        .select(
            "operation",
            "finished_ns",
            (pl.col("finished_ns") - pl.col("scheduled_ns")).alias("latency_ns"),
            (pl.col("finished_ns") - pl.col("started_ns")).alias("service_ns"),
        )
        .collect()
    )


def driver_lag(times: pl.DataFrame) -> pl.Series | None:
    """Return the delay in ns that the load driver added to successful operations."""
    if "lag_ns" not in times.columns:
        return None
    lag_ns = times.filter(pl.col("outcome") == "ok")["lag_ns"].drop_nulls()
    return None if lag_ns.is_empty() else lag_ns


def latency_with_failed(times: pl.DataFrame, limit_ns: int) -> pl.Series:
    """Return latencies in ns of all operations; failed or skipped ones count as timed out.

    An operation that failed later than the time-out counts with its actual time.
    """
    took = pl.col("finished_ns") - pl.col("scheduled_ns")
    at_least = pl.max_horizontal(took, pl.lit(limit_ns))
    counted = pl.when(pl.col("outcome") == "ok").then(took).otherwise(at_least)
    return times.select(counted.alias("latency_ns"))["latency_ns"]


def distribution(times_ns: pl.Series) -> Distribution:
    """Return the percentiles of a series of times in ns."""
    ranked = times_ns.sort()
    count = len(ranked)
    percentiles = {name: _percentile(ranked, per_mille) for name, per_mille in PER_MILLE.items()}
    return Distribution(count=count, max=ranked[-1] / NS_PER_S if count else None, **percentiles)


def _percentile(ranked: pl.Series, per_mille: int) -> float | None:
    count = len(ranked)
    if count * (WHOLE - per_mille) < WHOLE:
        return None
    seconds: float = ranked[-(-count * per_mille // WHOLE) - 1] / NS_PER_S
    return seconds


def by_interval(times: pl.DataFrame, window: Window, interval_s: float) -> pl.DataFrame:
    """Return outcomes and latency over time: one row per interval.

    Operations count in the interval in which they ended, and skipped ones in the interval in
    which they were due. A last interval of less than half the length is merged with the one
    before it, so that no rate covers a very short time.

    Columns: begin_s, width_s (seconds since the measured part began), ok_per_s, failed_per_s,
    skipped_per_s, p50_seconds, p99_seconds, max_seconds (of latency; null if too few ended).
    """
    count = max(1, math.floor(window.seconds / interval_s + 0.5))
    if times.is_empty() or window.seconds <= 0:
        return pl.DataFrame(schema=NO_SECONDS)
    at_ns = pl.coalesce("finished_ns", "scheduled_ns") - window.begun_ns
    place = (at_ns // round(interval_s / NS)).clip(0, count - 1).cast(pl.UInt32)
    ok = pl.col("outcome") == "ok"
    # Ranks come from one sorted table, because sorting each group separately takes twice as
    # long.
    ranked = (
        times.lazy()
        .select(
            place.alias("place"),
            pl.col("outcome"),
            pl.when(ok).then(pl.col("finished_ns") - pl.col("scheduled_ns")).alias("latency_ns"),
        )
        .sort("place", "latency_ns", nulls_last=True)
        .group_by("place", maintain_order=True)
        .agg(
            ok.sum().alias("ok"),
            (pl.col("outcome") == "failed").sum().alias("failed"),
            (pl.col("outcome") == "skipped").sum().alias("skipped"),
            *[_ranked(name, ok.sum()) for name in ("p50", "p99")],
            pl.col("latency_ns").max().alias("max") * NS,
        )
    )
    begin = pl.col("place") * interval_s
    last_s = window.seconds - (count - 1) * interval_s
    width = pl.when(pl.col("place") == count - 1).then(last_s).otherwise(interval_s)
    every = pl.LazyFrame({"place": range(count)}, schema={"place": pl.UInt32})
    return (
        every.join(ranked, on="place", how="left")
        .sort("place")
        .with_columns(pl.col("ok", "failed", "skipped").fill_null(0))
        .select(
            begin.alias("begin_s"),
            width.alias("width_s"),
            *[
                (pl.col(word) / width).alias(f"{word}_per_s")
                for word in ("ok", "failed", "skipped")
            ],
            *[pl.col(name).alias(f"{name}_seconds") for name in ("p50", "p99", "max")],
        )
        .collect()
    )


def _ranked(name: str, count: pl.Expr) -> pl.Expr:
    """Return an expression: a percentile of latency per group in seconds, nulls last."""
    per_mille = PER_MILLE[name]
    count = count.cast(pl.Int64)
    rank = ((count * per_mille + WHOLE - 1) // WHOLE - 1).clip(lower_bound=0)
    enough = count * (WHOLE - per_mille) >= WHOLE
    value = pl.col("latency_ns").get(rank, null_on_oob=True)
    return (pl.when(enough).then(value) * NS).alias(name)


def interval_for(seconds: float, intervals_max: int) -> float:
    """Return the shortest interval in seconds that divides a window into at most a given number.

    The interval is in whole seconds, except for a window of a few seconds.
    """
    widths = (*SHORT_INTERVALS_S, *INTERVALS_S) if seconds < SHORT_SECONDS else INTERVALS_S
    fitting = (width for width in widths if seconds / width <= intervals_max)
    return next(fitting, INTERVALS_S[-1])


def heat_map(succeeded_times: pl.DataFrame, window: Window) -> pl.DataFrame:
    """Return the number of operations in each non-empty cell of time and latency.

    Columns: column, row (whole numbers: time in steps of `heat_column_s`, the logarithm of latency
    in 16 steps a decade), begin_s, end_s (since the measured part began), low_seconds, high_seconds
    (of latency), operations.
    """
    width_s = heat_column_s(window)
    last = max(1, math.floor(window.seconds / width_s + 0.5)) - 1
    at_ns = pl.col("finished_ns") - window.begun_ns
    column = (at_ns // round(width_s / NS)).clip(0, last).cast(pl.Int32)
    # The clock may report 0 ns, which has no logarithm.
    digits = pl.col("latency_ns").clip(lower_bound=1).cast(pl.Float64).log10()
    row = (digits * HEAT_ROWS_A_DECADE).floor().cast(pl.Int32)
    low, high = (
        (pl.lit(10.0) ** ((pl.col("row") + more) / HEAT_ROWS_A_DECADE) * NS).round_sig_figs(5)
        for more in (0, 1)
    )
    return (
        succeeded_times.lazy()
        .select(column.alias("column"), row.alias("row"))
        .group_by("column", "row", maintain_order=True)
        .agg(pl.len().alias("operations"))
        .sort("column", "row")
        .select(
            "column",
            "row",
            (pl.col("column") * width_s).round(3).alias("begin_s"),
            ((pl.col("column") + 1) * width_s).round(3).alias("end_s"),
            low.alias("low_seconds"),
            high.alias("high_seconds"),
            "operations",
        )
        .collect()
    )


def heat_column_s(window: Window) -> float:
    """Return the width of a column of the heat map in seconds."""
    fitting = (w for w in HEAT_COLUMNS_S if window.seconds / w <= HEAT_COLUMNS_MAX)
    return next(fitting, HEAT_COLUMNS_S[-1])


def curve(times_ns: pl.Series) -> list[tuple[float, float]]:
    """Return points of the latency distribution's tail: (share of values beyond, seconds).

    The points range from the median (half of the values beyond) to the maximum, evenly spaced on
    the logarithm of the share.
    """
    ranked = times_ns.sort()
    count = len(ranked)
    if not count:
        return []
    ranks = sorted({min(count, math.ceil(count * (1 - beyond))) for beyond in _shares(count)})
    return [(max(count - rank, 1) / count, ranked[rank - 1] / NS_PER_S) for rank in ranks if rank]


def _shares(count: int) -> Iterator[float]:
    """Yield shares of values beyond a point, from one half to less than one value."""
    yield 0.5
    steps = math.ceil(math.log10(count) * CURVE_POINTS_A_NINE) + 1 if count > 1 else 1
    first = math.ceil(math.log10(2) * CURVE_POINTS_A_NINE)
    for step in range(first, steps):
        yield 10 ** (-step / CURVE_POINTS_A_NINE)
    yield 0.0
