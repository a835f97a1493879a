"""Finds statements that count rows only to learn whether there is one."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.findings.plans.plan_time import fraction_of, timed_nodes
from assay.analysis.time.operation_tree import COMPUTING
from assay.model.finding import Advice, Evidence
from assay.model.sql import without_remarks
from assay.model.units import count_text, percent_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding
    from assay.model.plan import Plan, PlanNode

METHOD = "counted-existence"
EFFECT_MIN = 0.05
# With fewer rows, the first match is found about as fast as all are counted.
COUNTED_ROWS_MIN = 100
SCANS = ("scan", "index scan", "bitmap scan")
_COMPARED = re.compile(
    r"\bcount\s*\(\s*(?:\*|1|\w+)\s*\)\s*(?:>\s*0|<>\s*0|!=\s*0|=\s*0|>=\s*1|<\s*1)(?![\w.])",
    re.IGNORECASE,
)
_GROUPED = re.compile(r"\b(?:group\s+by|having|over)\b", re.IGNORECASE)
TO_TRY = (
    "write `exists (select ...)` instead of comparing `count(*)` with 0: it ends at the first match"
)
TO_SETTLE = "measure the statement with `exists (select ...)`"


def find(case: Case) -> list[Finding]:
    """Return a finding for each statement that compares a count of many rows with zero."""
    findings = [
        _finding(case, plan, operation)
        for operation, plans in case.plans.items()
        for plan in plans
        if operation in case.shares and _is_compared(plan) and _counts_many(plan.root)
    ]
    return [finding for finding in findings if finding.effect_share >= EFFECT_MIN]


def _is_compared(plan: Plan) -> bool:
    text = without_remarks(plan.text)
    return _COMPARED.search(text) is not None and _GROUPED.search(text) is None


def _counts_many(root: PlanNode) -> bool:
    """Return True if scans return many rows, or if the engine does not count their rows."""
    rows = [node.rows for node in root.walk() if node.operator in SCANS]
    return bool(rows) and (None in rows or max(_known(rows)) >= COUNTED_ROWS_MIN)


def _known(rows: Iterable[float | None]) -> list[float]:
    return [count for count in rows if count is not None]


def _finding(case: Case, plan: Plan, operation: str) -> Finding:
    own = [timed for timed in timed_nodes(case) if timed.plan is plan]
    # Without times of operators, the statement takes at most the operation's computing time.
    is_timed = any(timed.fraction is not None for timed in own)
    fractions = fraction_of(own) if is_timed else {operation: case.computing(operation)}
    effect = case.of_run(fractions)
    rows = [node.rows for node in plan.root.walk() if node.operator in SCANS]
    read = "rows" if None in rows else f"{count_text(max(_known(rows)))} rows"
    claim = (
        f"{operation} counts {read} and compares the number with 0, for which one row is enough; "
        f"counting took up to {percent_text(effect)} of the time"
    )
    evidence = [Evidence("the statement compares `count(...)` with 0", f"statement:{operation}")]
    advice = Advice("exists-for-count", operation, {}, effect)
    to_try = f"{TO_TRY}; {case.try_words(METHOD, fractions, 'measures it')}"
    finding = case.finding(
        METHOD, claim, fractions, to_try=to_try, evidence=evidence, advice=advice
    )
    finding = replace(finding.without_interval(), settle=TO_SETTLE)
    return finding.of(COMPUTING, saved=(0.0, effect))
