"""A tree of wall time whose nodes are the sums of their children."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

# Rounding errors of sums of floating-point numbers are smaller.
ROUNDING = 1e-9
# A node with a smaller share of the time is left out: its line would show zeros.
NODE_SHARE_MIN = 0.0005


@dataclass(frozen=True)
class TimeNode:
    """A node of the time tree: a named portion of the wall time of an operation or a run.

    Invariant: the share of a node with children is the sum of their shares.

    Attributes:
        name: Name in paths, such as `lock`.
        title: Title for readers.
        share: Share of the wall time of the whole tree, 0 to 1.
        children: Parts of this node; empty if not split further.
        source: The measurement that split the node; None means the same as its parent's.
    """

    name: str
    title: str
    share: float
    children: tuple[TimeNode, ...] = ()
    source: str | None = None

    def at(self, path: str) -> TimeNode | None:
        """Return the time tree node at a path such as `waiting/lock`; None without one."""
        name, _, rest = path.partition("/")
        child = next((child for child in self.children if child.name == name), None)
        return child.at(rest) if child is not None and rest else child

    def share_of(self, path: str) -> float:
        """Return the time share of the node at a path; 0 without such a node."""
        node = self.at(path)
        return 0.0 if node is None else node.share

    def walk(self, above: str = "") -> Iterator[tuple[str, TimeNode]]:
        """Yield every node below this one with its path, parents first, then by size."""
        for child in sorted(self.children, key=lambda child: -child.share):
            path = f"{above}{child.name}"
            yield path, child
            yield from child.walk(f"{path}/")

    @property
    def closure_error(self) -> float:
        """The largest difference between a node and the sum of its children, as a share."""
        own = abs(self.share - math.fsum(child.share for child in self.children))
        below = [child.closure_error for child in self.children]
        return max([own if self.children else 0.0, *below])

    def facts(self) -> dict[str, Any]:
        """Return the time tree node as JSON values, without negligible children."""
        kept = [child for child in self.children if child.share >= NODE_SHARE_MIN]
        return {
            "name": self.name,
            "title": self.title,
            "share": self.share,
            "source": self.source,
            "children": [child.facts() for child in sorted(kept, key=lambda node: -node.share)],
        }


def parent(
    name: str, title: str, children: Iterable[TimeNode], source: str | None = None
) -> TimeNode:
    """Return a time tree node whose share is the sum of its children's shares."""
    parts = tuple(children)
    return TimeNode(name, title, math.fsum(part.share for part in parts), parts, source)


def scaled(node: TimeNode, factor: float) -> TimeNode:
    """Return the time tree with every share multiplied by a factor."""
    children = tuple(scaled(child, factor) for child in node.children)
    return TimeNode(node.name, node.title, node.share * factor, children, node.source)


def merged(trees: Iterable[TimeNode]) -> TimeNode | None:
    """Return the sum of time trees with the same root, node by node; None without a tree."""
    given = list(trees)
    if not given:
        return None
    by_name: dict[str, list[TimeNode]] = {}
    for tree in given:
        for child in tree.children:
            by_name.setdefault(child.name, []).append(child)
    children = [whole for same in by_name.values() if (whole := merged(same)) is not None]
    # If one tree is split further than another, the other's unsplit time is a part, too.
    split = math.fsum(child.share for tree in given for child in tree.children)
    share = math.fsum(tree.share for tree in given)
    if children and share - split > ROUNDING * share:
        children.append(TimeNode("other", "not split further", share - split))
    first = given[0]
    sources = {tree.source for tree in given}
    source = first.source if len(sources) == 1 else None
    return TimeNode(first.name, first.title, share, tuple(children), source)
