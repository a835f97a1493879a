"""Types of call trees for flame graphs, as `analysis.profile.call_tree` makes them."""

from __future__ import annotations

from typing_extensions import TypedDict


class CallTree(TypedDict):
    """The call stacks of CPU samples, merged into a tree by function label."""

    operations: list[str]
    samples: int
    seconds_each: float
    """CPU seconds that each sample represents."""
    labels: list[str]
    """Labels to which nodes refer by index. Nodes refer to modules and works in the same way."""
    modules: list[str | None]
    works: list[str]
    parent: list[int]
    """Index of each node's caller; -1 for an outermost node."""
    label: list[int]
    module: list[int]
    work: list[int]
    """Most frequent kind of work at each node and below it. `work_samples` has the number of its
    samples."""
    work_samples: list[int]
    own: list[int]
    total: list[int]
    counts: dict[str, list[list[int]]]
    """For each operation, a list of nodes and the list of the operation's samples at these
    nodes."""


class DifferenceTree(CallTree):
    """A call tree with each node's CPU time difference from another run."""

    theirs_s: list[float | None]
    difference_s: list[float | None]
    low_s: list[float | None]
    high_s: list[float | None]
    is_noise: list[bool | None]
