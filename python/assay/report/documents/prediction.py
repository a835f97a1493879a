"""Types of `assay whatif --json`: predicted effects of supposed changes."""

from __future__ import annotations

from typing_extensions import TypedDict

from assay.report.documents.what_if import MetricPrediction


class OperationPrediction(TypedDict):
    """The time of one operation before and after a supposed change, in seconds."""

    operation: str
    before: float
    after: float
    least: float
    """Lower bound of the operation's time by the model, in seconds."""
    most: float
    is_asked: bool
    """Whether a requested change names the operation."""


class PredictionDocument(TypedDict):
    """Metrics and operation times before and after supposed changes, as predicted."""

    changes: list[str]
    """Descriptions of the requested changes."""
    assumptions: list[str]
    notes: list[str]
    """Sentences on facts that the run did not record."""
    metrics: list[MetricPrediction]
    operations: list[OperationPrediction]
    """Operations whose time changes, the largest change first."""
    passes: int
    """Number of passes on which the intervals are based; 0 means no intervals."""
    known_operations: int
    """Number of operations for which the run recorded all data that the changes' predictions need.
    """
    measured_operations: int
