"""Finds joins of columns that an engine converts to compare them, so that an index is of no use.

Columns in two character sets or collations, or a text and a number, are compared after one of them
was converted. An index of the converted column has the rows in another order. Plans show such a
conversion rarely, so the declarations of the columns decide.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.findings.indexes.index_use import Unused
from assay.analysis.findings.indexes.join_index import (
    MATCHED_SHARE_MAX,
    NESTED_LOOP,
    PASSING,
    READ_ROWS_MIN,
)
from assay.analysis.findings.joins.unlike_types import Unlike, unlike_types
from assay.analysis.plans.aliases import aliases
from assay.model.finding import Advice
from assay.model.sql import without_remarks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from assay.analysis.findings.case import Case
    from assay.analysis.findings.plans.plan_time import Timed
    from assay.model.catalogue import Index
    from assay.model.plan import Plan, PlanNode

_TEXT = re.compile(r"'(?:[^']|'')*'")
_QUOTES = re.compile(r"[`\"]")
# A column, with or without its table, to which a conversion of the character set may be applied.
_SIDE = r"(?:convert\()?(?:(?:\w+\.)?(\w+)\.)?([A-Za-z_]\w*)(?:\s+using\s+\w+\))?"
_EQUAL = re.compile(rf"(?<![\w.]){_SIDE}\s*=\s*{_SIDE}(?![\w.(])", re.IGNORECASE)
LOOK_UPS = ("index scan", "bitmap scan")
TO_SETTLE = (
    "measure with columns that are declared alike: no index finds the rows of {0} by its own "
    "conditions, so that it may be cheaper to read {1} first"
)

BY_OTHERS = (
    "measure with columns that are declared alike: the join compares other columns, too, so that "
    "the index may not find fewer rows"
)

Column = tuple[str, str]


def unlike_index(case: Case, join: Timed, read: PlanNode) -> Unused | None:
    """Return the index of a joined table that a conversion of its column makes useless, or None.

    `read` is the operator below the join that reads the table.
    """
    pairs = compared_columns(case, join.plan)
    for own, other in pairs:
        for hidden, like in ((own, other), (other, own)):
            if hidden[0] != read.object or like[0] not in _tables_below(join.node):
                continue
            index = _index_of(case, hidden, read.schema)
            unlike = _converted(case, hidden, like)
            if index is None or unlike is None or _is_used(join.plan, index):
                continue
            at = f"plan:{join.operation}"
            tables = {hidden[0], like[0]}
            is_sole = sum({one[0], two[0]} == tables for one, two in pairs) == 1
            settle = None if is_sole else BY_OTHERS
            return Unused(index, unlike.why, unlike.to_try, at, alike=unlike.alike, settle=settle)
    return None


def driven_joins(case: Case, nodes: Iterable[Timed]) -> Iterator[tuple[Timed, PlanNode, Unused]]:
    """Yield nested loops that begin with a table because the index of its column is of no use.

    The loop looks up each row of that table in the other one, whose own filter removes most
    matches. With an index, the loop could begin with the other table.
    """
    for join in nodes:
        node = join.node
        if node.operator != NESTED_LOOP or len(node.children) != 2:  # noqa: PLR2004 - sides
            continue
        outer, inner = node.children[0], _below(node.children[1])
        if inner.operator not in LOOK_UPS or not inner.condition or inner.object is None:
            continue
        rows, kept = outer.rows or 0.0, node.rows
        if kept is None or rows < READ_ROWS_MIN or kept > MATCHED_SHARE_MAX * rows:
            continue
        if "filter" not in inner.condition.lower() and not inner.removed_rows:
            continue
        for read in outer.walk():
            unused = None if read.object is None else unlike_index(case, join, read)
            if unused is not None:
                yield join, read, _with_doubt(case, unused, read, inner)


def with_columns_alike(case: Case, advice: Advice) -> Advice:
    """Return the advice to declare a column as another one, with the columns that go with it.

    Columns that statements compare with the changed one, and that are declared as it was, would
    differ from it after the change.
    """
    changed = (advice.subject, advice.columns[0])
    also = tuple(
        Advice(advice.kind, table, {**advice.values, "columns": name}, advice.gain_share)
        for table, name in _declared_as(case, changed, _column(advice.values["like"]))
    )
    return replace(advice, also=also)


def compared_columns(case: Case, plan: Plan) -> list[tuple[Column, Column]]:
    """Return the columns of different tables that a statement compares for equality."""
    objects = {node.object for node in plan.root.walk() if node.object is not None}
    text = without_remarks(plan.text or "")
    named = aliases(text, objects)
    texts = [text, *(node.condition or "" for node in plan.root.walk())]
    pairs: dict[tuple[Column, Column], None] = {}
    for part in texts:
        for sides in _EQUAL.findall(_QUOTES.sub("", _TEXT.sub("''", part))):
            own = _resolved(case, sides[:2], named, objects)
            other = _resolved(case, sides[2:], named, objects)
            if own is not None and other is not None and own[0] != other[0]:
                pairs[own, other] = None
    return list(pairs)


def _resolved(
    case: Case, side: tuple[str, ...], named: dict[str, str], objects: set[str]
) -> Column | None:
    """Return the table and the column of a name in a condition; None if they are not known."""
    qualifier, column = side[0], side[1]
    if qualifier:
        table = named.get(qualifier, qualifier)
        return (table, column) if table in objects else None
    owners = [
        table for table in objects if column.lower() in case.column_types.get(table.lower(), {})
    ]
    return (owners[0], column) if len(owners) == 1 else None


def _converted(case: Case, own: Column, other: Column) -> Unlike | None:
    """Return why a comparison converts the first of two columns; None if it does not."""
    collation, like = (
        case.collations.get(table.lower(), {}).get(column.lower()) for table, column in (own, other)
    )
    if collation is None or like is None:
        return unlike_types(case, _name(own), _name(other))
    if collation.precedence >= like.precedence:
        return None
    why = (
        f"{_name(own)} has the collation {collation.name}, {_name(other)} has {like.name}, and "
        f"{_name(own)} is converted to be compared"
    )
    to_try = f"give {_name(own)} the collation of {_name(other)}"
    return Unlike(why, to_try, (_name(own), _name(other)))


def _with_doubt(case: Case, unused: Unused, read: PlanNode, inner: PlanNode) -> Unused:
    """Return the unused index, with a doubt if no other index finds the rows of the other table."""
    like = (unused.alike or ("", ""))[1].partition(".")[2]
    condition = inner.condition or ""
    is_served = any(
        re.search(rf"\b{re.escape(index.columns[0])}\b", condition)
        for index in case.indexes_of(inner.object, inner.schema)
        if index.valid and index.columns[0] != like
    )
    doubt = TO_SETTLE.format(inner.object, read.object)
    return unused if is_served else replace(unused, settle=doubt)


def _declared_as(case: Case, column: Column, like: Column) -> list[Column]:
    """Return the other columns that statements compare with a column and that are declared as it.

    The column `like`, and those that are declared as it, stay as they are.
    """
    pairs = {pair for plans in case.plans.values() for plan in plans for pair in _both(case, plan)}
    found, queue = {column}, [column]
    while queue:
        first = queue.pop()
        for one, other in sorted(pairs):
            is_new = one == first and other not in found and other != like
            if is_new and _declared(case, other) == _declared(case, column):
                found.add(other)
                queue.append(other)
    return sorted(found - {column})


def _both(case: Case, plan: Plan) -> Iterator[tuple[Column, Column]]:
    for one, other in compared_columns(case, plan):
        yield from ((one, other), (other, one))


def _declared(case: Case, column: Column) -> object:
    table, name = column[0].lower(), column[1].lower()
    collation = case.collations.get(table, {}).get(name)
    return collation or case.column_types.get(table, {}).get(name)


def _index_of(case: Case, column: Column, schema: str | None) -> Index | None:
    """Return an index of all rows of a table that begins with a column; None without one."""
    for index in case.indexes_of(column[0], schema):
        is_whole = index.valid and index.predicate is None
        if is_whole and index.columns[0].lower() == column[1].lower():
            return index
    return None


def _is_used(plan: Plan, index: Index) -> bool:
    """Return True if a plan looks rows up by an index."""
    return any(
        node.index == index.name and node.object == index.table and not node.is_full_scan
        for node in plan.root.walk()
    )


def _tables_below(node: PlanNode) -> set[str | None]:
    return {below.object for below in node.walk()}


def _below(node: PlanNode) -> PlanNode:
    while node.operator in PASSING and len(node.children) == 1:
        node = node.children[0]
    return node


def _column(name: str) -> Column:
    table, _, column = name.partition(".")
    return table, column


def _name(column: Column) -> str:
    return ".".join(column)
