"""Captures plans from Virtuoso on a separate connection that changes nothing.

Statements are executed in the same way as in sessions, while the server counts each step's work.
The server's query log then has the plan. `profile()` prints the same plan, but stops after twenty
rows.
"""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.engines.bridge.errors import BridgeError
from assay.engines.bridge.statements import bound, split
from assay.engines.plan_reading import Explained
from assay.engines.virtuoso.connecting import file_text
from assay.engines.virtuoso.plan_totals import Native

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.engines.bridge.link import Link

    Statement = tuple[str, Sequence[object]]

# Statements that begin with these words would end the transaction that is to be rolled back.
TRANSACTION_WORDS = {"begin", "commit", "rollback", "savepoint", "start"}
OF_TRANSACTIONS = "it steers a transaction, and the capture has one of its own"
NO_PLAN = "Virtuoso's log has no plan of it; it was executed without"
FAILED_BEFORE = "a statement before it failed, so it was not executed"
# Seconds for which the server's clock is compared with the host's; the error is below one in a
# thousand.
CLOCK_S = 0.3
LIMIT_MIN_S = 0.001
TEXTS = ("ql_text", "ql_plan", "ql_sqlstate", "ql_error")


@dataclass(frozen=True)
class Asked:
    """A SQL statement with `?` marks, and its values in order."""

    sql: str
    values: tuple[object, ...]

    @property
    def steers(self) -> bool:
        """Return True if the statement begins or ends a transaction."""
        parts = self.sql.split(maxsplit=1)
        return bool(parts) and parts[0].lower().rstrip(";") in TRANSACTION_WORDS


def asked(text: str, values: Sequence[object]) -> Asked:
    """Return a Virtuoso statement with `?` for `$1`, `$2`, ..., without comments."""
    sql, bound_values = bound(split(text)[0], values)
    return Asked(sql, tuple(bound_values))


class VirtuosoPlans:
    """Reads plans of Virtuoso.

    Closing the reader closes its link.

    Args:
        link: Separate connection of this reader.
        query_log: Path of the server's query log, in a directory that the server may read.
    """

    def __init__(self, link: Link, query_log: str) -> None:
        self._link = link
        self._query_log = query_log
        self._tables: dict[str, str] = {}
        self._clock_hz: float | None = None

    def explain(
        self, statements: Sequence[tuple[str, Sequence[object]]], limit_s: float
    ) -> Iterator[Explained]:
        """Explain an operation by executing its statements in a transaction that is rolled back."""
        statements_asked = [self.asked(text, values) for text, values in statements]
        begun_s = time.monotonic()
        try:
            self._learn()
            logged, failure = self._executed(statements_asked, limit_s)
        except BridgeError as error:
            logged, failure = {}, _error_text(error)
        whole_s = time.monotonic() - begun_s
        for number, statement in enumerate(statements_asked):
            native, reason = self._plan(statement, logged.get(number), failure)
            if number not in logged and not statement.steers:
                failure = FAILED_BEFORE if failure else None
            yield Explained(native, reason, whole_s / len(statements_asked))

    def asked(self, text: str, values: Sequence[object]) -> Asked:
        """Return a statement with `?` marks, and its values in order."""
        return asked(text, values)

    def close(self) -> None:
        """Close the connection to Virtuoso."""
        self._link.close()

    def _learn(self) -> None:
        """Measure the rate of Virtuoso's clock, and read the names of its indexes."""
        if self._clock_hz is None:
            begun_s, begun = time.monotonic(), self._clock()
            time.sleep(CLOCK_S)
            ended = self._clock()
            self._clock_hz = (ended - begun) / (time.monotonic() - begun_s)
        rows = self._link.text(file_text("plans/keys.sql"))
        self._tables = {str(key): str(table) for key, table in rows}

    def _clock(self) -> int:
        return int(self._link.ask(file_text("plans/now.sql")).to_pylist()[0]["clock"])

    def _executed(
        self, statements_asked: Sequence[Asked], limit_s: float
    ) -> tuple[dict[int, dict[str, Any]], str | None]:
        """Return entries of Virtuoso's query log by statement number, and a failure's reason."""
        since = self._link.ask(file_text("plans/now.sql")).to_pylist()[0]["started"]
        statements = [
            (statement.sql, statement.values)
            for statement in statements_asked
            if not statement.steers
        ]
        failure = None
        self._link.run(file_text("plans/begin.sql"))
        try:
            with self._limited(limit_s * len(statements_asked)) as is_over:
                self._link.together([("begin", ()), *statements, ("rollback", ())])
        except BridgeError as error:
            if error.lost:
                raise
            failure = (
                f"it was cancelled after {limit_s:.3g} s"
                if is_over.is_set()
                else _error_text(error)
            )
        finally:
            with suppress(BridgeError):
                self._link.run(file_text("plans/end.sql"))
        asked_of = (self._query_log, str(since))
        rows = self._link.ask(file_text("plans/log.sql"), asked_of).to_pylist()
        return _matched(statements_asked, sorted(rows, key=lambda row: int(row["ql_id"]))), failure

    @contextmanager
    def _limited(self, limit_s: float) -> Iterator[threading.Event]:
        """Cancel a statement when its time limit is over."""
        is_over = threading.Event()

        def end() -> None:
            is_over.set()
            # The driver reports an error for the cancellation, which has succeeded.
            with suppress(BridgeError):
                self._link.cancel()

        timer = threading.Timer(max(LIMIT_MIN_S, limit_s), end)
        timer.start()
        try:
            yield is_over
        finally:
            timer.cancel()
            timer.join()

    def _plan(
        self, statement: Asked, entry: dict[str, Any] | None, failure: str | None
    ) -> tuple[str | None, str | None]:
        """Return a statement's plan, and the reason if it is missing or estimated only."""
        if statement.steers:
            return None, OF_TRANSACTIONS
        if entry is not None and entry["ql_plan"] and not entry["ql_sqlstate"]:
            return self._kept(str(entry["ql_plan"]), _figures(entry)).kept(), None
        if entry is not None and failure is None:
            return None, NO_PLAN
        try:
            lines = self._link.ask(file_text("plans/estimated.sql"), (statement.sql,))
        except BridgeError as error:
            return None, failure or _error_text(error)
        text = "\n".join(str(line) for line in lines.column(0).to_pylist())
        return self._kept(text, {}).kept(), failure or NO_PLAN

    def _kept(self, text: str, figures: dict[str, float]) -> Native:
        return Native(
            text,
            figures,
            self._clock_hz,
            {key: table for key, table in self._tables.items() if key in text},
            is_executed=bool(figures),
        )


def _matched(
    statements_asked: Sequence[Asked], rows: list[dict[str, Any]]
) -> dict[int, dict[str, Any]]:
    """Return the query log's entry of each statement."""
    entries: dict[int, dict[str, Any]] = {}
    at = 0
    for row in rows:
        text = str(row["ql_text"] or "").strip()
        number = next(
            (n for n in range(at, len(statements_asked)) if statements_asked[n].sql == text), None
        )
        if number is not None:
            entries[number] = row
            at = number + 1
    return entries


def _figures(entry: dict[str, Any]) -> dict[str, float]:
    return {
        str(column): float(value)
        for column, value in entry.items()
        if column not in TEXTS and value is not None
    }


def _error_text(error: Exception) -> str:
    return f"Virtuoso said: {error}"
