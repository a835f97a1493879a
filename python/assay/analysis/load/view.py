"""Data of a load's charts, small for any number of operations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.load.latency import (
    by_interval,
    curve,
    heat_column_s,
    heat_map,
    interval_for,
    measured_times,
    succeeded,
)
from assay.analysis.load.summary import load_window, run_backlog, with_waiting
from assay.analysis.load_plan import load_of

if TYPE_CHECKING:
    from assay.record.reader import Run

SERIES_INTERVALS_MAX = 300
BACKLOG_POINTS_MAX = 250
# More lines in one chart cannot be distinguished.
CURVES_MAX = 8


@dataclass(frozen=True)
class LoadView:
    """Data frames for charts of a load over seconds since the measured part began.

    Attributes:
        interval_s: Length of an interval of `series`.
        series: The frame of `by_interval`, with the column `waiting` (null for a closed load).
        heat: The frame of `heat_map`, with columns that are `heat_column_s` wide.
        curves: operation, beyond_share, seconds: the tail of each operation's latency.
        backlog: The backlog over time: time_s, waiting; None for a closed load.
    """

    interval_s: float
    series: pl.DataFrame
    heat: pl.DataFrame
    heat_column_s: float
    curves: pl.DataFrame
    backlog: pl.DataFrame | None


def load_view(run: Run) -> LoadView | None:
    """Return the data of a load's charts; None if no operation ended."""
    load = load_of(run.facts)
    times = None if load is None else measured_times(run.table("events"))
    window = None if times is None else load_window(run, times)
    if load is None or times is None or window is None:
        return None
    interval_s = interval_for(window.seconds, SERIES_INTERVALS_MAX)
    waiting = run_backlog(times, window, load)
    series = with_waiting(by_interval(times, window, interval_s), waiting)
    ended = succeeded(times)
    return LoadView(
        interval_s=interval_s,
        series=series,
        heat=heat_map(ended, window),
        heat_column_s=heat_column_s(window),
        curves=_curves(ended),
        backlog=None if waiting is None else _thinned(waiting),
    )


def _thinned(waiting: pl.DataFrame) -> pl.DataFrame:
    """Return a load's backlog at every n-th instant, including the last one."""
    step = max(1, -(-waiting.height // BACKLOG_POINTS_MAX))
    return waiting.reverse().gather_every(step).reverse()


def _curves(ended: pl.DataFrame) -> pl.DataFrame:
    """Return latency curves of the most frequent operations."""
    parts = ended.select("operation", "latency_ns").partition_by("operation")
    parts = sorted(parts, key=lambda part: -part.height)
    rows = [
        (str(part["operation"][0]), beyond, seconds)
        for part in parts[:CURVES_MAX]
        for beyond, seconds in curve(part["latency_ns"])
    ]
    schema = {"operation": pl.String, "beyond_share": pl.Float64, "seconds": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")
