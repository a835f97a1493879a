"""Statements of SQL files: our own, with names filled in, and those of workloads, one by one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from psycopg.sql import Composed

CONF = Path(__file__).parent / "conf"

# What may hold a semicolon that ends nothing: texts, names, comments, dollar-quoted bodies.
_TOKEN = re.compile(
    r"""
      (?P<end> ; )
    | (?P<comment> --[^\n]* | /\*.*?\*/ )
    | (?P<opaque>
        [eE]'(?:[^'\\]|\\.|'')*' | '(?:[^']|'')*' | "(?:[^"]|"")*"
      | \$(?P<tag>\w*)\$.*?\$(?P=tag)\$ )
    """,
    re.VERBOSE | re.DOTALL,
)


def split(sql: str) -> list[str]:
    """The statements of a file, without comments and the semicolons between them."""
    statements, statement, at = [], "", 0
    for token in _TOKEN.finditer(sql):
        statement += sql[at : token.start()] + (token["opaque"] or " ")
        at = token.end()
        if token["end"]:
            statements.append(statement.strip())
            statement = ""
    statements.append((statement + sql[at:]).strip())
    return [text for text in statements if text]


def file_text(name: str) -> str:
    """The SQL of a file in `conf/`."""
    return (CONF / name).read_text(encoding="utf-8").strip()


def filled(file: str, **values: str) -> Composed:
    """The SQL of a file in `conf/` with names in it; `mark` is a text, anything else a name."""
    from psycopg import sql

    parts = {
        key: sql.Literal(value) if key == "mark" else sql.Identifier(value)
        for key, value in values.items()
    }
    # The file is ours, so its text is no stranger's.
    return sql.SQL(file_text(file)).format(**parts)
