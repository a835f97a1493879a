"""Whether each execution returned as many rows as the workload says it does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.operations import plain
from assay.model.verdict import CheckResult, Verdict

if TYPE_CHECKING:
    from assay.record.reader import Run

NAME = "row_counts"


def check(run: Run) -> CheckResult:
    """Invalid if an execution that succeeded returned another number of rows."""
    told: dict[str, int] = run.facts["workload"].get("rows_expected", {})
    if not told or not run.facts["engine"]["answers"]:
        reason = "rows not counted: no operation says how many it returns"
        if told:
            reason = f"rows not counted: engine {run.facts['engine']['name']} returns none"
        return CheckResult(NAME, Verdict.VALID, reason, measured=False)
    counted = _counted(run, told)
    if counted.is_empty():
        names = ", ".join(told)
        return CheckResult(NAME, Verdict.UNKNOWN, f"rows not counted: none of {names} succeeded")
    wrong = counted.filter(pl.col("rows").ne_missing(pl.col("wanted")))
    if wrong.is_empty():
        reason = f"{counted.height} executions returned as many rows as they should"
        return CheckResult(NAME, Verdict.VALID, reason)
    first = wrong.row(0, named=True)
    reason = (
        f"{wrong.height} of {counted.height} executions returned a wrong number of rows; the first"
        f" was {first['operation']}: {first['rows']} instead of {first['wanted']}"
    )
    return CheckResult(NAME, Verdict.INVALID, reason, value=float(wrong.height), threshold=0.0)


def _counted(run: Run, told: dict[str, int]) -> pl.DataFrame:
    """Executions that succeeded, of operations whose rows are known; `wanted` says how many."""
    wanted = pl.col("operation").replace_strict(told, default=None, return_dtype=pl.Int64)
    events = plain(run.table("events")).filter(pl.col("outcome") == "ok")
    return events.select("operation", pl.col("rows").cast(pl.Int64), wanted=wanted).filter(
        pl.col("wanted").is_not_null()
    )
