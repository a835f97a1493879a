"""Adds extensions, keys and statistics around the loading of rows, and checkpoints."""

from __future__ import annotations

import os
import re
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from typing import TYPE_CHECKING, cast

from assay.engines.contract import Cached, EngineError, tell_nobody
from assay.engines.postgres_family import connecting
from assay.engines.postgresql.connecting import TITLE, connect
from assay.engines.postgresql.pooled import is_pooled
from assay.engines.postgresql.statements import file_text, filled, split

if TYPE_CHECKING:
    from collections.abc import Sequence

    import psycopg
    from psycopg.sql import Composed

    from assay.engines.contract import Instance, Tell

    Connection = psycopg.Connection[tuple[object, ...]]

LOADING = "assay loading"
DEADLOCK_TRIES = 5
# First `server_version_num` in which a session can be made to report its counts at once.
FLUSHES_COUNTS = 150000
# First `server_version_num` in which a session can end its statement when its client is gone.
ENDS_WITH_CLIENT = 140000
# Only one connection per table can write rows frozen. With more CPUs than this, several connections
# without frozen rows and a later VACUUM are faster.
FROZEN_STREAMS_MAX = 4
# A later kind requires the earlier one: a foreign key requires the primary key that it references.
KINDS = (
    ("primary keys", re.compile(r"(?is)\b(?:primary\s+key|unique)\b(?!.*\bforeign\s+key\b)")),
    ("foreign keys", re.compile(r"(?is)\b(?:foreign\s+key|references)\b")),
    ("indexes", re.compile(r"")),
)
ORDER = ("primary keys", "indexes", "foreign keys")


def execute(
    connection: Connection, statement: str | Composed, values: Sequence[object] | None = None
) -> psycopg.Cursor[tuple[object, ...]]:
    """Run one SQL statement on PostgreSQL.

    The `EngineError` has the statement and the server's message.
    """
    return connecting.execute(connection, statement, values, TITLE)


def end_with_client(connection: Connection) -> None:
    """Have the server end statements of a connection within a second after its client is killed.

    Otherwise an index would still be created after `kill -9`. Behind a pooler, and before
    PostgreSQL 14, nothing is changed.
    """
    if is_pooled(connection) or connection.info.server_version < ENDS_WITH_CLIENT:
        return
    with suppress(EngineError):  # A server's system may not notice the end of a client.
        execute(connection, file_text("end_with_client.sql"))


def add_extensions(instance: Instance) -> None:
    """Create the PostgreSQL extensions that counters need, if the server has them."""
    names = execute(instance.handle, file_text("extensions.sql")).fetchall()
    for (name,) in names:
        execute(instance.handle, filled("create_extension.sql", name=cast("str", name)))


def can_be_frozen(instance: Instance, table: str) -> bool:
    """Return True if rows can be written frozen: a plain, empty table without foreign keys."""
    try:
        cursor = execute(instance.handle, filled("can_be_frozen.sql", table=table), [table])
    except EngineError:
        return False  # The copy itself reports what is wrong with the table.
    return cursor.fetchone() is not None


def count(instance: Instance, table: str) -> int:
    """Return the number of rows of a PostgreSQL table.

    Raises `EngineError` if the table does not exist.
    """
    import psycopg

    try:
        row = instance.handle.execute(filled("count.sql", table=table)).fetchone()
    except psycopg.Error as error:
        raise EngineError(f"the rows of table {table} cannot be counted: {error}") from error
    return int(row[0])


def cached(instance: Instance) -> list[Cached]:
    """Return the buffer cache's bytes of Assay's tables and indexes, largest first."""
    rows = execute(instance.handle, file_text("cached.sql")).fetchall()
    return [Cached(*row) for row in cast("list[tuple[str, int, int]]", rows)]


def make_keys(instance: Instance, sql: str, streams: int, tell: Tell) -> None:
    """Run the statements that create keys and indexes, kind by kind.

    Tables are vacuumed and analysed before foreign keys are checked. Keys of several columns are
    then compared by index-only scans instead of sorts.

    Raises:
        EngineError: If a statement is refused. The error message has the statement; statements that
            still run are cancelled.
    """
    statements = split(sql)
    done = 0
    for kind in ORDER:
        some = [statement for statement in statements if kind_of(statement) == kind]
        if some and kind == "foreign keys":
            _vacuum(instance, streams, tell)
        _side_by_side(instance, some, streams, kind, tell)
        done += len(some)
    if done != len(statements):
        raise AssertionError("a statement of a keys file was left out")


def finish(instance: Instance) -> None:
    """Vacuum and analyse changed tables, then write a checkpoint if permitted."""
    _vacuum(instance, os.cpu_count() or 1, tell_nobody)
    checkpoint(instance)


def refuse_open_transaction(instance: Instance) -> None:
    """Raise `EngineError` if a script's statements left a PostgreSQL transaction open."""
    from psycopg.pq import TransactionStatus

    if instance.handle.info.transaction_status != TransactionStatus.IDLE:
        raise EngineError(
            "the file ends within an open transaction, whose changes would be lost: add 'commit;'"
        )


def checkpoint(instance: Instance) -> None:
    """Write a PostgreSQL checkpoint, if this user may."""
    try:
        execute(instance.handle, file_text("checkpoint.sql"))
    except EngineError as error:
        # On a user's server, checkpoints are left to its owner.
        if not failed_with(error, "InsufficientPrivilege"):
            raise


def _vacuum(instance: Instance, streams: int, tell: Tell) -> None:
    """Vacuum and analyse in parallel all tables that changed since the last time."""
    if instance.handle.info.server_version >= FLUSHES_COUNTS:
        execute(instance.handle, file_text("flush_counts.sql"))
    rows = execute(instance.handle, file_text("changed_tables.sql")).fetchall()
    vacuums = [filled("vacuum.sql", table=cast("str", name)) for (name,) in rows]
    _side_by_side(instance, vacuums, streams, "statistics", tell)


def kind_of(statement: str) -> str:
    """Return the kind of object that a statement creates in PostgreSQL, such as an index."""
    return next(kind for kind, pattern in KINDS if pattern.search(statement))


def _side_by_side(
    instance: Instance,
    statements: Sequence[str | Composed],
    streams: int,
    phase: str,
    tell: Tell,
) -> None:
    """Run independent statements in parallel, each in its own transaction."""
    if not statements:
        return
    open_now: set[Connection] = set()

    def run(statement: str | Composed) -> None:
        connection = connect(instance.address["dsn"], LOADING)
        open_now.add(connection)
        try:
            _execute_patiently(connection, statement)
        finally:
            open_now.discard(connection)
            connection.close()

    tell(phase, 0, len(statements), "statements")
    with ThreadPoolExecutor(max(1, min(streams, len(statements)))) as pool:
        running = [pool.submit(run, statement) for statement in statements]
        try:
            for done, future in enumerate(as_completed(running), 1):
                future.result()
                tell(phase, done, len(statements), "statements")
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            # Running statements are cancelled, because their results are no longer needed.
            for connection in list(open_now):
                connection.cancel_safe()
            raise


def _execute_patiently(connection: Connection, statement: str | Composed) -> None:
    for chance in range(1, DEADLOCK_TRIES + 1):
        try:
            execute(connection, statement)
            return
        except EngineError as error:
            # Two foreign keys between each other's tables lock them in opposite order.
            if chance == DEADLOCK_TRIES or not failed_with(error, "DeadlockDetected"):
                raise


def failed_with(error: EngineError, condition: str) -> bool:
    """Return True if the server raised the error that psycopg calls `condition`."""
    return type(error.__cause__).__name__ == condition
