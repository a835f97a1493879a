"""Makes statements that undo a change of a user's own file."""

from __future__ import annotations

import apsw

from assay.engines.contract import EngineError
from assay.engines.sqlite.database import script, statements

# EXPLAIN, as apsw asks for it: a statement is prepared and not executed.
PROGRAM = 1
# Tables in which SQLite keeps its statistics; the second one only where it was built with it.
STATISTICS = ("sqlite_stat1", "sqlite_stat4")
ANALYZE = apsw.SQLITE_ANALYZE


def exact_undo(connection: apsw.Connection, make: str, undo: str) -> str:
    """Return statements that take a change back; statistics get the rows that they have now.

    Args:
        connection: To the file, which is only read.
        make: Statements of the change.
        undo: The statements that are shown for it.

    Raises:
        EngineError: If SQLite refuses the change, such as an index that is there already.
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
    # Reading statistics anew makes the tables that are missing, so these are dropped last.
    drops = [script("undoing/drop.sql", table=name) for name in STATISTICS if name not in present]
    return "\n".join(map(str.strip, [*lines, *drops]))


def _former_rows(connection: apsw.Connection, name: str, table: str) -> list[str]:
    """Return statements that give a table of the file the statistics that it has now."""
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
        raise EngineError(f"SQLite refuses: {error}\nThe statement: {statement}") from error
    finally:
        connection.authorizer = None
    return tables
