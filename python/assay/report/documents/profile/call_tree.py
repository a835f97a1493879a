"""Call trees of CPU samples, as `analysis.profile.call_tree` makes them, for flame graphs."""

from __future__ import annotations

from typing_extensions import TypedDict


class CallTree(TypedDict):
    """The stacks of samples, merged by label."""

    operations: list[str]
    samples: int
    seconds_each: float
    """CPU seconds that each sample represents."""
    labels: list[str]
    """Labels of nodes, which refer to them by index. The same holds for modules and works."""
    modules: list[str | None]
    works: list[str]
    parent: list[int]
    """Index of each node's caller; -1 for an outermost node."""
    label: list[int]
    module: list[int]
    work: list[int]
    """Most frequent kind of work at each node and below it; `work_samples` is its number of
    samples."""
    work_samples: list[int]
    own: list[int]
    total: list[int]
    counts: dict[str, list[list[int]]]
    """For each operation, a list of nodes and the list of its samples there."""


class DifferenceTree(CallTree):
    """A call tree with the difference from another run at each node."""

    theirs_s: list[float | None]
    difference_s: list[float | None]
    low_s: list[float | None]
    high_s: list[float | None]
    is_noise: list[bool | None]
