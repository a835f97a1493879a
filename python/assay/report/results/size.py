"""Result of `assay size`: a prediction for a cluster, and the runs behind it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from assay.report.study.figure_entries import figure_content

if TYPE_CHECKING:
    from assay.analysis.figures.contract import Figure
    from assay.report.documents.study import FigureContent


@dataclass(frozen=True)
class Size:
    """The predicted time of a workload on a hypothetical cluster.

    Attributes:
        figure: Prediction for the cluster, with its assumptions.
        runs: Ids of the runs that the prediction is based on.
    """

    figure: Figure
    runs: list[str]

    @property
    def document(self) -> dict[str, Any]:
        """Return the prediction for a cluster as `assay size --json` prints it."""
        return asdict(self.figure) | {"runs": self.runs}

    @property
    def content(self) -> FigureContent:
        """Return the prediction for a cluster in the form of a study's result."""
        return figure_content(self.figure)
