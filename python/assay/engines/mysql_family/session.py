"""One measured connection: an operation's statements one after another, rows as Arrow."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pymysql

from assay.engines.mysql_family.connecting import connect, interrupt, opened, words_of
from assay.engines.mysql_family.statements import bound, pieces
from assay.engines.mysql_family.values import table
from assay.model.errors import AssayError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engines.contract import Address
    from assay.model.script import Script

NO_ROWS = pa.table({})
# A deadlock, and a lock that was waited for in vain: the server advises to try again.
RETRYABLE = {1213, 1205}
# As standard SQL has it, for a connection that broke.
CONNECTION_LOST = "08006"
# Of the client's library, for a connection that is no more.
LOST = {0, 2006, 2013, 2014, 2055}
GENERAL = "HY000"
# How values are written; nothing is here of how they are read, so that rows stay texts.
ESCAPED = dict(pymysql.converters.encoders)


class StatementError(AssayError):
    """A statement failed. `sqlstate` is its class; `retryable`, whether trying again may help."""

    def __init__(self, message: str, sqlstate: str, *, retryable: bool) -> None:
        super().__init__(message)
        self.sqlstate = sqlstate
        self.retryable = retryable


class FamilySession:
    """One connection. The driver calls `execute` from a thread of its own.

    Values that are drawn are written into the text, escaped: the text protocol has no other place
    for them. An operation that meets a lost connection fails, and the next one connects anew.
    """

    def __init__(self, address: Address, script: Script) -> None:
        self._address = address
        self._operations = [
            [(pieces(one.text), one.values) for one in asked.statements]
            for asked in script.operations
        ]
        self._connection: pymysql.Connection[Any] = connect(address, conv=ESCAPED)

    def execute(self, operation: int, values: Sequence[object]) -> pa.Table:
        """Runs an operation; all rows of its last statement that has rows."""
        found: pa.Table = NO_ROWS
        try:
            if not self._connection.open:
                self._connection = opened(self._address, conv=ESCAPED)
            for parts, drawn in self._operations[operation]:
                asked = bound(parts, [values[draw] for draw in drawn], self._connection.escape)
                fetched = self._fetched(asked)
                found = found if fetched is None else fetched
        except pymysql.Error as error:
            raise self._failed(error) from None
        return found

    def interrupt(self) -> None:
        """Ends a running `execute`, from any thread, by a connection of its own."""
        interrupt(self._address, self._connection, whole=False)

    def _fetched(self, text: str) -> pa.Table | None:
        """All rows of a statement; None of one that only counts what it changed."""
        with self._connection.cursor() as cursor:
            cursor.execute(text)
            return table(cursor.description, cursor.fetchall()) if cursor.description else None

    def _failed(self, error: pymysql.Error) -> StatementError:
        number = error.args[0] if error.args else 0
        if number in LOST:
            with contextlib.suppress(pymysql.Error):
                self._connection.close()
            return StatementError(words_of(error), CONNECTION_LOST, retryable=False)
        # A transaction that the operation began is not left to the next one.
        with contextlib.suppress(pymysql.Error):
            self._connection.rollback()
        state = error.sqlstate or GENERAL
        return StatementError(words_of(error), state, retryable=number in RETRYABLE)
