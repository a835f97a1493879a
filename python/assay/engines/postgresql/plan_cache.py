"""Captures plans of prepared statements as the plan cache of timed sessions has them.

The server plans the first five executions of a prepared statement individually (custom), and then
decides whether to keep one plan for all values (generic). EXPLAIN EXECUTE counts as an execution
but executes nothing, so the decision is reached without side effects.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

from assay.engines.plan_reading import CachedPlan, Explained
from assay.engines.postgresql.plan_asking import ESTIMATED, EXECUTED, OF_TRANSACTIONS, steers
from assay.engines.postgresql.plans import normalised
from assay.engines.postgresql.statements import file_text, filled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engines.postgresql.plan_asking import PlanAsker
    from assay.model.plan import Plan

# Number of custom plans after which the server decides.
CUSTOM_PLANS = 5
# Number of captures of a statement with drawn values, to see whether plans differ.
CAPTURES = 3
# A statement that takes longer (in seconds) is captured once, to limit the total time.
REPEATED_MAX_S = 2.0
# First version that reports the number of generic and custom plans of a prepared statement.
COUNTS_SINCE = 140_000
CUSTOM: Literal["custom"] = "custom"
GENERIC: Literal["generic"] = "generic"
Mode = Literal["generic", "custom"]


@dataclass(frozen=True)
class Kept:
    """A prepared statement of this connection, with its plan.

    Attributes:
        name: Name of the prepared statement.
        rows: Rows of values that its plan was captured with.
        mode: Kind of plan, as in `Plan.mode`.
        plan: The returned plan.
        seconds: Mean time of its captures, including planning; None if it was not executed.
    """

    name: str
    rows: Sequence[Sequence[object]]
    mode: Mode | None
    plan: Plan
    seconds: float | None


class PlanCache:
    """Prepared statements of one connection, with the state of their plan cache."""

    def __init__(self, asker: PlanAsker) -> None:
        self._asker = asker
        self._names = 0
        self.kept: dict[str, Kept] = {}

    def explained(self, text: str, rows: Sequence[Sequence[object]], limit_s: float) -> Explained:
        """Prepare a statement, repeat it until its plan is settled, and capture that plan.

        Changes by the first row's execution last until the rollback; those of other rows are undone
        at once.
        """
        import psycopg

        begun_s = time.monotonic()
        if steers(text):
            return Explained(None, OF_TRANSACTIONS, 0.0)
        try:
            name = self._prepare(text)
            estimated = self._brought_into_state(name, rows)
        except psycopg.errors.SyntaxError:
            # A statement that cannot be prepared has no plan, or is sent as text.
            native, reason = self._asker.plan(text, rows[0], limit_s)
            return Explained(native, reason, time.monotonic() - begun_s)
        except psycopg.Error as error:
            return Explained(None, self._asker.message_or_raise(error), time.monotonic() - begun_s)
        native, reason, cached = self._captured(text, name, rows, limit_s, estimated)
        return Explained(native, reason, time.monotonic() - begun_s, cached=cached)

    def _prepare(self, text: str) -> str:
        self._names += 1
        name = f"assay_{self._names}"
        begin = filled("plans/prepare.sql", name=name).as_string(self._asker.connection)
        with self._asker.connection.transaction():
            self._asker.ask(f"{begin}\n{text}")
        return name

    def _brought_into_state(self, name: str, rows: Sequence[Sequence[object]]) -> str:
        """Plan a statement until the server has chosen generic or custom, and return the plan."""
        plan_text = ""
        for number in range(CUSTOM_PLANS + 1):
            plan_text = self._asker.explain_text(
                ESTIMATED, self.execution(name, rows[number % len(rows)])
            )
        return plan_text

    def execution(self, name: str, values: Sequence[object]) -> str:
        """Return the SQL that executes a prepared PostgreSQL statement with given values."""
        from psycopg.sql import SQL, Identifier, Literal

        file = "plans/execute_with_values.sql" if values else "plans/execute.sql"
        texts = [Literal(None if value is None else str(value)) for value in values]
        parts = {"name": Identifier(name), "values": SQL(", ").join(texts)}
        return SQL(file_text(file)).format(**parts).as_string(self._asker.connection)

    def _captured(
        self,
        text: str,
        name: str,
        rows: Sequence[Sequence[object]],
        limit_s: float,
        estimated: str,
    ) -> tuple[str, str | None, CachedPlan]:
        before = self._counts(name)
        # A repeated write with the same values would find the rows that the first one wrote.
        captures = 1 if read(estimated).root.operator == "modify" else CAPTURES
        used = different(rows)[:captures]
        natives = self._repeated(name, used[1:], limit_s) if limit_s else []
        first, reason = self._asker.timed(self.execution(name, used[0]), (), limit_s, estimated)
        mode = _mode(before, self._counts(name))
        plans = [read(native) for native in (first, *natives)]
        chosen = _middle(plans)
        lines = dict.fromkeys(plan.line for plan in plans if plan.line != plans[chosen].line)
        seconds = [_seconds(plan) for plan in plans]
        times = [second for second in seconds if second is not None]
        mean_s = sum(times) / len(times) if times and len(times) == len(plans) else None
        self.kept[text] = Kept(name, used[: len(plans)], mode, plans[chosen], mean_s)
        cached = CachedPlan(
            mode, None if mode is None else mode == CUSTOM, len(plans), tuple(lines)
        )
        return (first, *natives)[chosen], reason, cached

    def _repeated(self, name: str, rows: Sequence[Sequence[object]], limit_s: float) -> list[str]:
        """Return plans captured with other values, each execution undone."""
        import psycopg

        natives = []
        for row in rows:
            begun_s = time.monotonic()
            try:
                with self._asker.connection.transaction(force_rollback=True):
                    natives.append(self._asker.explain_text(EXECUTED, self.execution(name, row)))
            except psycopg.Error as error:
                self._asker.message_or_raise(error)
                break
            if time.monotonic() - begun_s > min(REPEATED_MAX_S, limit_s):
                break
        return natives

    def _counts(self, name: str) -> tuple[int, int] | None:
        """Return the number of generic and custom plans; None if the server does not count."""
        if self._asker.connection.info.server_version < COUNTS_SINCE:
            return None
        self._asker.ask(file_text("plans/kept_plans.sql"), [name])
        return cast("tuple[int, int] | None", self._asker.cursor.fetchone())


def read(native: str) -> Plan:
    """Return the plan in the output of PostgreSQL's EXPLAIN, without an operation's name."""
    return normalised(native, "", 0, "")


def different(rows: Sequence[Sequence[object]]) -> list[Sequence[object]]:
    """Return the distinct rows of values, in order."""
    return list({tuple(map(str, row)): row for row in reversed(rows)}.values())[::-1]


def _mode(before: tuple[int, int] | None, after: tuple[int, int] | None) -> Mode | None:
    """Return whether executions between two readings had generic or custom plans."""
    if before is None or after is None:
        return None
    generic, custom = after[0] - before[0], after[1] - before[1]
    if not generic and not custom:
        return None
    return GENERIC if generic > custom else CUSTOM


def _seconds(plan: Plan) -> float | None:
    if plan.execution_s is None:
        return None
    return plan.execution_s + (plan.planning_s or 0.0)


def _middle(plans: Sequence[Plan]) -> int:
    """Return the index of the plan with the median time; 0 if a plan has no time."""
    seconds = [_seconds(plan) for plan in plans]
    if any(second is None for second in seconds):
        return 0
    return sorted(range(len(plans)), key=lambda at: seconds[at] or 0.0)[(len(plans) - 1) // 2]
