"""Asks the server for plans, on a connection of its own that changes nothing."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from assay.engines.contract import Explained, PlanAnswer
from assay.engines.postgresql.connecting import connect
from assay.engines.postgresql.statements import file_text, split

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import psycopg

    from assay.engines.contract import PlanAsked

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
LOST = "the server ended the transaction"
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
        lost = LOST
        try:
            with self._begun(limit_s):
                for text, values in statements:
                    yield self._explained(text, values, limit_s)
                    asked += 1
        except psycopg.Error as error:
            lost = _words(error)
        for _ in statements[asked:]:
            yield Explained(None, lost, 0.0)

    def play(self, statements: Iterable[PlanAsked], limit_s: float) -> Iterator[PlanAnswer]:
        """See `assay.engines.contract.PlaysPrograms`."""
        import psycopg

        lost = LOST
        try:
            with self._begun(limit_s):
                for asked in statements:
                    yield self._answer(asked, limit_s)
            return
        except psycopg.Error as error:
            lost = _words(error)
        yield PlanAnswer(None, error=lost)

    @contextmanager
    def _begun(self, limit_s: float) -> Iterator[None]:
        """A transaction that is rolled back, with a limit for each statement."""
        with self._connection.transaction(force_rollback=True):
            limit_ms = str(max(1, round(limit_s * MS_PER_S)) if limit_s else 0)
            self._connection.execute(file_text("plans/limit.sql"), [limit_ms])
            yield

    def _explained(self, text: str, values: Sequence[object], limit_s: float) -> Explained:
        begun_s = time.monotonic()
        native, reason = self._one(text, values, limit_s)
        return Explained(native, reason, time.monotonic() - begun_s)

    def _answer(self, asked: PlanAsked, limit_s: float) -> PlanAnswer:
        """A statement with its plan, where that is wanted, and then with its rows."""
        import psycopg

        if _steers(asked.text):
            return PlanAnswer(Explained(None, OF_TRANSACTIONS, 0.0) if asked.explained else None)
        told = None
        if asked.explained:
            with self._connection.transaction(force_rollback=True):
                told = self._explained(asked.text, asked.values, limit_s)
        try:
            with self._connection.transaction():
                self._ask(asked.text, asked.values)
                rows = self._cursor.fetchall() if self._cursor.description else []
                return PlanAnswer(told, rows, self._cursor.rowcount)
        except psycopg.Error as error:
            return PlanAnswer(told, error=self._words(error))

    def close(self) -> None:
        """Ends the connection."""
        self._connection.close()

    def _one(
        self, text: str, values: Sequence[object], limit_s: float
    ) -> tuple[str | None, str | None]:
        """A statement's plan, and why there is none or only estimates."""
        import psycopg

        if _steers(text):
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
        told = [None if value is None else str(value) for value in values]
        self._cursor.execute(text.encode(), told or None)

    def _words(self, error: psycopg.Error) -> str:
        if self._connection.closed:
            raise error
        return _words(error)


def _steers(text: str) -> bool:
    return split(text)[0].split()[0].lower() in TRANSACTION_WORDS


def _words(error: psycopg.Error) -> str:
    return f"PostgreSQL said: {' '.join(str(error).split())}"
