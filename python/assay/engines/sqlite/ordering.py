"""Finds ORDER BY with LIMIT in a statement's text, because SQLite's plans do not show it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from assay.engines.sqlite.conditions import DIALECT, condition_of, parsed
from assay.engines.sqlite.database import script

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import apsw
    from sqlglot.expressions import Expr

    from assay.model.plan import PlanNode

ACCESS = ("SCAN ", "SEARCH ")
# End of the name of a sort that no index shortens, unlike `FOR LAST TERM OF ORDER BY`.
WHOLE = " FOR ORDER BY"


@dataclass(frozen=True)
class FirstRows:
    """The ORDER BY and LIMIT of a statement on one table.

    Attributes:
        by: Columns of the order, separated by commas, with DESC where descending.
        rows: Number of requested rows, plus the rows of the offset.
    """

    by: str
    rows: int


def first_rows(text: str) -> FirstRows | None:
    """Return order and limit of a statement; None without a limit, or for other forms."""
    from sqlglot import exp

    tree = parsed(text)
    if not isinstance(tree, exp.Select) or len(list(tree.find_all(exp.Select))) > 1:
        return None
    order, limit = tree.args.get("order"), tree.args.get("limit")
    if order is None or limit is None or len(list(tree.find_all(exp.Table))) != 1:
        return None
    keys = [key.sql(dialect=DIALECT, comments=False) for key in order.expressions]
    offset = tree.args.get("offset")
    wanted = [_count(limit), 0 if offset is None else _count(offset)]
    numbers = [number for number in wanted if number is not None]
    return FirstRows(", ".join(keys), sum(numbers)) if len(numbers) == len(wanted) else None


def _count(clause: Expr) -> int | None:
    text = clause.expression.name
    return int(text) if text.isdigit() else None


def counted_first_rows(
    connection: apsw.Connection, plan: Sequence[dict[str, Any]], text: str, values: Sequence[object]
) -> dict[str, Any] | None:
    """Return the sort for a statement's first rows; None without a sort.

    `found` is the number of rows that fulfil its condition. Raises apsw's errors.
    """
    accesses = [line for line in plan if line["detail"].startswith(ACCESS)]
    asked = first_rows(text) if len(accesses) == 1 else None
    if asked is None:
        return None
    condition = condition_of(text)
    if condition is None or condition.values != len(values):
        return None
    counting = script("plans/kept.sql", table=condition.table, condition=condition.condition)
    counts: tuple[Any, ...] = connection.execute(counting, tuple(values)).fetchall()[0]
    return {"by": asked.by, "rows": asked.rows, "found": float(counts[1])}


def with_first_rows(
    root: PlanNode, counts: Mapping[str, Any], execution_s: float, steps: int | None = None
) -> PlanNode:
    """Return a plan with a sort for the first rows, above the table access.

    A scan without a measured time gets the whole time, because it must find all rows before the
    sort. If the scan returns them in the order of the first columns, the sort stops early, and the
    scan returns as many rows as it made steps. Without counted steps, the plan stays as it is.

    Args:
        root: Outermost operator of the plan.
        counts: Result of `counted_first_rows`.
        execution_s: Time of the statement, in seconds.
        steps: Number of steps of scans that SQLite counted.
    """
    if root.operator != "sort" or len(root.children) != 1 or root.children[0].children:
        return root
    access, is_whole = root.children[0], root.native.endswith(WHOLE)
    if not is_whole and not steps:
        return root
    own_s = execution_s if access.seconds is None else min(access.seconds, execution_s)
    rows = counts["found"] if access.rows is None else access.rows
    removed = access.removed_rows if access.rows is not None else 0.0
    if not is_whole and steps and steps < rows:
        rows, removed = float(steps + 1), 0.0
    below = replace(access, rows=rows, removed_rows=removed, seconds=own_s)
    kept = min(float(counts["rows"]), rows)
    return replace(
        root, condition=counts["by"], rows=kept, seconds=execution_s - own_s, children=(below,)
    )
