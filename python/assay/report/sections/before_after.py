"""Compares each operation's time before and after a change, with an interval."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from assay.analysis.compare.operations import operation_times
from assay.report.sections.plan_difference import plan_differences

if TYPE_CHECKING:
    from assay.analysis.compare.operations import OperationTimes
    from assay.record.reader import Run
    from assay.report.documents.before_after import BeforeAfter, BeforeAfterRow, ChangeVerdict

CHANGES_NAMED = 2


def before_after(before: Run, after: Run) -> BeforeAfter:
    """Return each operation's time in two runs, and the changes of its plans."""
    texts = _texts(before), _texts(after)
    plans = _plan_changes(before, after)
    rows = [
        _row(times, texts, plans.get(times.operation)) for times in operation_times(before, after)
    ]
    return {
        "before": before.id,
        "after": after.id,
        "earlier_s": _seconds_between(before, after),
        "operations": rows,
    }


def _row(
    times: OperationTimes, texts: tuple[dict[str, str], dict[str, str]], plan: str | None
) -> BeforeAfterRow:
    before, after = (by_name.get(times.operation) for by_name in texts)
    is_same = before is None or after is None or before == after
    return {
        "operation": times.operation,
        "before_s": times.before_s,
        "after_s": times.after_s,
        "factor": times.factor,
        "interval": None if times.interval is None else list(times.interval),
        "verdict": _verdict(times) if is_same else "other text",
        "plan": plan,
    }


def _verdict(times: OperationTimes) -> ChangeVerdict:
    if times.differs is None or times.factor is None:
        return "not known"
    if not times.differs:
        return "within noise"
    return "faster" if times.factor < 1 else "slower"


def _plan_changes(before: Run, after: Run) -> dict[str, str]:
    """Return the first plan changes of each operation whose plan differs between two runs."""
    changes: dict[str, list[str]] = {}
    for difference in plan_differences(after, before, ({}, {})):
        if difference["changed"]:
            first, *others = difference["changes"]
            # The number of workers follows the amount of data read, which another change states
            # already.
            others = [change for change in others if change["kind"] != "parallelism"]
            sentences = [change["says"] for change in (first, *others)]
            changes.setdefault(difference["operation"], []).extend(sentences)
    return {name: "; ".join(sentences[:CHANGES_NAMED]) for name, sentences in changes.items()}


def _texts(run: Run) -> dict[str, str]:
    statements = run.facts.get("statements") or {}
    return {name: statement.get("text") or "" for name, statement in statements.items()}


def _seconds_between(before: Run, after: Run) -> float | None:
    try:
        first, second = (
            datetime.fromisoformat(str(run.facts.get("started_utc"))) for run in (before, after)
        )
    except ValueError:
        return None
    return (second - first).total_seconds()
