"""Reads facts that explain a plan: indexes, changed settings, and alternative plans."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from assay.engines.contract import EngineError
from assay.engines.postgresql.loading import execute
from assay.engines.postgresql.plan_asking import ESTIMATED, EXECUTED, error_text, steers
from assay.engines.postgresql.plan_cache import GENERIC, REPEATED_MAX_S, read
from assay.engines.postgresql.statements import file_text, filled
from assay.model.catalogue import (
    Alternative,
    ChangedSetting,
    ForeignKey,
    Index,
    Notifier,
    Statistics,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engines.postgresql.plan_asking import PlanAsker
    from assay.engines.postgresql.plan_cache import Kept, PlanCache
    from assay.model.catalogue import ChangeKind
    from assay.model.plan import Plan, PlanNode

FULL_SCAN, FULL_SCANS = "Seq Scan", "enable_seqscan"
# A nested loop suits few rows; these joins first read one side completely.
JOINS_FOR_MANY = ("Hash Join", "Merge Join")
# How many tables of explicit joins, and of subqueries, the optimiser orders together by default.
# Beyond the maximum, planning may take longer than the statement.
ORDERED_TABLES, ORDERED_TABLES_MAX = 8, 14
ORDER_LIMITS = ("join_collapse_limit", "from_collapse_limit")
JOINS_SETTINGS = "enable_hashjoin, enable_mergejoin"
# Minimum factor between estimated and actual rows that can change the choice of plan.
Q_ERROR_MIN = 10.0
CACHE_MODE, EACH_ANEW = "plan_cache_mode", "force_custom_plan"


class PlanFacts:
    """Reads catalogue and optimiser facts that explain a plan."""

    def __init__(self, asker: PlanAsker, cache: PlanCache) -> None:
        self._asker = asker
        self._cache = cache
        self._changed: list[ChangedSetting] | None = None

    def indexes(self) -> list[Index]:
        """Return indexes of all tables except the server's own.

        Raises `EngineError`.
        """
        rows = cast("list[tuple[Any, ...]]", self._rows("plans/indexes.sql"))
        return [
            replace(
                Index(table, name, tuple(columns), *more),
                schema=schema,
                directions=tuple(directions),
            )
            for table, name, columns, *more, directions, schema in rows
        ]

    def extensions(self) -> dict[str, bool]:
        """Return the server's extensions, and whether the database has them.

        Raises `EngineError`.
        """
        return dict(cast("list[tuple[str, bool]]", self._rows("plans/extensions.sql")))

    def assume_indexes(self, statements: Sequence[str]) -> None:
        """Create hypothetical indexes, which exist in the memory of this connection only.

        Raises `EngineError`.
        """
        schemas = self._rows("plans/hypopg_schema.sql")
        if not schemas:
            raise EngineError("the database has no extension hypopg")
        text = filled("plans/hypothetical_index.sql", schema=str(schemas[0][0]))
        for statement in statements:
            execute(self._asker.connection, text, [statement])

    def foreign_keys(self) -> list[ForeignKey]:
        """Return foreign keys of all tables except the server's own.

        Raises `EngineError`.
        """
        rows = cast("list[tuple[Any, ...]]", self._rows("plans/foreign_keys.sql"))
        return [
            ForeignKey(name, table, tuple(columns), refers_to, schema)
            for name, table, columns, refers_to, schema in rows
        ]

    def partition_keys(self) -> dict[str, tuple[str, ...]]:
        """Return the columns of the partition key of each partitioned table.

        Raises `EngineError`.
        """
        rows = cast("list[tuple[str, list[str]]]", self._rows("plans/partition_keys.sql"))
        return {table: tuple(columns) for table, columns in rows}

    def notifiers(self) -> list[Notifier]:
        """Return the functions that send notifications, with the triggers that call them.

        Raises `EngineError`.
        """
        rows = cast("list[tuple[str, str | None, str | None]]", self._rows("plans/notifiers.sql"))
        return [Notifier(*row) for row in rows]

    def statistics(self) -> list[Statistics]:
        """Return statistics objects of all tables except the server's own.

        Raises `EngineError`.
        """
        rows = cast("list[tuple[Any, ...]]", self._rows("plans/statistics.sql"))
        return [
            Statistics(name, table, tuple(columns), tuple(kinds), *more)
            for name, table, columns, kinds, *more in rows
        ]

    def changed_settings(self) -> list[ChangedSetting]:
        """Return PostgreSQL optimiser settings that differ from their default.

        Raises `EngineError`.
        """
        if self._changed is None:
            rows = cast("list[tuple[str, str, str]]", self._rows("plans/changed_settings.sql"))
            self._changed = [ChangedSetting(*row) for row in rows]
        return self._changed

    def alternatives(
        self, operation: str, statements: Sequence[tuple[str, Sequence[object]]]
    ) -> list[Alternative]:
        """Return alternative plans of an operation's statements, with times of short ones."""
        import psycopg

        plans: list[Alternative] = []
        try:
            changed = self.changed_settings()
            with self._asker.begun(REPEATED_MAX_S):
                for number, (text, values) in enumerate(statements):
                    plans += self._of_statement((operation, number), text, values, changed)
        except (psycopg.Error, EngineError):
            # The connection has ended; the plans so far are kept.
            return plans
        return plans

    def count_rows(self, scan: PlanNode, condition: str, limit_s: float) -> int | None:
        """Return the number of rows of a scan's table that fulfil a condition of its plan."""
        import psycopg

        if scan.object is None or scan.schema is None:
            return None
        names = {"schema": scan.schema, "table": scan.object}
        asked = filled("plans/count_rows.sql", **names).as_string(self._asker.connection)
        try:
            with self._asker.begun(limit_s):
                self._asker.ask(f"{asked}\n{condition}")
                row = self._asker.cursor.fetchone()
        except psycopg.Error:
            return None
        return None if row is None else int(str(row[0]))

    def _of_statement(
        self,
        place: tuple[str, int],
        text: str,
        values: Sequence[object],
        changed: Sequence[ChangedSetting],
    ) -> list[Alternative]:
        """Return alternative plans of a statement: settings reset, limits raised, no full scans."""
        chosen = None if steers(text) else self._planned(ESTIMATED, text, values)
        if chosen is None:
            return []
        asked: list[tuple[ChangeKind, str, str]] = [
            ("setting", setting.name, setting.default) for setting in changed
        ]
        if any(node.native.endswith(FULL_SCAN) for node in chosen.root.walk()):
            asked.append(("rewrite", FULL_SCANS, "off"))
        tables = sum(node.object is not None for node in chosen.root.walk())
        if ORDERED_TABLES < tables <= ORDERED_TABLES_MAX:
            asked += [("limit", name, str(tables)) for name in ORDER_LIMITS]
        kept = self._cache.kept.get(text)
        if kept is not None and _joins_for_too_many(kept.plan):
            asked.append(("rewrite", JOINS_SETTINGS, "off"))
        plans = [self._changed_plan(place, text, values, chosen, change) for change in asked]
        if kept is not None and kept.mode == GENERIC and any(kept.rows):
            plans.append(self._custom(place, kept))
        return [alternative for alternative in plans if alternative is not None]

    def _changed_plan(
        self,
        place: tuple[str, int],
        text: str,
        values: Sequence[object],
        chosen: Plan,
        change: tuple[ChangeKind, str, str],
    ) -> Alternative | None:
        """Return the plan with one setting changed; None if it does not differ."""
        kind, name, value = change
        other = self._planned(ESTIMATED, text, values, (name, value))
        if other is None or other.line == chosen.line:
            return None
        # The chosen plan runs first, so that both find the same data in memory.
        self._planned(EXECUTED, text, values)
        measured = self._planned(EXECUTED, text, values)
        changed = self._planned(EXECUTED, text, values, (name, value))
        seconds, seconds_changed = _seconds(measured), _seconds(changed)
        if seconds is None or seconds_changed is None:
            seconds = seconds_changed = None
        return Alternative(
            *place,
            kind,
            name,
            value,
            chosen.cost,
            other.cost,
            differs=True,
            indexes=tuple(sorted(_indexes(other) - _indexes(chosen))),
            summary=other.line,
            seconds=seconds,
            seconds_changed=seconds_changed,
        )

    def _custom(self, place: tuple[str, int], kept: Kept) -> Alternative | None:
        """Return custom plans for the values with which the generic plan was captured."""
        change = (CACHE_MODE, EACH_ANEW)
        texts = [self._cache.execution(kept.name, row) for row in kept.rows]
        plans = [self._planned(EXECUTED, text, (), change) for text in texts]
        executed = [plan for plan in plans if plan is not None]
        if len(executed) < len(plans):
            return None
        seconds = [_seconds(plan) or 0.0 for plan in executed]
        others = [plan for plan in executed if plan.line != kept.plan.line]
        shown = others[0] if others else executed[0]
        return Alternative(
            *place,
            "custom",
            *change,
            kept.plan.cost,
            sum(plan.cost or 0.0 for plan in executed) / len(executed),
            differs=bool(others),
            indexes=tuple(sorted(_indexes(shown) - _indexes(kept.plan))),
            summary=shown.line,
            seconds=kept.seconds,
            seconds_changed=sum(seconds) / len(seconds),
        )

    def _planned(
        self,
        how: str,
        text: str,
        values: Sequence[object],
        change: tuple[str, str] | None = None,
    ) -> Plan | None:
        """Return a statement's plan with a setting changed temporarily; None if refused."""
        import psycopg

        asker = self._asker
        try:
            with asker.connection.transaction(force_rollback=True):
                if change is not None:
                    names, value = change
                    for name in names.split(", "):
                        asker.ask(file_text("plans/set.sql"), (name, value))
                return read(asker.explain_text(how, text, values))
        except psycopg.Error as error:
            asker.message_or_raise(error)
            return None

    def _rows(self, file: str) -> list[tuple[object, ...]]:
        import psycopg

        try:
            return self._asker.connection.execute(file_text(file).encode()).fetchall()
        except psycopg.Error as error:
            raise EngineError(error_text(error)) from error


def _joins_for_too_many(plan: Plan) -> bool:
    """Return True if an executed plan uses a join for many rows above an overestimate."""
    return any(
        _is_overestimated(below)
        for node in plan.root.walk()
        if node.native.endswith(JOINS_FOR_MANY)
        for below in node.walk()
    )


def _is_overestimated(node: PlanNode) -> bool:
    expected, seen = node.estimated_rows or 0.0, node.rows
    return seen is not None and expected > seen and (node.q_error or 0.0) >= Q_ERROR_MIN


def _seconds(plan: Plan | None) -> float | None:
    """Return the seconds of planning and execution of a plan; None without an execution."""
    if plan is None or plan.execution_s is None:
        return None
    return plan.execution_s + (plan.planning_s or 0.0)


def _indexes(plan: Plan) -> set[str]:
    return {node.index for node in plan.root.walk() if node.index is not None}
