"""Converts Dolt's plans to the plan tree that all engines share.

Dolt's plan is a tree of text lines: a line has an operator or an attribute of one. Dolt reports no
estimates and no row counts, before or after execution.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from assay.engines.plan_reading import plan_parser
from assay.model.plan import Plan, PlanNode, Reads

REASON = "Dolt tells the shape of a plan: no estimates, no rows and no times"
SOURCE = "ranges that Dolt's plan looks up; it counts no rows"
# Each level is indented by four characters.
LEVEL = re.compile(r"(?: │  |    | ├─ | └─ )")
LEVEL_CHARACTERS = 4
OPERATORS = {
    "Table": "scan",
    "ResolvedTable": "scan",
    "ProcessTable": "scan",
    "IndexedTableAccess": "index scan",
    "StaticIndexedTableAccess": "index scan",
    "Filter": "filter",
    "Having": "filter",
    "Project": "projection",
    "GroupBy": "aggregate",
    "Distinct": "aggregate",
    "OrderedDistinct": "aggregate",
    "Sort": "sort",
    "TopN": "top-n",
    "Limit": "limit",
    "Offset": "limit",
    "Window": "window",
    "Union": "set operation",
    "Intersect": "set operation",
    "Except": "set operation",
    "Concat": "set operation",
    "Exchange": "exchange",
    "CachedResults": "materialize",
    "HashLookup": "hash build",
    "RecursiveCTE": "cte",
    "Subquery": "subquery",
    "SubqueryAlias": "projection",
    "TableAlias": "other",
    "Values": "values",
    "Insert": "modify",
    "Replace": "modify",
    "Update": "modify",
    "Update Join": "modify",
    "UpdateSource": "projection",
    "Delete": "modify",
    "ForeignKeyHandler": "other",
    "RowUpdateAccumulator": "other",
    "TriggerExecutor": "other",
    "Max1Row": "limit",
}
# Names of joins show the method: `LeftOuterHashJoin`, `LookupJoin`, `CrossJoin`.
JOINS = (("Merge", "merge join"), ("Hash", "hash join"), ("", "nested loop"))
_NAMED = re.compile(r"([A-Z][A-Za-z]*(?: Join)?)(?: (?:distinct|all))?(?:\((.*)\))?\Z", re.DOTALL)
_ATTRIBUTE = re.compile(r"([a-zA-Z-]+): (.*)\Z", re.DOTALL)
_RANGE = re.compile(r"\{[^}]*\}")
_CHANGED = re.compile(r"SET (\w+)\.")
PUTTING = {"Insert", "Replace"}
# Attributes of an operator that hold its condition or keys.
CONDITIONS = ("filters", "keys", "group", "left-key")
OF_A_TABLE = {"Table", "IndexedTableAccess", "StaticIndexedTableAccess", "TableAlias"}


@dataclass
class _Line:
    """A line of Dolt's plan text, and the lines below it."""

    text: str
    children: list[_Line] = field(default_factory=list)


@plan_parser("Dolt")
def normalised(text: str, operation: str, statement: int, native: str) -> Plan:
    """Return the plan in the output of Dolt's EXPLAIN PLAN.

    See `HasPlans.plan`.
    """
    roots = _nodes(_drawn(text))
    if len(roots) != 1:
        raise ValueError(f"the text is not a Dolt plan: {text[:80]!r}")
    root = _with_changed(roots[0])
    return Plan(operation, statement, native, root, timed=False, reason=REASON, reads=_reads(root))


def _with_changed(root: PlanNode) -> PlanNode:
    """Return a Dolt plan with the table that the statement changes."""
    if root.operator != "modify":
        return root
    below = list(root.walk())[1:]
    if root.native in PUTTING:
        # Dolt shows the target table of an insert as if it were read.
        target, *rest = root.children
        return replace(root, object=target.object, children=tuple(rest))
    matches = (_CHANGED.match(node.condition or "") for node in below)
    named = next((match[1] for match in matches if match is not None), None)
    return replace(root, object=named or next((node.object for node in below if node.object), None))


def _reads(root: PlanNode) -> Reads | None:
    """Return the number of index lookups that a Dolt plan shows."""
    scans = [node for node in root.walk() if node.operator == "index scan"]
    ranges = [_RANGE.findall(node.condition or "") for node in scans]
    if not all(ranges):
        return Reads(f"{SOURCE}; those of a join's rows are not told")
    return Reads(SOURCE, index_lookups=float(sum(map(len, ranges))))


def _drawn(text: str) -> list[_Line]:
    """Return the lines of Dolt's plan text as a tree."""
    top = _Line("")
    path = [top]
    for line in text.splitlines():
        depth = 0
        while LEVEL.match(line, depth * LEVEL_CHARACTERS):
            depth += 1
        made = _Line(line[depth * LEVEL_CHARACTERS :].strip())
        if depth >= len(path):
            raise ValueError(f"the text is not a Dolt plan: {line[:80]!r}")
        path[depth].children.append(made)
        path[depth + 1 :] = [made]
    return top.children


def _nodes(lines: list[_Line]) -> list[PlanNode]:
    return [node for line in lines for node in _node(line)]


def _node(line: _Line) -> list[PlanNode]:
    """Return the plan operator of a line in Dolt's plan text."""
    named = _NAMED.match(line.text)
    operator = None if named is None else _operator(named[1])
    if named is None or operator is None:
        return _subqueries(line)
    attributes: dict[str, str] = {}
    conditions: list[str] = []
    children: list[PlanNode] = []
    for child in line.children:
        inner = _node(child)
        attribute = _ATTRIBUTE.match(child.text)
        if attribute is not None and (_NAMED.match(child.text) is None):
            attributes[attribute[1]] = attribute[2]
        elif child.text.startswith("("):
            conditions.append(child.text)
        children += inner
    conditions += [attributes[name] for name in CONDITIONS if attributes.get(name)]
    if named[2] and named[1] not in OF_A_TABLE:
        conditions.insert(0, named[2])
    children.sort(key=lambda node: node.operator == "subquery")
    table = _object(named[1], named[2], attributes)
    return [
        PlanNode(
            # A query without a table reads one row without columns.
            operator="values" if operator == "scan" and table is None else operator,
            native=named[1],
            object=table,
            index=attributes["index"].strip("[]") if "index" in attributes else None,
            condition="; ".join(conditions) or None,
            columns=_columns(operator, attributes),
            children=tuple(children),
        )
    ]


def _subqueries(line: _Line) -> list[PlanNode]:
    inner = _nodes(line.children)
    if not inner:
        return []
    return [PlanNode(operator="subquery", native="Subquery", children=tuple(inner))]


def _operator(name: str) -> str | None:
    if name in OPERATORS:
        return OPERATORS[name]
    if name.endswith("Join"):
        return next(operator for part, operator in JOINS if part in name)
    return None


def _object(name: str, inside: str | None, attributes: dict[str, str]) -> str | None:
    if name in OF_A_TABLE:
        return inside or attributes.get("name") or None
    return attributes.get("name") or None


def _columns(operator: str, attributes: dict[str, str]) -> tuple[str, ...] | None:
    if "scan" not in operator or "columns" not in attributes:
        return None
    return tuple(attributes["columns"].strip("[]").replace(",", " ").split())
