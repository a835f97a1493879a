"""Prepares a user's statements on PostgreSQL without executing them, and reads their cost.

Statements are prepared in one read-only transaction, which is rolled back.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from assay.engines.checking import KnownTable, Refusal, RefusalKind, Tried
from assay.engines.contract import EngineError
from assay.engines.postgresql.loading import execute
from assay.engines.postgresql.plan_asking import ESTIMATED, steers
from assay.engines.postgresql.statements import file_text, split
from assay.model.declared import CatalogueColumn, tables_of_catalogue

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import psycopg

    from assay.engines.checking import Trial
    from assay.engines.contract import Instance
    from assay.model.declared import DeclaredColumns

    Connection = psycopg.Connection[tuple[object, ...]]

LIMIT_MS = "10000"
OF_TRANSACTIONS = "it begins or ends a transaction"
KINDS: dict[str, RefusalKind] = {
    "42P01": "table",
    "42703": "column",
    "42883": "function",
    "3F000": "schema",
    "42501": "permission",
    "42601": "syntax",
}
# Classes of errors that do not concern the statement: connections, transactions, resources.
OF_THE_SERVER = ("08", "25", "40", "53", "55", "57", "58", "XX")
NAME = re.compile(r'"([^"]+)"|\b(?:column|function) ([^\s("]+)')
DENIED = re.compile(r"permission denied for (\w+) (.+)")
# Privilege to grant, by kind of denied object; for tables it is the statement's first word.
PRIVILEGES = {"schema": "usage", "function": "execute", "procedure": "execute", "sequence": "usage"}
OF_TABLES = ("insert", "update", "delete", "truncate")


def try_statements(instance: Instance, operations: Sequence[Sequence[Trial]]) -> list[list[Tried]]:
    """Prepare statements with EXPLAIN, and return refusals and costs."""
    import psycopg

    connection: Connection = instance.handle
    tried: list[list[Tried]] = []
    try:
        with connection.transaction(force_rollback=True):
            connection.execute(file_text("preflight/read_only.sql"))
            connection.execute(file_text("plans/limit.sql"), [LIMIT_MS])
            for trials in operations:
                with connection.transaction(force_rollback=True):
                    tried.append([_tried(connection, trial) for trial in trials])
    except psycopg.Error as error:
        raise EngineError(f"PostgreSQL cannot prepare statements: {error}") from error
    return tried


def known_tables(instance: Instance) -> list[KnownTable]:
    """Return the tables that the role can access."""
    rows = execute(instance.handle, file_text("preflight/tables.sql")).fetchall()
    return [
        KnownTable(schema, name, tuple(columns), visible)
        for schema, name, columns, visible in cast("list[tuple[str, str, list[str], bool]]", rows)
    ]


def declared_tables(instance: Instance, names: Collection[str]) -> dict[str, DeclaredColumns]:
    """Return the visible tables and views with these names from PostgreSQL's catalogue."""
    columns, keys, views = (
        execute(instance.handle, file_text(f"preflight/{file}.sql"), [list(names)]).fetchall()
        for file in ("columns", "keys", "views")
    )
    return tables_of_catalogue(
        [CatalogueColumn(*row) for row in cast("list[tuple[str, str, str, bool]]", columns)],
        cast("list[tuple[str, list[str]]]", keys),
        cast("list[tuple[str, str]]", views),
    )


def _tried(connection: Connection, trial: Trial) -> Tried:
    import psycopg

    first = split(trial.text)[0].split()[0].lower()
    if steers(trial.text):
        return Tried(untried=OF_TRANSACTIONS)
    before = f"{file_text(ESTIMATED)}\n"
    if first == "set":
        # Settings are executed because later statements may need them; they are undone with the
        # operation.
        ways = [(_executed, 0)]
    elif trial.values is None:
        ways = [(_parsed, 0)]
    else:
        # Statements that EXPLAIN does not support are only parsed, which checks no permission.
        ways = [(_explained, len(before)), (_parsed, 0)]
    tried = Tried()
    for way, offset in ways:
        try:
            with connection.transaction():
                return way(connection, trial)
        except psycopg.Error as error:
            if connection.closed:
                raise
            tried = _refused(connection, first, error, offset)
            if not isinstance(error, psycopg.errors.SyntaxError):
                break
    return tried


def _executed(connection: Connection, trial: Trial) -> Tried:
    connection.execute(trial.text.encode())
    return Tried()


def _explained(connection: Connection, trial: Trial) -> Tried:
    """Return the optimiser's estimate for a statement."""
    import psycopg

    values = [None if value is None else str(value) for value in trial.values or ()]
    cursor = psycopg.RawCursor(connection)
    cursor.execute(f"{file_text(ESTIMATED)}\n{trial.text}".encode(), values or None)
    row = cursor.fetchone()
    document = cast("list[dict[str, dict[str, float]]]", row[0] if row else [{"Plan": {}}])
    root = document[0]["Plan"]
    return Tried(cost=root.get("Total Cost"), rows=root.get("Plan Rows"))


def _parsed(connection: Connection, trial: Trial) -> Tried:
    import psycopg
    from psycopg import pq

    with connection.lock:
        result = connection.pgconn.prepare(b"", trial.text.encode())
    if result.status != pq.ExecStatus.COMMAND_OK:
        raise psycopg.errors.error_from_result(result)
    return Tried()


def _refused(connection: Connection, first: str, error: psycopg.Error, offset: int) -> Tried:
    state = error.sqlstate or ""
    diagnosis = error.diag
    message = " ".join((diagnosis.message_primary or str(error)).split())
    if state.startswith(OF_THE_SERVER) or not state:
        return Tried(untried=f"PostgreSQL said: {message}")
    kind = KINDS.get(state, "other")
    match = NAME.search(message)
    name = next(filter(None, match.groups()), None) if match else None
    position = None
    if diagnosis.statement_position:
        position = max(0, int(diagnosis.statement_position) - 1 - offset)
    grant = _grant(message, first, connection.info.user) if kind == "permission" else None
    return Tried(Refusal(kind, message, name, position, grant))


def _grant(message: str, first: str, user: str) -> str | None:
    """Return the GRANT statement for a denied permission."""
    match = DENIED.match(message)
    if match is None:
        return None
    what, name = match.groups()
    privilege = PRIVILEGES.get(what) or (first if first in OF_TABLES else "select")
    kind = f"{what} " if what in PRIVILEGES else ""
    return f"grant {privilege} on {kind}{name} to {user}"
