"""Counts answered statements under a load, and the time wasted on failed attempts.

Two kinds of statements count: those in the last attempt of successful operations, and those in
recorded failed attempts that were retried. An operation of one statement counts as one.
Statements of operations that failed finally are not recorded, so they do not count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.load.attempts import ANSWERED
from assay.analysis.load.attempts import STREAM as ATTEMPTS
from assay.analysis.operations import NS, is_counted
from assay.record.layout import STATEMENTS_STREAM

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.record.reader import Run


@dataclass(frozen=True)
class Work:
    """The statements that all sessions executed, and the time of failed attempts.

    Attributes:
        statements: Number of answered statements in the last attempt of successful operations.
        statements_again: Number of statements answered in failed attempts that were retried; None
            if not recorded.
        attempts: Number of failed attempts that were retried.
        attempts_s: Seconds of the failed attempts, by operation.
        failed_s: Total seconds of operations that failed finally, with all their attempts.
        service_s: Total seconds of all operations.
    """

    statements: int
    statements_again: int | None
    attempts: int
    attempts_s: Mapping[str, float]
    failed_s: float
    service_s: float

    @property
    def answered(self) -> int:
        """The number of all statements that were recorded as answered."""
        return self.statements + (self.statements_again or 0)

    @property
    def wasted_s(self) -> float:
        """The seconds of all failed attempts of operations."""
        return sum(self.attempts_s.values()) + self.failed_s

    @property
    def wasted_share(self) -> float | None:
        """The share of all operations' time that failed attempts took; None without any time."""
        if not self.service_s:
            return None
        return min(1.0, self.wasted_s / self.service_s)


def work_of(run: Run) -> Work:
    """Return the executed statements and the wasted time of a run's measured part."""
    events = run.table("events")
    done = events.filter(is_counted(events) & (pl.col("outcome") != "skipped")).select(
        "sequence",
        "operation",
        (pl.col("outcome") == "ok").alias("ok"),
        (pl.col("finished_ns") - pl.col("started_ns")).alias("ns"),
    )
    ok = done.filter("ok")
    counted = _statements(run, ok.select("sequence"))
    alone = sum(count for name, count in _by_operation(ok) if name not in counted)
    # The attempts of operations that failed finally are part of `failed_s`.
    again = _attempts(run, ok.select("sequence"))
    return Work(
        statements=alone + sum(counted.values()),
        statements_again=int(again[ANSWERED].sum()) if ANSWERED in again.columns else None,
        attempts=again.height,
        attempts_s={
            str(name): ns * NS
            for name, ns in again.group_by("operation").agg(pl.col("ns").sum()).iter_rows()
        },
        failed_s=int(done.filter(~pl.col("ok"))["ns"].sum()) * NS,
        service_s=int(done["ns"].sum()) * NS,
    )


def _statements(run: Run, ok: pl.DataFrame) -> dict[str, int]:
    """Return the number of statements of successful operations, by operation.

    Operations of a single statement are left out.
    """
    events_by_name: dict[str, int] = {}
    parts = run.parts(STATEMENTS_STREAM) if run.has(STATEMENTS_STREAM) else ()
    for part in (part for part in parts if not part.is_empty()):
        for name, count in _by_operation(part.join(ok, on="sequence", how="semi")):
            events_by_name[name] = events_by_name.get(name, 0) + count
    return events_by_name


def _by_operation(rows: pl.DataFrame) -> list[tuple[str, int]]:
    counted = rows.group_by("operation").len()
    return [(str(name), count) for name, count in counted.iter_rows()]


def _attempts(run: Run, ok: pl.DataFrame) -> pl.DataFrame:
    """Return the failed attempts of operations that later succeeded.

    Columns: operation, ns, and statements if recorded.
    """
    if not run.has(ATTEMPTS) or run.table(ATTEMPTS).is_empty():
        return pl.DataFrame(schema={"operation": pl.String, "ns": pl.Int64, ANSWERED: pl.Int64})
    failed = run.table(ATTEMPTS).join(ok, on="sequence", how="semi")
    length = (pl.col("finished_ns") - pl.col("started_ns")).alias("ns")
    return failed.select(
        "operation", length, *(pl.col(ANSWERED) for _ in {ANSWERED} & set(failed.columns))
    )
