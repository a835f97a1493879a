"""Checks that each execution returned the number of rows that the workload declares."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from assay.model.verdict import CheckResult, Verdict

if TYPE_CHECKING:
    from typing import Any

    from assay.record.reader import Run

NAME = "row_counts"


def check(run: Run) -> CheckResult:
    """Return invalid if a successful execution returned another number of rows."""
    rows_expected: dict[str, int | list[int]] = run.facts["workload"].get("rows_expected", {})
    if not rows_expected or not run.facts["engine"]["answers"]:
        reason = "rows not counted: no operation declares how many rows it returns"
        if rows_expected:
            reason = f"rows not counted: the engine {run.facts['engine']['name']} returns no rows"
        return CheckResult(NAME, Verdict.VALID, reason, measured=False)
    counted = _counted(run, rows_expected)
    if counted.is_empty():
        names = ", ".join(rows_expected)
        return CheckResult(NAME, Verdict.UNKNOWN, f"rows not counted: none of {names} succeeded")
    within = pl.col("rows").is_between(pl.col("least"), pl.col("most"))
    wrong = counted.filter(~within.fill_null(value=False))
    if wrong.is_empty():
        executions = counted["executions"].sum()
        reason = f"{executions} executions returned the expected number of rows"
        return CheckResult(NAME, Verdict.VALID, reason)
    first, of = wrong.row(0, named=True), counted["executions"].sum()
    executions = wrong["executions"].sum()
    reason = (
        f"{executions} of {of} executions returned a wrong number of rows; the first was "
        f"{first['operation']}: {first['rows']} instead of {_wanted(first)}"
    )
    return CheckResult(NAME, Verdict.INVALID, reason, value=float(executions), threshold=0.0)


def _counted(run: Run, rows_expected: dict[str, int | list[int]]) -> pl.DataFrame:
    """Return the row counts that successful executions of operations with known counts returned.

    Columns: operation, rows, executions, least and most (the expected counts); in the order of
    the first executions.
    """
    bounds = {
        name: [rows, rows] if isinstance(rows, int) else rows
        for name, rows in rows_expected.items()
    }

    def bound(place: int) -> pl.Expr:
        bound_by_name = {name: both[place] for name, both in bounds.items()}
        return pl.col("operation").replace_strict(
            bound_by_name, default=None, return_dtype=pl.Int64
        )

    known = (pl.col("outcome") == "ok") & pl.col("operation").is_in(list(bounds))
    counts = (
        run.table("events").lazy().filter(known).group_by("operation", "rows", maintain_order=True)
    )
    return (
        counts.agg(pl.len().alias("executions"))
        .with_columns(pl.col("operation").cast(pl.String), pl.col("rows").cast(pl.Int64))
        .with_columns(least=bound(0), most=bound(1))
        .collect()
    )


def _wanted(row: dict[str, Any]) -> str:
    """Return the expected number of rows as text."""
    least, most = row["least"], row["most"]
    return str(least) if least == most else f"{least} to {most}"
