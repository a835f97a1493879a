"""Replaces aliases in plans by the names of tables."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.model.sql import without_remarks

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from assay.model.plan import Plan, PlanNode

# The names are not consumed, because `, a.id from b as c` has an item of a list before `from`.
_NAMED = re.compile(
    r"(?:\b(?:from|(?:straight_)?join|update)|,)"
    r"(?=\s+([\w.\"`]+)\s+(?:as\s+)?([A-Za-z_]\w*))",
    re.IGNORECASE,
)
# Keywords that may follow a table without an alias.
KEYWORDS = frozenset(
    (
        *(
            "cross",
            "except",
            "force",
            "from",
            "full",
            "ignore",
            "straight_join",
            "use",
            "group",
            "having",
            "inner",
            "intersect",
            "join",
            "left",
        ),
        *("limit", "natural", "offset", "on", "order", "right", "set", "union", "using"),
        *("values", "where", "window"),
    )
)


def by_table(
    plans: Mapping[str, tuple[Plan, ...]], tables: Collection[str]
) -> dict[str, tuple[Plan, ...]]:
    """Return plans with table names instead of aliases in conditions and scans.

    Args:
        plans: Plans by operation, each with its statement's text.
        tables: Tables of the catalogue. Only aliases of these tables are replaced.
    """
    return {
        operation: tuple(_of_tables(plan, aliases(plan.text or "", tables)) for plan in own_plans)
        for operation, own_plans in plans.items()
    }


def aliases(text: str, tables: Collection[str]) -> dict[str, str]:
    """Return the table of each alias in a statement.

    An alias for two different tables is left out.
    """
    tables_by_alias: dict[str, set[str]] = {}
    for named, alias in _NAMED.findall(without_remarks(text)):
        table = named.rpartition(".")[2].strip('"`')
        if table in tables and alias not in tables and alias.lower() not in KEYWORDS:
            tables_by_alias.setdefault(alias, set()).add(table)
    return {alias: names.pop() for alias, names in tables_by_alias.items() if len(names) == 1}


def _of_tables(plan: Plan, names: Mapping[str, str]) -> Plan:
    return replace(plan, root=_node(plan.root, names)) if names else plan


def _node(node: PlanNode, names: Mapping[str, str]) -> PlanNode:
    condition = node.condition
    for alias, table in names.items():
        if condition is not None:
            condition = re.sub(rf"(?<![\w.]){alias}(?=\.)", table, condition)
    return replace(
        node,
        object=names.get(node.object or "", node.object),
        condition=condition,
        children=tuple(_node(child, names) for child in node.children),
    )
