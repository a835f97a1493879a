"""Finds derived tables that group all rows of a table, although the statement uses few groups.

The engine computes such a table before the join, because it does not pass the join's condition
into a subquery with `group by`. A lateral subquery computes only the groups that are joined.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.findings.plans.plan_time import Timed, fraction_of, scaled, timed_nodes
from assay.analysis.time.operation_tree import COMPUTING
from assay.model.finding import Evidence
from assay.model.units import count_text, percent_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding
    from assay.model.plan import PlanNode

METHOD = "unused-groups"
EFFECT_MIN = 0.05
# Grouping all rows at once is cheaper than a look-up for each of many groups.
GROUPS_MIN = 1000
USED_SHARE_MAX = 0.05
JOINS = ("hash join", "merge join", "nested loop")
# Operators between the join and the groups.
BETWEEN = (
    *("hash build", "materialize", "exchange", "projection", "sort", "subquery", "index scan"),
    *("scan", "filter"),
)
TO_SETTLE = "measure the statement with a lateral subquery instead of the derived table"


def find(case: Case) -> list[Finding]:
    """Return a finding for each join that uses few groups of a derived table."""
    nodes = timed_nodes(case)
    findings = [
        _finding(case, join, groups, nodes)
        for join in nodes
        if join.node.operator in JOINS
        for groups in _group_inputs(join.node)
        if _are_unused(join.node, groups)
    ]
    return [finding for finding in findings if finding.effect_share >= EFFECT_MIN]


def _group_inputs(join: PlanNode) -> list[PlanNode]:
    """Return the grouping operators whose rows a join gets directly as one of its inputs."""
    inputs = [_groups(child) for child in join.children]
    return [groups for groups in inputs if groups is not None]


def _groups(node: PlanNode) -> PlanNode | None:
    """Return the grouping operator below an input of a join; None if something filters it."""
    while node.operator != "aggregate":
        if len(node.children) != 1 or node.operator not in BETWEEN or node.removed_rows:
            return None
        (node,) = node.children
    return node


def _are_unused(join: PlanNode, groups: PlanNode) -> bool:
    """Return True if a join returns few rows beside the groups that were computed once.

    A join that was cut short by a limit may need no more groups, but neither do look-ups.
    """
    made, used = groups.rows or 0.0, join.rows
    others = [child.rows for child in join.children if groups not in child.walk()]
    is_once = (groups.loops or 1.0) <= 1.0
    few = USED_SHARE_MAX * made
    are_few = used is not None and used <= few
    # Without few rows on the other side, each of its rows needs a look-up that finds nothing.
    others_few = all(rows is not None and rows <= few for rows in others)
    return made >= GROUPS_MIN and is_once and are_few and others_few


def _finding(case: Case, join: Timed, groups: PlanNode, nodes: Sequence[Timed]) -> Finding:
    below = set(map(id, groups.walk()))
    whole = fraction_of(timed for timed in nodes if id(timed.node) in below)
    made, used = groups.rows or 0.0, join.node.rows or 0.0
    fractions = scaled(whole, 1 - used / made)
    effect, operation = case.of_run(fractions), join.operation
    table = next((node.object for node in groups.walk() if node.object), "a subquery")
    claim = (
        f"{operation} groups all rows of {table} into {count_text(made)} groups, and the join "
        f"returns {count_text(used)} rows; computing the other groups took {percent_text(effect)} "
        "of the time"
    )
    evidence = [
        Evidence(
            f"{groups.native} made {count_text(made)} groups, of which {join.node.native} "
            f"returned {count_text(used)} rows",
            f"plan:{operation}",
        )
    ]
    to_try = (
        "compute the groups of the joined rows only: a lateral subquery (`join lateral (select ... "
        f"where key = other.key) as x on true`), with an index of {table} that begins with the key"
    )
    finding = case.finding(METHOD, claim, fractions, to_try=to_try, evidence=evidence)
    finding = replace(finding.without_interval(), settle=TO_SETTLE)
    return finding.of(COMPUTING, saved=(0.0, effect))
