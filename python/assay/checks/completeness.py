"""Checks that the run reached its end and that its seal is intact."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.verdict import CheckResult, Verdict
from assay.record.layout import STATUS_FAILED

if TYPE_CHECKING:
    from assay.record.reader import Run

NAME = "completeness"


def check(run: Run) -> CheckResult:
    """Return unknown for a run that ended early, invalid for a record that was changed."""
    broken = run.broken_seals()
    if broken:
        more = f" and {len(broken) - 1} more" if len(broken) > 1 else ""
        reason = f"the record is not as it was sealed: {broken[0]}{more}; restore it from a copy"
        return CheckResult(NAME, Verdict.INVALID, reason)
    if not run.complete:
        why = run.facts.get("reason") or "it was killed or is still running"
        extent = "its figures are complete: the whole load was played"
        if not run.driven:
            extent = "its figures cover only a part of it"
        if run.facts["status"] == STATUS_FAILED:
            return CheckResult(NAME, Verdict.UNKNOWN, f"the run failed: {why}; {extent}")
        reason = f"the run is {run.facts['status']} ({why}): {extent}"
        return CheckResult(NAME, Verdict.UNKNOWN, reason)
    ended = (run.driver_report or {}).get("ended", "done")
    if ended != "done" and run.facts.get("fault") is None:
        reason = f"the driver ended early ({ended}): the figures cover only a part of the run"
        return CheckResult(NAME, Verdict.UNKNOWN, reason)
    if not run.sealed:
        reason = "the run has no seal, so it is unknown whether its record is complete"
        return CheckResult(NAME, Verdict.UNKNOWN, reason)
    return CheckResult(NAME, Verdict.VALID, "the run came to its end and its seal holds")
