"""Compares plans by shape: operators, tables and their order, without numbers.

Two statements whose plans have the same shape are executed in the same way. The module `shape`
also returns the rows of a plan's joins, as expected and as counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.plans.difference import JOINS, READS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from assay.model.plan import Plan, PlanNode

ALIAS = "Alias"
MARKS = {"hash join": "#", "merge join": "=", "nested loop": "x"}


def shape(plan: Plan) -> str:
    """Return a plan's text without numbers; plans with equal text execute alike."""
    return _shape(plan.root)


def _shape(node: PlanNode) -> str:
    of = [node.native, *filter(None, (node.object, node.index, node.details.get(ALIAS)))]
    inputs = ", ".join(map(_shape, node.children))
    return f"{' '.join(map(str, of))}({inputs})" if inputs else " ".join(map(str, of))


def same_shape(before: Sequence[Plan], after: Sequence[Plan]) -> bool:
    """Return True if all statements of an operation have equal plan shapes in both runs."""
    return [shape(plan) for plan in before] == [shape(plan) for plan in after]


def joined(plan: Plan) -> str:
    """Return the join order in parentheses: `((nation # supplier) x lineitem)`.

    `#` is a hash join, `=` a merge join, `x` a nested loop.
    """
    return _joined(plan.root) or "-"


def _joined(node: PlanNode) -> str:
    parts = [part for child in node.children if (part := _joined(child))]
    if node.operator in READS and node.object is not None:
        return str(node.details.get(ALIAS) or node.object)
    if len(parts) < 2:  # noqa: PLR2004 - nothing is joined
        return parts[0] if parts else ""
    mark = MARKS.get(node.operator, ",")
    return f"({f' {mark} '.join(parts)})"


# A table by its name in the query, or a join of two such orders.
Order = str | tuple["Order", "Order"]


def join_order(plan: Plan, tables: Mapping[str, str]) -> Order | None:
    """Return the order in which a plan joins the tables of a query block.

    Args:
        plan: The plan.
        tables: Name of the table by its name in the query; empty for a subquery.

    Returns:
        The join order; None if the plan does not identify each table.
    """
    order = _ordered(plan.root, tables)
    return order if order is not None and sorted(_leaves(order)) == sorted(tables) else None


def _ordered(node: PlanNode, tables: Mapping[str, str]) -> Order | None:
    if node.operator in READS:
        return _named(node, tables)
    parts = [part for child in node.children if (part := _ordered(child, tables)) is not None]
    if not parts:
        return None
    order = parts[0]
    for part in parts[1:]:
        order = (order, part)
    return order


def _named(scan: PlanNode, tables: Mapping[str, str]) -> str | None:
    """Return the query's name for a scan's table: its alias, or the name if unambiguous."""
    alias = scan.details.get(ALIAS)
    if alias is not None:
        return str(alias) if alias in tables else None
    named = [name for name, table in tables.items() if table == (scan.object or "").lower()]
    return named[0] if len(named) == 1 else None


def _leaves(order: Order) -> list[str]:
    return [order] if isinstance(order, str) else [*_leaves(order[0]), *_leaves(order[1])]


def join_rows(plan: Plan) -> float | None:
    """Return the sum of the rows that all joins returned; None if one is unknown."""
    return _sum(node.rows for node in _joins(plan))


def estimated_join_rows(plan: Plan) -> float | None:
    """Return the sum of the rows expected from all joins; None if one is unknown."""
    return _sum(node.estimated_rows for node in _joins(plan))


def _joins(plan: Plan) -> Iterator[PlanNode]:
    return (node for node in plan.root.walk() if node.operator in JOINS)


def _sum(values: Iterable[float | None]) -> float | None:
    total = 0.0
    for value in values:
        if value is None:
            return None
        total += value
    return total
