"""Compares plans of statements with freshly gathered statistics, then reverts these."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw

from assay.engines.sqlite.database import script
from assay.engines.sqlite.plans import normalised
from assay.model.catalogue import Alternative

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from assay.model.plan import Plan

    Statement = tuple[str, Sequence[object]]
    # Returns the native plan of a statement, which is executed if a limit in seconds is given.
    Ask = Callable[[Statement, float], str | None]

FRESH = "statistics"
# Maximum seconds of one execution of a statement.
REPEATED_MAX_S = 2.0
# A statement is executed so often. After the second execution, one that takes longer is not
# repeated: what other programs do lengthens it by a small share only.
EXECUTIONS, LONG_S = 5, 0.1


def with_fresh_statistics(
    connection: apsw.Connection, operation: str, statements: Sequence[Statement], ask: Ask
) -> list[Alternative]:
    """Return plans that differ after gathering statistics, with their times.

    Statistics are gathered in a transaction that is rolled back, and the connection reads the
    file's statistics again. Raises apsw's errors.
    """
    chosen = [_plan(ask(statement, 0.0)) for statement in statements]
    measured: dict[int, Plan | None] = {}
    changed: dict[int, Plan | None] = {}
    connection.execute("begin")
    try:
        connection.execute(script("plans/gather.sql"))
        for number, statement in enumerate(statements):
            other, before = _plan(ask(statement, 0.0)), chosen[number]
            if before is not None and other is not None and other.line != before.line:
                changed[number] = _fastest(ask, statement)
    finally:
        connection.execute("rollback")
        connection.execute(script("plans/reload.sql"))
    for number in changed:
        measured[number] = _fastest(ask, statements[number])
    return [
        _alternative(operation, number, before, after)
        for number, after in changed.items()
        if after is not None and (before := measured[number]) is not None
    ]


def _fastest(ask: Ask, statement: Statement) -> Plan | None:
    """Return the plan of the shortest of several executions; None if one was cancelled."""
    plans: list[Plan] = []
    for number in range(EXECUTIONS):
        plan = _plan(ask(statement, REPEATED_MAX_S))
        if plan is None or plan.execution_s is None:
            return plan
        plans.append(plan)
        if number and plan.execution_s > LONG_S:
            break
    return min(plans, key=lambda plan: plan.execution_s or 0.0)


def _plan(native: str | None) -> Plan | None:
    return None if native is None else normalised(native, "", 0, "")


def _alternative(operation: str, number: int, before: Plan, after: Plan) -> Alternative:
    seconds, seconds_changed = before.execution_s, after.execution_s
    if seconds is None or seconds_changed is None:
        seconds = seconds_changed = None
    indexes = _indexes(after) - _indexes(before)
    return Alternative(
        operation,
        number,
        "statistics",
        FRESH,
        None,
        before.cost,
        after.cost,
        differs=True,
        indexes=tuple(sorted(indexes)),
        summary=after.line,
        seconds=seconds,
        seconds_changed=seconds_changed,
    )


def _indexes(plan: Plan) -> set[str]:
    return {node.index for node in plan.root.walk() if node.index is not None}
