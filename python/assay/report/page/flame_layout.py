"""Places the nodes of a call tree in a flame graph or icicle, in shares of its width."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class Rectangle(NamedTuple):
    """A node in the picture.

    Attributes:
        node: Index of the node in the call tree.
        depth: Number of callers above it.
        left, width: Shares of all samples, from 0 to 1. A caller is as wide as its callees and what
            it did itself, which is at its right end.
    """

    node: int
    depth: int
    left: float
    width: float


def layout(tree: Mapping[str, Any], share_min: float = 0.0) -> list[Rectangle]:
    """The rectangles of a call tree, callers before their callees, siblings by label.

    Args:
        tree: Call tree of `assay.analysis.profile.call_tree`.
        share_min: Narrower ones are left out, with all that they call.
    """
    samples, totals = tree["samples"], tree["total"]
    if not samples:
        return []
    placed: list[Rectangle] = []
    # Sums are kept in samples: shares that are added up would drift.
    begins = {-1: 0}
    for node, depth in walk(tree, share_min * samples):
        caller = tree["parent"][node]
        left = begins[caller]
        begins[caller] = left + totals[node]
        begins[node] = left
        placed.append(Rectangle(node, depth, left / samples, totals[node] / samples))
    return placed


def walk(tree: Mapping[str, Any], samples_min: float = 0.0) -> Iterator[tuple[int, int]]:
    """Each node and its depth: a caller, then all that it called, siblings by label.

    A node with fewer than `samples_min` samples is passed over, with all that it called.
    """
    callees = _callees(tree)
    pending = [(node, 0) for node in reversed(callees[-1])]
    while pending:
        node, depth = pending.pop()
        if tree["total"][node] >= samples_min:
            yield node, depth
            pending += [(callee, depth + 1) for callee in reversed(callees.get(node, ()))]


def _callees(tree: Mapping[str, Any]) -> dict[int, list[int]]:
    """The nodes below each caller by their label and module; below -1 the outermost ones."""
    labels, modules = tree["labels"], tree["modules"]
    label, module = tree["label"], tree["module"]
    callees: dict[int, list[int]] = {-1: []}
    for node, caller in enumerate(tree["parent"]):
        callees.setdefault(caller, []).append(node)
    for nodes in callees.values():
        nodes.sort(key=lambda node: (labels[label[node]], modules[module[node]] or "", node))
    return callees
