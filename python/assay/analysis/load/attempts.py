"""Counts operation attempts that failed and were retried, by the class of their error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.operations import is_counted

if TYPE_CHECKING:
    from assay.record.reader import Run

STREAM = "attempts"


def retries_by_class(run: Run) -> dict[str, dict[str, int]]:
    """Return the number of retried attempts in the measured part, by operation and error class."""
    if not run.has(STREAM) or run.table(STREAM).is_empty():
        return {}
    events = run.table("events")
    counted = (
        run.table(STREAM)
        .join(events.filter(is_counted(events)).select("sequence"), on="sequence", how="semi")
        .select(pl.col("operation", "error").cast(pl.String))
        .group_by("operation", "error")
        .len()
        .sort("operation", "len", "error", descending=[False, True, False])
    )
    retries: dict[str, dict[str, int]] = {}
    for operation, error, count in counted.iter_rows():
        retries.setdefault(operation, {})[error] = count
    return retries
