"""Counts the rows that parts of a scan's condition keep, for advice on indexes.

A plan shows only how many rows the whole condition of a scan keeps. An index may serve one of
several comparisons, and that comparison alone may keep most rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.findings.indexes.conditions import has_subquery, served_part, single_parts
from assay.analysis.plans.aliases import by_table
from assay.model.catalogue import KeptRows

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from assay.engines.plan_reading import CountsRows
    from assay.model.plan import Plan, PlanNode

# A scan that keeps more of its rows needs no index.
REMOVED_SHARE_MIN = 0.9
# Counting takes about as long as the scan: longer scans are not repeated.
SCAN_MAX_S, LIMIT_S = 2.0, 5.0
# For each plan.
COUNTS_MAX = 6


def kept_rows(reader: CountsRows, plan: Plan, tables: Collection[str]) -> list[KeptRows]:
    """Return the rows that parts of the conditions of a plan's full scans keep.

    Args:
        reader: Plan reader of the engine.
        plan: An executed plan, with the text of its statement.
        tables: Names of the database's tables, which replace their aliases in the plan.
    """
    counted: list[KeptRows] = []
    ((named,),) = by_table({plan.operation: (plan,)}, tables).values()
    for scan, condition in list(_questions(named))[:COUNTS_MAX]:
        rows = reader.count_rows(scan, condition, LIMIT_S)
        if rows is not None:
            place = (plan.operation, plan.statement)
            counted.append(KeptRows(*place, scan.object or "", condition, rows))
    return counted


def _questions(plan: Plan) -> Iterator[tuple[PlanNode, str]]:
    """Yield parts of conditions that decide on an index, each with its scan."""
    for scan in plan.root.walk():
        table, condition = scan.object, scan.condition
        if table is None or not _is_wasteful(scan) or has_subquery(condition):
            continue
        parts = (served_part(condition, table), *single_parts(condition, table))
        yield from ((scan, part) for part in dict.fromkeys(parts) if part is not None)


def _is_wasteful(scan: PlanNode) -> bool:
    if not scan.is_full_scan or scan.rows is None or not scan.removed_rows:
        return False
    is_short = scan.seconds is None or scan.seconds <= SCAN_MAX_S
    return is_short and scan.removed_rows >= REMOVED_SHARE_MIN * (scan.removed_rows + scan.rows)
