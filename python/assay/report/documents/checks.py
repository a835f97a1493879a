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
    """One sentence: the observation, its meaning and what to do."""
    measured: bool
    """False if the check had nothing to measure; `reason` says why."""
    value: MeasuredValue
    """The number that was compared."""
    threshold: MeasuredValue
    """Limit that the value was compared with."""
