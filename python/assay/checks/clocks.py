"""Checks that the times of each operation are in order: scheduled, started, finished."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from assay.model.verdict import CheckResult, Verdict

if TYPE_CHECKING:
    from assay.record.reader import Run

NAME = "clock_order"


def check(run: Run) -> CheckResult:
    """Return invalid if an event ended before it began, or a session ran two operations at once."""
    timed = run.table("events").drop_nulls(["started_ns", "finished_ns"])
    backwards = timed.filter(
        (pl.col("started_ns") < pl.col("scheduled_ns"))
        | (pl.col("finished_ns") < pl.col("started_ns"))
    )
    if not backwards.is_empty():
        reason = (
            f"{backwards.height} events have times that run backwards: the times of this run "
            "are not reliable"
        )
        return CheckResult(
            NAME, Verdict.INVALID, reason, value=float(backwards.height), threshold=0
        )
    before = pl.col("finished_ns").shift(1).over("session", order_by="started_ns")
    overlapping = timed.filter(pl.col("started_ns") < before)
    if not overlapping.is_empty():
        reason = (
            f"{overlapping.height} operations begin before the previous one of their session has"
            " ended: these times are unreliable"
        )
        return CheckResult(
            NAME, Verdict.INVALID, reason, value=float(overlapping.height), threshold=0
        )
    return CheckResult(NAME, Verdict.VALID, "all start and end times are consistent")
