"""Reasons to doubt a run: its failure first, then the checks that it failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.record.layout import STATUS_COMPLETE, STATUS_FAILED
from assay.report.words.wrapping import one_line

if TYPE_CHECKING:
    from assay.report.documents.checks import CheckRow
    from assay.report.documents.run import RunDocument

COMPLETENESS, OUTCOMES = "completeness", "outcomes"


def doubts(document: RunDocument) -> list[dict[str, str]]:
    """Return verdict and reason of each failed check, a run's failure first.

    Checks with the same reason share a line. So do checks without data because the run ended early.
    """
    failed = [check for check in document["checks"] if check["verdict"] != "valid"]
    failure = _failure(document, failed)
    if failure is not None:
        failed.remove(failure)
    early = [check for check in failed if _ended_before(document, check)]
    grouped: dict[tuple[str, str], list[str]] = {}
    for check in failed:
        if check not in early:
            key = (check["verdict"], one_line(check["reason"]))
            grouped.setdefault(key, []).append(_name(check))
    return [
        *_first_line(document, failure),
        *(
            {"verdict": verdict, "reason": _named_reason(", ".join(names), reason)}
            for (verdict, reason), names in grouped.items()
        ),
        *_not_reached(early),
    ]


def _failure(document: RunDocument, failed: list[CheckRow]) -> CheckRow | None:
    """Return the check that reports the run's failure; None if the run did not fail."""
    if document["status_reason"] is None:
        return None
    name = {STATUS_FAILED: COMPLETENESS, STATUS_COMPLETE: OUTCOMES}.get(document["status"])
    return next((check for check in failed if check["check"] == name), None)


def _first_line(document: RunDocument, failure: CheckRow | None) -> list[dict[str, str]]:
    if failure is None:
        return []
    reason = document["status_reason"]
    text = failure["reason"] if reason is None or failure["check"] == COMPLETENESS else reason
    return [{"verdict": failure["verdict"], "reason": one_line(text)}]


def _ended_before(document: RunDocument, check: CheckRow) -> bool:
    """Return True if a check had no data because the run ended early."""
    return document["status"] == STATUS_FAILED and not check["measured"]


def _not_reached(checks: list[CheckRow]) -> list[dict[str, str]]:
    if not checks:
        return []
    names = ", ".join(_name(check) for check in checks)
    return [{"verdict": "unknown", "reason": f"not checked, because the run ended early: {names}"}]


def _name(check: CheckRow) -> str:
    return check["check"].replace("_", " ")


def _named_reason(checks: str, reason: str) -> str:
    """Return a reason after the checks' names, unless it begins with them."""
    return reason if reason.startswith(checks) else f"{checks}: {reason}"
