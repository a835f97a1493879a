"""Places the nodes of a call tree in a flame graph or icicle, as shares of its width."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class Rectangle(NamedTuple):
    """The rectangle of a call tree's node in the graph.

    Attributes:
        node: Index of the node in the call tree.
        depth: Number of callers above it.
        left, width: Shares of all samples, from 0 to 1. A caller's width is the sum of its callees'
            widths and its own samples, which are at its right end.
    """

    node: int
    depth: int
    left: float
    width: float


def layout(tree: Mapping[str, Any], share_min: float = 0.0) -> list[Rectangle]:
    """Return the rectangles of a call tree: callers before callees, siblings sorted by label.

    Args:
        tree: Call tree of `assay.analysis.profile.call_tree`.
        share_min: Minimum width. Narrower nodes are left out, together with their callees.
    """
    samples, totals = tree["samples"], tree["total"]
    if not samples:
        return []
    placed: list[Rectangle] = []
    # Sums are kept in samples, because adding shares accumulates rounding errors.
    begins = {-1: 0}
    for node, depth in walk(tree, share_min * samples):
        caller = tree["parent"][node]
        left = begins[caller]
        begins[caller] = left + totals[node]
        begins[node] = left
        placed.append(Rectangle(node, depth, left / samples, totals[node] / samples))
    return placed


def walk(tree: Mapping[str, Any], samples_min: float = 0.0) -> Iterator[tuple[int, int]]:
    """Yield each call tree node and its depth, callers first.

    Nodes with fewer than `samples_min` samples are left out, together with their callees.
    """
    callees = _callees(tree)
    pending = [(node, 0) for node in reversed(callees[-1])]
    while pending:
        node, depth = pending.pop()
        if tree["total"][node] >= samples_min:
            yield node, depth
            pending += [(callee, depth + 1) for callee in reversed(callees.get(node, ()))]


def _callees(tree: Mapping[str, Any]) -> dict[int, list[int]]:
    """Return the callees of each call tree node, sorted by label and module."""
    labels, modules = tree["labels"], tree["modules"]
    label, module = tree["label"], tree["module"]
    callees: dict[int, list[int]] = {-1: []}
    for node, caller in enumerate(tree["parent"]):
        callees.setdefault(caller, []).append(node)
    for nodes in callees.values():
        nodes.sort(key=lambda node: (labels[label[node]], modules[module[node]] or "", node))
    return callees
