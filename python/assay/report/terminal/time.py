"""Terminal output of a time tree: an indented line per node, with its share as a bar."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.units import percent_text, seconds_text
from assay.report.terminal.summary import bar
from assay.report.words.wrapping import labelled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.report.documents.run import RunDocument
    from assay.report.documents.time import TimeTreeNode

BAR_WIDTH = 24
FIGURES_WIDTH = 20
INDENT = "  "
# A node with a smaller share has no line; its time is included in its parent's.
LINE_SHARE_MIN = 0.005


def tree_lines(tree: TimeTreeNode, seconds: float | None, width: int) -> Iterator[str]:
    """Yield a line per node of a document's tree: parents first, siblings largest first.

    Args:
        tree: The time tree.
        seconds: Seconds that 100 % of the tree represents; None if they are not known.
        width: Maximum width of a line.
    """
    rows = list(_rows(tree, 1))
    titles = max((len(title) for title, _ in rows), default=0)
    length = max(0, min(BAR_WIDTH, width - titles - FIGURES_WIDTH))
    for title, share in rows:
        drawn = bar(share, length)
        spent = "" if seconds is None else f"  {seconds_text(share * seconds):>7}"
        yield f"{title:<{titles}}  {drawn:<{length}} {percent_text(share):>6}{spent}"


def no_gain_lines(document: RunDocument, width: int) -> Iterator[str]:
    """Yield a sentence on causes below 1 % of the time, which do not matter."""
    titles = document["time"]["no_gain"]
    if titles:
        names = ", ".join(title[:1].lower() + title[1:] for title in titles).replace("cPU", "CPU")
        yield from labelled("No gain", f"below 1 % of the time each: {names}", width)


def _rows(node: TimeTreeNode, depth: int) -> Iterator[tuple[str, float]]:
    for child in node["children"]:
        if child["share"] < LINE_SHARE_MIN:
            continue
        source = f" (by {child['source']})" if child["source"] else ""
        yield f"{INDENT * depth}{child['title']}{source}", child["share"]
        yield from _rows(child, depth + 1)
