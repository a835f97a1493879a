"""The part of the tree of stacks that some samples need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl

OUTERMOST = -1


@dataclass(frozen=True)
class StackTree:
    """Nodes of stacks with all their callers, each after its caller.

    Attributes:
        caller: Of each node its caller's index; -1: it is an outermost one.
        frame: Of each node, the frame.
        index: Of each stack by its number in the record, its node.
    """

    caller: list[int]
    frame: list[int]
    index: dict[int, int]


def stack_tree(stacks: pl.DataFrame, needed: Iterable[int]) -> StackTree:
    """The nodes `needed` (by their numbers) and all callers of them.

    Args:
        stacks: stack, parent, frame; callers may stand anywhere.
        needed: Numbers of stacks.
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
