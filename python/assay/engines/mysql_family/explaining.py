"""Captures plans from MySQL on a separate connection that changes nothing."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, TypeVar

import pymysql

from assay.engines.contract import EngineError
from assay.engines.mysql_family.alternatives import CANCELLED, PlanAsker, alternatives
from assay.engines.mysql_family.connecting import connect, error_text
from assay.engines.mysql_family.join_order import beginning_with_few
from assay.engines.mysql_family.plan_facts import (
    collations_of,
    indexes_of,
    trigger_texts_of,
)
from assay.engines.mysql_family.statements import CONF, bound, file_text, filled, pieces, split
from assay.engines.plan_reading import Explained, PlanAnswer
from assay.model.plan import Reads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from assay.engines.contract import Address
    from assay.engines.plan_reading import PlanAsked
    from assay.model.catalogue import (
        Alternative,
        ChangedSetting,
        Collation,
        Index,
        TriggerText,
    )
    from assay.model.plan import Plan, PlanNode

Answer = TypeVar("Answer")

# Statements that begin with these words would end the transaction that is to be rolled back.
TRANSACTION_WORDS = {
    "begin",
    "commit",
    "release",
    "rollback",
    "savepoint",
    "start",
    # These statements commit the previous ones implicitly.
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
OF_ESTIMATES = "estimates were asked for, and it was not executed"
NO_PLAN = "the server makes no plan for this kind of statement; it was executed without"
# Error number of the server: a statement that cannot be explained.
SYNTAX = 1064
# The server's counters of row reads: by key or at an end of an index, next rows of an index, and
# rows of a table scan.
LOOKUPS = ("Handler_read_key", "Handler_read_first", "Handler_read_last")
NEXT = ("Handler_read_next", "Handler_read_prev")
SCANNED = ("Handler_read_rnd_next",)
SOURCE = "the session's counters Handler_read_*: calls for a row, those that found none included"
# Maximum seconds of a statement that is executed three times for each setting that changes its
# plan.
REPEATED_MAX_S = 2.0
LIMIT_MIN_S = 0.001
MS_PER_S = 1000


class FamilyPlans:
    """Reads plans of MySQL and MariaDB.

    `conf` is the engine's directory: `plans/limit.sql` limits a statement's time, and
    `estimated.sql` and `executed.sql` precede a statement to explain it.
    """

    # Whether explaining a statement executes it.
    executes = True

    def __init__(self, address: Address, conf: Path) -> None:
        self._conf = conf
        self._connection = connect(address)
        self._reads: Reads | None = None

    def explain(
        self, statements: Sequence[tuple[str, Sequence[object]]], limit_s: float
    ) -> Iterator[Explained]:
        """Explain an operation by executing its statements in a transaction that is rolled back."""
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
        """Execute a program's statements with their plans."""
        failed = self._begun(limit_s)
        try:
            for asked in statements:
                yield self._answer(asked, limit_s, failed)
        finally:
            self._rolled_back()

    def _begun(self, limit_s: float) -> str | None:
        """Begin a transaction with a time limit per statement; return an error text if it fails."""
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
        """Return a program statement's plan if requested, and its rows."""
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
        """Return a statement's plan without executing any change.

        Raises pymysql's errors.
        """
        if self.executes:
            self.rows(file_text("plans/savepoint.sql"))
        explained = self._explained(asked.text, asked.values, limit_s)
        if self.executes:
            self.rows(file_text("plans/undo.sql"))
        return explained

    def read_rows(self, file: str, conf: Path | None = None) -> tuple[tuple[object, ...], ...]:
        """Return the rows of a query in a file of the engine, or of another directory `conf/`.

        Raises `EngineError`.
        """
        try:
            return self.rows(file_text(file, conf or self._conf))
        except pymysql.Error as error:
            raise EngineError(_said_text(error)) from error

    def close(self) -> None:
        """Close the connection to MySQL."""
        if self._connection.open:
            self._connection.close()

    def _explained_statement(
        self, text: str, values: Sequence[object], limit_s: float
    ) -> tuple[str | None, str | None]:
        """Return a statement's plan, and the reason if it is missing or estimated only."""
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
        """Return the plan of an executed statement, and the reason if it has estimates only.

        Raises pymysql's errors for a statement that cannot be explained.
        """
        estimated = self.estimated(asked)
        if not limit_s:
            return estimated, OF_ESTIMATES
        try:
            return self.counted(lambda: self.executed(asked)), None
        except pymysql.Error as error:
            if error.args[0] in CANCELLED:
                return estimated, f"it was cancelled after {limit_s:.3g} s"
            return estimated, _said_text(error)

    def executed(self, asked: str) -> str:
        """Return the plan of a statement by executing it.

        Raises pymysql's errors.
        """
        return self.explain_text("plans/executed.sql", asked)

    def _without_plan(self, asked: str) -> str:
        """Execute a statement without a plan, for later statements; return why it has none."""
        try:
            self.rows(asked)
        except pymysql.Error as error:
            return _said_text(error)
        return NO_PLAN

    def counted(self, execute: Callable[[], Answer]) -> Answer:
        """Return a result of `execute`, and record how the session's counters grew.

        Reading the counters also counts; two readings before the execution show by how much.
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
        """Return the plan of a statement without executing it.

        Raises pymysql's errors.
        """
        return self.explain_text("plans/estimated.sql", asked)

    def explain_text(self, how: str, asked: str) -> str:
        """Return the output of the EXPLAIN variant in the file `how`."""
        return str(self.rows(f"{file_text(how, self._conf)}\n{asked}")[0][0])

    def rows(self, asked: str) -> tuple[tuple[object, ...], ...]:
        """Return all rows of a statement on MySQL.

        Raises pymysql's errors.
        """
        with self._connection.cursor() as cursor:
            cursor.execute(asked)
            rows: tuple[tuple[object, ...], ...] = cursor.fetchall()
            return rows


class CataloguePlans(FamilyPlans):
    """Reads a MySQL or MariaDB server's plans, and the indexes and settings that explain them."""

    # Each engine has its own settings and its own parser of plans.
    changed_settings: Callable[[], list[ChangedSetting]]
    normalised: Callable[[str, str, int, str], Plan]
    # Whether a hint in the statement can choose the first table of a join.
    hints_join_order = False
    _changed: list[ChangedSetting] | None = None

    def alternatives(
        self, operation: str, statements: Sequence[tuple[str, Sequence[object]]]
    ) -> list[Alternative]:
        """Return plans with each changed setting at its default, which is restored at once.

        If the engine has hints for the join order, the plan that begins with an overestimated table
        is among them.
        """
        if self._changed is None:
            self._changed = self.changed_settings()
        if not (self._changed or self.hints_join_order) or self._begun(REPEATED_MAX_S) is not None:
            return []
        asker = PlanAsker(self._estimated_plan, self._executed_plan, self.rows, REPEATED_MAX_S)
        plans: list[Alternative] = []
        try:
            for number, (text, values) in enumerate(statements):
                place = (operation, number)
                asked = bound(pieces(text), values, self._connection.escape)
                plans += alternatives(place, asked, self._changed, asker)
                if self.hints_join_order:
                    plans += beginning_with_few(place, asked, asker)
        finally:
            self._rolled_back()
        return plans

    def count_rows(self, scan: PlanNode, condition: str, limit_s: float) -> int | None:
        """Return the number of rows of a scan's table that fulfil a condition of its plan."""
        if scan.object is None or self._begun(limit_s) is not None:
            return None
        try:
            asked = filled("plans/count_rows.sql", table=scan.object)
            return int(str(self.rows(f"{asked}\n{condition}")[0][0]))
        except pymysql.Error:
            return None
        finally:
            self._rolled_back()

    def _estimated_plan(self, asked: str) -> Plan:
        return type(self).normalised(self.explain_text("plans/estimated.sql", asked), "", 0, "")

    def _executed_plan(self, asked: str) -> Plan:
        return type(self).normalised(self.executed(asked), "", 0, "")

    def indexes(self) -> list[Index]:
        """Return indexes of the MySQL tables that sessions can access."""
        return indexes_of(self.read_rows("plans/indexes.sql"))

    def collations(self) -> dict[str, dict[str, Collation]]:
        """Return the collation of each text column of tables that sessions can access, by table.

        Raises `EngineError`.
        """
        return collations_of(self.read_rows("plans/collations.sql", CONF))

    def trigger_texts(self) -> list[TriggerText]:
        """Return the triggers of MySQL tables that the role may see.

        Raises `EngineError`.
        """
        return trigger_texts_of(self.read_rows("plans/triggers.sql", CONF))


def _steers(text: str) -> bool:
    return split(text)[0].split()[0].lower() in TRANSACTION_WORDS


def _said_text(error: Exception) -> str:
    return f"the server said: {error_text(error)}"
