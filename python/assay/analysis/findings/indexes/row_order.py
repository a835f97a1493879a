"""Finds column-store scans that cannot skip blocks because rows are not ordered by the column."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.findings.indexes.conditions import indexable
from assay.analysis.findings.indexes.missing_index import REMOVED_SHARE_MIN_BY_COLUMN
from assay.analysis.findings.indexes.unused_index import removed_share
from assay.analysis.findings.plans.plan_time import fraction_of, timed_nodes
from assay.analysis.time.operation_tree import COMPUTING
from assay.model.finding import Advice, Evidence
from assay.model.units import count_text, percent_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.analysis.findings.plans.plan_time import Timed
    from assay.model.finding import Finding
    from assay.model.plan import PlanNode

METHOD = "row-order"
# If a scan keeps more rows, most blocks contain a kept row in any order. If it keeps very few, a
# missing index is the cause instead.
REMOVED_SHARE_MIN = 0.95
# Blocks that can be skipped have about 100,000 rows. A table needs at least two of them.
READ_ROWS_MIN = 250_000
EFFECT_MIN = 0.05


def find(case: Case) -> list[Finding]:
    """Return a finding for each table and column whose condition removes most scanned rows."""
    if not case.advice.get("by_column", False):
        return []
    by_column: dict[tuple[str, str], list[Timed]] = {}
    for timed in timed_nodes(case):
        table = timed.node.object
        if table is None or not _skips_little(timed.node, removed_share(timed)):
            continue
        for column in indexable(timed.node.condition, table)[:1]:
            by_column.setdefault((table, column), []).append(timed)
    findings = [_finding(case, *key, scans) for key, scans in by_column.items()]
    return [finding for finding in findings if finding.effect_share >= EFFECT_MIN]


def _skips_little(node: PlanNode, removed: float) -> bool:
    return (
        node.operator == "scan"
        and _read(node) >= READ_ROWS_MIN
        and REMOVED_SHARE_MIN <= removed < REMOVED_SHARE_MIN_BY_COLUMN
    )


def _read(node: PlanNode) -> float:
    return (node.rows or 0.0) + (node.removed_rows or 0.0)


def _finding(case: Case, table: str, column: str, scans: list[Timed]) -> Finding:
    fractions = fraction_of(scans)
    first = max(scans, key=lambda scan: scan.fraction or 0.0)
    read, kept = _read(first.node), first.node.rows
    claim = (
        f"Rows of {table} are not sorted by {column}, so {first.operation} reads "
        f"{count_text(read)} rows to keep {count_text(kept)} and cannot skip parts of the "
        f"table, which took {percent_text(case.of_run(fractions))} of the time"
    )
    evidence = [
        Evidence(
            f"{scan.node.native} of {scan.operation} read {count_text(_read(scan.node))} rows and"
            f" removed {percent_text(removed_share(scan))} by {scan.node.condition}",
            f"plan:{scan.operation}",
        )
        for scan in scans
    ]
    to_try = f"sort the rows of {table} by {column}, by rebuilding the table from its own rows"
    advice = None
    if not case.own_tables and not case.on_running_server:
        advice = Advice("row-order", table, {"columns": column}, case.of_run(fractions))
        to_try += (
            f"; {case.try_words(METHOD, fractions, 'loads the table in this order, and measures')}"
        )
    finding = case.finding(
        METHOD, claim, fractions, to_try=to_try, evidence=evidence, advice=advice
    )
    return finding.without_interval().of(COMPUTING, saved=(0.0, finding.effect_share))
