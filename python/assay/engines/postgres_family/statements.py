"""SQL of files for servers that are asked as PostgreSQL is: cut, and with names filled in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engines.sql_text import SqlText

if TYPE_CHECKING:
    from psycopg.sql import Composed

SQL = SqlText(
    comment=r"--[^\n]* | /\*.*?\*/",
    # Bodies in dollars are texts, too.
    opaque=r"""[eE]'(?:[^'\\]|\\.|'')*' | '(?:[^']|'')*' | "(?:[^"]|"")*"
      | \$(?P<tag>\w*)\$.*?\$(?P=tag)\$""",
)


def composed(text: str, **values: str) -> Composed:
    """A statement with names in it; `mark` is a text, anything else a name."""
    from psycopg import sql

    parts = {
        key: sql.Literal(value) if key == "mark" else sql.Identifier(value)
        for key, value in values.items()
    }
    # The text is a file of ours, so it is no stranger's.
    return sql.SQL(text).format(**parts)
