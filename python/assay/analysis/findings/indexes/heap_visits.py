"""Finds scans that visit the table for each row although their index has all columns.

The engine must look into the table unless it knows that all transactions see a page's rows. Only a
vacuum records this, so tables that are only inserted into may lack it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.findings.engine_facts import known_table
from assay.analysis.findings.plans.plan_time import Timed, fraction_of, timed_nodes
from assay.analysis.time.operation_tree import COMPUTING
from assay.model.finding import Evidence
from assay.model.units import count_text, percent_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.model.catalogue import Index
    from assay.model.finding import Finding

METHOD = "heap-visits"
EFFECT_MIN = 0.05
# Fewer visits take less time than the search in the index.
ROWS_MIN = 100
# With fewer such pages, most rows cannot be read from the index alone.
VISIBLE_SHARE_MAX = 0.5
# Other kinds of indexes do not contain the values of their columns.
ORDERED = "btree"
BITMAP = "bitmap scan"
SCANS = ("index scan", BITMAP)
TO_SETTLE = "measure again after a vacuum: the search in the index is part of this time, too"


def find(case: Case) -> list[Finding]:
    """Return a finding for each scan that a vacuum would let read its index alone."""
    findings = [
        _finding(case, scan, index, share)
        for scan in timed_nodes(case)
        if scan.node.operator in SCANS
        and (scan.node.rows or 0.0) >= ROWS_MIN
        and (index := _covering(case, scan)) is not None
        and (share := _visible_share(case, scan)) is not None
        and share <= VISIBLE_SHARE_MAX
    ]
    return [finding for finding in findings if finding.effect_share >= EFFECT_MIN]


def _covering(case: Case, scan: Timed) -> Index | None:
    """Return the index of a scan if it contains all columns that the scan reads; else None."""
    node = scan.node
    name = next((part.index for part in node.walk() if part.index is not None), None)
    if not node.columns:
        return None
    wanted = {column.lower() for column in node.columns}
    for index in case.indexes_of(node.object, node.schema):
        has = {column.strip('"`').lower() for column in index.columns}
        is_ordered = index.method in (None, ORDERED)
        if index.name == name and index.valid and is_ordered and wanted <= has:
            return index
    return None


def _visible_share(case: Case, scan: Timed) -> float | None:
    """Return the share of the table's pages that all see; None if the engine does not report it."""
    facts = case.tables.get(known_table(case.tables, scan.node) or "")
    return None if facts is None else facts.visible_share


def _finding(case: Case, scan: Timed, index: Index, visible_share: float) -> Finding:
    node, operation = scan.node, scan.operation
    fractions = fraction_of([scan])
    effect = case.of_run(fractions)
    claim = (
        f"{operation} visits {node.object} for {count_text(node.rows)} rows although index "
        f"{index.name} contains all columns that it reads; only {percent_text(visible_share)} of "
        f"the table's pages are known to be visible to all transactions. This scan took "
        f"{percent_text(effect)} of the time"
    )
    columns = ", ".join(node.columns or ())
    evidence = [
        Evidence(f"{node.native} of {operation} reads {columns}", f"plan:{operation}"),
        Evidence(
            f"{percent_text(visible_share)} of the pages of {node.object} are visible to all",
            f"catalogue:{node.object}",
        ),
    ]
    to_try = f"vacuum {node.object} (without `full`), and let autovacuum work on it"
    finding = case.finding(METHOD, claim, fractions, to_try=to_try, evidence=evidence)
    # The search in the index is an operator of its own only below a bitmap scan.
    settle = None if node.operator == BITMAP else TO_SETTLE
    finding = replace(finding.without_interval(), settle=settle)
    return finding.of(COMPUTING, saved=(0.0, effect))
