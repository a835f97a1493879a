"""Prepares SQL from files for PostgreSQL: splits it, and fills in names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engines.sql_text import SqlText

if TYPE_CHECKING:
    from psycopg.sql import Composed

SQL = SqlText(
    comment=r"--[^\n]* | /\*.*?\*/",
    # Dollar-quoted bodies are texts, too.
    opaque=r"""[eE]'(?:[^'\\]|\\.|'')*' | '(?:[^']|'')*' | "(?:[^"]|"")*"
      | \$(?P<tag>\w*)\$.*?\$(?P=tag)\$""",
)


def composed(text: str, **values: str) -> Composed:
    """Return a statement with quoted names filled in."""
    from psycopg import sql

    parts = {
        key: sql.Literal(value) if key == "mark" else sql.Identifier(value)
        for key, value in values.items()
    }
    # The text is from a file of Assay, so formatting it is safe.
    return sql.SQL(text).format(**parts)
