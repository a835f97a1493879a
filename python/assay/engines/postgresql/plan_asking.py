"""Captures the plan of one statement, in a transaction that the caller began."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from assay.engines.postgresql.connecting import connect
from assay.engines.postgresql.statements import file_text, split

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import psycopg

EXPLAINING = "assay plans"
# Statements that begin with these words would end the transaction that is to be rolled back.
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
ESTIMATED, EXECUTED = "plans/estimated.sql", "plans/executed.sql"
MS_PER_S = 1000


class PlanAsker:
    """A PostgreSQL connection that explains statements.

    Every statement is first planned without execution. This fills the empty catalogue cache of a
    new connection, which would count as planning time, and gives estimates for cancelled
    statements.
    """

    def __init__(self, dsn: str, *, reads_only: bool = False) -> None:
        import psycopg
        from psycopg.types.string import TextLoader

        self.connection = connect(dsn, EXPLAINING)
        # Statements that the library prepares itself are deallocated at a rollback, with all of
        # Assay's.
        self.connection.prepare_threshold = None
        # JSON stays as the server's text instead of Python objects.
        self.connection.adapters.register_loader("json", TextLoader)
        self.cursor = psycopg.RawCursor(self.connection)
        self._reads_only = reads_only

    @contextmanager
    def begun(self, limit_s: float) -> Iterator[None]:
        """Run a transaction that is rolled back, with a time limit per statement."""
        with self.connection.transaction(force_rollback=True):
            if self._reads_only:
                self.connection.execute(file_text("preflight/read_only.sql"))
            limit_ms = str(max(1, round(limit_s * MS_PER_S)) if limit_s else 0)
            self.connection.execute(file_text("plans/limit.sql"), [limit_ms])
            yield

    def plan(
        self, text: str, values: Sequence[object], limit_s: float
    ) -> tuple[str | None, str | None]:
        """Return a statement's plan, and the reason if it is missing or has only estimates."""
        import psycopg

        if steers(text):
            return None, OF_TRANSACTIONS
        try:
            estimated = self.explain_text(ESTIMATED, text, values)
        except psycopg.errors.SyntaxError:
            return None, self._executed(text, values)
        except psycopg.Error as error:
            return None, self.message_or_raise(error)
        return self.timed(text, values, limit_s, estimated)

    def timed(
        self, text: str, values: Sequence[object], limit_s: float, estimated: str
    ) -> tuple[str, str | None]:
        """Return a statement's executed plan; if that fails, the estimated plan and the reason."""
        import psycopg

        if not limit_s:
            return estimated, OF_ESTIMATES
        try:
            return self.explain_text(EXECUTED, text, values), None
        except psycopg.errors.QueryCanceled:
            return estimated, f"it was cancelled after {limit_s:.3g} s"
        except psycopg.Error as error:
            return estimated, self.message_or_raise(error)

    def explain_text(self, how: str, text: str, values: Sequence[object] = ()) -> str:
        """Return the output of the EXPLAIN variant in a file."""
        with self.connection.transaction():
            self.ask(f"{file_text(how)}\n{text}", values)
            row = self.cursor.fetchone()
        return "" if row is None else str(row[0])

    def ask(self, text: str, values: Sequence[object] = ()) -> None:
        """Execute a statement with values as text, whose types the server infers."""
        texts = [None if value is None else str(value) for value in values]
        self.cursor.execute(text.encode(), texts or None)

    def _executed(self, text: str, values: Sequence[object]) -> str:
        """Execute a statement without a plan, for later statements; return why it has none."""
        import psycopg

        try:
            with self.connection.transaction():
                self.ask(text, values)
        except psycopg.Error as error:
            return self.message_or_raise(error)
        return ONLY_EXECUTED

    def message_or_raise(self, error: psycopg.Error) -> str:
        """Return the message of a server error, unless it ended the connection.

        The error is raised again if it ended the connection.
        """
        if self.connection.closed:
            raise error
        return error_text(error)


def steers(text: str) -> bool:
    """Return True if a statement begins or ends a transaction."""
    return split(text)[0].split()[0].lower() in TRANSACTION_WORDS


def error_text(error: psycopg.Error) -> str:
    """Return PostgreSQL's error message in one line."""
    return f"PostgreSQL said: {' '.join(str(error).split())}"
