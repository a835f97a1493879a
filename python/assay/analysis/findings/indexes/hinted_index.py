"""Finds hints that demand an index by which many rows are read from the table one by one.

If a condition keeps a large part of a table, one scan of the table is faster than an index. The
optimiser knows, but a hint forbids it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.findings.plans.plan_time import Timed, fraction_of, timed_nodes
from assay.analysis.time.operation_tree import COMPUTING
from assay.model.finding import Advice, Evidence
from assay.model.units import count_text, percent_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding

METHOD = "hinted-index"
EFFECT_MIN = 0.05
# For fewer rows, an index is as fast as a scan of the table.
ROWS_MIN = 1000
_DEMAND = re.compile(
    r"\b(?:force|use)\s+(?:index|key)\s*(?:for\s+\w+(?:\s+by)?\s*)?\(([^)]*)\)"
    r"|\bindexed\s+by\s+\"?(\w+)",
    re.IGNORECASE,
)
TO_SETTLE = "execute the statement without the hint: the optimiser may choose the same index"


def find(case: Case) -> list[Finding]:
    """Return a finding for each scan that reads many rows by the index that a hint demands."""
    findings = [
        _finding(case, scan, hint)
        for scan in timed_nodes(case)
        if _is_large(scan) and _visits_table(case, scan) and (hint := _hint(scan)) is not None
    ]
    return [finding for finding in findings if finding.effect_share >= EFFECT_MIN]


def _is_large(scan: Timed) -> bool:
    """Return True if one execution of an index scan finds many rows."""
    node = scan.node
    found = ((node.rows or 0.0) + (node.removed_rows or 0.0)) / (node.loops or 1)
    return node.operator == "index scan" and not node.is_full_scan and found >= ROWS_MIN


def _visits_table(case: Case, scan: Timed) -> bool:
    """Return True if the scan reads columns that its index does not contain."""
    indexes = case.indexes_of(scan.node.object, scan.node.schema)
    index = next((index for index in indexes if index.name == scan.node.index), None)
    if index is None or not scan.node.columns:
        return False
    return not set(scan.node.columns) <= {column.strip('"`') for column in index.columns}


def _hint(scan: Timed) -> str | None:
    """Return the hint of the statement that demands the scan's index; None without one."""
    wanted = (scan.node.index or "").lower()
    for match in _DEMAND.finditer(scan.plan.text or ""):
        if wanted in re.findall(r"\w+", (match[1] or match[2]).lower()):
            return " ".join(match[0].split())
    return None


def _finding(case: Case, scan: Timed, hint: str) -> Finding:
    node, operation = scan.node, scan.operation
    fractions = fraction_of([scan])
    effect = case.of_run(fractions)
    claim = (
        f"{operation} reads {count_text(node.rows)} rows of {node.object} one by one by index "
        f"{node.index}, because a hint demands it: {hint}. This took {percent_text(effect)} of "
        "the time"
    )
    evidence = [
        Evidence(
            f"{node.native} with {node.index} returned {count_text(node.rows)} rows, with columns "
            "that the index does not contain",
            f"plan:{operation}",
        ),
        Evidence(f"the statement has a hint: {hint}", f"statement:{operation}"),
    ]
    to_try = f"remove this hint from the statement; {case.try_words(METHOD, fractions, 'tries it')}"
    advice = Advice("hint", operation, {}, effect)
    finding = case.finding(
        METHOD, claim, fractions, to_try=to_try, evidence=evidence, advice=advice
    )
    finding = replace(finding.without_interval(), settle=TO_SETTLE)
    return finding.of(COMPUTING, saved=(0.0, effect))
