"""Reads MySQL's older JSON plan format: tables, access methods and columns.

The older format includes statements that change rows, and tables of one row that are read while
planning. The tree of iterators omits both.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from assay.model.plan import PlanNode

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

JsonObject = dict[str, Any]

PERCENT = 100.0
BLOCK, TABLE, LOOP, UNION = "query_block", "table", "nested_loop", "union_result"
SPECIFICATIONS = "query_specifications"
MADE = "materialized_from_subquery"
CHANGES = ("insert", "replace", "update", "delete")
# Steps that may enclose tables, and their operators.
AROUND = {
    "ordering_operation": "sort",
    "grouping_operation": "aggregate",
    "duplicates_removal": "aggregate",
    "buffer_result": "materialize",
    "windowing": "window",
    "insert_from": "projection",
}
READ_WHILE_PLANNING = {"const", "system"}
BEFORE = "rows fetched before execution"
SCAN = "ALL"


def tables_of(block: JsonObject) -> list[JsonObject]:
    """Return all tables that a query block of a MySQL plan names."""
    return [table for table in _tables(block) if "access_type" in table]


def _tables(part: object) -> Iterator[JsonObject]:
    if isinstance(part, list):
        for child in part:
            yield from _tables(child)
    elif isinstance(part, dict):
        if "table_name" in part:
            yield part
        for child in part.values():
            yield from _tables(child)


def with_tables(root: PlanNode, tables: Sequence[JsonObject]) -> PlanNode:
    """Return a MySQL plan tree with its tables' columns added."""
    columns: dict[str, dict[str, None]] = {}
    for table in tables:
        columns.setdefault(table["table_name"], {}).update(
            dict.fromkeys(table.get("used_columns", ()))
        )
    made = _with_columns(root, columns)
    read_tables = {node.object for node in made.walk()}
    early = [
        _read(table)
        for table in tables
        if table["access_type"] in READ_WHILE_PLANNING and table["table_name"] not in read_tables
    ]
    if not early:
        return made
    if any(_is_before(node) for node in made.walk()):
        return _with_early(made, early)
    return PlanNode("nested loop", BEFORE, rows=made.rows, children=(*early, made))


def _with_columns(node: PlanNode, columns: dict[str, dict[str, None]]) -> PlanNode:
    children = tuple(_with_columns(child, columns) for child in node.children)
    names = columns.get(node.object or "") if node.operator in {"scan", "index scan"} else None
    return replace(node, children=children, columns=tuple(names) if names else None)


def _is_before(node: PlanNode) -> bool:
    return node.native.lower() == BEFORE


def _with_early(node: PlanNode, early: list[PlanNode]) -> PlanNode:
    """Return a plan tree with tables that MySQL read while planning."""
    if _is_before(node) and early:
        given = tuple(early)
        early.clear()
        return replace(node, children=given)
    return replace(node, children=tuple(_with_early(child, early) for child in node.children))


def block_tree(block: JsonObject) -> PlanNode:
    """Return the plan tree of a query block in MySQL's older format.

    Raises `KeyError`.
    """
    if UNION in block:
        parts = block[UNION][SPECIFICATIONS]
        children = tuple(block_tree(part[BLOCK]) for part in parts)
        return PlanNode("set operation", "union", children=children)
    for kind, operator in AROUND.items():
        if kind in block:
            inner = block_tree(block[kind])
            if operator == "sort" and not block[kind].get("using_filesort"):
                return inner
            return PlanNode(operator, kind.replace("_", " "), children=(inner,))
    if LOOP in block:
        return _joined([_changed(entry[TABLE]) for entry in block[LOOP]])
    if TABLE in block:
        below = [block_tree(block["insert_from"])] if "insert_from" in block else []
        made = _changed(block[TABLE])
        return replace(made, children=(*made.children, *below))
    return PlanNode("values", str(block.get("message", "no tables")))


def _joined(tables: list[PlanNode]) -> PlanNode:
    """Return a MySQL plan's tables in join order, as a tree of operators."""
    made: PlanNode | None = None
    changes: list[PlanNode] = []
    for table in tables:
        read = table
        if table.operator == "modify":
            changes.append(table)
            (read,) = table.children or (PlanNode("result", "no table"),)
        made = (
            read if made is None else PlanNode("nested loop", "nested loop", children=(made, read))
        )
    top = made or PlanNode("result", "no tables")
    for change in changes:
        top = replace(change, children=(top,))
    return top


def _changed(table: JsonObject) -> PlanNode:
    """Return the operator that changes a table, above the table's access."""
    if "table_name" not in table:
        return PlanNode("values", str(table.get("message", "no table")))
    change = next((change for change in CHANGES if change in table), None)
    if change is None:
        return _read(table)
    made = PlanNode("modify", change, object=table["table_name"])
    if "rows_examined_per_scan" not in table and "key" not in table:
        return made
    return replace(made, children=(_read(table),))


def _read(table: JsonObject) -> PlanNode:
    rows = table.get("rows_examined_per_scan")
    share = float(table.get("filtered", PERCENT)) / PERCENT
    made = table.get(MADE)
    return PlanNode(
        operator="index scan" if table.get("key") and table["access_type"] != SCAN else "scan",
        native=str(table["access_type"]),
        object=table["table_name"],
        index=table.get("key"),
        condition=table.get("attached_condition"),
        estimated_rows=None if rows is None else rows * share,
        columns=tuple(table["used_columns"]) if "used_columns" in table else None,
        children=() if made is None else (_made(made),),
    )


def _made(part: JsonObject) -> PlanNode:
    """Return the operator that fills a temporary table of the statement."""
    return PlanNode("materialize", "materialised", children=(block_tree(part[BLOCK]),))
