"""Finds other clients' CPU use on a run's server, and the load generator's CPU waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.operations import NS, is_counted, window_of
from assay.analysis.server.other_work import STREAM as OTHER_WORK
from assay.analysis.server.sessions import (
    NEEDED,
    OTHER_CLIENTS,
    edges_around,
    is_ours,
    owners,
    process_growth,
)
from assay.model.other_work import SNAPSHOT
from assay.record.layout import ACCOUNT_DRIVER, ACCOUNT_ENGINE

if TYPE_CHECKING:
    from assay.record.reader import Run

NO_APPLICATION = "a client without a name"


def other_clients_cpu(run: Run) -> dict[str, float]:
    """Return CPU seconds of other clients' sessions in the measured part, by application.

    Sessions with maintenance work are left out, because they are reported separately. The result
    is empty if the engine's processes or threads cannot be distinguished, or there was no other
    client.
    """
    window = window_of(run)
    if window is None or not run.has("activity"):
        return {}
    activity = run.table("activity")
    if activity["tid"].null_count() < activity.height:
        return _cpu_by_threads(run, activity, window)
    if not (run.has("backends") and run.has("processes")):
        return {}
    processes = run.table("processes")
    if NEEDED - set(processes.columns):
        return {}
    of_engine = processes.filter(pl.col("account").cast(pl.String) == ACCOUNT_ENGINE)
    edges = edges_around(of_engine["time_ns"], *window)
    if edges is None:
        return {}
    names = (
        activity.drop_nulls("application")
        .group_by("pid", maintain_order=True)
        .agg(pl.col("application").cast(pl.String).last())
        .with_columns(pl.col("pid").cast(pl.UInt32))
    )
    used = (
        process_growth(of_engine, *edges)
        .with_columns(pl.col("pid").cast(pl.UInt32))
        .join(owners(run.table("backends"), activity, of_engine), on="pid")
        .filter(pl.col("owner") == OTHER_CLIENTS)
        .filter(~pl.col("pid").is_in(_at_upkeep(run).implode()))
        .join(names, on="pid", how="left")
        .with_columns(pl.col("application").fill_null(NO_APPLICATION))
        .group_by("application", maintain_order=True)
        .agg(pl.col("cpu_ns").sum() * NS)
    )
    return dict(used.iter_rows())


def _cpu_by_threads(run: Run, activity: pl.DataFrame, window: tuple[int, int]) -> dict[str, float]:
    """Return CPU seconds of threads that serve other clients, by the application's name."""
    if not run.has("waits"):
        return {}
    is_in_window = pl.col("time_ns").is_between(*window)
    names = (
        activity.drop_nulls(["application", "tid"])
        .with_columns(pl.col("application").cast(pl.String))
        .filter(~is_ours())
        .filter(~pl.col("connection").is_in(_served(run).implode()))
        .group_by("tid", maintain_order=True)
        .agg(pl.col("application").last())
    )
    used = (
        run.table("waits")
        .filter(is_in_window)
        .sort("time_ns")
        .group_by("tid", maintain_order=True)
        .agg((pl.col("on_cpu_ns").last() - pl.col("on_cpu_ns").first()).alias("cpu_ns"))
        .join(names, on="tid")
        .group_by("application", maintain_order=True)
        .agg(pl.col("cpu_ns").sum() * NS)
    )
    return dict(used.iter_rows())


def _served(run: Run) -> pl.Series:
    """Return the connections that belong to the load or to maintenance sessions."""
    upkeep = _at_upkeep(run).cast(pl.UInt32)
    if not run.has("connections"):
        return upkeep
    return pl.concat([run.table("connections")["connection"].cast(pl.UInt32), upkeep])


def _at_upkeep(run: Run) -> pl.Series:
    """Return the ids of processes that were sampled in maintenance, such as a vacuum."""
    if not run.has(OTHER_WORK):
        return pl.Series(dtype=pl.UInt32)
    is_upkeep = pl.col("work").cast(pl.String) != SNAPSHOT
    return run.table(OTHER_WORK).filter(is_upkeep)["session"].unique()


def runnable_threads(run: Run) -> float | None:
    """Return the mean number of engine threads that ran or waited for a CPU; None if unknown."""
    window = window_of(run)
    if window is None or not run.has("processes"):
        return None
    processes = run.table("processes")
    if NEEDED - set(processes.columns):
        return None
    engine = processes.filter(pl.col("account").cast(pl.String) == ACCOUNT_ENGINE)
    edges = edges_around(engine["time_ns"], *window)
    if edges is None or edges[0] >= edges[1]:
        return None
    grown = process_growth(engine, *edges).select("cpu_ns", "run_delay_ns")
    if grown["run_delay_ns"].null_count():
        return None
    return float(grown.sum_horizontal().sum()) / (edges[1] - edges[0])


def client_queue_share(run: Run) -> float | None:
    """Return the time that the load generator waited for a CPU, as a share of service time.

    The result is None if its processes were not sampled.
    """
    window = window_of(run)
    if window is None or not run.has("processes"):
        return None
    processes = run.table("processes")
    if NEEDED - set(processes.columns):
        return None
    driver = processes.filter(pl.col("account").cast(pl.String) == ACCOUNT_DRIVER)
    edges = edges_around(driver["time_ns"], *window)
    events = run.table("events")
    took_ns = (pl.col("finished_ns") - pl.col("started_ns")).filter(is_counted(events))
    service_ns = events.select(took_ns.sum()).item()
    if edges is None or not service_ns:
        return None
    queued = process_growth(driver, *edges)["run_delay_ns"]
    return None if queued.null_count() else min(1.0, float(queued.sum()) / float(service_ns))
