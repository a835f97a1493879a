"""Results of checks in the document of a run."""

from __future__ import annotations

from typing_extensions import TypedDict

from assay.model.verdict import VerdictWord
from assay.report.documents.figures import MeasuredValue


class CheckRow(TypedDict):
    """The result of one check of a run."""

    check: str
    verdict: VerdictWord
    reason: str
    """One sentence on the check's observation, its meaning and the remedy."""
    measured: bool
    """Whether the check had data. If false, `reason` explains why."""
    value: MeasuredValue
    """The value that the check compared with its threshold."""
    threshold: MeasuredValue
    """The limit that the check's value was compared with."""
