"""Converts SQL for JDBC: one statement at a time, with `?` for each value."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.engines.contract import EngineError
from assay.engines.sql_text import SqlText

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engines.bridge.link import Link
    from assay.model.script import Script

_SQL = SqlText(comment=r"--[^\n]* | /\*.*?\*/", opaque=r"""'(?:[^']|'')*' | "(?:[^"]|"")*" """)


def split(sql: str) -> list[str]:
    """Return the statements of a file, without comments and separating semicolons."""
    return _SQL.split(sql)


def execute(link: Link, statement: str, title: str) -> None:
    """Execute an SQL statement through the JDBC bridge.

    Raises `EngineError` with the statement, and with the name of the product that refuses it.
    """
    try:
        link.run(statement)
    except EngineError as error:
        raise EngineError(
            f"{title} reports an error: {error}\nThe statement: {statement}"
        ) from error


def marked(text: str) -> tuple[str, list[int]]:
    """Return a statement with `?` for each `$1`, `$2`, ..., and each value's position, from 0."""
    order = [part for part in _SQL.pieces(text) if isinstance(part, int)]
    return _SQL.written(text, lambda _: "?"), order


def bound(text: str, values: Sequence[object]) -> tuple[str, list[object]]:
    """Return a statement with `?` marks, and its values in order."""
    made, order = marked(text)
    return made, [values[place] for place in order]


def marked_script(script: Script) -> Script:
    """Return a script of statements with `?` for values, for JDBC sessions."""
    operations = []
    for operation in script.operations:
        statements = []
        for statement in operation.statements:
            text, order = marked(statement.text)
            values = tuple(statement.values[place] for place in order)
            statements.append(replace(statement, text=text, values=values))
        operations.append(replace(operation, statements=tuple(statements)))
    return replace(script, operations=tuple(operations))
