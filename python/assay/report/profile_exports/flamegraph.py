"""Writes a flame graph as one interactive SVG file.

The width of a frame is its share of the samples. A frame has the colour of a kind of work if most
of its samples belong to that kind. Frames that are too narrow to see are left out of the file.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.analysis.profile.call_tree import call_tree
from assay.report.charts.palette import SEVERAL_KINDS, work_colour
from assay.report.page.flame_layout import layout
from assay.report.page.flame_view import SEVERAL, one_kind

if TYPE_CHECKING:
    from typing import BinaryIO

    from assay.report.page.flame_layout import Rectangle
    from assay.report.profile_exports.source import Source

SUFFIX = ".svg"
TEMPLATES = Path(__file__).parents[1] / "templates"
WIDTH, ROW, MARGIN, HEAD = 1200, 17, 10, 62
# One pixel at tenfold zoom, as a share of the picture's width.
SHARE_MIN = 0.1 / WIDTH
CHARACTER = 6.6
LEGEND_GAP = 24
CHARACTERS_MIN = 3
LUMA_OF_DARK = 120
DIGITS = 7
UNCOLOURED = "#e6e6e6"
# A rectangle or a legend entry, under the names that the template uses.
Frame = dict[str, str | float]


def write(source: Source, out: BinaryIO) -> None:
    """Write the flame graph as SVG."""
    tree = call_tree(source.profile, source.operation)
    of = f", {source.operation}" if source.operation else ""
    out.write(picture(tree, f"{source.title}{of}: CPU samples").encode())


def picture(tree: dict[str, Any], title: str) -> str:
    """Return the flame graph of a call tree as SVG text."""
    import jinja2

    placed = layout(tree, SHARE_MIN)
    kinds = one_kind(tree)
    depth = 2 + max((rectangle.depth for rectangle in placed), default=0)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True, undefined=jinja2.StrictUndefined
    )
    return environment.get_template("flamegraph.svg.j2").render(
        title=title,
        samples=f"{tree['samples']:,}",
        width=WIDTH,
        height=HEAD + depth * ROW + MARGIN,
        bottom=HEAD + (depth - 1) * ROW,
        row=ROW,
        margin=MARGIN,
        character=CHARACTER,
        legend=_legend(tree),
        frames=[
            _all(tree),
            *(_frame(tree, rectangle, kinds[rectangle.node]) for rectangle in placed),
        ],
        script=(TEMPLATES / "flamegraph.js").read_text("utf-8"),
    )


def _all(tree: dict[str, Any]) -> Frame:
    """Return the root frame of a flame graph; a click on it resets the zoom."""
    return {
        "tooltip": _tooltip(tree, tree["samples"]),
        "depth": 0,
        "x": 0,
        "width": 1,
        "colour": UNCOLOURED,
        "dark": False,
        **_named("all", 1.0),
    }


def _frame(tree: dict[str, Any], rectangle: Rectangle, kind: int) -> Frame:
    node = rectangle.node
    work = SEVERAL_KINDS if kind == SEVERAL else tree["works"][kind]
    module = tree["modules"][tree["module"][node]]
    tooltip = [_tooltip(tree, tree["total"][node]), work, *([module] if module else [])]
    return {
        "tooltip": _plain(" · ".join(tooltip)),
        "depth": rectangle.depth + 1,
        "x": round(rectangle.left, DIGITS),
        "width": round(rectangle.width, DIGITS),
        "colour": work_colour(work),
        "dark": _is_dark(work_colour(work)),
        **_named(_plain(tree["labels"][tree["label"][node]]), rectangle.width),
    }


def _named(label: str, width: float) -> Frame:
    """Return a flame graph label, shortened to what fits into its frame."""
    room = int((width * (WIDTH - 2 * MARGIN) - 4) / CHARACTER)
    if room < CHARACTERS_MIN:
        return {"label": label, "text": ""}
    return {"label": label, "text": label if len(label) <= room else f"{label[: room - 1]}…"}


def _is_dark(colour: str) -> bool:
    """Return True if white text is easier to read than black on a colour (`#rrggbb`)."""
    red, green, blue = bytes.fromhex(colour[1:])
    return 0.299 * red + 0.587 * green + 0.114 * blue < LUMA_OF_DARK


def _tooltip(tree: dict[str, Any], samples: int) -> str:
    share = samples / tree["samples"] if tree["samples"] else 0.0
    return f"{samples:,} samples · {share:.2%} · {samples * tree['seconds_each']:.3g} s of CPU"


def _plain(text: str) -> str:
    """Return text on one line, without the characters that XML forbids."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def _legend(tree: dict[str, Any]) -> list[Frame]:
    """Return the flame graph's legend of kinds of work, as many as fit on one line."""
    own: dict[str, int] = {}
    for node, work in enumerate(tree["work"]):
        name = tree["works"][work]
        own[name] = own.get(name, 0) + tree["own"][node]
    entries: list[Frame] = []
    x = float(MARGIN)
    for work, samples in sorted(own.items(), key=lambda entry: -entry[1]):
        text = f"{work} {samples / tree['samples']:.0%}" if samples else ""
        if not text or x + len(text) * CHARACTER > WIDTH - MARGIN:
            break
        entries.append({"text": text, "x": round(x, 1), "colour": work_colour(work)})
        x += len(text) * CHARACTER + LEGEND_GAP
    return entries
