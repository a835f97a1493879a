"""Rows of a document for the results of checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.model.verdict import CheckResult
    from assay.report.documents.checks import CheckRow


def check_row(result: CheckResult) -> CheckRow:
    """Return the row of a check's result."""
    return {
        "check": result.check,
        "verdict": result.verdict.word,
        "reason": result.reason,
        "measured": result.measured,
        "value": result.value,
        "threshold": result.threshold,
    }
