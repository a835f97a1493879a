"""Makes the document section `time`: wall time by cause, of a run and its operations."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.analysis.summary import Summary
    from assay.analysis.time.tree import TimeNode
    from assay.report.documents.time import TimeSection, TimeTreeNode

# Parts below this share of the time are listed as parts without potential.
NO_GAIN_SHARE_MAX = 0.01
NOT_SPLIT = "the time of no operation could be split by cause"


def time_section(summary: Summary) -> TimeSection:
    """Return the time trees, the causes too small to matter, and why a tree is missing.

    Keys: run (the run's time tree or null), operations (time trees by name), no_gain (titles of
        parts below one per cent), closure_error (largest difference between a node and the sum of
        its parts, as a share of the whole; null without a tree), reason (why there is no tree, or
        null).
    """
    tree = summary.time
    trees = [*summary.trees.values(), *([tree] if tree else [])]
    return {
        "run": None if tree is None else _node(tree),
        "operations": {name: _node(own) for name, own in summary.trees.items()},
        "no_gain": [] if tree is None else sorted(_without_gain(tree)),
        "closure_error": max((own.closure_error for own in trees), default=None),
        "reason": None if tree is not None else summary.unsplit or NOT_SPLIT,
    }


def _node(tree: TimeNode) -> TimeTreeNode:
    return cast("TimeTreeNode", tree.facts())


def _without_gain(tree: TimeNode) -> Iterator[str]:
    """Yield the titles of causes with a negligible share of the time."""
    for path, node in tree.walk():
        if not node.children and "executing/" not in path and node.share < NO_GAIN_SHARE_MAX:
            yield node.title
