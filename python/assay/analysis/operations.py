"""Sums up each operation of a run: outcomes, number of executions and median time."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import polars as pl

from assay.record.layout import KIND_OBSERVED, measured_phases

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.record.reader import Run

# Error class of an operation that was in progress when the run was stopped.
CANCELLED = "cancelled"
# The driver's error class for an operation that was cancelled at its time limit.
DEADLINE = "deadline"
NS = 1e-9
# Columns of events whose texts the record stores once, as a dictionary.
TEXTS = ("phase", "operation", "outcome", "error")


def measured(events: pl.DataFrame, *columns: str) -> pl.DataFrame:
    """Return the events of the measured phase, with dictionary columns as text.

    Operations in progress when the run was stopped are left out.

    Args:
        events: Events of a run.
        columns: Columns to return, by default all. A load can have a hundred million events, so
            an analysis of every load asks only for columns that it needs.
    """
    return _as_text(events.lazy().filter(is_counted(events)), columns or events.columns)


def is_counted(events: pl.DataFrame) -> pl.Expr:
    """Return an expression: True for measured events that ended before the run was stopped."""
    return is_measured(events) & ~cut_short()


def cut_short() -> pl.Expr:
    """Return an expression: True for operations in progress when the run was stopped."""
    return pl.col("error").eq_missing(CANCELLED)


def is_measured(frame: pl.DataFrame) -> pl.Expr:
    """Return an expression: True for rows of a measured phase."""
    phases = measured_phases(frame["phase"].unique().cast(pl.String).to_list())
    return pl.any_horizontal(pl.lit(value=False), *(pl.col("phase") == name for name in phases))


def plain(events: pl.DataFrame) -> pl.DataFrame:
    """Return events with text instead of categories, to join tables of several runs."""
    return _as_text(events.lazy(), events.columns)


def _as_text(events: pl.LazyFrame, columns: Sequence[str]) -> pl.DataFrame:
    chosen = events.select(columns)
    return chosen.with_columns(
        pl.col(name).cast(pl.String) for name in TEXTS if name in columns
    ).collect()


def operation_table(events: pl.DataFrame) -> pl.DataFrame:
    """Return outcomes and median time of each operation of the measured phase.

    Columns: operation; scheduled, ok, skipped, failed, retries (counts); seconds (median service
    time of successful executions, null without any), seconds_min, seconds_max; rows; error
    (class of the first failure).
    """
    succeeded = pl.col("outcome") == "ok"
    service = pl.when(succeeded).then((pl.col("finished_ns") - pl.col("started_ns")) * NS)
    has_error = pl.col("error").is_not_null()
    first_error = pl.col("error").filter(has_error).sort_by(pl.col("sequence").filter(has_error))
    return (
        events.lazy()
        .filter(is_counted(events))
        .with_columns(service.alias("service_s"))
        .group_by("operation", maintain_order=True)
        .agg(
            pl.col("sequence").min(),
            pl.len().alias("scheduled"),
            succeeded.sum().alias("ok"),
            (pl.col("outcome") == "skipped").sum().alias("skipped"),
            (pl.col("outcome") == "failed").sum().alias("failed"),
            pl.col("retries").sum(),
            pl.col("service_s").median().alias("seconds"),
            pl.col("service_s").min().alias("seconds_min"),
            pl.col("service_s").max().alias("seconds_max"),
            pl.col("rows").drop_nulls().first(),
            first_error.first(),
        )
        # Sorting one row per operation instead of one per event saves seconds with millions of
        # events.
        .sort("sequence")
        .drop("sequence")
        .with_columns(pl.col("operation", "error").cast(pl.String))
        .collect()
    )


def geometric_mean(values: Sequence[float]) -> float | None:
    """Return the geometric mean of positive values; None if empty or a value is not positive."""
    if not values or min(values) <= 0:
        return None
    return math.exp(math.fsum(math.log(value) for value in values) / len(values))


def total_and_mean(seconds: Sequence[float | None]) -> tuple[float | None, float | None]:
    """Return the sum and the geometric mean of all operations' times in seconds.

    Sum and mean are None if an operation has no time, because the sum of the others would look
    like a result.
    """
    times = [value for value in seconds if value is not None]
    if not times or len(times) != len(seconds):
        return None, None
    return sum(times), geometric_mean(times)


def window_ns(events: pl.DataFrame) -> tuple[int, int] | None:
    """Return the first start and last end of the measured phase; None if no operation ended."""
    begun, over = (
        events.lazy()
        .filter(is_counted(events))
        .filter(pl.col("finished_ns").is_not_null())
        .select(pl.col("started_ns").min(), pl.col("finished_ns").max())
        .collect()
        .row(0)
    )
    return None if begun is None or over is None else (begun, over)


# Nearly every analysis of the same run asks for it.
@lru_cache(maxsize=4)
def window_of(run: Run) -> tuple[int, int] | None:
    """Return begin and end of the recorded load or observation; None if nothing ended in it.

    For a run this is the measured phase, for an observed server the time of the observation.
    """
    if run.kind == KIND_OBSERVED:
        observed = run.facts.get("observed")
        return None if observed is None else _looked_ns(run, observed["begun_ns"], observed)
    return window_ns(run.table("events"))


def _looked_ns(run: Run, begun_ns: int, observed: Mapping[str, int]) -> tuple[int, int] | None:
    """Return begin and end of an observation in ns; a killed one ends with its last sample."""
    ended_ns: object = observed.get("ended_ns")
    if ended_ns is None and run.has("looks"):
        ended_ns = run.table("looks")["time_ns"].max()
    return (begun_ns, ended_ns) if isinstance(ended_ns, int) and ended_ns > begun_ns else None
