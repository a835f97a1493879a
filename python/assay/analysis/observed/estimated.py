"""Completes plans of observed statements with the optimiser's estimates, without execution.

A plan without execution has no rows and no times. The plan's estimates still show whether a full
scan keeps few rows. Each operator's share of the time is assumed to be proportional to the rows
that it handles. Findings that depend on this assumption are marked as suspected.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.findings.engine_facts import known_table
from assay.analysis.observed.scanned import only_scan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.analysis.findings.engine_facts import TableFacts
    from assay.analysis.observed.scanned import Scanned
    from assay.model.plan import Plan, PlanNode

# Assumed cost of a row found by an index, relative to a row read sequentially.
INDEX_ROW_COST = 4.0


def with_estimates(
    plans: Mapping[str, tuple[Plan, ...]],
    tables: Mapping[str, TableFacts],
    seconds: Mapping[str, float],
    scanned: Mapping[str, Scanned],
) -> dict[str, tuple[Plan, ...]]:
    """Return plans of observed statements; untimed plans get estimated rows and times.

    Args:
        plans: Plans by operation.
        tables: Facts about tables from the engine.
        seconds: Mean seconds of an execution, by operation.
        scanned: The server's row counts for statements that consist of one scan.
    """
    return {
        name: tuple(
            _estimated(_counted(plan, scanned.get(name)), tables, seconds.get(name, 1.0))
            for plan in own
        )
        for name, own in plans.items()
    }


def _counted(plan: Plan, scanned: Scanned | None) -> Plan:
    """Return a plan with the server's row counts instead of the optimiser's estimates."""
    node = None if scanned is None or plan.timed else only_scan(plan)
    if scanned is None or node is None:
        return plan
    removed = max(0.0, scanned.examined - scanned.kept)
    counted_node = replace(
        node, estimated_rows=scanned.kept, rows=scanned.kept, removed_rows=removed, loops=1.0
    )
    return replace(plan, root=_with(plan.root, node, counted_node))


def _with(root: PlanNode, old: PlanNode, new: PlanNode) -> PlanNode:
    if root is old:
        return new
    return replace(root, children=tuple(_with(child, old, new) for child in root.children))


def _estimated(plan: Plan, tables: Mapping[str, TableFacts], seconds: float) -> Plan:
    if plan.timed:
        return plan
    whole = sum(_handled_rows(node, tables) for node in plan.root.walk())
    return replace(plan, root=_node(plan.root, tables, seconds / whole if whole else 0.0))


def _node(node: PlanNode, tables: Mapping[str, TableFacts], row_s: float) -> PlanNode:
    children = tuple(_node(child, tables, row_s) for child in node.children)
    seconds = _handled_rows(node, tables) * row_s
    removed = _removed_rows(node, tables)
    if removed is None:
        return replace(node, children=children, seconds=seconds)
    rows = node.estimated_rows
    return replace(node, children=children, seconds=seconds, rows=rows, removed_rows=removed)


def _handled_rows(node: PlanNode, tables: Mapping[str, TableFacts]) -> float:
    """Return the estimated number of rows that an operator reads."""
    rows = max(1.0, node.estimated_rows or 0.0)
    if node.is_full_scan:
        return rows + (_removed_rows(node, tables) or 0.0)
    return rows * (INDEX_ROW_COST if node.operator == "index scan" else 1.0)


def _removed_rows(node: PlanNode, tables: Mapping[str, TableFacts]) -> float | None:
    """Return the rows that a full scan's condition discards; None for other operators."""
    if node.removed_rows is not None:
        return node.removed_rows
    if not node.is_full_scan or not node.condition or node.estimated_rows is None:
        return None
    name = known_table(tables, node)
    facts = None if name is None else tables[name]
    whole = None if facts is None else facts.estimated_rows or facts.rows
    return None if whole is None else max(0.0, whole - node.estimated_rows)
