"""Counts the states in which an engine reported the sessions of the load."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.operations import window_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.record.reader import Run

# Type of a wait event that is a state of a statement, which it has while it runs, too.
STATE = "State"


def session_states(run: Run) -> Mapping[str, int]:
    """Return the samples of the load's sessions in each state, in lower case, most first.

    Samples of sessions that waited for a row lock count under the name of that wait event. The
    result is empty if the engine reports no states, or if the load's sessions are not known.
    """
    window = window_of(run)
    if window is None or not (run.has("activity") and run.has("connections")):
        return {}
    activity = run.table("activity")
    own = run.table("connections")["connection"].cast(pl.UInt32).unique()
    kinds = pl.col("wait_event_type").cast(pl.String)
    if "connection" not in activity.columns or not (activity.select((kinds == STATE).any()).item()):
        return {}
    counted = (
        activity.filter(
            pl.col("time_ns").is_between(*window), pl.col("connection").is_in(own.implode())
        )
        .drop_nulls(["wait_event_type", "wait_event"])
        .group_by(pl.col("wait_event").cast(pl.String).str.to_lowercase())
        .agg(pl.len().alias("samples"))
        .sort("samples", "wait_event", descending=[True, False])
    )
    return dict(counted.iter_rows())
