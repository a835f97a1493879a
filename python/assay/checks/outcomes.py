"""Whether every operation was accounted for, and every one of them succeeded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.operations import CANCELLED, plain
from assay.model.units import percent_text
from assay.model.verdict import CheckResult, Verdict

if TYPE_CHECKING:
    from typing import Any

    from assay.record.reader import Run

NAME = "outcomes"
OUTCOMES = {"ok", "skipped", "failed"}


def check(run: Run) -> CheckResult:
    """Invalid if an operation failed or `scheduled = ok + skipped + failed` does not hold."""
    events = plain(run.table("events"))
    if events.is_empty():
        return CheckResult(NAME, Verdict.UNKNOWN, "no operation was recorded")
    broken = identity_broken(events, _driver_counts(run))
    if broken:
        return CheckResult(NAME, Verdict.INVALID, broken)
    cut_short = pl.col("error").eq_missing(CANCELLED)
    failed = events.filter((pl.col("outcome") == "failed") & ~cut_short)
    if not failed.is_empty():
        names = sorted(set(failed["operation"]))
        first = failed.row(0, named=True)
        reason = (
            f"{failed.height} of {events.height} operations failed, in {', '.join(names)};"
            f" the first was {first['operation']}: {_first_message(run, first)}"
        )
        return CheckResult(NAME, Verdict.INVALID, reason, value=float(failed.height), threshold=0.0)
    skipped = events.filter(pl.col("outcome") == "skipped").height
    if skipped:
        share = skipped / events.height
        reason = (
            f"{skipped} of {events.height} operations ({percent_text(share)}) were due and never"
            " started: the engine did not hold the rate, and latencies are of the others"
        )
        return CheckResult(NAME, Verdict.UNKNOWN, reason, value=share, threshold=0.0)
    if events.filter(cut_short).height:
        reason = "the run was stopped while operations were under way; they are left out"
        return CheckResult(NAME, Verdict.UNKNOWN, reason)
    return CheckResult(
        NAME, Verdict.VALID, f"{events.height} operations were due, and all of them succeeded"
    )


def identity_broken(events: pl.DataFrame, counted: dict[str, int] | None) -> str | None:
    """How the events contradict themselves or the driver's own counts; None if they do not."""
    unknown = set(events["outcome"]) - OUTCOMES
    if unknown:
        return f"events have outcomes that do not exist: {', '.join(sorted(unknown))}"
    if events["sequence"].n_unique() != events.height:
        return "two events have the same number: an operation was written down twice"
    recorded = {word: events.filter(pl.col("outcome") == word).height for word in sorted(OUTCOMES)}
    if counted is not None and {word: counted[word] for word in recorded} != recorded:
        return f"the driver counted {counted}, and the record has {recorded}"
    return None


def _driver_counts(run: Run) -> dict[str, int] | None:
    """Outcomes as the driver counted them, over all phases; None if it did not get to tell."""
    report = run.driver_report
    if report is None:
        return None
    totals = dict.fromkeys(OUTCOMES, 0)
    for phase in report["phases"]:
        for operation in phase["operations"]:
            for word in totals:
                totals[word] += operation["counts"][word]
    return totals


def _first_message(run: Run, event: dict[str, Any]) -> str:
    operations = run.facts["plan"]["operations"]
    for error in (run.driver_report or {}).get("errors", []):
        same = error["class"] == event["error"]
        if same and operations[error["operation"]] == event["operation"]:
            first_line = error["message"].partition("\n")[0]
            return f"{error['class']}: {first_line}" if first_line else str(error["class"])
    return str(event["error"])
