"""Trees of wall time in the document of a run."""

from __future__ import annotations

from typing_extensions import TypedDict

from assay.report.documents.figures import MeasuredValue


class TimeSection(TypedDict):
    """The wall time as trees whose nodes are the sums of their children."""

    run: TimeTreeNode | None
    """Tree of all operations together; null if the time was not split."""
    operations: dict[str, TimeTreeNode]
    """Trees of operations by name, without operations that were not split."""
    no_gain: list[str]
    """Parts below 1 % of the time, where improvements have no effect."""
    closure_error: MeasuredValue
    """Largest difference between a node and the sum of its parts, as a share of the whole."""
    reason: str | None
    """Reason why there is no tree."""


class TimeTreeNode(TypedDict):
    """A part of wall time."""

    name: str
    """Name of the node in the paths of findings."""
    title: str
    """Name of the node for readers."""
    share: float
    """Share of the wall time of the whole tree."""
    source: str | None
    """The measurement that split this part; null if it is the parent's."""
    children: list[TimeTreeNode]
    """Parts of this node, the largest first, without negligible ones."""
