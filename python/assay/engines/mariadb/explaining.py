"""Asks the server for plans, on a connection of its own that changes nothing."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING

import pymysql

from assay.engines.contract import Explained
from assay.engines.mariadb.connecting import connect, words_of
from assay.engines.mariadb.statements import bound, file_text, filled, pieces, split

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.engines.contract import Address

# A statement that begins with one of these would end the transaction that undoes everything.
TRANSACTION_WORDS = {
    "begin",
    "commit",
    "release",
    "rollback",
    "savepoint",
    "start",
    # These commit what came before them.
    "alter",
    "analyze",
    "create",
    "drop",
    "grant",
    "lock",
    "optimize",
    "rename",
    "truncate",
    "unlock",
}
OF_TRANSACTIONS = "it begins or ends a transaction, and the capture has one of its own"
NO_PLAN = "MariaDB makes no plan for this kind of statement; it was executed without"
# The server's numbers of errors: a text that cannot be explained, and a limit that was met.
SYNTAX, TIMED_OUT, INTERRUPTED = 1064, 1969, 1317
LIMIT_MIN_S = 0.001


class MariaPlans:
    """See `assay.engines.contract.PlanReader`."""

    def __init__(self, address: Address) -> None:
        self._connection = connect(address)

    def explain(
        self, statements: Sequence[tuple[str, Sequence[object]]], limit_s: float
    ) -> Iterator[Explained]:
        """Executes an operation's statements in a transaction that is rolled back."""
        failed: str | None = None
        limit = {"seconds": f"{max(LIMIT_MIN_S, limit_s):.3f}"}
        try:
            self._rows(filled("plans/limit.sql", plain=limit))
            self._rows(file_text("plans/begin.sql"))
        except pymysql.Error as error:
            failed = _words(error)
        try:
            for text, values in statements:
                begun_s = time.monotonic()
                native, reason = (None, failed) if failed else self._one(text, values, limit_s)
                if not self._connection.open:
                    failed = reason
                yield Explained(native, reason, time.monotonic() - begun_s)
        finally:
            with contextlib.suppress(pymysql.Error):
                self._connection.rollback()

    def close(self) -> None:
        """Ends the connection."""
        if self._connection.open:
            self._connection.close()

    def _one(
        self, text: str, values: Sequence[object], limit_s: float
    ) -> tuple[str | None, str | None]:
        """A statement's plan, and why there is none or only estimates."""
        if split(text)[0].split()[0].lower() in TRANSACTION_WORDS:
            return None, OF_TRANSACTIONS
        asked = bound(pieces(text), values, self._connection.escape)
        try:
            estimated = self._told("plans/estimated.sql", asked)
        except pymysql.Error as error:
            if error.args[0] == SYNTAX:
                return None, self._executed(asked)
            return None, _words(error)
        try:
            return self._told("plans/executed.sql", asked), None
        except pymysql.Error as error:
            if error.args[0] in {TIMED_OUT, INTERRUPTED}:
                return estimated, f"it was cancelled after {limit_s:.3g} s"
            return estimated, _words(error)

    def _executed(self, asked: str) -> str:
        """Executes what has no plan, for what comes after it; what is to be said of it."""
        try:
            self._rows(asked)
        except pymysql.Error as error:
            return _words(error)
        return NO_PLAN

    def _told(self, how: str, asked: str) -> str:
        return str(self._rows(f"{file_text(how)}\n{asked}")[0][0])

    def _rows(self, asked: str) -> tuple[tuple[object, ...], ...]:
        with self._connection.cursor() as cursor:
            cursor.execute(asked)
            rows: tuple[tuple[object, ...], ...] = cursor.fetchall()
            return rows


def _words(error: Exception) -> str:
    return f"MariaDB said: {words_of(error)}"
