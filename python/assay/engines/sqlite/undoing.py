"""Makes SQL that undoes a change of a user's own SQLite file."""

from __future__ import annotations

import apsw

from assay.engines.contract import EngineError
from assay.engines.sqlite.database import script, statements

# Mode of apsw for EXPLAIN, which prepares a statement without executing it.
PROGRAM = 1
# Tables of SQLite's statistics; the second one exists only in some builds.
STATISTICS = ("sqlite_stat1", "sqlite_stat4")
ANALYZE = apsw.SQLITE_ANALYZE


def exact_undo(connection: apsw.Connection, make: str, undo: str) -> str:
    """Return SQL that undoes a change, including replaced statistics.

    Args:
        connection: Connection to the file, which is only read.
        make: Statements that make the change.
        undo: Statements that the user is shown to undo it.

    Raises:
        EngineError: If SQLite refuses the change, for example because the index exists already.
    """
    tables = [table for text in statements(make) for table in _analysed(connection, text)]
    if not tables:
        return undo
    present = {row[0].lower() for row in connection.execute(script("tables.sql"))}
    lines = [
        text
        for name in STATISTICS
        if name in present
        for table in tables
        for text in _former_rows(connection, name, table)
    ]
    if lines:
        lines.append(f"{script('plans/reload.sql').strip()};")
    # Rereading statistics creates missing statistics tables, so these are dropped last.
    drops = [script("undoing/drop.sql", table=name) for name in STATISTICS if name not in present]
    return "\n".join(map(str.strip, [*lines, *drops]))


def _former_rows(connection: apsw.Connection, name: str, table: str) -> list[str]:
    """Return statements that restore a table's current statistics."""
    remove = script("undoing/remove.sql", table=name, text=apsw.format_sql_value(table))
    rows = connection.execute(script(f"undoing/{name}.sql"), (table,))
    return [remove, *(text for (text,) in rows)]


def _analysed(connection: apsw.Connection, statement: str) -> list[str]:
    """Return the tables whose statistics a statement gathers, without executing it."""
    tables: list[str] = []

    def note(action: int, name: str | None, *_: str | None) -> int:
        if action == ANALYZE and name is not None:
            tables.append(name)
        return apsw.SQLITE_OK

    connection.authorizer = note
    try:
        connection.execute(statement, explain=PROGRAM).fetchall()
    except apsw.Error as error:
        raise EngineError(
            f"SQLite reports an error: {error}\nThe statement: {statement}"
        ) from error
    finally:
        connection.authorizer = None
    return tables
