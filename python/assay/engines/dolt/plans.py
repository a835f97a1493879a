"""Dolt's plans in words that are no engine's.

Dolt draws a tree of text, a line for an operator or for something told of one. It tells no
estimates and no counts of rows, neither before nor after executing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from assay.model.plan import Plan, PlanNode

REASON = "Dolt tells the shape of a plan: no estimates, no rows and no times"
# Each level is drawn by four characters.
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
    "SubqueryAlias": "other",
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
# Names of joins say how: `LeftOuterHashJoin`, `LookupJoin`, `CrossJoin`.
JOINS = (("Merge", "merge join"), ("Hash", "hash join"), ("", "nested loop"))
_NAMED = re.compile(r"([A-Z][A-Za-z]*(?: Join)?)(?: (?:distinct|all))?(?:\((.*)\))?\Z", re.DOTALL)
_ATTRIBUTE = re.compile(r"([a-zA-Z-]+): (.*)\Z", re.DOTALL)
# What of an operator's attributes says what it goes by.
CONDITIONS = ("filters", "keys", "group", "left-key")
OF_A_TABLE = {"Table", "IndexedTableAccess", "StaticIndexedTableAccess", "TableAlias"}


@dataclass
class _Line:
    """A line of the drawing, and those below it."""

    text: str
    children: list[_Line] = field(default_factory=list)


def normalised(told: str, operation: str, statement: int, native: str) -> Plan:
    """The plan that a drawing of EXPLAIN PLAN means.

    Args:
        told: Its lines.
        operation: The operation that was asked.
        statement: Which of its statements.
        native: The file that keeps the text.

    Raises:
        ValueError: If it is no such text.
    """
    roots = _nodes(_drawn(told))
    if len(roots) != 1:
        raise ValueError(f"this is no plan of Dolt: {told[:80]!r}")
    return Plan(operation, statement, native, roots[0], timed=False, reason=REASON)


def _drawn(told: str) -> list[_Line]:
    """Lines as a tree; one that is drawn below nothing goes on with the line before it."""
    top = _Line("")
    path = [top]
    for line in told.splitlines():
        depth = 0
        while LEVEL.match(line, depth * LEVEL_CHARACTERS):
            depth += 1
        made = _Line(line[depth * LEVEL_CHARACTERS :].strip())
        if depth >= len(path):
            raise ValueError(f"this is no plan of Dolt: {line[:80]!r}")
        path[depth].children.append(made)
        path[depth + 1 :] = [made]
    return top.children


def _nodes(lines: list[_Line]) -> list[PlanNode]:
    return [node for line in lines for node in _node(line)]


def _node(line: _Line) -> list[PlanNode]:
    """The operator of a line; of a line that is told of another one, the subqueries in it."""
    found = _NAMED.match(line.text)
    operator = None if found is None else _operator(found[1])
    if found is None or operator is None:
        return _subqueries(line)
    attributes, conditions, children = {}, [], []
    for child in line.children:
        inner = _node(child)
        told = _ATTRIBUTE.match(child.text)
        if told is not None and (_NAMED.match(child.text) is None):
            attributes[told[1]] = told[2]
        elif child.text.startswith("("):
            conditions.append(child.text)
        children += inner
    conditions += [attributes[name] for name in CONDITIONS if attributes.get(name)]
    if found[2] and found[1] not in OF_A_TABLE:
        conditions.insert(0, found[2])
    children.sort(key=lambda node: node.operator == "subquery")
    return [
        PlanNode(
            operator=operator,
            native=found[1],
            object=_object(found[1], found[2], attributes),
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
