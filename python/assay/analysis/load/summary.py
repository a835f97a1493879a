"""Rates and latencies of a run under a closed or an open load."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import polars as pl

from assay.analysis.load.attempts import retries_by_class
from assay.analysis.load.backlog import Schedule, backlog, schedule
from assay.analysis.load.latency import (
    Distribution,
    Window,
    by_interval,
    distribution,
    driver_lag,
    interval_for,
    latency_with_failed,
    measured_times,
    succeeded,
)
from assay.analysis.load_plan import OPEN, Load, load_of, measured_phase
from assay.analysis.operations import NS

if TYPE_CHECKING:
    from assay.record.reader import Run

# An operation that starts at most this late counts as in time (rule of LDBC's driver).
LATE_START_S = 1.0
# Number of intervals that fit into a line of a terminal.
PACE_INTERVALS_MAX = 60


@dataclass(frozen=True)
class OperationLoad:
    """Counts, rates and times of one operation of a load.

    Attributes:
        scheduled, ok, skipped, failed: Numbers of operations in the measured part, by outcome.
        retries: Number of attempts after the first.
        retries_by_class: Number of retries by class of the error; for single operations only.
        service_share: Share of the service time of all operations.
        throughput_per_s: Successful operations per second.
        latency: Latency from the due time.
        service: Service time from the start.
        latency_with_failed: Latency with failed and skipped operations counted as timed out;
            None if all succeeded, or without a time-out. Only for all operations together.
        driver_lag: The part of latency in which the driver was busy with other operations. None
            in older records. Only for all operations together.
    """

    scheduled: int
    ok: int
    skipped: int
    failed: int
    retries: int
    service_share: float | None
    throughput_per_s: float
    latency: Distribution
    service: Distribution
    retries_by_class: dict[str, int] = field(default_factory=dict)
    latency_with_failed: Distribution | None = None
    driver_lag: Distribution | None = None


@dataclass(frozen=True)
class Pace:
    """The throughput of a load over time, in as many intervals as fit into a terminal line.

    Attributes:
        interval_s: Length of an interval.
        throughput_per_s: Operations per second in each interval.
        waiting: Backlog (operations) at the end of each interval; None for a closed load.
    """

    interval_s: float
    throughput_per_s: tuple[float, ...]
    waiting: tuple[int, ...] | None


@dataclass(frozen=True)
class LoadSummary:
    """Counts, rates and latencies of a load's measured part.

    Attributes:
        load: The requested load.
        window: The measured part.
        all_operations: Figures of all operations together.
        by_name: Figures of each operation.
        pace: Throughput over time.
        schedule: Progress of an open load against its schedule; None means a closed load.
    """

    load: Load
    window: Window
    all_operations: OperationLoad
    by_name: dict[str, OperationLoad]
    pace: Pace
    schedule: Schedule | None


def load_window(run: Run, times: pl.DataFrame) -> Window | None:
    """Return the span from the first due time to the end of the load; None if no operation ended.

    A load that ran to its end lasts for the requested time, or until its last operation ended.
    """
    begun, ended = times["scheduled_ns"].min(), times["finished_ns"].max()
    if not isinstance(begun, int) or not isinstance(ended, int):
        return None
    phase = measured_phase(run.facts)
    whole = (run.driver_report or {}).get("ended") == "done" and not phase.get("operations_max")
    if whole:
        ended = max(ended, begun + int(phase.get("duration_ns", 0)))
    return Window(begun, ended) if ended > begun else None


# Cached, because several checks in succession need the summary of the same run.
@lru_cache(maxsize=1)
def summarise_load(run: Run) -> LoadSummary | None:
    """Return the rates and latencies of a run's load; None if no operation ended."""
    load = load_of(run.facts)
    if load is None:
        return None
    times = measured_times(run.table("events"))
    window = load_window(run, times)
    if window is None:
        return None
    waiting = run_backlog(times, window, load)
    return LoadSummary(
        load=load,
        window=window,
        all_operations=_all_operations(times, window, run),
        by_name=_with_classes(_by_name(times, window), retries_by_class(run)),
        pace=_pace(times, window, waiting),
        schedule=_schedule(times, waiting, window, load),
    )


def open_schedule(run: Run, load: Load) -> Schedule | None:
    """Return an open load's progress against its schedule; None if no operation ended."""
    times = measured_times(run.table("events"))
    window = load_window(run, times)
    if window is None:
        return None
    return _schedule(times, run_backlog(times, window, load), window, load)


def _schedule(
    times: pl.DataFrame, waiting: pl.DataFrame | None, window: Window, load: Load
) -> Schedule | None:
    if waiting is None or load.rate_per_s is None:
        return None
    return schedule(times, waiting, window, load.rate_per_s, LATE_START_S)


