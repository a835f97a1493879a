"""Asks the server for plans, on a connection of its own that changes nothing."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING

import pymysql

from assay.engines.contract import Explained
from assay.engines.mysql_family.connecting import connect, words_of
from assay.engines.mysql_family.statements import bound, file_text, filled, pieces, split

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

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
NO_PLAN = "the server makes no plan for this kind of statement; it was executed without"
# The server's numbers of errors: a text that cannot be explained, and a limit that was met.
SYNTAX = 1064
CANCELLED = {1317, 1969, 3024}
LIMIT_MIN_S = 0.001
MS_PER_S = 1000


class FamilyPlans:
    """See `assay.engines.contract.PlanReader`.

    `conf` is the engine's: `plans/limit.sql` sets how long a statement may take, `estimated.sql`
    and `executed.sql` begin what asks for a plan.
    """

    def __init__(self, address: Address, conf: Path) -> None:
        self._conf = conf
        self._connection = connect(address)

    def explain(
        self, statements: Sequence[tuple[str, Sequence[object]]], limit_s: float
    ) -> Iterator[Explained]:
        """Executes an operation's statements in a transaction that is rolled back."""
        failed: str | None = None
        limit_ms = max(LIMIT_MIN_S, limit_s) * MS_PER_S
        limit = {"seconds": f"{limit_ms / MS_PER_S:.3f}", "milliseconds": f"{limit_ms:.0f}"}
        try:
            self.rows(filled("plans/limit.sql", plain=limit, conf=self._conf))
            self.rows(file_text("plans/begin.sql"))
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
            return self.read_plan(asked, limit_s)
        except pymysql.Error as error:
            if error.args[0] == SYNTAX:
                return None, self._executed(asked)
            return None, _words(error)

    def read_plan(self, asked: str, limit_s: float) -> tuple[str | None, str | None]:
        """The plan of a statement, executed, and why it has estimates only.

        Raises what pymysql raises of a statement that cannot be explained.
        """
        estimated = self.told("plans/estimated.sql", asked)
        try:
            return self.told("plans/executed.sql", asked), None
        except pymysql.Error as error:
            if error.args[0] in CANCELLED:
                return estimated, f"it was cancelled after {limit_s:.3g} s"
            return estimated, _words(error)

    def _executed(self, asked: str) -> str:
        """Executes what has no plan, for what comes after it; what is to be said of it."""
        try:
            self.rows(asked)
        except pymysql.Error as error:
            return _words(error)
        return NO_PLAN

    def told(self, how: str, asked: str) -> str:
        """What the server answers to a statement with `how`, a file of the engine, before it."""
        return str(self.rows(f"{file_text(how, self._conf)}\n{asked}")[0][0])

    def rows(self, asked: str) -> tuple[tuple[object, ...], ...]:
        """All rows of a statement. Raises what pymysql raises."""
        with self._connection.cursor() as cursor:
            cursor.execute(asked)
            rows: tuple[tuple[object, ...], ...] = cursor.fetchall()
            return rows


def _words(error: Exception) -> str:
    return f"the server said: {words_of(error)}"
