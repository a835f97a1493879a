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
    """The least that the model leaves open."""
    most: float
    is_asked: bool
    """Whether a change names it."""


class PredictionDocument(TypedDict):
    """Metrics and operations before and after some changes, by a model."""

    changes: list[str]
    """Each in words."""
    assumptions: list[str]
    notes: list[str]
    """What the run does not tell."""
    metrics: list[MetricPrediction]
    operations: list[OperationPrediction]
    """Those whose time changes, the largest change first."""
    passes: int
    """That intervals are over; 0: there are none."""
    known_operations: int
    """Of so many the run tells what all changes need."""
    measured_operations: int