def run_backlog(times: pl.DataFrame, window: Window, load: Load) -> pl.DataFrame | None:
    """Return the backlog of an open load over time; None for a closed load."""
    if load.shape != OPEN:
        return None
    return backlog(times, window, round((load.late_limit_s or 0.0) / NS))


def _all_operations(times: pl.DataFrame, window: Window, run: Run) -> OperationLoad:
    whole = _operation(_counts(times).row(0, named=True), succeeded(times), window, None)
    lag_ns = driver_lag(times)
    whole = replace(whole, driver_lag=None if lag_ns is None else distribution(lag_ns))
    limit_ns = int(run.facts["plan"].get("operation_deadline_ns", 0))
    if not limit_ns or whole.ok == whole.scheduled:
        return whole
    return replace(whole, latency_with_failed=distribution(latency_with_failed(times, limit_ns)))


def _by_name(times: pl.DataFrame, window: Window) -> dict[str, OperationLoad]:
    """Return rates and latencies of each operation under load, sorted by name."""
    ended = succeeded(times)
    whole_ns = int(ended["service_ns"].sum())
    parts = {key[0]: part for key, part in ended.partition_by("operation", as_dict=True).items()}
    counted = _counts(times, "operation").cast({"operation": pl.String}).sort("operation")
    return {
        row["operation"]: _operation(
            row, parts.get(row["operation"], ended.clear()), window, whole_ns
        )
        for row in counted.iter_rows(named=True)
    }


def _with_classes(
    operations: dict[str, OperationLoad], again: dict[str, dict[str, int]]
) -> dict[str, OperationLoad]:
    return {
        name: replace(operation, retries_by_class=again.get(name, {}))
        for name, operation in operations.items()
    }


def _counts(times: pl.DataFrame, *by: str) -> pl.DataFrame:
    """Return counts of operations: the columns of `by`, scheduled, ok, skipped, failed, retries."""
    outcomes = [
        (pl.col("outcome") == word).sum().alias(word) for word in ("ok", "skipped", "failed")
    ]
    sums = [pl.len().alias("scheduled"), *outcomes, pl.col("retries").sum()]
    return times.group_by(*by, maintain_order=True).agg(*sums) if by else times.select(*sums)


def _operation(
    counts: dict[str, Any], ended: pl.DataFrame, window: Window, whole_ns: int | None
) -> OperationLoad:
    return OperationLoad(
        scheduled=counts["scheduled"],
        ok=counts["ok"],
        skipped=counts["skipped"],
        failed=counts["failed"],
        retries=counts["retries"],
        service_share=int(ended["service_ns"].sum()) / whole_ns if whole_ns else None,
        throughput_per_s=counts["ok"] / window.seconds,
        latency=distribution(ended["latency_ns"]),
        service=distribution(ended["service_ns"]),
    )


def _pace(times: pl.DataFrame, window: Window, waiting: pl.DataFrame | None) -> Pace:
    interval_s = interval_for(window.seconds, PACE_INTERVALS_MAX)
    series = by_interval(times, window, interval_s)
    return Pace(
        interval_s=interval_s,
        throughput_per_s=tuple(series["ok_per_s"]),
        waiting=None if waiting is None else tuple(waiting_at_ends(waiting, series)),
    )


def waiting_at_ends(waiting: pl.DataFrame, series: pl.DataFrame) -> list[int]:
    """Return the number of waiting operations (backlog) at the end of each interval."""
    ends = (series["begin_s"] + series["width_s"]) * (1 + NS)
    places = waiting["time_s"].search_sorted(ends, side="right").cast(pl.Int64) - 1
    return waiting["waiting"].gather(places.clip(lower_bound=0)).to_list()


def per_second(run: Run) -> pl.DataFrame | None:
    """Return a load's throughput and latency over time, one row per second; None without a load.

    Columns: those of `latency.by_interval`, and waiting (backlog at the end of the second; null
    for a closed load).
    """
    load = load_of(run.facts)
    times = None if load is None else measured_times(run.table("events"))
    window = None if times is None else load_window(run, times)
    if load is None or times is None or window is None:
        return None
    return with_waiting(by_interval(times, window, 1.0), run_backlog(times, window, load))


def with_waiting(series: pl.DataFrame, waiting: pl.DataFrame | None) -> pl.DataFrame:
    """Return a time series with the number of waiting operations as its column `waiting`."""
    backlog = None if waiting is None else waiting_at_ends(waiting, series)
    column = pl.Series("waiting", backlog or [None] * series.height, dtype=pl.Int64)
    return series.with_columns(column)
