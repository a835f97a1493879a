"""Asks SQLite for plans, in the host, on a connection of its own that changes nothing."""

from __future__ import annotations

import json
import re
import threading
import time
from typing import TYPE_CHECKING, Any

import apsw
import apsw.ext

from assay.engines.contract import Explained
from assay.engines.sqlite.database import script
from assay.model.units import NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

OF_ESTIMATES = "its plan alone was asked for, and it was not executed"
UNTIMED = "SQLite tells neither rows nor times of operators"
OF_TRANSACTIONS = "it steers a transaction, and the capture has one of its own"
# For `sqlite3_stmt_explain`.
QUERY_PLAN = 2
STATUS = "SQLITE_STMTSTATUS_"
TRANSACTIONS = {apsw.SQLITE_TRANSACTION, apsw.SQLITE_SAVEPOINT}
CHANGES = {
    apsw.SQLITE_INSERT: "INSERT",
    apsw.SQLITE_UPDATE: "UPDATE",
    apsw.SQLITE_DELETE: "DELETE",
}
_NAMED = re.compile(r"(?i)\b(\w+)\s+as\s+(\w+)\b")


class SqlitePlans:
    """See `assay.engines.contract.PlanReader`."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def explain(
        self, statements: Sequence[tuple[str, Sequence[object]]], limit_s: float
    ) -> Iterator[Explained]:
        """Executes an operation's statements in a transaction that is rolled back."""
        failed: str | None = None
        self._connection.execute("begin")
        try:
            for text, values in statements:
                begun_s = time.monotonic()
                if failed is None:
                    native, reason, is_broken = self._one(text, values, limit_s)
                    failed = "a statement before it failed" if is_broken else None
                else:
                    native, reason = None, failed
                yield Explained(native, reason, time.monotonic() - begun_s)
        finally:
            if self._connection.in_transaction:
                self._connection.execute("rollback")

    def close(self) -> None:
        """Closes the connection."""
        self._connection.close()

    def _one(
        self, text: str, values: Sequence[object], limit_s: float
    ) -> tuple[str | None, str | None, bool]:
        """A statement's plan, why it tells less than others', whether what follows has no sense."""
        native = None
        try:
            actions = apsw.ext.query_info(self._connection, text, actions=True).actions or []
            if any(told.action in TRANSACTIONS for told in actions):
                return None, OF_TRANSACTIONS, False
            plan = self._connection.execute(text, values, explain=QUERY_PLAN).fetchall()
            told = {
                "plan": [{"id": row[0], "parent": row[1], "detail": row[3]} for row in plan],
                "changes": _changes(actions),
                "aliases": _aliases(self._connection, text),
            }
            native = json.dumps(told, indent=1)
            if not limit_s:
                return native, OF_ESTIMATES, False
            told |= self._executed(text, values, limit_s)
            return json.dumps(told, indent=1), UNTIMED, False
        except apsw.InterruptError:
            return native, f"it was cancelled after {limit_s:.3g} s", True
        except apsw.Error as error:
            return native, f"SQLite said: {' '.join(str(error).split())}", True

    def _executed(self, text: str, values: Sequence[object], limit_s: float) -> dict[str, Any]:
        """What SQLite counts of a statement while it is executed to its end."""
        told: list[dict[str, Any]] = []
        timer = threading.Timer(limit_s, self._connection.interrupt)
        self._connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, told.append)
        timer.start()
        begun_ns = time.monotonic_ns()
        try:
            for _ in self._connection.execute(text, values, can_cache=False):
                pass
            execution_s = (time.monotonic_ns() - begun_ns) / NS_PER_S
        finally:
            timer.cancel()
            self._connection.trace_v2(0, None)
        counted = told[0]["stmt_status"] if told else {}
        names = {name: name.removeprefix(STATUS).lower() for name in counted}
        return {
            "execution_s": execution_s,
            "counted": {names[name]: value for name, value in counted.items()},
        }


def _changes(actions: Sequence[apsw.ext.QueryAction]) -> dict[str, str | None] | None:
    """What a statement does to which table; None: it changes nothing."""
    found = [told for told in actions if told.action in CHANGES]
    return {"how": CHANGES[found[0].action], "table": found[0].table_name} if found else None


def _aliases(connection: apsw.Connection, text: str) -> dict[str, str]:
    """Tables by the names that a statement gives them; SQLite's plans have those names."""
    tables = {row[0].lower() for row in connection.execute(script("tables.sql"))}
    named = ((found[1].lower(), found[2].lower()) for found in _NAMED.finditer(text))
    return {alias: table for table, alias in named if table in tables and alias not in tables}
