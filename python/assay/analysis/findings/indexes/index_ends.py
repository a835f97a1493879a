"""Finds statements that read a whole index for the smallest and largest values of its column.

An index has both at its ends. SQLite looks up one end for a statement that asks for nothing else,
and reads all entries for a statement that asks for both.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from assay.analysis.time.operation_tree import COMPUTING
from assay.model.finding import Evidence
from assay.model.sql import without_remarks
from assay.model.units import percent_text, seconds_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.analysis.findings.case import Case
    from assay.model.catalogue import Index
    from assay.model.finding import Finding
    from assay.model.plan import Plan, PlanNode

METHOD = "index-ends"
EFFECT_MIN = 0.05
# Two look-ups, one at each end of an index, take less.
LOOK_UPS_S = 100e-6
ENDS_MIN = 2
SCANS = ("scan", "index scan")

_NAME = r"[`\"]?\w+[`\"]?"
_END = (
    rf"(?:min|max)\s*\(\s*(?:{_NAME}\.)*[`\"]?(\w+)[`\"]?\s*\)"
    rf"(?:\s+(?:as\s+)?{_NAME})?"
)
# A statement that returns nothing but smallest and largest values of all rows of one table.
_ENDS_ONLY = re.compile(
    rf"\s*select\s+({_END}(?:\s*,\s*{_END})*)\s+from\s+[\w.`\"]+(?:\s+(?:as\s+)?\w+)?\s*;?\s*",
    re.IGNORECASE,
)


def find(case: Case) -> list[Finding]:
    """Return a finding for each statement that reads whole indexes for their ends."""
    # A column store knows the ends of each part of a column, and scans columns fast.
    if case.advice.get("by_column", False):
        return []
    findings = [
        _finding(case, operation, plan, scan, indexes)
        for operation, plans in case.plans.items()
        if operation in case.shares
        for plan in plans
        if (columns := _columns(plan)) and (scan := _whole_scan(plan)) is not None
        if (indexes := _indexes(case, scan, columns)) is not None
    ]
    return [finding for finding in findings if finding.effect_share >= EFFECT_MIN]


def _columns(plan: Plan) -> list[str]:
    """Return the columns whose ends a statement returns, if it returns two or more; else empty."""
    match = _ENDS_ONLY.fullmatch(without_remarks(plan.text))
    if match is None:
        return []
    columns = re.findall(_END, match[1], re.IGNORECASE)
    return columns if len(columns) >= ENDS_MIN else []


def _whole_scan(plan: Plan) -> PlanNode | None:
    """Return the only scan of a plan if it reads all rows without a condition; None otherwise."""
    scans = [node for node in plan.root.walk() if node.operator in SCANS]
    if len(scans) != 1 or scans[0].condition or scans[0].cut_short:
        return None
    return scans[0]


def _indexes(case: Case, scan: PlanNode, columns: list[str]) -> Mapping[str, Index] | None:
    """Return an index that begins with each column, by the column; None if one has none."""
    leading = {
        index.columns[0].strip('"`').lower(): index
        for index in case.indexes_of(scan.object, scan.schema)
        if index.columns and index.valid and index.predicate is None
    }
    found = {column: leading.get(column.lower()) for column in columns}
    known = {column: index for column, index in found.items() if index is not None}
    return known if len(known) == len(found) else None


def _finding(
    case: Case, operation: str, plan: Plan, scan: PlanNode, indexes: Mapping[str, Index]
) -> Finding:
    spent_s = plan.execution_s or 0.0
    whole_s = math.fsum(each.execution_s or 0.0 for each in case.plans[operation])
    part = max(0.0, spent_s - LOOK_UPS_S) / whole_s if whole_s else 0.0
    fractions = {operation: case.computing(operation) * part}
    effect, names = case.of_run(fractions), ", ".join(indexes)
    claim = (
        f"{operation} reads all rows of {scan.object} for the smallest and largest {names}, which "
        f"are at the ends of an index; that took {percent_text(effect)} of the time"
    )
    column = next(iter(indexes))
    queries = ", ".join(
        f"(select {function}({column}) from {scan.object})"  # noqa: S608 - words, nothing is sent
        for function in ("min", "max")
    )
    to_try = (
        "ask for each value by a query of its own, so that the engine looks up the ends of the "
        f"index: select {queries}"
    )
    evidence = [
        Evidence(
            f"{scan.native} of {scan.object} has no condition; the plan took "
            f"{seconds_text(spent_s)}",
            f"plan:{operation}",
        ),
        *(
            Evidence(f"index {index.text} is in the order of {name}", f"catalogue:{index.table}")
            for name, index in indexes.items()
        ),
    ]
    finding = case.finding(METHOD, claim, fractions, to_try=to_try, evidence=evidence)
    return finding.without_interval().of(COMPUTING, saved=(0.0, effect))
