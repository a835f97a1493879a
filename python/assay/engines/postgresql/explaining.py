"""Asks the server for plans, on a connection of its own that changes nothing."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from assay.engines.contract import Explained
from assay.engines.postgresql.connecting import connect
from assay.engines.postgresql.statements import file_text, split

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import psycopg

EXPLAINING = "assay plans"
# A statement that begins with one of these would end the transaction that undoes everything.
TRANSACTION_WORDS = {
    "abort",
    "begin",
    "commit",
    "end",
    "prepare",
    "release",
    "rollback",
    "savepoint",
    "start",
}
OF_TRANSACTIONS = "it steers a transaction, and the capture has one of its own"
ONLY_EXECUTED = "PostgreSQL makes no plan for this kind of statement; it was executed without"
OF_ESTIMATES = "estimates were asked for, and it was not executed"
MS_PER_S = 1000


class PostgresPlans:
    """See `assay.engines.contract.PlanReader`.

    Every statement is planned once without being executed: a new connection has an empty catalogue
    cache, which would be in the time of planning, and a statement that is cancelled has estimates.
    """

    def __init__(self, dsn: str) -> None:
        import psycopg
        from psycopg.types.string import TextLoader

        self._connection = connect(dsn, EXPLAINING)
        # The server's own words, not what they mean in Python.
        self._connection.adapters.register_loader("json", TextLoader)
        self._cursor = psycopg.RawCursor(self._connection)

    def explain(
        self, statements: Sequence[tuple[str, Sequence[object]]], limit_s: float
    ) -> Iterator[Explained]:
        """Executes an operation's statements in a transaction that is rolled back."""
        import psycopg

        asked = 0
        lost = "the server ended the transaction"
        try:
            with self._connection.transaction(force_rollback=True):
                limit_ms = str(max(1, round(limit_s * MS_PER_S)) if limit_s else 0)
                self._connection.execute(file_text("plans/limit.sql"), [limit_ms])
                for text, values in statements:
                    begun_s = time.monotonic()
                    native, reason = self._one(text, values, limit_s)
                    asked += 1
                    yield Explained(native, reason, time.monotonic() - begun_s)
        except psycopg.Error as error:
            lost = _words(error)
        for _ in statements[asked:]:
            yield Explained(None, lost, 0.0)

    def close(self) -> None:
        """Ends the connection."""
        self._connection.close()

    def _one(
        self, text: str, values: Sequence[object], limit_s: float
    ) -> tuple[str | None, str | None]:
        """A statement's plan, and why there is none or only estimates."""
        import psycopg

        if split(text)[0].split()[0].lower() in TRANSACTION_WORDS:
            return None, OF_TRANSACTIONS
        try:
            estimated = self._told("plans/estimated.sql", text, values)
        except psycopg.errors.SyntaxError:
            return None, self._executed(text, values)
        except psycopg.Error as error:
            return None, self._words(error)
        return self._timed(text, values, limit_s, estimated)

    def _timed(
        self, text: str, values: Sequence[object], limit_s: float, estimated: str
    ) -> tuple[str, str | None]:
        """The plan of a statement that is executed; else what was estimated, and why."""
        import psycopg

        if not limit_s:
            return estimated, OF_ESTIMATES
        try:
            return self._told("plans/executed.sql", text, values), None
        except psycopg.errors.QueryCanceled:
            return estimated, f"it was cancelled after {limit_s:.3g} s"
        except psycopg.Error as error:
            return estimated, self._words(error)

    def _told(self, how: str, text: str, values: Sequence[object]) -> str:
        with self._connection.transaction():
            self._ask(f"{file_text(how)}\n{text}", values)
            row = self._cursor.fetchone()
        return "" if row is None else str(row[0])

    def _executed(self, text: str, values: Sequence[object]) -> str:
        """Executes what has no plan, for what comes after it; what is to be said of it."""
        import psycopg

        try:
            with self._connection.transaction():
                self._ask(text, values)
        except psycopg.Error as error:
            return self._words(error)
        return ONLY_EXECUTED

    def _ask(self, text: str, values: Sequence[object]) -> None:
        # As texts, so that the server gives them the types that it gives the measured ones.
        self._cursor.execute(text.encode(), [str(value) for value in values] or None)

    def _words(self, error: psycopg.Error) -> str:
        if self._connection.closed:
            raise error
        return _words(error)


def _words(error: psycopg.Error) -> str:
    return f"PostgreSQL said: {' '.join(str(error).split())}"
