"""Data of a page's flame graph: compact JSON, colours of frames, and legend."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from assay.report.charts.palette import SEVERAL_KINDS, WORK_COLOURS, work_colour

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from assay.report.documents.profile.call_tree import CallTree

# A frame has the colour of a kind of work if this share of its samples has this kind.
ONE_KIND_SHARE = 0.75
# Candidates for the smallest share of a frame that is drawn by itself. The first one with at most
# `NODES_MAX` nodes is used, so that the page stays small.
SHARES_MIN = (0.0, 0.0001, 0.0002, 0.0005, 0.001, 0.002)
NODES_MAX = 8_000
LEFT_OUT = "…"
KERNEL = "[kernel]"
SEVERAL = -1


Tree = TypeVar("Tree", bound="CallTree")


class FlameView(NamedTuple):
    """Values that a page needs to draw a flame graph.

    Attributes:
        data: Data for the script `templates/flame.js`.
        legend: Colours of the tree with their labels.
        operations: Operations that can filter the tree.
        has_kernel: Whether frames of the kernel are in it.
        left_out: Share of the samples in frames that are too small to be drawn separately.
        share_min: Minimum share of a frame that is drawn separately.
    """

    data: dict[str, object]
    legend: list[tuple[str, str]]
    operations: list[str]
    has_kernel: bool
    left_out: float
    share_min: float


def small_enough(made: Callable[[float], Tree]) -> tuple[Tree, float]:
    """Return the most detailed call tree that fits into a page, and its minimum share.

    Args:
        made: Function that makes a tree, given the share below which frames are too small.
    """
    for share_min in SHARES_MIN:
        tree = made(share_min)
        if len(tree["parent"]) <= NODES_MAX:
            break
    return tree, share_min


def flame_view(tree: CallTree, share_min: float) -> FlameView:
    """Return the values to draw a call tree as a flame graph, coloured by kind of work."""
    work = one_kind(tree)
    data = drawn(tree) | {
        "work": work,
        "colours": [work_colour(work_name) for work_name in tree["works"]],
        "several": WORK_COLOURS[SEVERAL_KINDS],
    }
    return FlameView(
        data=data,
        legend=_legend(tree, work),
        operations=list(tree["operations"]),
        has_kernel=has_kernel(tree),
        left_out=left_out(tree),
        share_min=share_min,
    )


def has_kernel(tree: CallTree) -> bool:
    """Return whether a call tree has frames of the kernel."""
    return KERNEL in tree["modules"]


def left_out(tree: CallTree) -> float:
    """Return the share of samples in small frames that were merged into one frame."""
    if LEFT_OUT not in tree["labels"] or not tree["samples"]:
        return 0.0
    small = tree["labels"].index(LEFT_OUT)
    samples = sum(
        n for n, label in zip(tree["total"], tree["label"], strict=True) if label == small
    )
    return float(samples / tree["samples"])


def drawn(tree: CallTree) -> dict[str, object]:
    """Return the values of a call tree that the flame graph's script reads."""
    return {
        "operations": tree["operations"],
        "seconds_each": tree["seconds_each"],
        "labels": tree["labels"],
        "modules": tree["modules"],
        "works": tree["works"],
        "parent": tree["parent"],
        "label": tree["label"],
        "module": tree["module"],
        "counts": {
            name: [list(part) for part in counts] for name, counts in tree["counts"].items()
        },
    }


def one_kind(tree: Mapping[str, Any]) -> list[int]:
    """Return for each call tree node the kind of work of most of its samples."""
    rows = zip(tree["work"], tree["work_samples"], tree["total"], strict=True)
    return [work if did >= ONE_KIND_SHARE * total else SEVERAL for work, did, total in rows]


def _legend(tree: CallTree, work: Sequence[int]) -> list[tuple[str, str]]:
    """Return the colours and names of the kinds of work in a flame graph."""
    samples: dict[int, int] = {}
    for kind, own in zip(work, tree["own"], strict=True):
        samples[kind] = samples.get(kind, 0) + own
    ordered = sorted((kind for kind in samples if kind != SEVERAL), key=lambda k: -samples[k])
    legend = [(work_colour(tree["works"][kind]), str(tree["works"][kind])) for kind in ordered]
    if SEVERAL in samples:
        legend.append((WORK_COLOURS[SEVERAL_KINDS], SEVERAL_KINDS))
    return legend
