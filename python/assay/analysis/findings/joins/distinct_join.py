"""Finds joins whose rows are mostly duplicates that `select distinct` removes.

If the result has columns of one side only, the other side is only asked whether a match exists.
`exists` stops at the first match, while a join makes a row for each.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.findings.plans.plan_time import Timed, fraction_of, scaled, timed_nodes
from assay.analysis.time.operation_tree import COMPUTING
from assay.model.finding import Advice, Evidence
from assay.model.units import count_text, percent_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding
    from assay.model.plan import PlanNode

METHOD = "distinct-join"
EFFECT_MIN = 0.05
# With fewer duplicates, finding the first match takes as long as finding all.
JOINED_FACTOR = 10.0
JOINED_ROWS_MIN = 1000
JOINS = ("hash join", "merge join", "nested loop")
# Operators between the removal of duplicates and the join.
BETWEEN = ("sort", "exchange", "projection", "aggregate")
_DISTINCT = re.compile(r"^\s*(?:--[^\n]*\n\s*)*select\s+distinct\b(?!\s+on\b)", re.IGNORECASE)
_KEY = re.compile(r"\b(\w+)\.\"?\w+")
TO_SETTLE = "measure the statement with `exists (select ...)` instead of the join"


def find(case: Case) -> list[Finding]:
    """Return a finding for each `select distinct` of a join with many duplicates."""
    nodes = timed_nodes(case)
    findings = [
        _finding(case, top, join, nodes)
        for top in nodes
        if _removes_duplicates(top) and (join := _join(top.node)) is not None
        if _is_multiplied(top.node, join) and _is_of_one_side(top.node)
    ]
    return [finding for finding in findings if finding.effect_share >= EFFECT_MIN]


def _removes_duplicates(top: Timed) -> bool:
    """Return True for the highest operator that removes the duplicates of a whole statement."""
    is_highest = all(above.operator != "aggregate" for above in top.above)
    is_distinct = _DISTINCT.search(top.plan.text or "") is not None
    return top.node.operator == "aggregate" and is_highest and is_distinct


def _join(node: PlanNode) -> PlanNode | None:
    """Return the join whose rows an operator gets; None if something else is between them."""
    while len(node.children) == 1 and node.children[0].operator in BETWEEN:
        node = node.children[0]
    if len(node.children) == 1 and node.children[0].operator in JOINS:
        return node.children[0]
    return None


def _is_multiplied(top: PlanNode, join: PlanNode) -> bool:
    joined = join.rows or 0.0
    return joined >= JOINED_ROWS_MIN and joined >= JOINED_FACTOR * max(1.0, top.rows or 0.0)


def _is_of_one_side(top: PlanNode) -> bool:
    """Return True if the keys by which duplicates are removed are known, and of one table."""
    operators = (node for node in top.walk() if node.operator in ("aggregate", "sort"))
    condition = next((node.condition for node in operators if node.condition), "")
    return len(set(_KEY.findall(condition))) == 1


def _finding(case: Case, top: Timed, join: PlanNode, nodes: Sequence[Timed]) -> Finding:
    parts, operation = {id(node) for node in top.node.walk()}, top.operation
    whole = fraction_of(timed for timed in nodes if id(timed.node) in parts)
    joined, kept = join.rows or 0.0, top.node.rows or 0.0
    fractions = scaled(whole, 1 - kept / joined)
    effect = case.of_run(fractions)
    claim = (
        f"{operation} joins {count_text(joined)} rows, and `distinct` keeps {count_text(kept)} of "
        f"them, with columns of one table only; joining and removing the duplicates took "
        f"{percent_text(effect)} of the time"
    )
    evidence = [
        Evidence(
            f"{join.native} returned {count_text(joined)} rows for {join.condition}",
            f"plan:{operation}",
        ),
        Evidence("the statement is a `select distinct`", f"statement:{operation}"),
    ]
    advice = Advice("exists", operation, {}, effect)
    to_try = (
        "write `where exists (select ...)` instead of the join, so that the first match of each "
        "row is enough; `distinct` is then not needed if the columns contain a key of their table; "
        f"{case.try_words(METHOD, fractions, 'measures it')}"
    )
    finding = case.finding(
        METHOD, claim, fractions, to_try=to_try, evidence=evidence, advice=advice
    )
    finding = replace(finding.without_interval(), settle=TO_SETTLE)
    return finding.of(COMPUTING, saved=(0.0, effect))
