"""Extracts reads from a PostgreSQL plan: columns, rows and index look-ups."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from assay.engines.postgresql.plan_times import MS_PER_S, inputs
from assay.model.plan import PlanNode, Reads, Trigger

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from assay.engines.postgresql.plan_times import Node

SOURCE = "operators of the plan: searches of indexes, and rows with those that conditions removed"
BITMAP_INDEX = "Bitmap Index Scan"
# Fields of a scan that compare columns, and system columns that every row has.
READING = ("Index Cond", "Recheck Cond", "Filter", "TID Cond", "Order By")
EXPRESSIONS = {
    *READING,
    "Output",
    "Hash Cond",
    "Merge Cond",
    "Join Filter",
    "Sort Key",
    "Group Key",
    "Cache Key",
    "One-Time Filter",
}
# Operators that may receive whole rows.
TAKING = {"Nested Loop", "Hash Join", "Merge Join", "Aggregate", "Group", "WindowAgg"}
CHANGING = {"Update", "Delete", "Merge"}
OF_THE_ROW = {"ctid", "tableoid", "xmin", "xmax", "cmin", "cmax"}
TEXT = re.compile(r"'(?:[^']|'')*'|\bhashed SubPlan\b")
# Casts contain type names, and SQL keywords are in capital letters.
CAST = re.compile(
    r"::(?:character varying|double precision|timestamp with(?:out)? time zone"
    r"|time with(?:out)? time zone|\"?\w+\"?)(?:\([\d,]+\))?(?:\[\])?"
)
NAME = re.compile(
    r'(?<![\w$.])(?:(?P<of>\w+|"[^"]+")\.)?(?P<name>[a-z_][\w$]*|"[^"]+")(?P<call>\s*\()?'
)


def columns_of(node: Node, above: Node | None = None) -> tuple[str, ...] | None:
    """Return the table columns that a plan node outputs or compares; None for other nodes.

    VERBOSE qualifies each column with the table's alias in the statement, except the output of a
    statement with one table. Joins and aggregates receive whole rows if that is cheaper than
    projecting them. For such a scan, return the columns that its joins and aggregates use.
    """
    alias = node.get("Alias")
    if alias is None or "Relation Name" not in node:
        return None
    given = _named(node.get("Output", ()), alias)
    if node["Node Type"] == "ModifyTable":
        # Inserted columns are not read, and a changed row may return more columns than were
        # scanned.
        return tuple(dict.fromkeys(given)) if given and node["Operation"] in CHANGING else None
    if above is not None and above["Node Type"] in TAKING and _is_input(node):
        taken = set(_named(_texts(above, without=node), alias))
        given = [column for column in given if column in taken]
    compared = _named((node[key] for key in READING if key in node), alias)
    return tuple(dict.fromkeys((*given, *compared)))


def _is_input(node: Node) -> bool:
    return node.get("Parent Relationship") in {"Outer", "Inner"}


def _named(said: Iterable[str], alias: str) -> list[str]:
    """Return the columns of a table that occur in expressions."""
    columns: list[str] = []
    for expression in said:
        for name in NAME.finditer(CAST.sub("", TEXT.sub("", expression))):
            own = name["of"] is None or name["of"].strip('"') == alias
            if own and name["call"] is None:
                columns.append(name["name"].strip('"'))
    return [column for column in columns if column not in OF_THE_ROW]


def _texts(node: Node, without: Node) -> Iterator[str]:
    """Yield the expressions of a plan node and of its other inputs."""
    for key, value in node.items():
        if key in EXPRESSIONS:
            yield from [value] if isinstance(value, str) else value
    for child in inputs(node):
        if child is not without:
            yield from _texts(child, without)


def reads_of(tree: PlanNode) -> Reads:
    """Return the index look-ups and rows read in all plan nodes."""
    lookups = index_rows = scan_rows = 0.0
    for node in tree.walk():
        given = (node.rows or 0.0) + (node.removed_rows or 0.0)
        if node.operator == "index scan" or node.native.endswith(BITMAP_INDEX):
            # Since version 18 an operator reports its total number of index searches.
            lookups += node.details.get("Index Searches", node.loops or 0.0)
            index_rows += given
        elif node.operator == "scan" and node.object is not None:
            scan_rows += given
    return Reads(SOURCE, lookups, index_rows, scan_rows)


def triggers_of(triggers: Iterable[dict[str, Any]]) -> tuple[Trigger, ...]:
    """Return the triggers that a plan lists with their time."""
    return tuple(
        Trigger(
            name=trigger.get("Trigger Name") or trigger.get("Constraint Name", ""),
            table=trigger.get("Relation", ""),
            seconds=trigger["Time"] / MS_PER_S,
            calls=float(trigger.get("Calls", 0)),
            constraint=trigger.get("Constraint Name"),
        )
        for trigger in triggers
        if "Time" in trigger
    )
