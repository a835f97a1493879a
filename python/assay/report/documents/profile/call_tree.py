"""Call trees of CPU samples, as `analysis.profile.call_tree` makes them, for flame graphs."""

from __future__ import annotations

from typing_extensions import TypedDict


class CallTree(TypedDict):
    """The stacks of samples, merged by label."""

    operations: list[str]
    samples: int
    seconds_each: float
    """CPU seconds of a sample."""
    labels: list[str]
    """Texts that nodes name by index; so are modules and works."""
    modules: list[str | None]
    works: list[str]
    parent: list[int]
    """Of each node, the node of its caller; -1: an outermost one."""
    label: list[int]
    module: list[int]
    work: list[int]
    """What most samples at it and below it did, and `work_samples` is how many."""
    work_samples: list[int]
    own: list[int]
    total: list[int]
    counts: dict[str, list[list[int]]]
    """Of each operation, a list of nodes and the list of its own samples there."""


class DifferenceTree(CallTree):
    """A call tree with the difference of each node to another run, a value a node."""

    theirs_s: list[float | None]
    difference_s: list[float | None]
    low_s: list[float | None]
    high_s: list[float | None]
    is_noise: list[bool | None]
