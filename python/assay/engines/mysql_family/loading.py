"""Loads rows and makes keys before the timed part."""

from __future__ import annotations

import re
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TYPE_CHECKING, Any

import pymysql
from pymysql.constants import SERVER_STATUS

from assay.engines.contract import Cached, EngineError
from assay.engines.mysql_family.connecting import connect, error_text, interrupt
from assay.engines.mysql_family.statements import file_text, filled, split

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engines.contract import Instance, Tell


Rows = tuple[tuple[Any, ...], ...]

# A later kind requires the earlier one: a foreign key requires the index that checks it.
KINDS = (
    ("primary keys", re.compile(r"(?is)\b(?:primary\s+key|unique)\b(?!.*\bforeign\s+key\b)")),
    ("foreign keys", re.compile(r"(?is)\b(?:foreign\s+key|references)\b")),
    ("indexes", re.compile(r"")),
)
ORDER = ("primary keys", "indexes", "foreign keys")
ON_TABLE = re.compile(r"(?is)^\s*alter\s+table\s+(\S+)|\bon\s+([\w`.]+)\s*\(")


def execute(connection: pymysql.Connection[Any], statement: str) -> Rows:
    """Run one statement and return its rows.

    Raises `EngineError` with the statement.
    """
    try:
        with connection.cursor() as cursor:
            cursor.execute(statement)
            rows: Rows = cursor.fetchall()
            return rows
    except pymysql.Error as error:
        if not connection.open:
            raise EngineError(
                f"the connection to the server was lost: {error_text(error)}"
            ) from error
        raise EngineError(
            f"the server reports an error: {error_text(error)}\nThe statement: {statement}"
        ) from error


def count(instance: Instance, table: str) -> int:
    """Return the number of rows of a MySQL table.

    Raises `EngineError` if the table does not exist.
    """
    # Several tables are counted in parallel, and a connection belongs to one thread.
    connection = connect(instance.address)
    try:
        return int(execute(connection, filled("count.sql", table=table))[0][0])
    finally:
        connection.close()


def cached(instance: Instance) -> list[Cached]:
    """Return the buffer pool's bytes of Assay's tables and indexes, largest first."""
    rows = execute(instance.handle, file_text("cached.sql"))
    return [Cached(str(name), int(cached_bytes)) for name, cached_bytes in rows]


def make_keys(instance: Instance, sql: str, streams: int, tell: Tell) -> None:
    """Run the statements that create keys and indexes, kind by kind, with tables in parallel.

    Raises:
        EngineError: If a statement is refused. The error message has the statement; statements that
            still run are cancelled.
    """
    statements = split(sql)
    for kind in ORDER:
        some = [statement for statement in statements if kind_of(statement) == kind]
        # Two changes of one table would wait for each other, and foreign keys lock both their
        # tables.
        groups = [some] if kind == "foreign keys" else list(_by_table(some).values())
        _side_by_side(instance, groups, streams, kind, tell)


def kind_of(statement: str) -> str:
    """Return the kind of object that a MySQL statement creates, such as primary key or index."""
    return next(kind for kind, pattern in KINDS if pattern.search(statement))


def finish(instance: Instance) -> None:
    """Gather optimiser statistics of all tables, and have their pages written."""
    for (table,) in execute(instance.handle, file_text("tables.sql")):
        rows = execute(instance.handle, filled("analyze.sql", table=table))
        if failed := [str(text) for _, _, kind, text in rows if str(kind).lower() == "error"]:
            raise EngineError(f"table {table} cannot be analysed: {failed[0]}")


def refuse_open_transaction(instance: Instance) -> None:
    """Raise `EngineError` if a script's statements left a MySQL transaction open."""
    # Each answer reports whether a transaction is open, so any statement will do.
    execute(instance.handle, file_text("version.sql"))
    if instance.handle.server_status & SERVER_STATUS.SERVER_STATUS_IN_TRANS:
        raise EngineError(
            "the file ends within an open transaction, whose changes would be lost: add 'commit;'"
        )


def _by_table(statements: Sequence[str]) -> dict[str, list[str]]:
    tables: dict[str, list[str]] = {}
    for statement in statements:
        match = ON_TABLE.search(statement)
        name = statement if match is None else match[1] or match[2]
        tables.setdefault(name.strip("`").lower(), []).append(statement)
    return tables


def _side_by_side(
    instance: Instance, groups: Sequence[Sequence[str]], streams: int, phase: str, tell: Tell
) -> None:
    """Run groups of statements in parallel, and the statements within a group in sequence."""
    if not any(groups):
        return
    open_now: set[pymysql.Connection[Any]] = set()
    given_up = threading.Event()

    def run(group: Sequence[str]) -> None:
        connection = connect(instance.address)
        open_now.add(connection)
        try:
            execute(connection, file_text("load_session.sql"))
            for statement in group:
                if given_up.is_set():
                    return
                execute(connection, statement)
        finally:
            open_now.discard(connection)
            connection.close()

    tell(phase, 0, len(groups), "tables")
    with ThreadPoolExecutor(max(1, min(streams, len(groups)))) as pool:
        running = [pool.submit(run, group) for group in groups]
        try:
            for done, future in enumerate(as_completed(running), 1):
                future.result()
                tell(phase, done, len(groups), "tables")
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            # Running statements are cancelled, and no new ones are started.
            given_up.set()
            for connection in list(open_now):
                interrupt(instance.address, connection, whole=True)
            raise
