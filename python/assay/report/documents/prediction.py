"""The document of `assay whatif --json` for some changes."""

from __future__ import annotations

from typing_extensions import TypedDict

from assay.report.documents.what_if import MetricPrediction


class OperationPrediction(TypedDict):
    """The time of one operation before and after, in seconds."""

    operation: str
    before: float
    after: float
    least: float
    """Lower bound by the model."""
    most: float
    is_asked: bool
    """Whether a change names the operation."""


class PredictionDocument(TypedDict):
    """Metrics and operations before and after some changes, by a model."""

    changes: list[str]
    """Description of each change."""
    assumptions: list[str]
    notes: list[str]
    """Facts that the run did not record."""
    metrics: list[MetricPrediction]
    operations: list[OperationPrediction]
    """Operations whose time changes, the largest change first."""
    passes: int
    """Number of passes for the intervals; 0 means no intervals."""
    known_operations: int
    """Number of operations for which the run recorded what all changes need."""
    measured_operations: int
