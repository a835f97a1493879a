"""Checks that the run reached its end and that its files are unchanged."""

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
        reason = (
            f"the record was changed after it was sealed: {broken[0]}{more}; restore it from a copy"
        )
        return CheckResult(NAME, Verdict.INVALID, reason)
    if not run.complete:
        why = run.facts.get("reason") or "its process was killed or has not ended"
        extent = "its measurements are complete, because the workload ran to its end"
        if not run.driven:
            extent = "its measurements cover only a part of the workload"
        if run.facts["status"] == STATUS_FAILED:
            return CheckResult(NAME, Verdict.UNKNOWN, f"the run failed: {why}; {extent}")
        reason = f"the run is {run.facts['status']} ({why}): {extent}"
        return CheckResult(NAME, Verdict.UNKNOWN, reason)
    ended = (run.driver_report or {}).get("ended", "done")
    if ended != "done" and run.facts.get("fault") is None:
        reason = f"the driver ended early ({ended}): the figures cover only a part of the run"
        return CheckResult(NAME, Verdict.UNKNOWN, reason)
    if not run.sealed:
        reason = (
            "the run has no seal (the checksums that end a record), so its record may be incomplete"
        )
        return CheckResult(NAME, Verdict.UNKNOWN, reason)
    return CheckResult(
        NAME, Verdict.VALID, ("the run ended normally and its record is unchanged since")
    )
