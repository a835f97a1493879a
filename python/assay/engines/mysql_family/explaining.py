"""Captures plans on a separate connection that changes nothing."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, TypeVar

import pymysql

from assay.engines.contract import EngineError
from assay.engines.mysql_family.alternatives import PlanAsker, alternatives
from assay.engines.mysql_family.connecting import connect, error_text
from assay.engines.mysql_family.plan_facts import indexes_of
from assay.engines.mysql_family.statements import bound, file_text, filled, pieces, split
from assay.engines.plan_reading import Explained, PlanAnswer
from assay.model.plan import Reads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from assay.engines.contract import Address
    from assay.engines.plan_reading import PlanAsked
    from assay.model.catalogue import Alternative, ChangedSetting, Index
    from assay.model.plan import Plan

Answer = TypeVar("Answer")

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
# The server's counters of calls for a row: by a key or at an end of an index, on from there, and of
# a whole table.
LOOKUPS = ("Handler_read_key", "Handler_read_first", "Handler_read_last")
NEXT = ("Handler_read_next", "Handler_read_prev")
SCANNED = ("Handler_read_rnd_next",)
SOURCE = "the session's counters Handler_read_*: calls for a row, those that found none included"
# A statement is executed thrice for each setting that changes its plan: longer ones are not.
REPEATED_MAX_S = 2.0
LIMIT_MIN_S = 0.001
MS_PER_S = 1000


class FamilyPlans:
    """Reads plans of MySQL's family; implements `assay.engines.plan_reading.PlanReader`.

    `conf` is the engine's: `plans/limit.sql` sets how long a statement may take, `estimated.sql`
    and `executed.sql` begin what asks for a plan.
    """

    # Whether asking for a plan executes the statement.
    executes = True

    def __init__(self, address: Address, conf: Path) -> None:
        self._conf = conf
        self._connection = connect(address)
        self._reads: Reads | None = None

    def explain(
        self, statements: Sequence[tuple[str, Sequence[object]]], limit_s: float
    ) -> Iterator[Explained]:
        """Executes an operation's statements in a transaction that is rolled back."""
        failed = self._begun(limit_s)
        try:
            for text, values in statements:
                explained = self._explained(text, values, limit_s, failed)
                if not self._connection.open:
                    failed = explained.reason
                yield explained
        finally:
            self._rolled_back()

    def play(self, statements: Iterable[PlanAsked], limit_s: float) -> Iterator[PlanAnswer]:
        """Play statements with their plans; implements `PlaysPrograms`."""
        failed = self._begun(limit_s)
        try:
            for asked in statements:
                yield self._answer(asked, limit_s, failed)
        finally:
            self._rolled_back()

    def _begun(self, limit_s: float) -> str | None:
        """Begins a transaction with a limit for each statement; why there is none."""
        limit_ms = max(LIMIT_MIN_S, limit_s) * MS_PER_S
        limit = {"seconds": f"{limit_ms / MS_PER_S:.3f}", "milliseconds": f"{limit_ms:.0f}"}
        try:
            self.rows(filled("plans/limit.sql", plain=limit, conf=self._conf))
            self.rows(file_text("plans/begin.sql"))
        except pymysql.Error as error:
            return _said_text(error)
        return None

    def _rolled_back(self) -> None:
        with contextlib.suppress(pymysql.Error):
            self._connection.rollback()

    def _explained(
        self, text: str, values: Sequence[object], limit_s: float, failed: str | None = None
    ) -> Explained:
        begun_s = time.monotonic()
        self._reads = None
        native, reason = (
            (None, failed) if failed else self._explained_statement(text, values, limit_s)
        )
        return Explained(native, reason, time.monotonic() - begun_s, self._reads)

    def _answer(self, asked: PlanAsked, limit_s: float, failed: str | None) -> PlanAnswer:
        """A statement with its plan, where that is wanted, and then with its rows."""
        if failed is not None:
            return PlanAnswer(None, error=failed)
        if _steers(asked.text):
            return PlanAnswer(Explained(None, OF_TRANSACTIONS, 0.0) if asked.explained else None)
        explained = None
        try:
            if asked.explained:
                explained = self._explained_alone(asked, limit_s)
            with self._connection.cursor() as cursor:
                text = bound(pieces(asked.text), asked.values, self._connection.escape)
                count = cursor.execute(text)
                return PlanAnswer(explained, cursor.fetchall(), count)
        except pymysql.Error as error:
            return PlanAnswer(explained, error=_said_text(error))

    def _explained_alone(self, asked: PlanAsked, limit_s: float) -> Explained:
        """A statement's plan, with nothing changed. Raises what pymysql raises."""
        if self.executes:
            self.rows(file_text("plans/savepoint.sql"))
        explained = self._explained(asked.text, asked.values, limit_s)
        if self.executes:
            self.rows(file_text("plans/undo.sql"))
        return explained

    def read_rows(self, file: str) -> tuple[tuple[object, ...], ...]:
        """Return the rows of a file of the engine. Raises `EngineError`."""
        try:
            return self.rows(file_text(file, self._conf))
        except pymysql.Error as error:
            raise EngineError(_said_text(error)) from error

    def close(self) -> None:
        """Ends the connection."""
        if self._connection.open:
            self._connection.close()

    def _explained_statement(
        self, text: str, values: Sequence[object], limit_s: float
    ) -> tuple[str | None, str | None]:
        """A statement's plan, and why there is none or only estimates."""
        if _steers(text):
            return None, OF_TRANSACTIONS
        asked = bound(pieces(text), values, self._connection.escape)
        try:
            return self.read_plan(asked, limit_s)
        except pymysql.Error as error:
            if error.args[0] == SYNTAX:
                return None, self._without_plan(asked)
            return None, _said_text(error)

    def read_plan(self, asked: str, limit_s: float) -> tuple[str | None, str | None]:
        """The plan of a statement, executed, and why it has estimates only.

        Raises what pymysql raises of a statement that cannot be explained.
        """
        estimated = self.estimated(asked)
        try:
            return self.counted(lambda: self.executed(asked)), None
        except pymysql.Error as error:
            if error.args[0] in CANCELLED:
                return estimated, f"it was cancelled after {limit_s:.3g} s"
            return estimated, _said_text(error)

    def executed(self, asked: str) -> str:
        """The plan of a statement that is executed for it. Raises what pymysql raises."""
        return self.explain_text("plans/executed.sql", asked)

    def _without_plan(self, asked: str) -> str:
        """Executes what has no plan, for what comes after it; what is to be said of it."""
        try:
            self.rows(asked)
        except pymysql.Error as error:
            return _said_text(error)
        return NO_PLAN

    def counted(self, execute: Callable[[], Answer]) -> Answer:
        """Return the result of `execute`, and keep the session's counters as its reads.

        Counting counts its own reads, too: how many is known from counting twice before.
        """
        first, before = self._counters(), self._counters()
        given = execute()
        after = self._counters()
        read = {name: after[name] - 2 * before[name] + first[name] for name in after}
        self._reads = Reads(
            SOURCE,
            index_lookups=sum(read.get(name, 0) for name in LOOKUPS),
            index_rows=sum(read.get(name, 0) for name in (*LOOKUPS, *NEXT)),
            scan_rows=sum(read.get(name, 0) for name in SCANNED),
        )
        return given

    def _counters(self) -> dict[str, int]:
        rows = self.rows(file_text("plans/reads.sql"))
        return {str(name): int(str(count)) for name, count in rows}

    def estimated(self, asked: str) -> str:
        """Return the plan of a statement without executing it. Raises what pymysql raises."""
        return self.explain_text("plans/estimated.sql", asked)

    def explain_text(self, how: str, asked: str) -> str:
        """Return the server's answer to a statement with `how`, a file of the engine, before it."""
        return str(self.rows(f"{file_text(how, self._conf)}\n{asked}")[0][0])

    def rows(self, asked: str) -> tuple[tuple[object, ...], ...]:
        """All rows of a statement. Raises what pymysql raises."""
        with self._connection.cursor() as cursor:
            cursor.execute(asked)
            rows: tuple[tuple[object, ...], ...] = cursor.fetchall()
            return rows


