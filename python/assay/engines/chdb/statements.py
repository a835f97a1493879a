"""Statements of SQL files: split, with names filled in, and with ClickHouse's own values."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.model.script import ScriptOperation, ScriptStatement

CONF = Path(__file__).parent / "conf"

# What may hold a semicolon or a `$1` that is none: texts, names, comments.
_TOKEN = re.compile(
    r"""
      (?P<end> ; )
    | (?P<comment> --[^\n]* | \#[!\x20][^\n]* | /\*.*?\*/ )
    | (?P<opaque> '(?:[^'\\]|\\.|'')*' | "(?:[^"\\]|\\.|"")*" | `(?:[^`\\]|\\.|``)*` )
    | (?P<value> \$(?P<number>\d+) )
    """,
    re.VERBOSE | re.DOTALL,
)
_FIELD = re.compile(r"\{(\w+)\}")


def split(sql: str) -> list[str]:
    """The statements of a file, without comments and the semicolons between them."""
    statements, statement, at = [], "", 0
    for token in _TOKEN.finditer(sql):
        kept = " " if token["comment"] else "" if token["end"] else token[0]
        statement += sql[at : token.start()] + kept
        at = token.end()
        if token["end"]:
            statements.append(statement.strip())
            statement = ""
    statements.append((statement + sql[at:]).strip())
    return [text for text in statements if text]


def named(statement: ScriptStatement, operation: ScriptOperation) -> str:
    """A statement whose `$1` is `{value1:Int64}`, for ClickHouse's values have names and types."""

    def value(token: re.Match[str]) -> str:
        if token["value"] is None:
            return token[0]
        draw = operation.draws[statement.values[int(token["number"]) - 1]]
        kind = "Int64" if draw.integer is not None else "String"
        return f"{{value{token['number']}:{kind}}}"

    return _TOKEN.sub(value, statement.text)


def typed(text: str, values: Sequence[object]) -> str:
    """The same, where nothing is known of a value but itself."""

    def value(token: re.Match[str]) -> str:
        if token["value"] is None:
            return token[0]
        kind = "Int64" if isinstance(values[int(token["number"]) - 1], int) else "String"
        return f"{{value{token['number']}:{kind}}}"

    return _TOKEN.sub(value, text)


def quoted(name: str) -> str:
    """A name as it stands in a statement."""
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def file_text(name: str, **fields: str) -> str:
    """The SQL of a file in `conf/`, with `{field}` filled in."""
    text = (CONF / name).read_text(encoding="utf-8").strip()
    return _FIELD.sub(lambda field: fields[field[1]], text)
