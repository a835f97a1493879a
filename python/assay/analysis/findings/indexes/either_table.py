"""Finds joins that keep rows by alternatives (`or`) on columns of different tables.

No index finds the rows of such a condition: a row of one table may be wanted because of its match
in the other table. So both tables are read and joined in full, and the filter then removes rows. A
`union` of one statement for each alternative can begin at the index of each column.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.analysis.findings.indexes.conditions import conjuncts
from assay.analysis.findings.operation_shares import names_text
from assay.analysis.findings.plans.plan_time import Timed, fraction_of, scaled, timed_nodes
from assay.analysis.time.operation_tree import COMPUTING
from assay.model.finding import Evidence
from assay.model.units import count_text, percent_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.analysis.findings.case import Case
    from assay.model.catalogue import Index
    from assay.model.finding import Finding

METHOD = "either-table"
EFFECT_MIN = 0.05
# Rows of several alternatives that are read one by one cost more than a scan unless they are few.
REMOVED_SHARE_MIN = 0.98
READ_ROWS_MIN = 1000
JOINS = ("hash join", "merge join", "nested loop")
_TEXT = re.compile(r"'(?:[^']|'')*'")
_OR = re.compile(r"\bor\b", re.IGNORECASE)
# A column of a table, compared with a value for equality or with a list of values.
_EQUAL = re.compile(
    r"[\s(]*(?:filter\b)?[\s(]*((?:\w+\.)*\w+)\.[\"`]?(\w+)[\"`]?\)?(?:::[\w ]+)?"
    r"\s*(?:=|\bin\b)\s*(?:any\s*)?\(?\s*(?:''|\$\d+|-?\d[\d.]*)[^|]*",
    re.IGNORECASE,
)
# The columns by which tables are joined.
_JOINED = re.compile(r"[\s(]*(?:\w+\.)+\w+\s*=\s*(?:\w+\.)+\w+[\s)]*")
_COLUMN = re.compile(r"\b[A-Za-z_]\w*\.[\"`]?[A-Za-z_]")


@dataclass(frozen=True)
class Alternative:
    """One alternative of a condition: a column that is compared with a value.

    Attributes:
        table: Table of the column, by its name or alias in the statement.
        column: Name of the column.
        index: Index that begins with the column; None without one.
    """

    table: str
    column: str
    index: Index | None


def find(case: Case) -> list[Finding]:
    """Return a finding for each join whose filter has alternatives of several tables."""
    nodes = timed_nodes(case)
    findings = [
        _finding(case, join, alternatives, nodes)
        for join in nodes
        if _is_wasteful(join) and (alternatives := _alternatives(case, join))
    ]
    return [finding for finding in findings if finding.effect_share >= EFFECT_MIN]


def _is_wasteful(join: Timed) -> bool:
    """Return True if a join, or the filter on its result, removes almost all of its rows."""
    node = join.node
    is_join = node.operator in JOINS or (
        node.operator == "filter" and any(child.operator in JOINS for child in node.children)
    )
    removed = node.removed_rows or 0.0
    read = removed + (node.rows or 0.0)
    return is_join and read >= READ_ROWS_MIN and removed >= REMOVED_SHARE_MIN * read


def _alternatives(case: Case, join: Timed) -> list[Alternative]:
    """Return the alternatives of a join's filter; empty unless they are of several tables.

    Another comparison with a value may be the one that removes the rows.
    """
    parts = conjuncts(join.node.condition)
    either = [part for part in parts if _OR.search(_TEXT.sub("''", part))]
    others = [part for part in parts if part not in either]
    if len(either) != 1 or not all(map(_JOINED.fullmatch, others)):
        return []
    texts = _OR.split(_TEXT.sub("''", either[0]))
    matches = [_EQUAL.fullmatch(text) for text in texts if len(_COLUMN.findall(text)) == 1]
    columns = sorted({(match[1], match[2]) for match in matches if match is not None})
    of_several = len({table for table, _ in columns}) > 1
    if len(matches) < len(texts) or None in matches or not of_several:
        return []
    return [Alternative(table, column, _index(case, join, column)) for table, column in columns]


def _index(case: Case, join: Timed, column: str) -> Index | None:
    """Return an index of a joined table that begins with a column; None without one.

    Plans name the columns by the aliases of the statement, so that the table is found by its index.
    """
    for node in join.node.walk():
        for index in case.indexes_of(node.object, node.schema):
            first = index.columns[0].strip('"`').lower() if index.columns else ""
            if index.valid and index.predicate is None and first == column.lower():
                return index
    return None


def _finding(
    case: Case, join: Timed, alternatives: Sequence[Alternative], nodes: Sequence[Timed]
) -> Finding:
    node, operation = join.node, join.operation
    below = set(map(id, node.walk()))
    removed, kept = node.removed_rows or 0.0, node.rows or 0.0
    whole = fraction_of(timed for timed in nodes if id(timed.node) in below)
    fractions = scaled(whole, removed / (removed + kept))
    effect = case.of_run(fractions)
    names = names_text([f"{part.table}.{part.column}" for part in alternatives])
    claim = (
        f"{operation} joins {count_text(removed + kept)} rows to keep {count_text(kept)}: `or` "
        f"between columns of different tables ({names}) lets no index find them; this took "
        f"{percent_text(effect)} of the time"
    )
    to_try = (
        "write one query for each alternative and join them with `union`, so that each can use an "
        "index of its own column"
    )
    evidence = [Evidence(f"{node.native} of {operation}: {node.condition}", f"plan:{operation}")]
    evidence += [
        Evidence(f"{part.index.table} has the index {part.index.text}", "catalogue:indexes")
        for part in alternatives
        if part.index is not None
    ]
    lacking = [f"{part.table}.{part.column}" for part in alternatives if part.index is None]
    finding = case.finding(METHOD, claim, fractions, to_try=to_try, evidence=evidence)
    settle = f"create an index of {names_text(lacking)}, and measure a `union`" if lacking else None
    finding = replace(finding.without_interval(), settle=settle)
    return finding.of(COMPUTING, saved=(0.0, effect))
