"""Types of a run's document on time trees: wall time split by cause."""

from __future__ import annotations

from typing_extensions import TypedDict

from assay.report.documents.figures import MeasuredValue


class TimeSection(TypedDict):
    """Trees of wall time by cause, in which each node is the sum of its children."""

    run: TimeTreeNode | None
    """Time tree of all operations together; null if the time was not split."""
    operations: dict[str, TimeTreeNode]
    """Time trees of operations by name, without operations whose time was not split."""
    no_gain: list[str]
    """Parts below 1 % of the time, whose improvement has no effect."""
    closure_error: MeasuredValue
    """Largest difference between a node and the sum of its parts, as a share of the whole time."""
    reason: str | None
    """Reason why there is no time tree; null if there is one."""


class TimeTreeNode(TypedDict):
    """A node of a time tree: a cause and its share of the wall time."""

    name: str
    """Name of the node in the paths of findings."""
    title: str
    """Name of the node for readers."""
    share: float
    """The node's share of the wall time of the whole tree."""
    source: str | None
    """The measurement that split this part; null if it is the same as the parent's."""
    children: list[TimeTreeNode]
    """Children of this node, largest first, without negligible ones."""
