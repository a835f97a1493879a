"""A plan's statement and what it reads, in words for terminal and page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.analysis.findings.case import names_text
from assay.model.units import bytes_text, count_text

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES_SHOWN = 6


def statement_words(told: dict[str, Any]) -> str:
    """Which of its operation's statements: by its name, or by its number where it has none."""
    return f"statement {told['name'] or told['statement'] + 1}"


def reads_words(plan: dict[str, Any]) -> str:
    """What a statement asked storage for, and who says so; empty where nobody does."""
    reads = plan["reads"]
    if reads is None:
        return ""
    parts = [
        f"{words} {count_text(reads[key])}"
        for words, key in (
            ("index lookups", "index_lookups"),
            ("rows by index", "index_rows"),
            ("rows by scans", "scan_rows"),
        )
        if reads[key] is not None
    ]
    return f"{', '.join(parts) or 'not told'} ({reads['source']})"


def columns_words(plan: dict[str, Any]) -> Iterator[str]:
    """For each table how many of its columns are read and named, and which are for nobody."""
    for table in plan["tables"]:
        named = f"{len(table['needed'])} named"
        if table["read"] is None:
            yield f"{table['table']}: {named}, what is read is not told"
            continue
        words = f"{table['table']}: {len(table['read'])} read, {named}"
        if table["unneeded"]:
            words += f"; not named: {names_text(table['unneeded'], NAMES_SHOWN)}"
        if table["unneeded_bytes"]:
            words += f", {bytes_text(table['unneeded_bytes'])} a row at most"
        yield words
