"""Checks that all trials of a ceiling were made and that its seal is intact."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.checks.completeness import NAME
from assay.checks.completeness import check as whole
from assay.model.verdict import CheckResult, Verdict

if TYPE_CHECKING:
    from assay.record.reader import Run


def check(run: Run) -> CheckResult:
    """Return unknown for a sweep that ended early, invalid for a record that was changed."""
    completeness = whole(run)
    if completeness.verdict is Verdict.VALID:
        return CheckResult(NAME, Verdict.VALID, "all trials were made, and no file changed since")
    return completeness
