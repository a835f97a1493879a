"""Merges sampled call stacks into a call tree, as the data of a flame graph."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from assay.analysis.profile.tables import operation_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.analysis.profile.profile import Profile

ARTEFACT = "artefact"
NO_FILE = "no file"
# Label of the node for callees that are too small to be drawn.
REST = "…"


def call_tree(
    profile: Profile, operation: str | None = None, share_min: float = 0.0
) -> dict[str, Any]:
    """Return the call tree of the samples within operations as JSON values.

    Keys:
        operations: Names, in the order of their first pass.
        samples: Number of samples in the tree, including artefacts.
        seconds_each: CPU seconds that one sample represents.
        labels, modules, works: Texts to which nodes refer by index. `works` contains `artefact`
            for samples that are artefacts.
        parent: For each node, the index of its caller's node, which comes first; -1 for an
            outermost node.
        label, module, work: For each node, indexes of its texts. The work of a node is the most
            frequent one among samples at and below the node, and `work_samples` is their number.
        own, total: For each node, the number of samples at it, and the number at and below it.
        counts: For each operation, a list of nodes and a list of the operation's samples at
            these nodes, so that `zip(*counts[name])` returns pairs.

    Args:
        profile: The profile.
        operation: The only operation to include; None for all operations.
        share_min: Nodes with less than this share of `samples` are merged into one node `…`
            below their caller.
    """
    names = operation_names(profile) if operation is None else [operation]
    samples = profile.samples.filter(pl.col("operation").is_in(names)).select(
        "stack", "operation", pl.col("work").fill_null(ARTEFACT)
    )
    counts = samples.group_by("stack", "operation", "work", maintain_order=True).agg(
        pl.len().alias("samples")
    )
    counts = counts.sort("stack", "operation", "work")
    tree = _merged(profile, counts["stack"].unique().to_list())
    if share_min > 0:
        totals = tree.totals(counts)
        tree = tree.without_small(totals, share_min * samples.height)
    return {
        "operations": names,
        "samples": samples.height,
        "seconds_each": profile.seconds_each,
    } | tree.document(counts, names)


@dataclass
class _Tree:
    """A call tree: for each node its caller, label and file; and the node of each stack."""

    parents: list[int] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    modules: list[str] = field(default_factory=list)
    of_stack: dict[int, int] = field(default_factory=dict)
    nodes: dict[tuple[int, str, str], int] = field(default_factory=dict)

    def node(self, parent: int, label: str, module: str) -> int:
        """Return the call tree node for a label below another node; create it if missing."""
        key = (parent, label, module)
        node = self.nodes.get(key)
        if node is None:
            node = self.nodes[key] = len(self.parents)
            self.parents.append(parent)
            self.labels.append(label)
            self.modules.append(module)
        return node

    def totals(self, counts: pl.DataFrame) -> list[int]:
        """Return the number of samples at and below each call tree node."""
        own = [0] * len(self.parents)
        for stack, samples in counts.select("stack", "samples").iter_rows():
            own[self.of_stack[stack]] += samples
        return _summed(own, self.parents)

    def without_small(self, totals: Sequence[int], least: float) -> _Tree:
        """Return a call tree with nodes below `least` samples merged into one per caller."""
        smaller = _Tree()
        moved: list[int] = []
        for at, parent in enumerate(self.parents):
            above = moved[parent] if parent >= 0 else -1
            if above >= 0 and smaller.labels[above] == REST:
                moved.append(above)
            elif totals[at] < least:
                moved.append(smaller.node(above, REST, ""))
            else:
                moved.append(smaller.node(above, self.labels[at], self.modules[at]))
        smaller.of_stack = {stack: moved[node] for stack, node in self.of_stack.items()}
        return smaller

    def document(self, counts: pl.DataFrame, names: Sequence[str]) -> dict[str, Any]:
        """Return the call tree as a document of nodes and sample counts."""
        size = len(self.parents)
        own = [0] * size
        works = counts["work"].unique().sort().to_list()
        by_work = {work: [0] * size for work in works}
        by_operation: dict[str, dict[int, int]] = {name: {} for name in names}
        for stack, operation, work, samples in counts.iter_rows():
            node = self.of_stack[stack]
            own[node] += samples
            by_work[work][node] += samples
            here = by_operation[operation]
            here[node] = here.get(node, 0) + samples
        sums = [_summed(by_work[work], self.parents) for work in works]
        places = range(len(works))
        work = [max(places, key=lambda place: sums[place][node]) for node in range(size)]
        labels, label = _indexed(self.labels)
        modules, module = _indexed(self.modules)
        return {
            "labels": labels,
            "modules": modules,
            "works": works,
            "parent": self.parents,
            "label": label,
            "module": module,
            "work": work,
            "work_samples": [sums[place][node] for node, place in enumerate(work)],
            "own": own,
            "total": _summed(own, self.parents),
            "counts": {name: [list(at), list(at.values())] for name, at in by_operation.items()},
        }


def _merged(profile: Profile, stacks: Sequence[int]) -> _Tree:
    """Return the call tree merged from the given stacks and their callers."""
    framed = profile.stacks.join(profile.frames, on="frame", how="left", maintain_order="left")
    rows = framed.select(
        "stack", "parent", "label", pl.col("module").fill_null(NO_FILE)
    ).iter_rows()
    about = {stack: (parent, label, module) for stack, parent, label, module in rows}
    tree = _Tree()
    for stack in stacks:
        path = []
        node: int | None = stack
        # A caller has a lower index in the record than its callees, so the loop ends.
        while node is not None and node in about and node not in tree.of_stack:
            path.append(node)
            node = about[node][0]
        above = tree.of_stack.get(node, -1) if node is not None else -1
        for called in reversed(path):
            _, label, module = about[called]
            above = tree.of_stack[called] = tree.node(above, label, module)
    return tree


def _summed(own: Sequence[int], parents: Sequence[int]) -> list[int]:
    """Return each call tree node's value plus those of all nodes below it."""
    totals = list(own)
    for node in range(len(parents) - 1, -1, -1):
        if parents[node] >= 0:
            totals[parents[node]] += totals[node]
    return totals


def _indexed(values: Sequence[str]) -> tuple[list[str], list[int]]:
    """Return the distinct texts of a list, and the index of each text among them."""
    places: dict[str, int] = {}
    indices = [places.setdefault(value, len(places)) for value in values]
    return list(places), indices
