"""Trees of wall time in the document of a run."""

from __future__ import annotations

from typing_extensions import TypedDict

from assay.report.documents.figures import MeasuredValue


class TimeSection(TypedDict):
    """The wall time as trees whose nodes are the sums of their children."""

    run: TimeTreeNode | None
    """Of all operations together; null: not split."""
    operations: dict[str, TimeTreeNode]
    """Of operations, by name; those that were not split are left out."""
    no_gain: list[str]
    """Parts below one per cent of the time: nothing is to be gained there."""
    closure_error: MeasuredValue
    """Largest difference between a node and the sum of its parts, as a share of the whole."""
    reason: str | None
    """Why there is no tree."""


class TimeTreeNode(TypedDict):
    """A part of wall time."""

    name: str
    """Its word in the paths that findings name."""
    title: str
    """For people."""
    share: float
    """Of the wall time of the whole tree."""
    source: str | None
    """The measurement that split it; null: that of its parent."""
    children: list[TimeTreeNode]
    """Its parts, the largest first; those that are next to nothing are left out."""
