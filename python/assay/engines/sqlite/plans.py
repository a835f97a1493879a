"""Converts SQLite's plans to the plan tree that all engines share.

EXPLAIN QUERY PLAN lists loops from the outermost to the innermost, then sorts and groupings, and
beside them subqueries for values or before the loops. This module converts the list to a tree of
operators.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from assay.engines.plan_reading import plan_parser
from assay.engines.sqlite.called_scans import is_called, trigger_scans, with_key_scan
from assay.engines.sqlite.ordering import with_first_rows
from assay.engines.sqlite.scan_counts import BLOOM_FILTER, SCAN_STEPS, with_bloom_filter, with_scans
from assay.engines.sqlite.unions import with_union
from assay.model.plan import Plan, PlanNode, Reads

if TYPE_CHECKING:
    from collections.abc import Sequence

_ACCESS = re.compile(
    r"(?P<verb>SCAN|SEARCH) (?P<object>\([^)]*\)|\S+)(?P<exists> EXISTS)?"
    r"(?: USING (?P<how>.*?(?:INDEX|PRIMARY KEY))(?: (?P<index>\w+))?)?"
    r"(?: VIRTUAL TABLE INDEX (?P<virtual>\S*))?"
    r"(?: \((?P<condition>.*)\))?(?P<left> LEFT-JOIN)?"
)
_BUILT = re.compile(r"(?:CO-ROUTINE|MATERIALIZE) (?P<object>.+)")
_SUBQUERY = re.compile(
    r"(?:REUSE )?(?:CORRELATED )?(?:SCALAR|LIST) SUBQUERY \d+|REUSE SUBQUERY \d+"
)
_SORTED = re.compile(r"USE TEMP B-TREE FOR (?P<what>.+)")
_BLOOM = re.compile(
    r"(?:BLOOM FILTER ON (?P<object>\S+)(?: \((?P<condition>.*)\))?|CREATE BLOOM FILTER)"
)
_CONSTANT = re.compile(r"SCAN (?:CONSTANT ROW|\d+ CONSTANT ROWS|\d+-ROW VALUES CLAUSE)")
_COMPOUND = re.compile(r"COMPOUND QUERY|MERGE \(.+\)")
# Lines of set operations, of recursions, and of searches by several indexes.
_PART = re.compile(
    r"LEFT|RIGHT|LEFT-MOST SUBQUERY|UNION.*|INTERSECT.*|EXCEPT.*|SETUP|RECURSIVE STEP|INDEX \d+"
    r"|RIGHT-JOIN \S+"
)
ORDERED = "ORDER BY"
NOTHING_READ = "no table is read"
SOURCE = "SQLite's count of steps of scans; this build does not count what is read by an index"


@dataclass
class _Row:
    """A line of SQLite's query plan, with the lines below it."""

    detail: str
    below: list[_Row] = field(default_factory=list)


@plan_parser("SQLite")
def normalised(text: str, operation: str, statement: int, native: str) -> Plan:
    """Return the operators in a captured SQLite plan, without counts.

    See `HasPlans.plan`.
    """
    try:
        whole = json.loads(text)
        rows = _tree(whole["plan"])
        aliases = whole["aliases"]
        counted = whole.get("counted", {})
        execution_s = whole.get("execution_s")
        changes = whole["changes"]
        columns = whole.get("columns", {})
        scans = whole.get("scans", ())
        first_rows = whole.get("first_rows")
        union = whole.get("union")
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"the text is not an SQLite plan: {error!r}") from error
    root = _level(rows, aliases)
    if root is not None and execution_s is not None:
        own = [scan for scan in scans if not is_called(scan)]
        root = with_scans(root, own, _own_counts(counted, scans), execution_s)
        root = with_bloom_filter(root, scans, counted)
        if first_rows:
            root = with_first_rows(root, first_rows, execution_s, counted.get("fullscan_step"))
        root = with_union(root, union, execution_s) if union else root
        root = with_key_scan(root, whole)
    if changes is not None:
        by_triggers = () if execution_s is None else trigger_scans(whole)
        inputs = (*(() if root is None else (root,)), *by_triggers)
        root = PlanNode("modify", changes["how"], object=changes["table"], children=inputs)
    steps = counted.get("fullscan_step")
    return Plan(
        operation,
        statement,
        native,
        _with_columns(root or PlanNode("result", NOTHING_READ), columns),
        execution_s=execution_s,
        timed=False,
        details=counted,
        reads=None if steps is None else Reads(SOURCE, scan_rows=float(steps)),
    )


