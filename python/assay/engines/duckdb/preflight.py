"""Prepares a user's statements on DuckDB without executing them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import duckdb

from assay.engines.checking import KnownTable, Refusal, RefusalKind, Tried
from assay.engines.contract import EngineError
from assay.model.declared import CatalogueColumn, tables_of_catalogue

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from assay.engines.checking import Trial
    from assay.model.declared import DeclaredColumns

EXPLAINED = {"SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "MERGE_INTO"}
KINDS: tuple[tuple[re.Pattern[str], RefusalKind], ...] = (
    (re.compile(r"Table with name \"?([\w.]+)\"? does not exist"), "table"),
    (re.compile(r"Referenced column \"([^\"]+)\" not found"), "column"),
    (re.compile(r"does not have a column named \"([^\"]+)\""), "column"),
    (re.compile(r"Function with name \"?(\w+)\"? does not exist"), "function"),
    (re.compile(r"syntax error()"), "syntax"),
)
CLASS = re.compile(r"^[A-Z]\w* Error: ")
LINE = re.compile(r"(?m)^LINE (\d+):")
EXPLAIN = "explain "
UNTRIED = "it is no statement that DuckDB explains"


def try_statements(
    connection: duckdb.DuckDBPyConnection, operations: Sequence[Sequence[Trial]]
) -> list[list[Tried]]:
    """Prepare statements with EXPLAIN, and return refusals and costs."""
    return [[_tried(connection, trial) for trial in trials] for trials in operations]


def known_tables(connection: duckdb.DuckDBPyConnection, text: str) -> list[KnownTable]:
    """Return the tables of a DuckDB database, by a given query on its catalogue."""
    rows = connection.execute(text).fetchall()
    return [KnownTable(schema, name, tuple(columns)) for schema, name, columns in rows]


def declared_tables(
    connection: duckdb.DuckDBPyConnection, names: Collection[str], texts: Sequence[str]
) -> dict[str, DeclaredColumns]:
    """Return the tables and views with these names.

    Args:
        connection: Connection to the database.
        names: Names of the tables in lower case.
        texts: Queries of the catalogue for columns, keys and views.
    """
    try:
        column_rows, key_rows, views = (
            connection.execute(text, [sorted(names)]).fetchall() for text in texts
        )
    except duckdb.Error as error:
        raise EngineError(f"DuckDB does not list its tables: {error}") from error
    return tables_of_catalogue([CatalogueColumn(*row) for row in column_rows], key_rows, views)


def _tried(connection: duckdb.DuckDBPyConnection, trial: Trial) -> Tried:
    try:
        kinds = {part.type.name for part in connection.extract_statements(trial.text)}
        if trial.values is None or not kinds <= EXPLAINED:
            return Tried(untried=UNTRIED)
        connection.execute(EXPLAIN + trial.text, list(trial.values) or None)
    except duckdb.Error as error:
        return Tried(_refused(trial.text, str(error)))
    return Tried()


def _refused(text: str, error_text: str) -> Refusal:
    message = CLASS.sub("", error_text.splitlines()[0]).rstrip("!")
    for pattern, kind in KINDS:
        if (match := pattern.search(error_text)) is not None:
            return Refusal(kind, message, match[1] or None, _position(text, error_text))
    return Refusal("other", message, None, _position(text, error_text))


def _position(text: str, error_text: str) -> int | None:
    """Return the text position of the line that DuckDB's error quotes; None without one."""
    match = LINE.search(error_text)
    if match is None:
        return None
    return sum(len(line) + 1 for line in text.split("\n")[: int(match[1]) - 1])
