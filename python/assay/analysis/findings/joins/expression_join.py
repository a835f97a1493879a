"""Finds joins that compute an expression of both sides for each pair of rows.

A hash table or an index finds rows by an equality of one side's expression with the other's. A join
by a function or a pattern, such as `starts_with(a.number, b.prefix)`, has no such equality, so the
engine compares each row of one side with each row of the other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.analysis.findings.indexes.join_index import NESTED_LOOP, PASSING, join_fraction
from assay.analysis.findings.joins.pair_condition import (
    BEGINNING,
    DISTANCE,
    OTHER,
    PairCondition,
    join_condition,
    pair_condition,
)
from assay.analysis.findings.plans.plan_time import Timed, fraction_of, timed_nodes
from assay.analysis.time.operation_tree import COMPUTING
from assay.model.finding import Evidence
from assay.model.units import count_text, percent_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding
    from assay.model.plan import PlanNode

METHOD = "expression-join"
EFFECT_MIN = 0.05
# Fewer pairs are compared faster than the rows of another form of the statement are made.
PAIRS_MIN = 100_000
# If more pairs match, an equality leaves few pairs out. With fewer, it surely saves most of them.
MATCHED_SHARE_MAX = 0.1
SURE_SHARE_MAX = 0.02
SCANS = ("scan", "index scan", "bitmap scan")
FILTER = "filter"
JOINS = (NESTED_LOOP, "hash join")
TO_TRY = {
    BEGINNING: (
        "compare the first characters for equality, for each length that the shorter texts have "
        "(`left(a.long, 3) = b.short and length(b.short) = 3`, and so on in a `union all`, or "
        "store them in a column): engines find the rows of an equality by a hash table or an index"
    ),
    DISTANCE: (
        "add an equality of rounded values, such as `floor(a.x / width) = b.cell`, with each row "
        "of one side in its own and the neighbouring cells: engines find the rows of an equality "
        "by a hash table or an index, and the comparison then removes the others"
    ),
    OTHER: (
        "add an equality that each matching pair fulfils, of an expression of one side with one "
        "of the other (such as the words of a text, each in a row of its own): engines find the "
        "rows of an equality by a hash table or an index, and the comparison then removes the "
        "others"
    ),
}
TO_SETTLE = "measure the statement with an equality that each matching pair fulfils"


@dataclass(frozen=True)
class _Pairs:
    """The pairs of rows that a join compares: their number, and how many of them match."""

    compared: float
    matched: float | None


def find(case: Case) -> list[Finding]:
    """Return a finding for each join that computes an expression for many pairs of rows."""
    nodes = timed_nodes(case)
    findings = [
        _finding(case, join, pairs, condition, nodes)
        for join in nodes
        if (pairs := _compared_pairs(join)) is not None
        and (condition := _condition(case, join)) is not None
    ]
    return [finding for finding in findings if finding.effect_share >= EFFECT_MIN]


def _condition(case: Case, join: Timed) -> PairCondition | None:
    """Return the comparison that is computed for each pair, from the plan or else the statement."""
    if join.node.operator == FILTER:
        return pair_condition(join.node.condition, case.grammar)
    inner = _below(join.node.children[1])
    parts = [node.condition for node in (join.node, inner) if node.condition]
    if parts:
        return pair_condition("; ".join(parts), case.grammar)
    return join_condition(join.plan.text, case.grammar) if join.node.rows is None else None


def _below(node: PlanNode) -> PlanNode:
    """Return the operator whose rows a join compares."""
    while node.operator in PASSING and len(node.children) == 1:
        node = node.children[0]
    return node


def _compared_pairs(join: Timed) -> _Pairs | None:
    """Return the pairs of a nested loop; None if they are few, or an index finds the rows."""
    node = join.node
    if node.operator == FILTER:
        pairs = _filtered_pairs(node)
    elif node.operator == NESTED_LOOP and len(node.children) == 2:  # noqa: PLR2004 - sides
        pairs = _uncounted_pairs(join) if node.rows is None else _counted_pairs(node)
    else:
        return None
    if pairs is None or pairs.compared < PAIRS_MIN:
        return None
    few = pairs.matched is None or pairs.matched <= MATCHED_SHARE_MAX * pairs.compared
    return pairs if few else None


def _filtered_pairs(node: PlanNode) -> _Pairs | None:
    """Return the pairs of a filter on the result of a join without a condition (MySQL)."""
    (join, *_) = node.children or (node,)
    is_crossed = join.operator in JOINS and not join.condition
    if not is_crossed or node.rows is None or node.removed_rows is None:
        return None
    return _Pairs(node.rows + node.removed_rows, node.rows)


def _counted_pairs(node: PlanNode) -> _Pairs | None:
    """Return the pairs of a nested loop with counted rows; None if an index finds the rows.

    A join that stops at the first match compares fewer pairs than there are.
    """
    outer, rows, inner = node.children[0], node.rows or 0.0, _below(node.children[1])
    if inner.operator in SCANS and inner.operator != "scan" and inner.condition:
        return None
    if node.removed_rows is not None:
        return _Pairs(rows + node.removed_rows, rows)
    if outer.rows is None or inner.rows is None:
        return None
    read = inner.rows + (inner.removed_rows or 0.0)
    return _Pairs(read * max(1.0, outer.rows / max(1.0, inner.loops or 1.0)), rows)


def _uncounted_pairs(join: Timed) -> _Pairs | None:
    """Return the pairs of two scanned tables by a count of all rows that the statement read."""
    reads = join.plan.reads
    scans = [node for node in join.plan.root.walk() if node.operator in SCANS]
    is_of_scans = len(scans) == 2 and all(node.is_full_scan for node in scans)  # noqa: PLR2004
    if reads is None or reads.scan_rows is None or not is_of_scans:
        return None
    return _Pairs(reads.scan_rows, None)


def _finding(
    case: Case, join: Timed, pairs: _Pairs, condition: PairCondition, nodes: Sequence[Timed]
) -> Finding:
    operation, node = join.operation, join.node
    fractions = _fractions(case, join, nodes)
    effect = case.of_run(fractions)
    matched = "" if pairs.matched is None else f" to return {count_text(pairs.matched)}"
    claim = (
        f"{operation} joins by an expression of both sides, {condition.text}: it compares "
        f"{count_text(pairs.compared)} pairs of rows{matched}, which took {percent_text(effect)} "
        "of the time"
    )
    evidence = [
        Evidence(
            f"{node.native} compared {count_text(pairs.compared)} pairs by {condition.text}",
            f"plan:{operation}",
        ),
        Evidence(
            "no comparison of the condition is an equality of both sides", f"statement:{operation}"
        ),
    ]
    finding = case.finding(
        METHOD, claim, fractions, to_try=TO_TRY[condition.kind], evidence=evidence
    )
    finding = replace(finding.without_interval(), settle=_to_settle(pairs, condition))
    return finding.of(COMPUTING, saved=(0.0, effect))


def _fractions(case: Case, join: Timed, nodes: Sequence[Timed]) -> dict[str, float]:
    """Return the share of time of a join, with the input or the filter that belongs to it."""
    if join.node.operator != FILTER:
        return {join.operation: join_fraction(case, join, nodes)}
    crossed = join.node.children[0]
    own = {id(node) for child in crossed.children[1:] for node in child.walk()}
    own |= {id(join.node), id(crossed)}
    return fraction_of(timed for timed in nodes if id(timed.node) in own)


def _to_settle(pairs: _Pairs, condition: PairCondition) -> str | None:
    """Return the doubt that an equality would leave few pairs; None if it surely does."""
    has_equality = condition.kind in (BEGINNING, DISTANCE)
    is_counted = pairs.matched is not None
    few = is_counted and (pairs.matched or 0.0) <= SURE_SHARE_MAX * pairs.compared
    return None if has_equality and few else TO_SETTLE
