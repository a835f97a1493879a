"""Builds the time tree of a run: the trees of its operations, each with its share of the time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from assay.analysis.time.operation_tree import UNEXPLAINED, WALL, operation_tree
from assay.analysis.time.tree import TimeNode, merged, scaled

if TYPE_CHECKING:
    from collections.abc import Mapping

# Operations with a smaller total share do not determine the run.
TOTAL_SHARE_MIN = 1e-9
NOT_SPLIT = TimeNode("not-split", "of operations whose time was not split", 0.0)


def run_tree(
    shares: Mapping[str, float],
    trees: Mapping[str, TimeNode],
    together: Mapping[str, float | None],
) -> TimeNode | None:
    """Return the tree of the run's wall time, whose root has the share 1.

    Operations whose time was not split are part of the unexplained time. If sessions share
    threads, so that no operation is split, the tree is that of all operations together.

    Args:
        shares: Shares of the run's time, by operation.
        trees: Time trees of operations, without operations that were not split.
        together: Shares by cause of all operations together; empty if not known.

    Returns:
        The root of the tree; None if nothing was split.
    """
    split = [scaled(tree, shares[name]) for name, tree in trees.items() if shares.get(name)]
    if not split:
        return operation_tree(together, None)
    missing = max(0.0, math.fsum(shares.values()) - math.fsum(tree.share for tree in split))
    unsplit = TimeNode(NOT_SPLIT.name, NOT_SPLIT.title, missing)
    rest = TimeNode(UNEXPLAINED, "Not explained", missing, (unsplit,) if missing else ())
    whole = merged([*split, TimeNode(WALL, "Wall time", missing, (rest,))])
    if whole is None or whole.share < TOTAL_SHARE_MIN:
        return None
    return scaled(whole, 1.0 / whole.share)
