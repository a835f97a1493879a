"""Counts the rows of a join's inputs, each once, and reads the join's condition.

A plan counts the rows of a nested loop's inner input once for each execution, so that they are as
many as the rows of the join. Here each row of the inner table counts once.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.analysis.findings.engine_facts import known_table
from assay.analysis.findings.indexes.conditions import conjuncts
from assay.analysis.findings.indexes.join_index import table_of
from assay.analysis.findings.joins.grouped import group_tables, plain
from assay.analysis.findings.joins.range_join import inequalities

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.analysis.findings.case import Case
    from assay.analysis.findings.plans.plan_time import Timed
    from assay.model.plan import PlanNode

NESTED_LOOP = "nested loop"
SCANS = ("scan", "index scan", "bitmap scan")
PASSING = ("hash build", "materialize", "exchange", "projection", "sort")
# Part of all pairs that a join without a condition returns; plans round averages of loops.
ALL_PAIRS = 0.95
_TEXT = re.compile(r"'(?:[^']|'')*'")
# Two columns that are equal; comparisons with a value do not relate the inputs of a join.
_EQUAL_COLUMNS = re.compile(
    r"[\w\")]\s*(?<![<>!])=\s*\(*(?!true\b|false\b|any\b|const\b|null\b)[A-Za-z_#\"]", re.IGNORECASE
)
# A column of a scan that is equal to a column of another table.
_LOOKED_UP = re.compile(r"([A-Za-z_][\w.]*)\)*(?:::\w+)?\s*=\s*\(*([A-Za-z_]\w*\.\w+)")
# An inequality between columns of two tables in the condition of a scan.
_RANGE = re.compile(r"[A-Za-z_][\w.]*\s*(?:<>|!=|<=|>=|<|>)\s*[A-Za-z_]\w*\.", re.IGNORECASE)


@dataclass(frozen=True)
class Inputs:
    """The inputs of a join.

    Attributes:
        rows: Rows of the outer and of the inner input, without repetitions.
        tables: Names of the tables of each input.
        condition: Comparisons of columns for equality; empty if the join has none.
        is_crossed: Whether the join has no condition and returns all pairs.
    """

    rows: tuple[float, float]
    tables: tuple[set[str], set[str]]
    condition: str
    is_crossed: bool


def inputs_of(case: Case, join: Timed) -> Inputs | None:
    """Return the inputs of a join; None if their rows are not known or it compares a range."""
    node = join.node
    if node.rows is None or len(node.children) < 2:  # noqa: PLR2004 - two sides
        return None
    outer, inner = node.children[:2]
    outer_rows, inner_rows = _rows(case, join, outer), _rows(case, join, inner)
    if not outer_rows or not inner_rows:
        return None
    conditions = [node.condition or ""]
    if node.operator == NESTED_LOOP:
        conditions += [part.condition or "" for part in inner.walk()]
        if any(_RANGE.search(_TEXT.sub("''", condition)) for condition in conditions[1:]):
            return None
    if inequalities(conditions[0]):
        return None
    equal = [part for text in conditions for part in conjuncts(text) if _is_of_columns(part)]
    is_free = not equal and not node.condition
    return Inputs(
        (outer_rows, inner_rows),
        (_tables(outer), _tables(inner)),
        " and ".join(dict.fromkeys(part.strip(" ()").removeprefix("filter ") for part in equal)),
        is_free and node.rows >= ALL_PAIRS * outer_rows * inner_rows,
    )


def groups_at_most(root: PlanNode, statement: str) -> float | None:
    """Return the largest possible number of groups of a plain statement; None if not known.

    Groups by columns of a table are at most as many as its rows that the plan reads.
    """
    groups = 1.0
    for table in group_tables(statement):
        rows = [part.rows for part in root.walk() if (part.object or "").lower() == table]
        if len(rows) != 1 or rows[0] is None:
            return None
        groups *= rows[0]
    return groups


def _is_of_columns(comparison: str) -> bool:
    return _EQUAL_COLUMNS.search(_TEXT.sub("''", comparison)) is not None


def _tables(node: PlanNode) -> set[str]:
    return {part.object.lower() for part in node.walk() if part.object is not None}


def _rows(case: Case, join: Timed, node: PlanNode) -> float | None:
    """Return the rows of an input of a join, each counted once; None if not known."""
    while node.operator in PASSING and len(node.children) == 1:
        node = node.children[0]
    rows, loops = node.rows, max(1.0, node.loops or 1.0)
    if node.operator not in SCANS or rows is None:
        return rows
    if join.node.operator == NESTED_LOOP:
        keys = _keys(join, node) if node.condition else 1.0
        rows = min(rows, rows / loops * keys)
    of_table = _table_rows(case, join, node)
    return rows if of_table is None else min(rows, max(1.0, of_table))


def _keys(join: Timed, inner: PlanNode) -> float:
    """Return the largest number of different keys by which a nested loop can look up rows.

    Rows of a table that is not the loop's nearest repeat in its outer input, and so do its keys.
    """
    scans = [node for node in join.node.children[0].walk() if node.operator in SCANS]
    keys, statement = 1.0, plain(join.plan.text)
    for column in dict.fromkeys(_key_columns(inner)):
        keys *= _values(column, scans, statement) or math.inf
    return keys


def _values(column: str, scans: Sequence[PlanNode], statement: str) -> float | None:
    """Return the largest number of different values of a column; None if its scan is not known.

    A column by which its own table is looked up has no more values than the column it is equal to.
    """
    alias, _, name = column.lower().rpartition(".")
    names = {alias, table_of(alias, statement)} if alias else set()
    same = [scan for scan in scans if scan.object is not None and scan.object.lower() in names]
    if len(same) != 1 or same[0].rows is None:
        return None
    others = [scan for scan in scans if scan is not same[0]]
    equal = (
        match[2]
        for text in _conditions(same[0])
        for match in _LOOKED_UP.finditer(text)
        if match[1].rpartition(".")[2].lower() == name
    )
    known = [_values(other, others, statement) for other in equal]
    return min([same[0].rows, *(count for count in known if count is not None)])


def _key_columns(scan: PlanNode) -> list[str]:
    """Return the columns of other tables by which a scan looks rows up."""
    return [match[2] for text in _conditions(scan) for match in _LOOKED_UP.finditer(text)]


def _conditions(scan: PlanNode) -> list[str]:
    return [_TEXT.sub("''", part.condition) for part in scan.walk() if part.condition]


def _table_rows(case: Case, join: Timed, scan: PlanNode) -> float | None:
    """Return the number of rows of a scan's table; None if not known.

    Without the engine's count, a scan of the whole table in any plan of the run has it.
    """
    if scan.object is None:
        return None
    name = known_table(case.tables, scan)
    facts = None if name is None else case.tables[name]
    if facts is not None and (facts.rows or facts.estimated_rows):
        return facts.rows or facts.estimated_rows
    table = table_of(scan.object.lower(), plain(join.plan.text))
    counts = (
        (node.rows + (node.removed_rows or 0.0)) / max(1.0, node.loops or 1.0)
        for plans in case.plans.values()
        for plan in plans
        for node in plan.root.walk()
        if node.operator == "scan" and node.rows is not None and not node.cut_short
        if table_of((node.object or "").lower() or "-", plain(plan.text)) == table
    )
    return max(counts, default=None)
