"""Results of checks in the document of a run."""

from __future__ import annotations

from typing_extensions import TypedDict

from assay.model.verdict import VerdictWord
from assay.report.documents.figures import MeasuredValue


class CheckRow(TypedDict):
    """The result of one check."""

    check: str
    verdict: VerdictWord
    reason: str
    """What was seen, what it means, what to do."""
    measured: bool
    """False where there was nothing to measure; the reason says why."""
    value: MeasuredValue
    """The number that was compared."""
    threshold: MeasuredValue
    """What it was compared with."""
