"""Finds index scans that find many rows and discard most of them by a filter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.findings.advising import index_advice
from assay.analysis.findings.indexes.conditions import equal_columns, first_columns, indexable
from assay.analysis.findings.indexes.missing_index import usable_index
from assay.analysis.findings.plans.plan_time import Timed, reach_of, timed_nodes
from assay.analysis.time.operation_tree import COMPUTING
from assay.model.finding import Evidence
from assay.model.units import count_text, percent_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.model.catalogue import Index
    from assay.model.finding import Finding

METHOD = "index-filter"
EFFECT_MIN = 0.05
# If a scan keeps more rows than this, an index with more columns saves little.
REMOVED_SHARE_MIN = 0.9
REMOVED_ROWS_MIN = 100
OPERATORS = ("index scan", "bitmap scan")
FILTER = "filter "


def find(case: Case) -> list[Finding]:
    """Return a finding for each index whose rows a filter mostly discards."""
    if not case.can("index"):
        return []
    by_filter: dict[tuple[str, str, tuple[str, ...]], list[Timed]] = {}
    for scan in timed_nodes(case):
        table, index = scan.node.object, _index(scan)
        if table is None or index is None or not _is_wasteful(scan):
            continue
        # The finding `ordered-scan` covers these, and its index keeps the order.
        if scan.node.is_full_scan and equal_columns(_filter(scan), table):
            continue
        # A filter on the result of a function has no column to index.
        filtered = indexable(_filter(scan), table)
        # If an index serves the filter, another finding explains why it was not chosen.
        first = first_columns(_filter(scan), table)
        if filtered and usable_index(case, table, first, scan.node.schema) is None:
            columns = _columns(scan, table)
            by_filter.setdefault((table, index, columns), []).append(scan)
    findings = [_finding(case, *key, scans) for key, scans in by_filter.items()]
    return [finding for finding in findings if finding.effect_share >= EFFECT_MIN]


def _index(scan: Timed) -> str | None:
    """Return the name of the index that a scan uses; for a bitmap scan, the bitmap's index."""
    if scan.node.operator not in OPERATORS or (scan.node.is_full_scan and not scan.node.cut_short):
        return None
    return next((node.index for node in scan.node.walk() if node.index is not None), None)


def _is_wasteful(scan: Timed) -> bool:
    removed, kept = scan.node.removed_rows or 0.0, scan.node.rows or 0.0
    # For look-ups of one row each, an index with more columns would not save look-ups.
    loops = scan.node.loops or 0.0
    if loops > 1 and removed + kept <= loops:
        return False
    return removed >= REMOVED_ROWS_MIN and removed >= REMOVED_SHARE_MIN * (removed + kept)


def _filter(scan: Timed) -> str:
    """Return the filter condition that is applied to the rows from the index."""
    parts = (scan.node.condition or "").split("; ")
    return " and ".join(part.removeprefix(FILTER) for part in parts if part.startswith(FILTER))


def _columns(scan: Timed, table: str) -> tuple[str, ...]:
    """Return the columns of an index that would serve the search condition and the filter."""
    of_filter = indexable(_filter(scan), table)
    searched = " and ".join(
        part
        for node in scan.node.walk()
        for part in (node.condition or "").split("; ")
        if part and not part.startswith(FILTER)
    )
    return tuple(dict.fromkeys([*indexable(searched, table), *of_filter]))


def _finding(
    case: Case, table: str, index: str, columns: tuple[str, ...], scans: list[Timed]
) -> Finding:
    wasted: dict[str, float] = {}
    for scan in scans:
        part = (scan.fraction or 0.0) * _removed_share(scan)
        wasted[scan.operation] = wasted.get(scan.operation, 0.0) + part
    first = max(scans, key=lambda scan: scan.fraction or 0.0)
    rows = (first.node.rows or 0.0) + (first.node.removed_rows or 0.0)
    effect = case.of_run(wasted)
    claim = (
        f"Index {index} of {table} finds {count_text(rows)} rows in {first.operation}, and a"
        f" filter keeps {count_text(first.node.rows)} of them: {_filter(first)}. Reading the "
        f"others took {percent_text(effect)} of the time"
    )
    advice = index_advice(table, columns, first.node.schema, effect)
    to_try = case.try_words(METHOD, wasted, f"makes an index of {table} ({', '.join(columns)})")
    evidence = [
        Evidence(
            f"{scan.node.native} of {scan.operation} removed "
            f"{percent_text(_removed_share(scan))} of the rows that index {index} found",
            f"plan:{scan.operation}",
        )
        for scan in scans
    ]
    evidence += _catalogue_evidence(case, table, index)
    finding = case.finding(METHOD, claim, wasted, to_try=to_try, evidence=evidence, advice=advice)
    best = case.of_run(reach_of(scans))
    return finding.without_interval().of(COMPUTING, saved=(0.0, max(best, effect)))


def _removed_share(scan: Timed) -> float:
    removed = scan.node.removed_rows or 0.0
    return removed / (removed + (scan.node.rows or 0.0))


def _catalogue_evidence(case: Case, table: str, name: str) -> list[Evidence]:
    indexes: tuple[Index, ...] = case.indexes_of(table, None)
    return [
        Evidence(
            f"index {name} of {table} contains only {', '.join(index.columns)}",
            f"catalogue:{table}",
        )
        for index in indexes
        if index.name == name
    ]
