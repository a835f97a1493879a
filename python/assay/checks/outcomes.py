"""Checks that every operation has an outcome and succeeded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.load.summary import LATE_START_S
from assay.analysis.load_plan import OPEN, load_of
from assay.analysis.operations import DEADLINE, NS, cut_short, is_measured
from assay.checks.thresholds import BACKLOG_SECONDS_MAX
from assay.model.units import percent_text, seconds_text
from assay.model.verdict import CheckResult, Verdict

if TYPE_CHECKING:
    from typing import Any

    from assay.record.reader import Run

NAME = "outcomes"
# If more operations failed, the time of the others says little about the workload.
FAILED_MAX = 0.5
OUTCOMES = {"ok", "skipped", "failed"}


def check(run: Run) -> CheckResult:
    """Return invalid if an operation failed or outcomes do not add up to all operations."""
    events = run.table("events")
    if events.is_empty():
        return CheckResult(NAME, Verdict.UNKNOWN, "no operation was recorded")
    broken = identity_broken(events, _driver_counts(run))
    if broken:
        return CheckResult(NAME, Verdict.INVALID, broken)
    failed = events.filter((pl.col("outcome") == "failed") & ~cut_short())
    if not failed.is_empty():
        return _cut_off_as_asked(run, events, failed) or _failed(run, events, failed)
    skipped = events.filter((pl.col("outcome") == "skipped") & is_measured(events))
    cut_off = _cut_off_by_the_end(run, events, skipped)
    if skipped.height and not cut_off:
        share = skipped.height / events.height
        reason = (
            f"{skipped.height} of {events.height} operations ({percent_text(share)}) were due "
            "and never started: the engine did not keep up with the rate, and latencies cover "
            "only the started operations"
        )
        return CheckResult(NAME, Verdict.UNKNOWN, reason, value=share, threshold=0.0)
    if _count(events, cut_short()) and run.facts.get("fault") is None:
        reason = (
            "the run was stopped while operations were in progress; these operations are not "
            "counted"
        )
        return CheckResult(NAME, Verdict.UNKNOWN, reason)
    return CheckResult(NAME, Verdict.VALID, _all_succeeded(run, events, skipped.height))


def _failed(run: Run, events: pl.DataFrame, failed: pl.DataFrame) -> CheckResult:
    names = sorted(set(failed["operation"]))
    first = failed.row(0, named=True)
    reason = (
        f"{failed.height} of {events.height} operations failed, in {', '.join(names)};"
        f" the first was {first['operation']}: {_first_message(run, first)}{_crashes(run)}"
    )
    return CheckResult(NAME, Verdict.INVALID, reason, value=float(failed.height), threshold=0.0)


def failure_of_all(run: Run) -> str | None:
    """Return the first failure of a run in which no operation succeeded; None if one did."""
    events = run.table("events")
    if events.is_empty() or set(events["outcome"].unique()) != {"failed"}:
        return None
    failed = events.filter(~cut_short())
    if failed.is_empty() or _cut_off_as_asked(run, events, failed) is not None:
        return None
    first = failed.row(0, named=True)
    message = f"{first['operation']} failed: {_first_message(run, first)}{_crashes(run)}"
    return f"{message}; none of {events.height} operations succeeded"


def failure_of_most(run: Run) -> str | None:
    """Return why a run cannot be explained if most of its operations failed; None if few did."""
    events = run.table("events")
    failed = events.filter((pl.col("outcome") == "failed") & ~cut_short())
    if not failed.height > FAILED_MAX * events.height:
        return None
    if _cut_off_as_asked(run, events, failed) is not None:
        return None
    return _failed(run, events, failed).reason


def _cut_off_as_asked(run: Run, events: pl.DataFrame, failed: pl.DataFrame) -> CheckResult | None:
    """Return the verdict if every failure is a query that was cut off at its time limit.

    The verdict applies to forced plans and to runs without a technique, for which a time limit
    answers how long queries take.
    """
    request = run.facts["request"]
    searched = bool(request.get("forced") or request.get("without"))
    if not searched or failed.is_empty() or set(failed["error"]) != {DEADLINE}:
        return None
    limit = seconds_text(request["operation_deadline_s"])
    names = ", ".join(sorted(set(failed["operation"])))
    reason = (
        f"{failed.height} of {events.height} operations were cancelled after {limit}, the "
        f"requested time limit: {names}; all others succeeded"
    )
    verdict = Verdict.VALID if request.get("forced") else Verdict.UNKNOWN
    return CheckResult(NAME, verdict, reason, value=float(failed.height))


def _cut_off_by_the_end(run: Run, events: pl.DataFrame, skipped: pl.DataFrame) -> bool:
    """Return True if the skipped operations are only those that any open load leaves at its end.

    An operation of an open load that is due just before the end may be skipped, however fast the
    engine is.
    """
    load = load_of(run.facts)
    if load is None or load.shape != OPEN or skipped.is_empty():
        return False
    begun, ended = skipped["scheduled_ns"].min(), events["scheduled_ns"].max()
    moment = max((load.rate_per_s or 0.0) * BACKLOG_SECONDS_MAX, float(load.clients))
    late = isinstance(begun, int) and isinstance(ended, int) and ended - begun >= LATE_START_S / NS
    return skipped.height <= moment and not late


def _all_succeeded(run: Run, events: pl.DataFrame, skipped: int) -> str:
    if run.facts.get("fault") is not None:
        ended = _count(events, ~cut_short())
        return (
            f"{ended} operations ended before the engine was killed, and all of them succeeded; "
            f"{events.height - ended} were in progress then"
        )
    again = _count(events, (pl.col("retries") > 0) & (pl.col("outcome") == "ok"))
    sentence = f"{events.height} operations were due, and all of them succeeded"
    if skipped:
        sentence = (
            f"{events.height} operations were due, {skipped} of them too shortly before the end to"
            " be started; all others succeeded"
        )
    return f"{sentence}, {again} of them after a retry" if again else sentence


def _count(events: pl.DataFrame, chosen: pl.Expr) -> int:
    return int(events.select(chosen.sum()).item())


def identity_broken(events: pl.DataFrame, counted: dict[str, int] | None) -> str | None:
    """Return a sentence on events that contradict each other or the driver's counts, or None."""
    unknown = set(events["outcome"].unique()) - OUTCOMES
    if unknown:
        return f"the record contains events with unknown outcomes: {', '.join(sorted(unknown))}"
    if events["sequence"].n_unique() != events.height:
        return "two events have the same number: the record contains an operation twice"
    recorded = {word: _count(events, pl.col("outcome") == word) for word in sorted(OUTCOMES)}
    if counted is not None and {word: counted[word] for word in recorded} != recorded:
        return f"the driver counted the outcomes {counted}, and the record contains {recorded}"
    return None


def _driver_counts(run: Run) -> dict[str, int] | None:
    """Return the driver's counts of outcomes over all phases; None if it wrote none."""
    report = run.driver_report
    if report is None:
        return None
    totals = dict.fromkeys(OUTCOMES, 0)
    for phase in report["phases"]:
        for operation in phase["operations"]:
            for word in totals:
                totals[word] += operation["counts"][word]
    return totals


def _crashes(run: Run) -> str:
    """Return a sentence on server crashes and restarts; empty if the server did not crash."""
    crashes = run.facts.get("crashes", [])
    if not crashes:
        return ""
    times = "once" if len(crashes) == 1 else f"{len(crashes)} times"
    return f"; the server crashed {times} and was restarted: {crashes[0]['words']}"


def _first_message(run: Run, event: dict[str, Any]) -> str:
    operations = run.facts["plan"]["operations"]
    for error in (run.driver_report or {}).get("errors", []):
        same = error["class"] == event["error"]
        if same and operations[error["operation"]] == event["operation"]:
            first_line = error["message"].partition("\n")[0]
            return f"{error['class']}: {first_line}" if first_line else str(error["class"])
    return str(event["error"])
