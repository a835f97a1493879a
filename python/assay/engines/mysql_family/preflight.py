"""Prepares a user's statements on MySQL without executing them, and reads their cost.

A separate connection is used, so that settings of the statements do not persist.
"""

from __future__ import annotations

import json
import re
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeAlias

import pymysql

from assay.engines.checking import KnownTable, Refusal, RefusalKind, Tried
from assay.engines.contract import EngineError
from assay.engines.mysql_family.connecting import connect, error_text
from assay.engines.mysql_family.statements import bound, file_text, filled, pieces, split
from assay.model.declared import CatalogueColumn, tables_of_catalogue

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from assay.engines.checking import Trial
    from assay.engines.contract import Instance
    from assay.model.declared import DeclaredColumns

    Connection: TypeAlias = pymysql.Connection[Any]

KINDS: dict[int, RefusalKind] = {
    1044: "permission",
    1142: "permission",
    1143: "permission",
    1370: "permission",
    1049: "schema",
    1146: "table",
    1054: "column",
    1305: "function",
    1064: "syntax",
}
# Errors of statements that cannot be prepared, and errors of the server rather than the statement.
UNTRIED = {1040, 1205, 1213, 1290, 1295, 1317, 1792, 1969, 2006, 2013, 3024}
STEERING = {"begin", "commit", "release", "rollback", "savepoint", "start"}
EXPLAINED = {"select", "with", "insert", "update", "delete", "replace", "values", "table"}
OF_TRANSACTIONS = "it begins or ends a transaction"
OF_USE = "it changes the database, which is done where it is played"
NAME = re.compile(r"(?:Table|column|FUNCTION|PROCEDURE|database) '?([^'\s]+)'?")
SYNTAX_NEAR = re.compile(r"near '(.*)' at line (\d+)", re.DOTALL)
TABLE_DENIED = re.compile(r"(\w[\w ]*) command denied to user (\S+) for table '?([^'\s]+)'?")
ROUTINE_DENIED = re.compile(r"execute command denied to user (\S+) for routine '([^']+)'")
COLUMN_DENIED = re.compile(
    r"(\w[\w ]*) command denied to user (\S+) for column '([^']+)' in table '([^']+)'"
)
# Paths of the total cost in EXPLAIN's JSON, by product and version.
COSTS = (
    ("query_plan", "estimated_total_cost"),
    ("query_block", "cost_info", "query_cost"),
    ("query_block", "cost"),
)


def try_statements(
    instance: Instance, operations: Sequence[Sequence[Trial]], conf: Path
) -> list[list[Tried]]:
    """Prepare statements with PREPARE, and EXPLAIN them for the cost."""
    connection = connect(instance.address)
    try:
        tried = []
        for trials in operations:
            # The optimiser may call a function that writes, so the transaction is rolled back.
            connection.begin()
            tried.append([_tried(connection, trial, conf) for trial in trials])
            connection.rollback()
        return tried
    except pymysql.Error as error:
        raise EngineError(f"the server ended the connection: {error_text(error)}") from error
    finally:
        if connection.open:
            connection.close()


def known_tables(instance: Instance) -> list[KnownTable]:
    """Return the tables that the account can access."""
    try:
        rows = _rows(instance.handle, file_text("preflight/tables.sql"))
    except pymysql.Error as error:
        raise EngineError(f"the server does not list its tables: {error_text(error)}") from error
    return [
        KnownTable(schema, name, tuple(row[2] for row in columns), bool(visible))
        for (schema, name, visible), columns in groupby(
            rows, key=lambda row: (row[0], row[1], row[3])
        )
    ]


