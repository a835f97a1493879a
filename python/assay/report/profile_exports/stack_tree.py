"""Builds the smallest tree of call stacks that contains some given samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl

OUTERMOST = -1


@dataclass(frozen=True)
class StackTree:
    """Call stack nodes and all their callers; each node comes after its caller.

    Attributes:
        caller: Index of each node's caller; -1 for an outermost node.
        frame: Frame of each node.
        index: Node of each stack, by the stack's number in the record.
    """

    caller: list[int]
    frame: list[int]
    index: dict[int, int]


def stack_tree(stacks: pl.DataFrame, needed: Iterable[int]) -> StackTree:
    """Return the tree of the given call stacks and all their callers.

    Args:
        stacks: Columns stack, parent, frame, in any order of rows.
        needed: Numbers of the needed stacks.
    """
    rows = dict(
        zip(stacks["stack"], zip(stacks["parent"], stacks["frame"], strict=True), strict=True)
    )
    caller: list[int] = []
    frame: list[int] = []
    index: dict[int | None, int] = {None: OUTERMOST}
    for stack in needed:
        path = []
        above: int | None = stack
        while above not in index:
            path.append(above)
            above = rows[above][0]
        for node in reversed(path):
            parent, at = rows[node]
            index[node] = len(caller)
            caller.append(index[parent])
            frame.append(at)
    return StackTree(caller, frame, {k: v for k, v in index.items() if k is not None})