def _own_counts(counted: dict[str, float], scans: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Return the statement's counters, without the scan steps that triggers have a part in."""
    if not any(is_called(scan) for scan in scans):
        return counted
    return {name: count for name, count in counted.items() if name != SCAN_STEPS}


def _with_columns(node: PlanNode, columns: dict[str, list[str]]) -> PlanNode:
    """Return the tree with the columns that the statement reads from each table."""
    children = tuple(_with_columns(child, columns) for child in node.children)
    names = columns.get(node.object or "") if node.operator in {"scan", "index scan"} else None
    return replace(node, children=children, columns=None if names is None else tuple(names))


def _tree(rows: list[dict[str, Any]]) -> list[_Row]:
    """Return the outermost lines of a SQLite query plan.

    Raises `KeyError` for a missing parent.
    """
    top = _Row("")
    by_id = {0: top}
    for line in rows:
        row = _Row(str(line["detail"]))
        by_id[line["parent"]].below.append(row)
        by_id[line["id"]] = row
    return top.below


def _level(rows: list[_Row], aliases: dict[str, str]) -> PlanNode | None:
    """Return the loops of one query as a tree below sorts or groupings."""
    tree: PlanNode | None = None
    above: list[str] = []
    beside: list[PlanNode] = []
    blooms: dict[str, str] = {}
    for row in rows:
        if match := _SORTED.fullmatch(row.detail):
            above.append(match["what"])
        elif match := _BLOOM.fullmatch(row.detail):
            blooms[match["object"] or ""] = match["condition"] or ""
        elif _BUILT.fullmatch(row.detail) or _SUBQUERY.fullmatch(row.detail):
            beside.append(_beside(row, aliases))
        else:
            inner = _input(row, aliases, blooms)
            tree = inner if tree is None else _nested(tree, inner)
    for what in above:
        tree = _above(what, tree)
    if tree is None:
        return beside[0] if len(beside) == 1 else _together(beside)
    return replace(tree, children=(*tree.children, *beside))


def _together(beside: list[PlanNode]) -> PlanNode | None:
    return PlanNode("result", NOTHING_READ, children=tuple(beside)) if beside else None


def _nested(outer: PlanNode, inner: PlanNode) -> PlanNode:
    return PlanNode("nested loop", "nested loop", children=(outer, inner))


def _above(what: str, tree: PlanNode | None) -> PlanNode:
    operator = "sort" if what.endswith(ORDERED) else "aggregate"
    native = f"USE TEMP B-TREE FOR {what}"
    return PlanNode(operator, native, children=() if tree is None else (tree,))


def _beside(row: _Row, aliases: dict[str, str]) -> PlanNode:
    below = _level(row.below, aliases)
    children = () if below is None else (below,)
    if match := _BUILT.fullmatch(row.detail):
        return PlanNode("cte", row.detail, object=match["object"], children=children)
    return PlanNode("subquery", row.detail, children=children)


def _input(row: _Row, aliases: dict[str, str], blooms: dict[str, str]) -> PlanNode:
    """Return the input of a loop in a SQLite plan, such as a table or constants."""
    if _CONSTANT.fullmatch(row.detail):
        return PlanNode("values", row.detail)
    if match := _ACCESS.fullmatch(row.detail):
        return _access(match, aliases, blooms)
    if _PART.fullmatch(row.detail):
        below = _level(row.below, aliases)
        return below or PlanNode("result", row.detail)
    operator = "set operation" if _COMPOUND.fullmatch(row.detail) else "other"
    if row.detail == "MULTI-INDEX OR":
        operator = "bitmap scan"
    inputs = tuple(_input(line, aliases, blooms) for line in row.below)
    of = inputs[0].object if operator == "bitmap scan" and inputs else None
    return PlanNode(operator, row.detail, object=of, children=inputs)


def _access(match: re.Match[str], aliases: dict[str, str], blooms: dict[str, str]) -> PlanNode:
    name, how = match["object"], match["how"]
    details: dict[str, Any] = {}
    if name in aliases:
        details["alias"] = name
    if name in blooms:
        details[BLOOM_FILTER] = blooms[name]
    return PlanNode(
        operator="scan" if how is None else "index scan",
        native=f"{match['verb']} USING {how}" if how else match["verb"],
        object=aliases.get(name, name),
        index=match["index"],
        condition=match["condition"],
        cut_short=match["exists"] is not None,
        details=details,
    )
