"""Finds sorts of whole tables for their first rows, which an index could return in order."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.findings.advising import index_advice
from assay.analysis.findings.client.skipped_rows import OFFSET
from assay.analysis.findings.indexes.conditions import conjuncts, equal_columns
from assay.analysis.findings.indexes.index_use import OTHERS_REMOVE
from assay.analysis.findings.indexes.sort_order import (
    PASSING,
    SORTS,
    can_mix_directions,
    has_index,
    has_mixed_directions,
    is_partly_sorted,
    other_directions,
    scan_below,
    sort_columns,
    sort_keys,
)
from assay.analysis.findings.plans.plan_time import Timed, fraction_of, reach_of, timed_nodes
from assay.analysis.time.operation_tree import COMPUTING
from assay.model.finding import Evidence
from assay.model.units import count_text, percent_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from assay.analysis.findings.case import Case
    from assay.model.catalogue import Index
    from assay.model.finding import Finding
    from assay.model.plan import PlanNode

METHOD = "order-limit"
EFFECT_MIN = 0.05
READ_ROWS_MIN = 100
# An ordered index is read row by row, which pays off if few rows are returned.
KEPT_SHARE_MAX = 0.02
DIRECTIONS = (
    "measure again: this record does not have the directions of the columns of indexes, ascending "
    "or descending"
)


def find(case: Case) -> list[Finding]:
    """Return a finding for each table that is sorted for its first rows without an index."""
    # Indexes of column stores find rows of comparisons and return none in order.
    if not case.can("index") or case.advice.get("by_column", False):
        return []
    nodes = timed_nodes(case)
    findings = [
        _finding(case, sort, scan, columns, nodes)
        for sort in nodes
        if sort.node.operator in SORTS
        for scan in scan_below(sort.node)
        if (columns := _columns(case, sort.node, scan))
        and _is_wasteful(sort, scan)
        and not has_index(case, scan, _ordered(scan, columns), _searched(scan))
    ]
    return [finding for finding in findings if finding.effect_share >= EFFECT_MIN]


def _columns(case: Case, sort: PlanNode, scan: PlanNode) -> tuple[str, ...]:
    """Return the keys of an index that would return rows in sort order; empty if none can."""
    searched = _searched(scan)
    if not sort_columns(sort.condition):
        return ()
    if scan.operator != "scan" and not searched and not is_partly_sorted(sort):
        return ()
    keys = sort_keys(case, sort.condition, searched)
    if has_mixed_directions(keys) and can_mix_directions(case) is False:
        return ()
    return (*searched, *keys)


def _ordered(scan: PlanNode, columns: Sequence[str]) -> Sequence[str]:
    """Return the keys of an index after those that its scan searches for."""
    return columns[len(_searched(scan)) :]


def _searched(scan: PlanNode) -> tuple[str, ...]:
    """Return the columns that a scan's condition compares for equality."""
    return equal_columns(_condition(scan), scan.object or "")


def _condition(scan: PlanNode) -> str:
    """Return a scan's condition; in a bitmap scan, the node that builds the bitmap has one, too."""
    return "; ".join(part.condition for part in scan.walk() if part.condition)


def _is_wasteful(sort: Timed, scan: PlanNode) -> bool:
    """Return True if a query keeps few of the rows that a sort's scan reads.

    A sort that spilled holds all rows, so the operators above it did not stop early. In the sort's
    order, an index meets the rows that a condition keeps one after another among all others. If the
    condition keeps few, nearly all rows are read until there are enough of them.
    """
    if sort.node.spilled_bytes:
        return False
    read, kept = _read(scan), _kept(sort)
    if read < READ_ROWS_MIN or kept is None or kept > KEPT_SHARE_MAX * read:
        return False
    return bool(_searched(scan)) or kept <= KEPT_SHARE_MAX * _sorted(sort)


def _sorted(sort: Timed) -> float:
    """Return the number of rows that reach a sort; without limit if it was not counted."""
    rows = sort.node.children[0].rows
    return float("inf") if rows is None else rows


def _to_settle(
    case: Case, sort: Timed, scan: PlanNode, others: Iterable[Index], columns: Sequence[str]
) -> str | None:
    """Return what is not known about the index; None if few rows are read in its order.

    Conditions that the index does not serve may remove most rows.
    """
    if has_mixed_directions(columns) and (
        can_mix_directions(case) is None or any(not index.directions for index in others)
    ):
        return DIRECTIONS
    kept = _kept(sort) or 0.0
    if kept <= KEPT_SHARE_MAX * _sorted(sort) or len(conjuncts(_condition(scan))) <= len(
        _searched(scan)
    ):
        return None
    searched = " and ".join(_searched(scan))
    return f"measure how many rows {searched} alone keeps: {OTHERS_REMOVE}"


def _read(scan: PlanNode) -> float:
    return (scan.rows or 0.0) + (scan.removed_rows or 0.0)


def _kept(sort: Timed) -> float | None:
    """Return the number of rows that a query takes from a sort, including skipped rows.

    If a sort is stopped early, its own row count is used; otherwise the limit's, unless there is an
    offset. Operators that need all rows, such as windows and groups, do not stop a sort early.
    """
    own, below = sort.node.rows, sort.node.children[0].rows
    if own is not None and below is not None and own < below:
        return own
    if OFFSET.search(sort.plan.text or ""):
        return own
    passing = itertools.takewhile(lambda node: node.operator in PASSING, reversed(sort.above))
    return min((node.rows for node in (sort.node, *passing) if node.rows is not None), default=None)


def _work_text(sort: Timed, read: float) -> str:
    """Return the numbers of rows that are read and sorted, as text; one number if equal."""
    ordered = min(read, _sorted(sort))
    if ordered == read:
        return f"reads and sorts {count_text(read)} rows"
    return f"reads {count_text(read)} rows and sorts {count_text(ordered)}"


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
        f"Missing index for a sort: {sort.operation} {_work_text(sort, read)} of {table} by "
        f"{names} to return {count_text(kept)}, which took {percent_text(effect)} of "
        "the time"
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
    others = other_directions(case, scan, _ordered(scan, columns), _searched(scan))
    evidence += [
        Evidence(f"index {index.text} has another order", f"catalogue:{table}") for index in others
    ]
    finding = case.finding(
        METHOD, claim, fractions, to_try=to_try, evidence=evidence, advice=advice
    )
    settle = _to_settle(case, sort, scan, others, columns)
    finding = replace(finding.without_interval(), settle=settle)
    return finding.of(COMPUTING, saved=(0.0, case.of_run(reach_of(own))))
