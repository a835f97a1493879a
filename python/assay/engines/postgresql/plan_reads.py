"""Reads of a PostgreSQL plan: columns of tables, rows, searches of indexes."""

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
# What of a scan compares columns, and columns that every row has without being asked.
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
# Operators that may be given rows whole.
TAKING = {"Nested Loop", "Hash Join", "Merge Join", "Aggregate", "Group", "WindowAgg"}
CHANGING = {"Update", "Delete", "Merge"}
OF_THE_ROW = {"ctid", "tableoid", "xmin", "xmax", "cmin", "cmax"}
TEXT = re.compile(r"'(?:[^']|'')*'|\bhashed SubPlan\b")
# Casts have names of types, and words of the grammar are in capital letters.
CAST = re.compile(
    r"::(?:character varying|double precision|timestamp with(?:out)? time zone"
    r"|time with(?:out)? time zone|\"?\w+\"?)(?:\([\d,]+\))?(?:\[\])?"
)
NAME = re.compile(
    r'(?<![\w$.])(?:(?P<of>\w+|"[^"]+")\.)?(?P<name>[a-z_][\w$]*|"[^"]+")(?P<call>\s*\()?'
)


def columns_of(node: Node, above: Node | None = None) -> tuple[str, ...] | None:
    """Columns that a scan gives or compares, or a change gives back; None of other operators.

    VERBOSE says before each column of which table it is, by the name that the statement gives that,
    but for what a statement of one table gives. Joins and aggregates are given rows whole where
    that is cheaper than making smaller ones; then columns are those that they take of them.
    """
    alias = node.get("Alias")
    if alias is None or "Relation Name" not in node:
        return None
    given = _named(node.get("Output", ()), alias)
    if node["Node Type"] == "ModifyTable":
        # What is inserted is read nowhere; of a row that is changed more may be given than scanned.
        return tuple(dict.fromkeys(given)) if given and node["Operation"] in CHANGING else None
    if above is not None and above["Node Type"] in TAKING and _is_input(node):
        taken = set(_named(_texts(above, without=node), alias))
        given = [column for column in given if column in taken]
    compared = _named((node[key] for key in READING if key in node), alias)
    return tuple(dict.fromkeys((*given, *compared)))


def _is_input(node: Node) -> bool:
    return node.get("Parent Relationship") in {"Outer", "Inner"}


def _named(said: Iterable[str], alias: str) -> list[str]:
    """Columns of a table in expressions."""
    columns: list[str] = []
    for expression in said:
        for name in NAME.finditer(CAST.sub("", TEXT.sub("", expression))):
            own = name["of"] is None or name["of"].strip('"') == alias
            if own and name["call"] is None:
                columns.append(name["name"].strip('"'))
    return [column for column in columns if column not in OF_THE_ROW]


def _texts(node: Node, without: Node) -> Iterator[str]:
    """Expressions of an operator and of its other inputs, which may be asked by this one's rows."""
    for key, value in node.items():
        if key in EXPRESSIONS:
            yield from [value] if isinstance(value, str) else value
    for child in inputs(node):
        if child is not without:
            yield from _texts(child, without)


def reads_of(tree: PlanNode) -> Reads:
    """Return the reads of all operators, including rows that conditions removed."""
    lookups = index_rows = scan_rows = 0.0
    for node in tree.walk():
        given = (node.rows or 0.0) + (node.removed_rows or 0.0)
        if node.operator == "index scan" or node.native.endswith(BITMAP_INDEX):
            # Since 18 an operator says how often it searched its index, in all.
            lookups += node.details.get("Index Searches", node.loops or 0.0)
            index_rows += given
        elif node.operator == "scan" and node.object is not None:
            scan_rows += given
    return Reads(SOURCE, lookups, index_rows, scan_rows)


def triggers_of(triggers: Iterable[dict[str, Any]]) -> tuple[Trigger, ...]:
    """The triggers that a plan lists, with their time; without those that have none."""
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
