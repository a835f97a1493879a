"""Measures a union of SQLite with its duplicates, because plans have neither rows nor times.

A statement with `union` is also executed with `union all`. The difference of both times is the time
that the removal of duplicates took.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from assay.engines.sqlite.conditions import DIALECT, parsed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.model.plan import PlanNode

COMPOUND = ("COMPOUND QUERY", "MERGE (UNION)")


def with_duplicates(text: str) -> str | None:
    """Return a union with `all` instead of without; None for other statements.

    The result is also None if the statement limits its rows: it would then stop earlier.
    """
    from sqlglot import exp

    tree = parsed(text)
    if not isinstance(tree, exp.Union) or tree.args.get("limit") is not None:
        return None
    unions = [node for node in tree.walk() if isinstance(node, exp.Union)]
    removing = [node for node in unions if node.args.get("distinct")]
    for union in removing:
        union.set("distinct", value=False)
    return tree.sql(dialect=DIALECT, comments=False) if removing else None


def with_union(root: PlanNode, union: Mapping[str, Any], execution_s: float) -> PlanNode:
    """Return a plan whose union has rows, removed rows and the time of their removal.

    Args:
        root: Root of the tree.
        union: `rows`, and `all_rows` and `all_s` of the statement with `union all`.
        execution_s: Seconds of execution of the statement.
    """
    if root.native not in COMPOUND or not union["all_rows"]:
        return root
    removed = float(union["all_rows"] - union["rows"])
    seconds = max(0.0, execution_s - union["all_s"])
    return replace(root, rows=float(union["rows"]), removed_rows=removed, seconds=seconds)
