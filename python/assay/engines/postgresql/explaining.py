"""Captures plans from PostgreSQL on a separate connection that changes nothing."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from assay.engines.plan_reading import Explained, PlanAnswer
from assay.engines.postgresql.plan_asking import OF_TRANSACTIONS, PlanAsker, error_text, steers
from assay.engines.postgresql.plan_cache import PlanCache
from assay.engines.postgresql.plan_facts import PlanFacts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from assay.engines.plan_reading import PlanAsked
    from assay.model.catalogue import (
        Alternative,
        ChangedSetting,
        ForeignKey,
        Index,
        Notifier,
        Statistics,
    )
    from assay.model.plan import PlanNode

LOST = "the server ended the transaction"


class PostgresPlans:
    """Reads plans of PostgreSQL."""

    def __init__(self, dsn: str, *, reads_only: bool = False) -> None:
        """Connect to the server; with `reads_only` each transaction refuses writes.

        With `reads_only` each transaction refuses writes.
        """
        self._asker = PlanAsker(dsn, reads_only=reads_only)
        self._cache = PlanCache(self._asker)
        self._facts = PlanFacts(self._asker, self._cache)

    def explain(
        self, statements: Sequence[tuple[str, Sequence[object]]], limit_s: float
    ) -> Iterator[Explained]:
        """Explain an operation by executing its statements in a transaction that is rolled back."""
        asks = [
            lambda text=text, values=values: self._explained(text, values, limit_s)
            for text, values in statements
        ]
        return self._in_transaction(asks, limit_s)

    def explain_prepared(
        self, statements: Sequence[tuple[str, Sequence[Sequence[object]]]], limit_s: float
    ) -> Iterator[Explained]:
        """Explain an operation's prepared statements in a transaction that is rolled back."""
        asks = [
            lambda text=text, rows=rows: self._cache.explained(text, rows, limit_s)
            for text, rows in statements
        ]
        return self._in_transaction(asks, limit_s)

    def play(self, statements: Iterable[PlanAsked], limit_s: float) -> Iterator[PlanAnswer]:
        """Execute a program's statements with their plans."""
        import psycopg

        lost = LOST
        try:
            with self._asker.begun(limit_s):
                for asked in statements:
                    yield self._answer(asked, limit_s)
            return
        except psycopg.Error as error:
            lost = error_text(error)
        yield PlanAnswer(None, error=lost)

    def indexes(self) -> list[Index]:
        """Return indexes of the PostgreSQL tables that sessions can access.

        Raises `EngineError`.
        """
        return self._facts.indexes()

    def extensions(self) -> dict[str, bool]:
        """Return the server's extensions, and whether the database has them.

        Raises `EngineError`.
        """
        return self._facts.extensions()

    def assume_indexes(self, statements: Sequence[str]) -> None:
        """Create hypothetical indexes with the extension hypopg; implements `AssumesIndexes`."""
        self._facts.assume_indexes(statements)

    def foreign_keys(self) -> list[ForeignKey]:
        """Return foreign keys of all tables except the server's own.

        Raises `EngineError`.
        """
        return self._facts.foreign_keys()

    def partition_keys(self) -> dict[str, tuple[str, ...]]:
        """Return the columns of the partition key of each partitioned table.

        Raises `EngineError`.
        """
        return self._facts.partition_keys()

    def notifiers(self) -> list[Notifier]:
        """Return the functions that send notifications, with the triggers that call them.

        Raises `EngineError`.
        """
        return self._facts.notifiers()

    def statistics(self) -> list[Statistics]:
        """Return statistics objects of all tables except the server's own.

        Raises `EngineError`.
        """
        return self._facts.statistics()

    def changed_settings(self) -> list[ChangedSetting]:
        """Return PostgreSQL optimiser settings that differ from their default.

        Raises `EngineError`.
        """
        return self._facts.changed_settings()

    def alternatives(
        self, operation: str, statements: Sequence[tuple[str, Sequence[object]]]
    ) -> list[Alternative]:
        """Return plans with each changed setting at its default, which is restored at once."""
        return self._facts.alternatives(operation, statements)

    def count_rows(self, scan: PlanNode, condition: str, limit_s: float) -> int | None:
        """Return the number of rows of a scan's table that fulfil a condition of its plan."""
        return self._facts.count_rows(scan, condition, limit_s)

    def counts(
        self, query: str, values: Sequence[object], limit_s: float
    ) -> tuple[int, int] | None:
        """Return the two numbers of a query's only row."""
        import psycopg

        try:
            with self._asker.begun(limit_s):
                self._asker.ask(query, values)
                row = self._asker.cursor.fetchone()
        except psycopg.Error:
            return None
        return None if row is None else (int(str(row[0])), int(str(row[1])))

    def close(self) -> None:
        """Close the connection to PostgreSQL."""
        self._asker.connection.close()

    def _in_transaction(
        self, asks: Sequence[Callable[[], Explained]], limit_s: float
    ) -> Iterator[Explained]:
        """Explain statements one after another in one transaction."""
        import psycopg

        done = 0
        lost = LOST
        try:
            with self._asker.begun(limit_s):
                for ask in asks:
                    yield ask()
                    done += 1
        except psycopg.Error as error:
            lost = error_text(error)
        for _ in asks[done:]:
            yield Explained(None, lost, 0.0)

    def _explained(self, text: str, values: Sequence[object], limit_s: float) -> Explained:
        begun_s = time.monotonic()
        native, reason = self._asker.plan(text, values, limit_s)
        return Explained(native, reason, time.monotonic() - begun_s)

    def _answer(self, asked: PlanAsked, limit_s: float) -> PlanAnswer:
        """Return a program statement's plan if requested, and its rows."""
        import psycopg

        asker = self._asker
        if steers(asked.text):
            return PlanAnswer(Explained(None, OF_TRANSACTIONS, 0.0) if asked.explained else None)
        explained = None
        if asked.explained:
            with asker.connection.transaction(force_rollback=True):
                explained = self._of_program(asked, limit_s)
        try:
            with asker.connection.transaction():
                asker.ask(asked.text, asked.values)
                rows = asker.cursor.fetchall() if asker.cursor.description else []
                return PlanAnswer(explained, rows, asker.cursor.rowcount)
        except psycopg.Error as error:
            return PlanAnswer(explained, error=asker.message_or_raise(error))

    def _of_program(self, asked: PlanAsked, limit_s: float) -> Explained:
        """Return the plan of a program's statement, with the values of its execution."""
        if asked.prepared:
            return self._cache.explained(asked.text, [asked.values], limit_s)
        return self._explained(asked.text, asked.values, limit_s)
