"""Counts and times attempts of operations that failed, by the class of their error."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median, mode
from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.operations import NS, is_counted

if TYPE_CHECKING:
    from assay.record.reader import Run

STREAM = "attempts"
# Column of attempts that older records lack: the number of statements that were answered.
ANSWERED = "statements"


@dataclass(frozen=True)
class FailedAttempts:
    """The attempts of one operation that failed with one class of error.

    Attributes:
        count: Number of these attempts, whether the operation was retried or not.
        share: Their time as a share of the operation's service time, 0 to 1.
        typical_s: Their median time in seconds.
        statement: Number, from 1, of the statement at which most of the retried attempts failed;
            None if not recorded.
    """

    count: int
    share: float
    typical_s: float
    statement: int | None = None


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


def failed_attempts(run: Run) -> dict[str, dict[str, FailedAttempts]]:
    """Return the failed attempts of the measured part, by operation and error class."""
    if not run.has(STREAM):
        return {}
    events = run.table("events")
    ns = (pl.col("finished_ns") - pl.col("started_ns")).alias("ns")
    names = pl.col("operation", "error").cast(pl.String)
    done = events.filter(is_counted(events) & (pl.col("outcome") != "skipped"))
    service_s = {
        str(name): total * NS
        for name, total in done.group_by("operation").agg(ns.sum()).iter_rows()
    }
    # The last attempt of an operation that failed finally is an event only.
    last = done.filter(pl.col("outcome") == "failed").select("sequence", names, ns)
    again = _retried(run, done, last, ns)
    failed = pl.concat([again, last.select("operation", "error", "ns")], how="diagonal")
    found: dict[str, dict[str, FailedAttempts]] = {}
    for (operation, error), rows in failed.group_by("operation", "error"):
        found.setdefault(str(operation), {})[str(error)] = _summed(rows, service_s[str(operation)])
    return found


def _retried(run: Run, done: pl.DataFrame, last: pl.DataFrame, ns: pl.Expr) -> pl.DataFrame:
    """Return the attempts of operations that succeeded later.

    The time of an operation that failed finally includes its attempts.
    """
    attempts = run.table(STREAM)
    if attempts.is_empty():
        return pl.DataFrame(schema={"operation": pl.String, "error": pl.String, "ns": pl.Int64})
    return (
        attempts.join(done, on="sequence", how="semi")
        .join(last, on="sequence", how="anti")
        .select(
            pl.col("operation", "error").cast(pl.String),
            ns,
            *(pl.col(ANSWERED) for _ in {ANSWERED} & set(attempts.columns)),
        )
    )


def _summed(rows: pl.DataFrame, service_s: float) -> FailedAttempts:
    times_ns: list[int] = rows["ns"].to_list()
    answered: list[int] = rows[ANSWERED].drop_nulls().to_list() if ANSWERED in rows.columns else []
    return FailedAttempts(
        count=len(times_ns),
        share=min(1.0, sum(times_ns) * NS / service_s) if service_s else 0.0,
        typical_s=median(times_ns) * NS,
        statement=mode(answered) + 1 if answered else None,
    )
