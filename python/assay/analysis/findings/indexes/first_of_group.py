"""Finds `select distinct on`: all rows of each group are read to return the first one.

PostgreSQL does not skip from group to group in an index. A subquery with `limit 1` for each group
reads one row of the group if an index has the group's columns and then those of the order.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.findings.plans.plan_time import Timed, fraction_of, scaled, timed_nodes
from assay.analysis.time.operation_tree import COMPUTING
from assay.model.finding import Evidence
from assay.model.units import count_text, percent_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.analysis.findings.case import Case
    from assay.model.catalogue import Index
    from assay.model.finding import Finding
    from assay.model.plan import PlanNode

METHOD = "first-of-group"
EFFECT_MIN = 0.05
# A look-up in an index costs as much as some ten rows that are read in order.
ROWS_OF_GROUP_MIN = 100.0
READ_ROWS_MIN = 10_000
SCANS = ("scan", "index scan", "bitmap scan")
# Operators between the first rows and the scan. A join or a group may make the rows instead.
BETWEEN = ("sort", "exchange", "projection", "aggregate")
_DISTINCT_ON = re.compile(r"\bdistinct\s+on\s*\(([^()]+)\)", re.IGNORECASE)
_ORDER_BY = re.compile(r"\border\s+by\s+([^()]+?)(?:\blimit\b|;|$)", re.IGNORECASE | re.DOTALL)


def find(case: Case) -> list[Finding]:
    """Return a finding for each statement that keeps the first row of large groups."""
    nodes = timed_nodes(case)
    findings = [
        _finding(case, top, scan, nodes)
        for top in nodes
        if _is_first_rows(top) and (scan := _scan(top.node)) is not None
        if _rows_of_group(top.node, scan) >= ROWS_OF_GROUP_MIN
    ]
    return [finding for finding in findings if finding.effect_share >= EFFECT_MIN]


def _is_first_rows(top: Timed) -> bool:
    """Return True for the highest operator that keeps one row of each group."""
    is_highest = all(above.operator != "aggregate" for above in top.above)
    is_distinct_on = len(_DISTINCT_ON.findall(top.plan.text or "")) == 1
    return top.node.operator == "aggregate" and is_highest and is_distinct_on


def _scan(node: PlanNode) -> PlanNode | None:
    """Return the scan whose rows an operator gets; None if something else is between them."""
    while len(node.children) == 1:
        node = node.children[0]
        if node.operator in SCANS:
            return node if (node.rows or 0.0) >= READ_ROWS_MIN else None
        if node.operator not in BETWEEN:
            return None
    return None


def _rows_of_group(top: PlanNode, scan: PlanNode) -> float:
    return (scan.rows or 0.0) / max(1.0, top.rows or 0.0)


def _columns(text: str) -> tuple[str, ...]:
    """Return the names of a list of columns, without tables and directions; empty if unclear."""
    names = [
        re.fullmatch(r"(?:\w+\.)?\"?(\w+)\"?(?:\s+\w+)*", part.strip()) for part in text.split(",")
    ]
    return tuple(name[1].lower() for name in names if name) if all(names) else ()


def _wanted(top: Timed) -> tuple[str, ...]:
    """Return the columns that an index has first, if each group's first row can be looked up."""
    text = top.plan.text or ""
    groups, order = _DISTINCT_ON.search(text), _ORDER_BY.search(text)
    if groups is None or order is None:
        return ()
    return tuple(dict.fromkeys([*_columns(groups[1]), *_columns(order[1])]))


def _index(case: Case, top: Timed, scan: PlanNode) -> Index | None:
    """Return an index that begins with the columns of group and order; None without one."""
    wanted = _wanted(top)
    for index in case.indexes_of(scan.object, scan.schema):
        columns = [re.sub(r"\W.*", "", column.strip('"`').lower()) for column in index.columns]
        if (
            wanted
            and index.valid
            and index.predicate is None
            and columns[: len(wanted)] == [*wanted]
        ):
            return index
    return None


def _finding(case: Case, top: Timed, scan: PlanNode, nodes: Sequence[Timed]) -> Finding:
    below = set(map(id, top.node.walk()))
    whole = fraction_of(timed for timed in nodes if id(timed.node) in below)
    read, kept = scan.rows or 0.0, top.node.rows or 0.0
    # A look-up for each group costs more than its one row.
    fractions = scaled(whole, 1 - min(1.0, 10 * kept / read))
    effect, operation = case.of_run(fractions), top.operation
    index = _index(case, top, scan)
    claim = (
        f"{operation} reads {count_text(read)} rows of {scan.object} to return the first row of "
        f"each of {count_text(kept)} groups (`distinct on`); reading the others took "
        f"{percent_text(effect)} of the time"
    )
    to_try = (
        "list the groups (from their own table, if there is one), and look up one row for each: "
        "`from groups cross join lateral (select ... where group = groups.id order by ... limit 1)`"
    )
    evidence = [
        Evidence(
            f"{top.node.native} keeps {count_text(kept)} of {count_text(read)} rows",
            f"plan:{operation}",
        ),
        Evidence("the statement is a `select distinct on`", f"statement:{operation}"),
    ]
    if index is not None:
        evidence.append(
            Evidence(f"{scan.object} has the index {index.text}", f"catalogue:{scan.object}")
        )
    finding = case.finding(METHOD, claim, fractions, to_try=to_try, evidence=evidence)
    finding = replace(finding.without_interval(), settle=_to_settle(top, index))
    return finding.of(COMPUTING, saved=(0.0, effect))


def _to_settle(top: Timed, index: Index | None) -> str | None:
    """Return what is unknown about the look-ups; None if an index serves them."""
    if index is not None:
        return None
    columns = ", ".join(_wanted(top)) or "the columns of the group and of the order"
    return f"create an index that begins with {columns}, and measure one look-up for each group"
