"""Finds `in` and `not in` whose subquery is searched again for each row.

The engine neither joins the subquery's tables nor keeps its rows in a hash table: they may be too
many for the memory, or the statement may be a kind that the engine cannot rewrite as a join.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.findings.plans.plan_time import Timed, fraction_of, timed_nodes
from assay.analysis.time.operation_tree import COMPUTING
from assay.model.finding import Evidence
from assay.model.units import count_text, percent_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding
    from assay.model.plan import PlanNode

METHOD = "subquery-per-row"
EFFECT_MIN = 0.05
# A join reads the subquery's rows once, so it saves little if they are searched less often.
SEARCHES_MIN = 10
MODIFY, SUBQUERY = "modify", "subquery"
# A subquery that a condition searches; not one whose rows are in a hash table, nor an `exists`.
_SEARCHED = re.compile(r"(?<!exists)\(SubPlan \d+\)|<in_optimizer>", re.IGNORECASE)
_IN = re.compile(r"\bin\s*\(\s*(?:select|with)\b", re.IGNORECASE)
# A subquery of several parts, which no engine executes as one join.
_IN_UNION = re.compile(
    r"\bin\s*\(\s*(?:select|with)\b(?:[^()]|\([^()]*\))*\bunion\b", re.IGNORECASE
)
TO_SETTLE = "measure the statement with a join instead of the subquery"


def find(case: Case) -> list[Finding]:
    """Return a finding for each condition that searches a subquery's rows again and again."""
    nodes = timed_nodes(case)
    findings = [
        _finding(case, scan, searched)
        for scan in nodes
        if _is_searching(scan) and (searched := _subquery_nodes(scan, nodes))
    ]
    return [finding for finding in findings if finding.effect_share >= EFFECT_MIN]


def _is_searching(scan: Timed) -> bool:
    """Return True if a condition searches the rows of an `in` for many rows."""
    is_in = _IN.search(scan.plan.text or "") is not None
    is_searched = _SEARCHED.search(scan.node.condition or "") is not None
    is_only = len(_subqueries(scan)) == 1
    return is_in and is_searched and is_only and _searches(scan) >= SEARCHES_MIN


def _searches(scan: Timed) -> float:
    """Return the number of rows for which the subquery was searched.

    Other comparisons may remove rows before, which only the loops of the subquery show.
    """
    (subquery,) = _subqueries(scan)
    if subquery.loops is not None and subquery.loops > 1:
        return subquery.loops
    return (scan.node.rows or 0.0) + (scan.node.removed_rows or 0.0)


def _subqueries(scan: Timed) -> list[PlanNode]:
    return [node for node in scan.plan.root.walk() if node.operator == SUBQUERY]


def _subquery_nodes(scan: Timed, nodes: Sequence[Timed]) -> list[Timed]:
    """Return the operators of the plan's only subquery."""
    (subquery,) = _subqueries(scan)
    parts = set(map(id, subquery.walk()))
    return [timed for timed in nodes if id(timed.node) in parts]


def _finding(case: Case, scan: Timed, searched: Sequence[Timed]) -> Finding:
    """Return the finding of one condition.

    The comparisons with the subquery's rows are part of the time of the scan with the condition.
    """
    fractions = fraction_of([scan, *searched])
    effect, operation = case.of_run(fractions), scan.operation
    objects = [timed.node.object for timed in searched if timed.node.object]
    table = next((name for name in objects if not name.startswith("<")), "a subquery")
    claim = (
        f"{operation} searches the rows of a subquery (of {table}) {count_text(_searches(scan))} "
        f"times, once for each row of {_row_source(scan)}; this took "
        f"{percent_text(effect)} of the time"
    )
    evidence = [
        Evidence(f"condition of {scan.node.native}: {scan.node.condition}", f"plan:{operation}"),
        Evidence("the statement has `in (select ...)`", f"statement:{operation}"),
    ]
    finding = case.finding(METHOD, claim, fractions, to_try=_to_try(scan), evidence=evidence)
    finding = replace(finding.without_interval(), settle=_to_settle(case, scan))
    least = case.of_run(fraction_of(searched))
    return finding.of(COMPUTING, saved=(0.0 if finding.settle else least, effect))


def _row_source(scan: Timed) -> str:
    """Return the table whose rows are compared, or the name of the operator that returns them."""
    own = [node for node in scan.node.children if node.operator != SUBQUERY]
    return scan.node.object or next((node.object for node in own if node.object), scan.node.native)


def _to_try(scan: Timed) -> str:
    if _IN_UNION.search(scan.plan.text or ""):
        return (
            "join the union as a table of the statement (`join (select ... union select ...) as x "
            "on x.a = b`), so that it is computed once, or create indexes by which its parts are "
            "searched"
        )
    if scan.plan.root.operator == MODIFY:
        return "join the subquery's tables in the statement itself instead of `in (select ...)`"
    return (
        "write `exists (select ... where a = b)`, or `not exists` instead of `not in`, which the "
        "engine can execute as one join; the results differ only for nulls"
    )


def _to_settle(case: Case, scan: Timed) -> str | None:
    """Return the doubt that a join would be faster; None if the statement only reads.

    A statement that changes rows may need the same look-ups as a join, without an index of the
    compared column.
    """
    if scan.plan.root.operator != MODIFY:
        return None
    condition = (scan.node.condition or "").lower()
    indexes = case.indexes_of(scan.node.object, scan.node.schema)
    leading = {index.columns[0].strip('"`').lower() for index in indexes if index.columns}
    has_index = any(re.search(rf"\b{re.escape(column)}\b", condition) for column in leading)
    return None if has_index else TO_SETTLE
