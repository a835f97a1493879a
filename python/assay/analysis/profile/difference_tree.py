"""Builds a call tree with the difference of each node's CPU time per pass to another run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from assay.analysis.profile.call_tree import NO_FILE, REST, call_tree
from assay.analysis.profile.difference import OURS, SAMPLES_MIN, THEIRS, differences
from assay.analysis.profile.tables import operation_names, within_operations

if TYPE_CHECKING:
    from assay.analysis.profile.profile import Profile

OUTSIDE = -1
COLUMNS = ("theirs_s", "difference_s", "low_s", "high_s", "is_noise")


def difference_tree(
    ours: Profile, theirs: Profile, operation: str | None = None, share_min: float = 0.0
) -> dict[str, Any]:
    """Return the call tree of one CPU profile, with each node's difference to another profile.

    Further keys, each with one value per node: theirs_s (CPU seconds of a pass), difference_s
    (ours minus theirs), low_s and high_s (95 % interval), is_noise (as in `compare`). low_s,
    high_s and is_noise are null if no operation has two passes. All are null for a node that
    merges small ones. A function that only the other run called has no node; its samples count
    for its caller.

    Only operations of both profiles are compared, without artefacts.
    """
    tree = call_tree(ours, operation, share_min)
    others = set(operation_names(theirs))
    names = [name for name in tree["operations"] if name in others]
    sides = {OURS: ours, THEIRS: theirs}
    rows = pl.concat(
        _rows(profile, tree, names).with_columns(pl.lit(side).alias("side"))
        for side, profile in sides.items()
    )
    table = differences(rows, sides, names, ["node"])
    low, high = (pl.col("difference_s") + sign * pl.col("half_s") for sign in (-1, 1))
    few = pl.col("ours_samples") + pl.col("theirs_samples") < SAMPLES_MIN
    node_differences = table.select(
        "node",
        "theirs_s",
        "difference_s",
        low.alias("low_s"),
        high.alias("high_s"),
        pl.when(low.is_not_null()).then((low <= 0) & (high >= 0) | few).alias("is_noise"),
    )
    nodes = pl.DataFrame({"node": range(len(tree["parent"]))}, schema={"node": pl.Int64})
    whole = nodes.join(node_differences, on="node", how="left", maintain_order="left")
    rest = [tree["labels"][label] == REST for label in tree["label"]]
    return tree | {
        name: [None if small else value for small, value in zip(rest, whole[name], strict=True)]
        for name in COLUMNS
    }


def _rows(profile: Profile, tree: dict[str, Any], names: list[str]) -> pl.DataFrame:
    """Return samples at and below each call tree node by operation, and their squares."""
    samples = within_operations(profile).filter(pl.col("operation").is_in(names))
    counts = samples.group_by("stack", "operation", "sequence", maintain_order=True).agg(
        pl.len().alias("samples")
    )
    nodes = _nodes(profile, tree, counts["stack"].unique().to_list())
    parents = tree["parent"]
    totals: dict[tuple[int, str, int], int] = {}
    for stack, name, sequence, count in counts.iter_rows():
        node = nodes.get(stack, OUTSIDE)
        while node != OUTSIDE:
            key = (node, name, sequence)
            totals[key] = totals.get(key, 0) + count
            node = parents[node]
    samples_by_node = pl.DataFrame(
        [(node, name, count) for (node, name, _), count in totals.items()],
        schema={"node": pl.Int64, "operation": pl.String, "samples": pl.Int64},
        orient="row",
    )
    squares = (pl.col("samples") ** 2).sum().alias("squares")
    return samples_by_node.group_by("node", "operation", maintain_order=True).agg(
        pl.col("samples").sum(), squares
    )


def _nodes(profile: Profile, tree: dict[str, Any], stacks: list[int]) -> dict[int, int]:
    """Return the innermost call tree node on the path of each stack and of its callers."""
    texts = zip(tree["parent"], tree["label"], tree["module"], strict=True)
    places = {
        (parent, tree["labels"][label], tree["modules"][module]): node
        for node, (parent, label, module) in enumerate(texts)
    }
    framed = profile.stacks.join(profile.frames, on="frame", how="left", maintain_order="left")
    rows = framed.select(
        "stack", "parent", "label", pl.col("module").fill_null(NO_FILE)
    ).iter_rows()
    about = {stack: (parent, label, module) for stack, parent, label, module in rows}
    innermost: dict[int, int] = {}
    # Whether the path is in the tree; all frames below a missing function are missing, too.
    inside: dict[int, bool] = {}
    for stack in stacks:
        path = []
        node: int | None = stack
        while node is not None and node in about and node not in innermost:
            path.append(node)
            node = about[node][0]
        above, is_inside = (innermost[node], inside[node]) if node in innermost else (OUTSIDE, True)
        for called in reversed(path):
            _, label, module = about[called]
            child = places.get((above, label, module)) if is_inside else None
            is_inside = child is not None
            above = above if child is None else child
            innermost[called], inside[called] = above, is_inside
    return innermost
