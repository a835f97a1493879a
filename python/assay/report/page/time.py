"""Values of a page's template for the time tree, drawn as nested bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.time.operation_tree import WAITS
from assay.model.units import percent_text
from assay.report.charts.palette import CAUSE_COLOURS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.report.documents.time import TimeSection, TimeTreeNode

# A smaller bar is invisible, so its row is left out. Its time remains in the parent's bar.
DRAWN_SHARE_MIN = 0.005
# Colours of nodes by name; a node without a colour has its parent's.
COLOURS = {
    "computing": CAUSE_COLOURS["cpu_user"],
    "executing": CAUSE_COLOURS["cpu_user"],
    "planning": "#29396f",
    "kernel": CAUSE_COLOURS["cpu_system"],
    "queue": CAUSE_COLOURS["run_queue"],
    "limit": CAUSE_COLOURS["throttled"],
    "steal": CAUSE_COLOURS["stolen"],
    "log": CAUSE_COLOURS["log"],
    "network": CAUSE_COLOURS["client"],
    "waiting": CAUSE_COLOURS["lock"],
    "unexplained": CAUSE_COLOURS["uncovered"],
    **{name: CAUSE_COLOURS[name] for name in WAITS},
    # The charts' colour for idle time equals the background behind the bars here.
    "idle": "#8d94a3",
}


def time_rows(section: TimeSection) -> list[dict[str, object]]:
    """Return one page row per node of the run's time tree; empty without a tree.

    Keys: title, depth, share (in words), left and width (of the bar, in per cent of the whole),
    colour, source.
    """
    tree = section["run"]
    return [] if tree is None else list(_rows(tree, 0, 0.0, ""))


def _rows(node: TimeTreeNode, depth: int, begin: float, colour: str) -> Iterator[dict[str, object]]:
    for child in node["children"]:
        own = COLOURS.get(child["name"], colour)
        if child["share"] >= DRAWN_SHARE_MIN:
            yield {
                "title": child["title"],
                "depth": depth,
                "share": percent_text(child["share"]),
                "left": f"{100 * begin:.2f}%",
                "width": f"{100 * child['share']:.2f}%",
                "colour": own,
                "source": child["source"],
            }
            yield from _rows(child, depth + 1, begin, own)
        begin += child["share"]
