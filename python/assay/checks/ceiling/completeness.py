"""Checks that a hardware measurement is complete and unchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.checks.completeness import NAME
from assay.checks.completeness import check as whole
from assay.model.verdict import CheckResult, Verdict

if TYPE_CHECKING:
    from assay.record.reader import Run


def check(run: Run) -> CheckResult:
    """Return unknown if the hardware trials ended early, invalid for a changed record."""
    completeness = whole(run)
    if completeness.verdict is Verdict.VALID:
        return CheckResult(
            NAME, Verdict.VALID, ("all trials ended, and no file of the record changed since")
        )
    return completeness
