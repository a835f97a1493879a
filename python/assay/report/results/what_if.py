"""Result of `assay whatif`: predicted metrics, or the weights of operations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.report.documents.prediction import PredictionDocument
    from assay.report.documents.run import RunDocument
    from assay.report.documents.what_if import WhatIfSection


@dataclass(frozen=True)
class WhatIf:
    """Predicted metrics of a run after supposed changes; without changes the weights.

    Attributes:
        report: The document of the run.
        prediction: Metrics after the changes; None if no change was named.
        weights: Sensitivity of the run's metrics; None if changes were named, or nothing was
            measured.
    """

    report: RunDocument
    prediction: PredictionDocument | None
    weights: WhatIfSection | None

    @property
    def document(self) -> dict[str, Any]:
        """Return the prediction or the weights as `assay whatif --json` prints them."""
        if self.prediction is not None:
            return {"run": self.report["run"], "prediction": self.prediction}
        return {"run": self.report["run"], "what_if": self.weights}
