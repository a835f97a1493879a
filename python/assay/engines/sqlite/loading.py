"""Fills tables from Arrow streams: one transaction per table, one statement for all rows."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import apsw

from assay import _core
from assay.engines.contract import EngineError
from assay.engines.sqlite import settings as pragmas
from assay.engines.sqlite.database import script, statements
from assay.model.errors import RunFailedError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engines.loading import ArrowStream
    from assay.engines.sqlite.database import Database

FULL = "SQLITE_FULL"
# A failed load is discarded, so loading needs neither a journal nor syncs; sorts get memory.
WHILE_LOADING = {"journal_mode": "off", "synchronous": "off", "cache_size": "-262144"}


def fill(database: Database, table: str, rows: ArrowStream) -> None:
    """Append all rows of a stream to a table.

    Raises:
        RunFailedError: If SQLite refuses rows. The database is then unusable, so loading any other
            table fails with the same error.
    """
    if database.failure is not None:
        raise database.failure
    begin_loading(database)
    try:
        _core.sqlite_load(database.native({**database.settings, **WHILE_LOADING}), table, rows)
    except OSError as error:
        name, _, message = str(error).partition(": ")
        database.failure = _failed(f"load {table}", message, is_full=name == FULL)
        raise database.failure from error


def begin_loading(database: Database) -> None:
    """Apply SQLite settings for fast loading."""
    if database.before_loading is None:
        settings = pragmas.effective(database.own)
        database.before_loading = {name: settings[name] for name in WHILE_LOADING}
        pragmas.apply(database.own, WHILE_LOADING)


def make_keys(database: Database, sql: str) -> Iterator[None]:
    """Run the statements that create keys one by one, yielding after each.

    Raises:
        EngineError: If a statement fails. The error message has the statement.
    """
    begin_loading(database)
    for statement in statements(sql):
        run(database, statement)
        yield


def run(database: Database, statement: str) -> None:
    """Run one statement; if it fails, its transaction is rolled back.

    Raises:
        EngineError: If a statement fails. The error message has the statement.
        RunFailedError: If the disk is full.
    """
    try:
        database.own.execute(statement).fetchall()
    except apsw.Error as error:
        if database.own.in_transaction:
            database.own.execute("rollback")
        if isinstance(error, apsw.FullError):
            raise _failed("go on", str(error), is_full=True) from error
        raise EngineError(
            f"SQLite reports an error: {error}\nThe statement: {statement}"
        ) from error


def finish(database: Database) -> None:
    """Gather statistics, make the file durable and restore its settings.

    Raises:
        RunFailedError: If SQLite fails. The error message is SQLite's.
    """
    try:
        database.own.execute(script("statistics.sql")).fetchall()
        if database.before_loading is not None:
            pragmas.apply(database.own, database.before_loading)
            database.before_loading = None
        checkpoint(database)
    except apsw.Error as error:
        full = isinstance(error, apsw.FullError)
        raise _failed("finish the load", str(error), is_full=full) from error
    with database.path.open("rb") as file:
        os.fsync(file.fileno())


def checkpoint(database: Database) -> None:
    """Write a checkpoint: move the content of the write-ahead log into the file.

    Raises `apsw.Error`.
    """
    database.own.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)


def _failed(what: str, message: str, *, is_full: bool) -> RunFailedError:
    mend = (
        " Free some space, or set XDG_CACHE_HOME (data sets) and XDG_STATE_HOME (the copy of a"
        " run) to directories with more space."
    )
    return RunFailedError(f"SQLite cannot {what}: {message}.{mend if is_full else ''}")
