"""Finds temporary tables that the statements of an operation create, and where they are filled."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from assay.model.sql import without_remarks

if TYPE_CHECKING:
    from collections.abc import Sequence

_NAME = r'(?:[\w$]+\.)?["`]?(?P<name>[\w$]+)["`]?'
_CREATED = re.compile(
    rf"\s*create\s+(?:or\s+replace\s+)?(?:(?:global|local)\s+)?temp(?:orary)?\s+table\s+"
    rf"(?:if\s+not\s+exists\s+)?{_NAME}(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_ROWS = re.compile(r"\b(?:select|values|table)\b", re.IGNORECASE)
_WRITTEN = re.compile(
    rf"\s*(?:with\b.*?\b)?(?:insert\s+(?:ignore\s+)?into|replace\s+into|merge\s+into|update|copy"
    rf"|delete\s+from)\s+(?:only\s+)?{_NAME}",
    re.IGNORECASE | re.DOTALL,
)
_DROPPED = re.compile(
    rf"\s*(?:drop\s+(?:temporary\s+)?table\s+(?:if\s+exists\s+)?|truncate\s+(?:table\s+)?){_NAME}",
    re.IGNORECASE,
)
_ANALYZED = re.compile(r"\s*(?:vacuum\b.*?\s)?analy[sz]e\b(?P<what>.*)", re.IGNORECASE | re.DOTALL)
# Statements on a table that hand none of its rows to another statement or to the client.
_DEFINES = re.compile(
    r"\s*(?:create\s+(?:unique\s+)?index|alter|drop|truncate|analy[sz]e|vacuum)\b", re.IGNORECASE
)


def created_temporary(statement: str) -> str | None:
    """Return the temporary table that a statement creates, in lower case; None for others."""
    return _name(_CREATED.match(without_remarks(statement)))


def dropped(statement: str) -> str | None:
    """Return the table that a statement drops or empties, in lower case; None for others."""
    return _name(_DROPPED.match(without_remarks(statement)))


def written(statement: str) -> str | None:
    """Return the table whose rows a statement changes, in lower case; None for others."""
    return _name(_WRITTEN.match(without_remarks(statement)))


def is_named(table: str, statement: str) -> bool:
    """Return True if a statement names a table."""
    return re.search(rf"\b{re.escape(table)}\b", statement, re.IGNORECASE) is not None


def gathers_statistics(table: str, statement: str) -> bool:
    """Return True if a statement gathers the statistics of a table, or of all tables."""
    match = _ANALYZED.match(without_remarks(statement))
    return match is not None and (not match["what"].strip() or is_named(table, match["what"]))


def filled_at(table: str, statements: Sequence[str]) -> int | None:
    """Return the position of the last statement that fills a temporary table before it is read.

    None if the statements do not create the table, or do not fill it.

    Args:
        table: Name of the table in lower case.
        statements: Statements of an operation, in their order.
    """
    filled, is_created = None, False
    for place, text in enumerate(statements):
        statement = without_remarks(text)
        if not is_created:
            is_created = created_temporary(statement) == table
            match = _CREATED.match(statement) if is_created else None
            if match is not None and _ROWS.search(match["rest"]):
                filled = place
        elif written(statement) == table:
            filled = place
        elif is_named(table, statement) and not _DEFINES.match(statement):
            return filled
    return filled


def _name(match: re.Match[str] | None) -> str | None:
    return None if match is None else match["name"].lower()
