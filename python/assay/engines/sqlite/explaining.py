"""Reads plans from SQLite in the host process, on a separate connection that changes nothing."""

from __future__ import annotations

import json
import logging
import re
import threading
import time
from contextlib import contextmanager
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import apsw
import apsw.ext

from assay.analysis.plans.aliases import aliases
from assay.engines.contract import EngineError
from assay.engines.plan_reading import Explained, PlanAnswer
from assay.engines.sqlite.alternatives import with_fresh_statistics
from assay.engines.sqlite.bytecode import (
    columns_by_root,
    columns_read,
    filtered_scans,
    program_of,
)
from assay.engines.sqlite.catalogue import changed_of, indexes_of
from assay.engines.sqlite.conditions import condition_of, counted_condition, scanned_alone
from assay.engines.sqlite.database import script
from assay.engines.sqlite.ordering import counted_first_rows
from assay.engines.sqlite.scans import counted_scans
from assay.engines.sqlite.unions import COMPOUND, with_duplicates
from assay.model.units import NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from assay.engines.plan_reading import PlanAsked
    from assay.model.catalogue import Alternative, ChangedSetting, Index

log = logging.getLogger(__name__)

OF_ESTIMATES = "its plan alone was asked for, and it was not executed"
UNTIMED = "SQLite tells neither rows nor times of operators"
OF_TRANSACTIONS = "it steers a transaction, and the capture has one of its own"
# Maximum seconds for gathering statistics, which reads all indexes.
GATHERING_MAX_S = 10.0
# Mode of `sqlite3_stmt_explain` for EXPLAIN QUERY PLAN.
QUERY_PLAN = 2
STATUS = "SQLITE_STMTSTATUS_"
TRANSACTIONS = {apsw.SQLITE_TRANSACTION, apsw.SQLITE_SAVEPOINT}
CHANGES = {
    apsw.SQLITE_INSERT: "INSERT",
    apsw.SQLITE_UPDATE: "UPDATE",
    apsw.SQLITE_DELETE: "DELETE",
}
_WORD = re.compile(r"\w+")


