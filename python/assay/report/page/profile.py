"""Values of a page's template for CPU samples: texts, colours and a flame graph."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from assay.model.units import seconds_text
from assay.report.charts.palette import work_colour
from assay.report.csv_text import csv_of
from assay.report.page.flame_view import FlameView
from assay.report.words.profile import NAMELESS, facts, headline, share_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.report.documents.profile.profile import (
        ProfileSection,
        SymbolRest,
        SymbolRow,
        WorkRow,
    )

TREE_ABOUT = (
    "Each box is a function; its width is the number of samples, and it lies below or beside "
    "its caller. The widest boxes come first, so left to right is not an order of time. A box "
    "has the colour of a kind of work if three quarters of its samples belong to it."
)
SYMBOLS_ABOUT = (
    "CPU time by innermost function. C++ functions that differ only in template arguments "
    "share a line, which opens by a click."
)
SYMBOL_COLUMNS = ("samples", "share", "seconds", "work", "symbol", "module", "kind", "says")


def profile_words(
    section: ProfileSection | None, tree: FlameView | None
) -> dict[str, object] | None:
    """Return the page's values for the section on CPU samples; None without samples.

    Args:
        section: The section `profile` of the document.
        tree: The call tree that the page draws.
    """
    if section is None or tree is None:
        return None
    return {
        "headline": headline(section),
        "facts": list(facts(section)),
        "work": work_bars(section["work"]),
        "tree_about": f"{TREE_ABOUT}{left_out_words(tree)}",
        "symbols_about": f"{SYMBOLS_ABOUT}{_rest_words(section['rest'])}",
        "symbols": [_symbol_row(row) for row in section["symbols"]],
        "symbols_csv": f"data:text/csv;charset=utf-8,{quote(symbols_csv(section))}",
    }


def left_out_words(tree: FlameView) -> str:
    """Return a sentence on the functions that a flame graph leaves out; empty if none."""
    if not tree.left_out:
        return ""
    return (
        f" Functions with less than {tree.share_min * 100:g} % of the samples are one box “…” of"
        f" their caller: {share_text(tree.left_out)} of the samples."
    )


def work_bars(works: list[WorkRow]) -> list[dict[str, str]]:
    """Return kinds of work as bars: width in per cent of the longest, colour, texts."""
    longest = max((row["share"] for row in works), default=0.0)
    return [
        {
            "work": row["work"],
            "width": f"{100 * row['share'] / longest if longest else 0:.1f}%",
            "colour": work_colour(row["work"]),
            "share": share_text(row["share"]),
            "seconds": seconds_text(row["seconds"]),
        }
        for row in works
    ]


def symbols_csv(section: ProfileSection) -> str:
    """Return the table of functions with CPU samples as CSV text."""
    import polars as pl

    rows = [
        {key: value for key, value in row.items() if key in SYMBOL_COLUMNS}
        | {"operations": " ".join(row["operations"])}
        for row in section["symbols"]
    ]
    return csv_of(pl.DataFrame(rows, infer_schema_length=None))


def _rest_words(rest: SymbolRest) -> str:
    if not rest["symbols"]:
        return ""
    return f" {rest['symbols']:,} more have {share_text(rest['share'])} of the samples together."


def _symbol_row(row: SymbolRow) -> dict[str, object]:
    everywhere = row["operations_all"] and len(row["operations"]) != 1
    return row | {
        "samples_text": f"{row['samples']:,}",
        "share_text": f"{row['share'] * 100:.2f}",
        "colour": work_colour(row["work"]),
        "operations": "all" if everywhere else " ".join(sorted(row["operations"])),
        "module": row["module"] or "",
        "is_nameless": row["kind"] in NAMELESS,
        "members": list(_members(row)),
        "members_more": row["members_count"] - len(row["members"]) if row["members"] else 0,
    }


def _members(row: SymbolRow) -> Iterator[dict[str, str]]:
    for member in row["members"]:
        yield {"symbol": member["symbol"], "share": share_text(member["share"])}
