"""Prepares SQL from files for ClickHouse: splits it, and fills in names and parameters."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from assay.engines.sql_text import SqlText, with_fields

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.model.script import ScriptOperation, ScriptStatement

CONF = Path(__file__).parent / "conf"

_SQL = SqlText(
    comment=r"""--[^\n]* | \#[!\x20][^\n]* | /\*.*?\*/""",
    opaque=r"""'(?:[^'\\]|\\.|'')*' | "(?:[^"\\]|\\.|"")*" | `(?:[^`\\]|\\.|``)*`""",
)


def split(sql: str) -> list[str]:
    """Return the statements of a file, without comments and separating semicolons."""
    return _SQL.split(sql)


def named(statement: ScriptStatement, operation: ScriptOperation) -> str:
    """Return a statement with ClickHouse parameters, such as `{value1:Int64}`, for `$1`."""

    def value(place: int) -> str:
        draw = operation.draws[statement.values[place]]
        return _value(place, is_integer=draw.integer is not None)

    return _SQL.written(statement.text, value)


def typed(text: str, values: Sequence[object]) -> str:
    """Return a statement with ClickHouse parameters that have the types of its values."""
    return _SQL.written(
        text, lambda place: _value(place, is_integer=isinstance(values[place], int))
    )


def _value(place: int, *, is_integer: bool) -> str:
    kind = "Int64" if is_integer else "String"
    return f"{{value{place + 1}:{kind}}}"


def quoted(name: str) -> str:
    """Return a name quoted for use in a statement."""
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def file_text(name: str, **fields: str) -> str:
    """Return the SQL of a file in `conf/`, with `{field}` filled in."""
    text = (CONF / name).read_text(encoding="utf-8").strip()
    return with_fields(text, fields)
