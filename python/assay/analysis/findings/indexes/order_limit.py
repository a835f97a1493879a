"""Statements that sort a whole table for its first rows, which an index could return in order."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from assay.analysis.findings.case import index_advice
from assay.analysis.findings.indexes.missing_index import equal_columns
from assay.analysis.findings.plans.plan_time import Timed, fraction_of, reach_of, timed_nodes
from assay.analysis.time.operation_tree import COMPUTING
from assay.model.finding import Evidence
from assay.model.units import count_text, percent_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding
    from assay.model.plan import PlanNode

METHOD = "order-limit"
EFFECT_MIN = 0.05
READ_ROWS_MIN = 100
# An ordered index is read row by row, which pays off if few rows are returned.
KEPT_SHARE_MAX = 0.02
# Prefix of engines' internal temporary tables, which nobody can index.
TEMPORARY = "<"
SORTS = ("sort", "top-n")
SCANS = ("scan", "index scan", "bitmap scan")
PASSING = (*SORTS, "limit", "projection", "exchange", "filter", "result", "subquery")

_COLUMN = re.compile(
    r'^"?(?:[\w$]+"?\."?)*?([\w$]+)"?(?:\s+(?:asc|desc))?(?:\s+nulls \w+)?$', re.IGNORECASE
)

# `limit 20000, 1` skips 20,000 rows, too.
_OFFSET = re.compile(r"\boffset\s+(?!0\b)|\blimit\s+[\w${}]+\s*,", re.IGNORECASE)


def find(case: Case) -> list[Finding]:
    """Return one finding for each table that is sorted for its first rows without an index."""
    if not case.can("index"):
        return []
    nodes = timed_nodes(case)
    findings = [
        _finding(case, sort, scan, columns, nodes)
        for sort in nodes
        if sort.node.operator in SORTS
        for scan in _scan_below(sort.node)
        if (columns := _columns(sort.node, scan))
        and _is_wasteful(sort, scan)
        and not _has_index(case, scan, columns)
    ]
    return [finding for finding in findings if finding.effect_share >= EFFECT_MIN]


def _columns(sort: PlanNode, scan: PlanNode) -> tuple[str, ...]:
    """Return the columns of an index that returns a scan's rows in sort order; empty if none."""
    ordered = sort_columns(sort.condition)
    # In a bitmap scan, the node that builds the bitmap has the condition.
    conditions = [part.condition for part in scan.walk() if part.condition]
    searched = equal_columns("; ".join(conditions), scan.object or "")
    if not ordered or (scan.operator != "scan" and not searched):
        return ()
    return tuple(dict.fromkeys([*searched, *ordered]))


def _has_index(case: Case, scan: PlanNode, columns: Sequence[str]) -> bool:
    """Return True if a valid full index begins with all of these columns."""
    wanted = tuple(column.lower() for column in columns)
    return any(
        index.valid
        and index.predicate is None
        and tuple(column.strip('"`').lower() for column in index.columns[: len(wanted)]) == wanted
        for index in case.indexes_of(scan.object, scan.schema)
    )


def sort_columns(condition: str | None) -> tuple[str, ...]:
    """Return the columns of a sort key; empty if one of them is an expression."""
    columns = []
    for part in (condition or "").split(","):
        matched = _COLUMN.match(part.strip().strip("()").strip())
        if matched is None:
            return ()
        columns.append(matched[1])
    return tuple(columns)


def _scan_below(node: PlanNode) -> Iterator[PlanNode]:
    """Yield the scan below a sort, if no other operator is in between."""
    below = node
    while len(below.children) == 1:
        below = below.children[0]
        if below.operator in SCANS and below.object is not None:
            if not below.object.startswith(TEMPORARY):
                yield below
            return
        if below.operator not in PASSING:
            return


def _is_wasteful(sort: Timed, scan: PlanNode) -> bool:
    """Return True if a sort passes on few of the rows that its scan reads.

    A sort that spilled holds all rows, so the operators above it did not stop early.
    """
    if sort.node.spilled_bytes:
        return False
    read, kept = _read(scan), _kept(sort)
    return read >= READ_ROWS_MIN and kept is not None and kept <= KEPT_SHARE_MAX * read


def _read(scan: PlanNode) -> float:
    return (scan.rows or 0.0) + (scan.removed_rows or 0.0)


def _kept(sort: Timed) -> float | None:
    """Return the number of rows taken from a sort, including rows that an offset skips.

    If a sort is stopped early, its own row count is used; otherwise the limit's, unless there is an
    offset. Operators that need all rows, such as windows and groups, do not stop a sort early.
    """
    own, below = sort.node.rows, sort.node.children[0].rows
    if own is not None and below is not None and own < below:
        return own
    if _OFFSET.search(sort.plan.text or ""):
        return own
    passing = itertools.takewhile(lambda node: node.operator in PASSING, reversed(sort.above))
    return min((node.rows for node in (sort.node, *passing) if node.rows is not None), default=None)


def _finding(
    case: Case, sort: Timed, scan: PlanNode, columns: Sequence[str], nodes: Sequence[Timed]
) -> Finding:
    own = [
        timed
        for timed in nodes
        if timed.plan is sort.plan and any(timed.node is part for part in sort.node.walk())
    ]
    fractions, names = fraction_of(own), ", ".join(columns)
    effect, table = case.of_run(fractions), scan.object or ""
    kept, read = _kept(sort), _read(scan)
    claim = (
        f"Missing index for an order: {sort.operation} reads and sorts {count_text(read)} rows of"
        f" {table} by {names} to return {count_text(kept)}; that took {percent_text(effect)} of the"
        " time"
    )
    advice = index_advice(table, columns, scan.schema, effect)
    to_try = case.try_words(METHOD, fractions, f"makes an index of {table} ({names})")
    evidence = [
        Evidence(
            f"{sort.node.native} of {sort.operation} keeps {count_text(kept)} of"
            f" {count_text(read)} rows",
            f"plan:{sort.operation}",
        )
    ]
    if case.indexes is not None:
        evidence.append(Evidence(f"no index of {table} begins with {names}", f"catalogue:{table}"))
    finding = case.finding(
        METHOD, claim, fractions, to_try=to_try, evidence=evidence, advice=advice
    )
    return finding.without_interval().of(COMPUTING, saved=(0.0, case.of_run(reach_of(own))))
