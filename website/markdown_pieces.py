"""Small pieces of Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table."""
    lines = [_row(head), _row(["---"] * len(head)), *(_row([cell(c) for c in r]) for r in rows)]
    return "\n".join(lines) + "\n"


def cell(text: str) -> str:
    """Return text as a cell of a table: one line, and nothing that ends the cell."""
    line = re.sub(r"\s+", " ", text).strip().replace("|", "\\|")
    return "`".join(
        _escaped(part) if place % 2 == 0 else part for place, part in enumerate(line.split("`"))
    )


def code(text: object) -> str:
    """Return text as code in a line; nothing for no text."""
    return f"`{text}`" if text not in (None, "") else ""


def first_sentence(text: str | None) -> str:
    """Return the first paragraph of a docstring in one line."""
    return re.sub(r"\s+", " ", (text or "").strip().split("\n\n")[0])


def _escaped(text: str) -> str:
    """Return text outside of code, with what would be taken for HTML."""
    return text.replace("<", "&lt;")


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