class SqlitePlans:
    """Reads plans of SQLite."""

    def __init__(
        self, connection: apsw.Connection, copied: Callable[[], apsw.Connection] | None = None
    ) -> None:
        """Take over a SQLite connection for reading plans.

        Args:
            connection: Connection, which is closed with the reader.
            copied: Copies the file and opens the copy for gathering statistics; None if statistics
                are gathered in the file itself and reverted.
        """
        self._connection = connection
        self._copied = copied
        self._copy: SqlitePlans | None = None

    def explain(
        self, statements: Sequence[tuple[str, Sequence[object]]], limit_s: float
    ) -> Iterator[Explained]:
        """Explain an operation by executing its statements in a transaction that is rolled back."""
        failed: str | None = None
        with self._begun():
            for text, values in statements:
                explained, is_broken = self._explained(text, values, limit_s, failed)
                if is_broken:
                    failed = "a statement before it failed"
                yield explained

    def play(self, statements: Iterable[PlanAsked], limit_s: float) -> Iterator[PlanAnswer]:
        """Execute a program's statements with their plans."""
        with self._begun():
            for asked in statements:
                yield self._answer(asked, limit_s)

    @contextmanager
    def _begun(self) -> Iterator[None]:
        """Run a SQLite transaction whose changes are rolled back at the end."""
        self._connection.execute("begin")
        try:
            yield
        finally:
            if self._connection.in_transaction:
                self._connection.execute("rollback")

    def _explained(
        self, text: str, values: Sequence[object], limit_s: float, failed: str | None = None
    ) -> tuple[Explained, bool]:
        """Return a statement's plan, and whether later statements cannot be explained."""
        begun_s = time.monotonic()
        if failed is not None:
            return Explained(None, failed, 0.0), True
        native, reason, is_broken = self._explained_statement(text, values, limit_s)
        return Explained(native, reason, time.monotonic() - begun_s), is_broken

    def _answer(self, asked: PlanAsked, limit_s: float) -> PlanAnswer:
        """Execute a statement of a transaction; return its rows, and its plan if requested."""
        values = [float(value) if isinstance(value, Decimal) else value for value in asked.values]
        explained = None
        try:
            if self._steers(asked.text):
                explained = Explained(None, OF_TRANSACTIONS, 0.0) if asked.explained else None
                return PlanAnswer(explained)
            if asked.explained:
                self._connection.execute("savepoint plan")
                explained, _ = self._explained(asked.text, values, limit_s)
                self._connection.execute("rollback to plan")
            before = self._connection.total_changes()
            rows = self._connection.execute(asked.text, values).fetchall()
            return PlanAnswer(
                explained, rows, len(rows) or self._connection.total_changes() - before
            )
        except apsw.Error as error:
            return PlanAnswer(explained, error=_error_text(error))

    def _steers(self, text: str) -> bool:
        actions = apsw.ext.query_info(self._connection, text, actions=True).actions or []
        return any(action.action in TRANSACTIONS for action in actions)

    def indexes(self) -> list[Index]:
        """Return the indexes of the database."""
        try:
            return indexes_of(self._connection)
        except apsw.Error as error:
            raise EngineError(_error_text(error)) from error

    def changed_settings(self) -> list[ChangedSetting]:
        """Return the settings that differ from their default."""
        try:
            return changed_of(self._connection)
        except apsw.Error as error:
            raise EngineError(_error_text(error)) from error

    def alternatives(
        self, operation: str, statements: Sequence[tuple[str, Sequence[object]]]
    ) -> list[Alternative]:
        """Return plans with fresh statistics, gathered in a copy or reverted."""
        reading = [statement for statement in statements if self._only_reads(statement[0])]
        if len(reading) < len(statements):
            return []
        try:
            return self._writable()._gathered(operation, statements)
        except (apsw.Error, EngineError) as error:
            log.info("plans with fresh statistics are not known: %s", _error_text(error))
            return []

    def _writable(self) -> SqlitePlans:
        """Return a plan reader of a writable file: itself, or one of a copy."""
        if self._copied is None:
            return self
        if self._copy is None:
            self._copy = SqlitePlans(self._copied())
        return self._copy

    def _gathered(
        self, operation: str, statements: Sequence[tuple[str, Sequence[object]]]
    ) -> list[Alternative]:
        with self._limited(GATHERING_MAX_S):
            return with_fresh_statistics(
                self._connection,
                operation,
                statements,
                lambda statement, limit_s: self._explained_statement(*statement, limit_s)[0],
            )

    def _only_reads(self, text: str) -> bool:
        try:
            actions = apsw.ext.query_info(self._connection, text, actions=True).actions or []
        except apsw.Error:
            return False
        return not any(
            action.action in TRANSACTIONS or action.action in CHANGES for action in actions
        )

    def counts(
        self, query: str, values: Sequence[object], limit_s: float
    ) -> tuple[int, int] | None:
        """Return the two numbers of a query's only row."""
        try:
            with self._limited(limit_s):
                rows = self._connection.execute(query, list(values)).fetchall()
        except apsw.Error:
            return None
        return (int(str(rows[0][0])), int(str(rows[0][1]))) if rows else None

    def close(self) -> None:
        """Close the connection to SQLite."""
        if self._copy is not None:
            self._copy.close()
        self._connection.close()

    def _explained_statement(
        self, text: str, values: Sequence[object], limit_s: float
    ) -> tuple[str | None, str | None, bool]:
        """Return a plan, the reason if it is incomplete, and whether later statements fail."""
        native = None
        try:
            actions = apsw.ext.query_info(self._connection, text, actions=True).actions or []
            if any(action.action in TRANSACTIONS for action in actions):
                return None, OF_TRANSACTIONS, False
            plan = self._connection.execute(text, values, explain=QUERY_PLAN).fetchall()
            program = program_of(self._connection, text, values)
            places = columns_by_root(self._connection)
            document: dict[str, Any] = {
                "plan": [{"id": row[0], "parent": row[1], "detail": row[3]} for row in plan],
                "changes": _changes(actions),
                "aliases": _aliases(self._connection, text),
                "columns": columns_read(program, places),
            }
            native = json.dumps(document, indent=1)
            if not limit_s:
                return native, OF_ESTIMATES, False
            scans = filtered_scans(program, places, values)
            with self._limited(limit_s):
                document["scans"] = counted_scans(self._connection, scans) or self._by_text(
                    document["plan"], text, values
                )
                document["first_rows"] = counted_first_rows(
                    self._connection, document["plan"], text, values
                )
            document |= self._executed(text, values, limit_s)
            document["union"] = self._union(document, text, values, limit_s)
            return json.dumps(document, indent=1), UNTIMED, False
        except apsw.InterruptError:
            return native, f"it was cancelled after {limit_s:.3g} s", True
        except apsw.Error as error:
            return native, _error_text(error), True

    def _union(
        self, document: dict[str, Any], text: str, values: Sequence[object], limit_s: float
    ) -> dict[str, Any] | None:
        """Return rows of a union, and rows and time with its duplicates; None for others."""
        is_union = any(line["detail"].startswith(COMPOUND) for line in document["plan"])
        changed = with_duplicates(text) if is_union else None
        if changed is None:
            return None
        other = self._executed(changed, values, limit_s)
        return {
            "rows": document["returned"],
            "all_rows": other["returned"],
            "all_s": other["execution_s"],
        }

    def _by_text(
        self, plan: list[dict[str, Any]], text: str, values: Sequence[object]
    ) -> list[dict[str, Any]]:
        """Return row counts of a SQLite scan whose condition only the statement's text shows."""
        condition = condition_of(text) if scanned_alone(plan) else None
        return [] if condition is None else counted_condition(self._connection, condition, values)

    @contextmanager
    def _limited(self, limit_s: float) -> Iterator[None]:
        """Interrupt the connection when its time limit is over."""
        timer = threading.Timer(limit_s, self._connection.interrupt)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _executed(self, text: str, values: Sequence[object], limit_s: float) -> dict[str, Any]:
        """Execute a statement to its end and return SQLite's counts for it."""
        profiles: list[dict[str, Any]] = []
        self._connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, profiles.append)
        begun_ns = time.monotonic_ns()
        try:
            with self._limited(limit_s):
                rows = self._connection.execute(text, values, can_cache=False)
                returned = sum(1 for _ in rows)
            execution_s = (time.monotonic_ns() - begun_ns) / NS_PER_S
            changed = self._connection.changes()
        finally:
            self._connection.trace_v2(0, None)
        counted = profiles[0]["stmt_status"] if profiles else {}
        names = {name: name.removeprefix(STATUS).lower() for name in counted}
        return {
            "execution_s": execution_s,
            "returned": returned,
            "changed": changed,
            "counted": {names[name]: value for name, value in counted.items()},
        }


def _error_text(error: apsw.Error | EngineError) -> str:
    return f"SQLite said: {' '.join(str(error).split())}"


def _changes(actions: Sequence[apsw.ext.QueryAction]) -> dict[str, str | None] | None:
    """Return the kind of change and the table of a statement; None if it only reads."""
    changes = [action for action in actions if action.action in CHANGES]
    return {"how": CHANGES[changes[0].action], "table": changes[0].table_name} if changes else None


def _aliases(connection: apsw.Connection, text: str) -> dict[str, str]:
    """Return tables by their alias in a statement, because SQLite's plans use the alias.

    Names of tables are those of the catalogue, in whatever case the statement writes them.
    """
    names = {row[0].lower(): row[0] for row in connection.execute(script("tables.sql"))}
    spelt = {word for word in _WORD.findall(text) if word.lower() in names}
    return {alias: names[table.lower()] for alias, table in aliases(text, spelt).items()}
