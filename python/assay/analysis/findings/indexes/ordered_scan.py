"""Finds indexes that are read in order until a filter has kept enough rows (`order by ... limit`).

The optimiser expects that the wanted rows are spread evenly over the index. If they are rare, or
all of them at the end of the order, nearly the whole index is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.findings.advising import index_advice
from assay.analysis.findings.indexes.conditions import equal_columns
from assay.analysis.findings.indexes.sort_order import has_index, index_keys
from assay.analysis.findings.plans.plan_time import Timed, fraction_of, timed_nodes
from assay.analysis.time.operation_tree import COMPUTING
from assay.model.finding import Evidence
from assay.model.units import count_text, percent_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.model.catalogue import Index
    from assay.model.finding import Finding

METHOD = "ordered-scan"
EFFECT_MIN = 0.05
# A scan of fewer rows takes less time than an index look-up.
REMOVED_ROWS_MIN = 100
# An index on the filter's columns reads only the rows that are kept.
REMOVED_SHARE_MIN = 0.98


def find(case: Case) -> list[Finding]:
    """Return a finding for each scan in index order whose filter an index could serve."""
    if not case.can("index"):
        return []
    findings = [
        _finding(case, scan, index, columns)
        for scan in timed_nodes(case)
        if removes_in_order(scan, REMOVED_SHARE_MIN)
        and (index := index_of_scan(case, scan)) is not None
        and (columns := _columns(scan, index))
        and not has_index(case, scan.node, columns[len(_searched(scan)) :], _searched(scan))
    ]
    return [finding for finding in findings if finding.effect_share >= EFFECT_MIN]


def removes_in_order(scan: Timed, share_min: float) -> bool:
    """Return True if a scan in index order removes most of its rows until a limit is reached.

    Args:
        scan: Scan with its share of the time.
        share_min: Minimum share of removed rows among the rows that it reads.
    """
    node = scan.node
    if node.operator != "index scan" or not node.is_full_scan or not node.cut_short:
        return False
    removed = node.removed_rows or 0.0
    return removed >= max(REMOVED_ROWS_MIN, share_min * (removed + (node.rows or 0.0)))


def index_of_scan(case: Case, scan: Timed) -> Index | None:
    """Return the index that a scan reads; None if the catalogue does not have it."""
    indexes = case.indexes_of(scan.node.object, scan.node.schema)
    return next((index for index in indexes if index.name == scan.node.index), None)


def _columns(scan: Timed, index: Index) -> tuple[str, ...]:
    """Return the keys of an index that has the wanted rows in order; empty if none can."""
    searched = _searched(scan)
    # Empty for an index on an expression, which is no column.
    ordered = index_keys(index, searched)
    return (*searched, *ordered) if searched and ordered else ()


def _searched(scan: Timed) -> tuple[str, ...]:
    """Return the columns that a scan's condition compares for equality."""
    return equal_columns(scan.node.condition, scan.node.object or "")


def _finding(case: Case, scan: Timed, index: Index, columns: tuple[str, ...]) -> Finding:
    node, operation = scan.node, scan.operation
    removed, kept = node.removed_rows or 0.0, node.rows or 0.0
    share = removed / (removed + kept)
    fractions = {name: whole * share for name, whole in fraction_of([scan]).items()}
    effect, table, names = case.of_run(fractions), node.object or "", ", ".join(columns)
    claim = (
        f"{operation} reads {count_text(removed + kept)} rows of {table} in the order of "
        f"{index.name} to find {count_text(kept)} that meet its filter; reading the others took "
        f"{percent_text(effect)} of the time"
    )
    evidence = [
        Evidence(
            f"{node.native} with {index.name} removed {percent_text(share)} of the rows it read:"
            f" {node.condition}",
            f"plan:{operation}",
        ),
        Evidence(f"no index of {table} begins with {names}", f"catalogue:{table}"),
    ]
    finding = case.finding(
        METHOD,
        claim,
        fractions,
        to_try=case.try_words(METHOD, fractions, f"makes an index of {table} ({names})"),
        evidence=evidence,
        advice=index_advice(table, columns, node.schema, effect),
    )
    return finding.without_interval().of(COMPUTING, saved=(0.0, effect))