class CataloguePlans(FamilyPlans):
    """Plans of an engine whose `conf` also has `plans/indexes.sql`, and what explains them."""

    # Both settings and the meaning of a plan's text are an engine's own.
    changed_settings: Callable[[], list[ChangedSetting]]
    normalised: Callable[[str, str, int, str], Plan]
    _changed: list[ChangedSetting] | None = None

    def alternatives(
        self, operation: str, statements: Sequence[tuple[str, Sequence[object]]]
    ) -> list[Alternative]:
        """Return plans with each changed setting back at its default, which is reverted at once."""
        if self._changed is None:
            self._changed = self.changed_settings()
        if not self._changed or self._begun(REPEATED_MAX_S) is not None:
            return []
        try:
            return [
                alternative
                for number, (text, values) in enumerate(statements)
                for alternative in alternatives(
                    (operation, number),
                    bound(pieces(text), values, self._connection.escape),
                    self._changed,
                    PlanAsker(self._estimated_plan, self._executed_plan, self.rows),
                )
            ]
        finally:
            self._rolled_back()

    def _estimated_plan(self, asked: str) -> Plan:
        return type(self).normalised(self.explain_text("plans/estimated.sql", asked), "", 0, "")

    def _executed_plan(self, asked: str) -> Plan:
        return type(self).normalised(self.executed(asked), "", 0, "")

    def indexes(self) -> list[Index]:
        """Return indexes of the tables that sessions see."""
        return indexes_of(self.read_rows("plans/indexes.sql"))


def _steers(text: str) -> bool:
    return split(text)[0].split()[0].lower() in TRANSACTION_WORDS


def _said_text(error: Exception) -> str:
    return f"the server said: {error_text(error)}"
