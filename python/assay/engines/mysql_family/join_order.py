"""Compares a statement's plan with a join order that begins with an overestimated table."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pymysql

from assay.analysis.plans.aliases import aliases
from assay.engines.contract import EngineError
from assay.engines.mysql_family.statements import split
from assay.model.catalogue import Alternative

if TYPE_CHECKING:
    from assay.engines.mysql_family.alternatives import PlanAsker
    from assay.model.plan import Plan, PlanNode

SELECT = re.compile(r"\s*select\b", re.IGNORECASE)
# The optimiser makes the same choices for estimates with a smaller error factor.
Q_ERROR_MIN = 10.0
# The optimiser begins with a table of fewer rows anyway.
EXPECTED_MIN = 500.0
TABLES_MIN = 2


def beginning_with_few(place: tuple[str, int], text: str, asker: PlanAsker) -> list[Alternative]:
    """Return the plan that begins with the table whose rows were overestimated most, with times.

    Such a table was joined late because many of its rows were expected. The result is empty if no
    table is overestimated, if the plan already begins with it, or if the server refuses the hint.

    Args:
        place: Operation, and position of the statement.
        text: Statement with its values filled in.
        asker: Functions that query plans.
    """
    statement = split(text)[0]
    if not SELECT.match(statement):
        return []
    try:
        if len(_readers(asker.estimated(statement))) < TABLES_MIN:
            return []
        chosen = asker.executed(statement)
        table = _overestimated(chosen)
        if table is None:
            return []
        hint = f"select /*+ join_prefix(`{_alias(statement, table)}`) */"
        changed = asker.executed(SELECT.sub(hint, statement, count=1))
        again = asker.executed(statement)
    except (pymysql.Error, EngineError, ValueError):
        return []
    times = [plan.execution_s for plan in (chosen, again) if plan.execution_s is not None]
    return [
        Alternative(
            *place,
            "rewrite",
            f"a join order that begins with {table}",
            None,
            chosen.cost,
            changed.cost,
            differs=changed.line != chosen.line,
            summary=f"a join order that begins with {table}",
            seconds=min(times, default=None),
            seconds_changed=changed.execution_s,
        )
    ]


def _readers(plan: Plan) -> list[PlanNode]:
    """Return the plan nodes that read a table, in the order of the joins."""
    return [node for node in plan.root.walk() if node.object is not None]


def _overestimated(plan: Plan) -> str | None:
    """Return the table with the most overestimated rows; None if none is, or if it is the first."""
    first, *others = _readers(plan)
    wrong = [node for node in (first, *others) if _is_overestimated(node)]
    worst = max(wrong, key=lambda node: node.q_error or 0.0, default=None)
    return None if worst is None or worst is first else worst.object


def _is_overestimated(node: PlanNode) -> bool:
    expected, rows = node.estimated_rows, node.rows
    if expected is None or rows is None or expected < EXPECTED_MIN or expected <= rows:
        return False
    return (node.q_error or 0.0) >= Q_ERROR_MIN


def _alias(statement: str, table: str) -> str:
    """Return the name by which a statement refers to a table."""
    names = aliases(statement, [table])
    return next((alias for alias, of in names.items() if of == table), table)