def declared_tables(instance: Instance, names: Collection[str]) -> dict[str, DeclaredColumns]:
    """Return the tables and views with these names in the session's database."""
    listed = {"names": ",".join(names)}
    try:
        columns = _rows(instance.handle, filled("preflight/columns.sql", texts=listed))
        parts = _rows(instance.handle, filled("preflight/keys.sql", texts=listed))
        views = _rows(instance.handle, filled("preflight/views.sql", texts=listed))
    except pymysql.Error as error:
        raise EngineError(f"the server does not list its tables: {error_text(error)}") from error
    keys: list[tuple[str, list[str]]] = []
    for (table, _), rows in groupby(parts, key=lambda row: (row[0], row[1])):
        key = list(rows)
        # Beginnings of texts, and expressions, may differ where the columns do not.
        if not any(column is None or is_prefix for _, _, column, is_prefix in key):
            keys.append((table, [column for _, _, column, _ in key]))
    return tables_of_catalogue(
        [
            CatalogueColumn(table, name, kind, bool(required))
            for table, name, kind, required in columns
        ],
        keys,
        [(table, query) for table, query in views],
    )


def _tried(connection: Connection, trial: Trial, conf: Path) -> Tried:
    first = split(trial.text)[0].split()[0].lower()
    if first in STEERING:
        return Tried(untried=OF_TRANSACTIONS)
    if first == "use":
        return Tried(untried=OF_USE)
    values = trial.values
    if values is None:
        text = "".join(part if isinstance(part, str) else "?" for part in pieces(trial.text))
    else:
        text = bound(pieces(trial.text), values, connection.escape)
    try:
        _rows(connection, filled("preflight/prepare.sql", texts={"text": text}))
        _rows(connection, file_text("preflight/forget.sql"))
        if values is None or first not in EXPLAINED:
            return Tried()
        return _guessed(_rows(connection, f"{file_text('plans/estimated.sql', conf)}\n{text}"))
    except pymysql.Error as error:
        if not connection.open:
            raise
        return _refused(text, error)


def _guessed(rows: Sequence[Sequence[Any]]) -> Tried:
    try:
        document = json.loads(rows[0][0])
    except (IndexError, TypeError, ValueError):
        return Tried()
    for path in COSTS:
        value: Any = document
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        if value is not None:
            return Tried(cost=float(value))
    return Tried()


def _refused(text: str, error: pymysql.Error) -> Tried:
    number = error.args[0] if error.args else 0
    message = str(error.args[1]) if len(error.args) > 1 else str(error)
    line = " ".join(message.split())
    if number in UNTRIED:
        return Tried(untried=f"the server said: {line}")
    kind = KINDS.get(number, "other")
    match = NAME.search(line) or TABLE_DENIED.search(line)
    name = None if match is None else match[match.re.groups].replace("`", "")
    position = _syntax_position(text, message) if kind == "syntax" else None
    if kind == "syntax":
        near = SYNTAX_NEAR.search(message)
        line = f"syntax error near '{near[1].splitlines()[0][:40]}'" if near and near[1] else line
    grant = _grant(line) if kind == "permission" else None
    return Tried(Refusal(kind, line, name, position, grant))


def _syntax_position(text: str, message: str) -> int | None:
    """Return the position of a syntax error, from the server's message; None without one."""
    match = SYNTAX_NEAR.search(message)
    if match is None:
        return None
    lines = text.split("\n")[: int(match[2]) - 1]
    return sum(len(line) + 1 for line in lines)


def _grant(message: str) -> str | None:
    """Return the GRANT statement for a denied permission."""
    if (match := COLUMN_DENIED.search(message)) is not None:
        privilege, user, column, table = match.groups()
        return f"grant {privilege.lower()} ({column}) on {table} to {user}"
    if (match := ROUTINE_DENIED.search(message)) is not None:
        return f"grant execute on function {match[2]} to {match[1]}"
    if (match := TABLE_DENIED.search(message)) is not None:
        privilege, user, table = match.groups()
        return f"grant {privilege.lower()} on {table.replace('`', '')} to {user}"
    return None


def _rows(connection: Connection, text: str) -> Sequence[Sequence[Any]]:
    with connection.cursor() as cursor:
        cursor.execute(text)
        rows: Sequence[Sequence[Any]] = cursor.fetchall()
        return rows
