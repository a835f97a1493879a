"""Finds joins that multiply rows of two tables, which an aggregate then reduces to few again.

Two tables that have several rows for each key, such as a customer's orders and tickets, have a pair
of rows for each order and ticket. A join without a condition has all pairs. If each table is
aggregated by the key first, the join has one row for each key.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.analysis.findings.joins.grouped import (
    computes_by_pairs,
    has_distinct_values,
    is_deliberate,
    is_grouped,
    needs_pairs,
    plain,
)
from assay.analysis.findings.joins.multiplied import Inputs, groups_at_most, inputs_of
from assay.analysis.findings.plans.plan_time import Timed, fraction_of, scaled, timed_nodes
from assay.analysis.time.operation_tree import COMPUTING
from assay.model.finding import Evidence
from assay.model.units import count_text, percent_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding
    from assay.model.plan import Plan, PlanNode

METHOD = "fan-out"
EFFECT_MIN = 0.1
# Rows of a join for each row of its larger input, and for each row that remains after grouping.
PAIRS_MIN = 5.0
REDUCED_MIN = 10.0
ROWS_MIN = 10_000
# Of a smaller input, all pairs may be wanted, such as with a table of parameters.
CROSSED_ROWS_MIN = 100
JOINS = ("hash join", "merge join", "nested loop")
# Operators between the join and the aggregate, which pass most of its rows on.
BETWEEN = (*JOINS, "projection", "filter", "sort", "exchange", "materialize", "hash build", "scan")
PASSED_MIN = 0.5
AGGREGATE, SORT, TOP_N = "aggregate", "sort", "top-n"
CTE, NESTED_LOOP = "cte", "nested loop"
FIRST_AGGREGATED = (
    "measure the statement with one of both tables aggregated by the join's key before the join"
)
WITH_CONDITION = "find out whether a condition between both inputs of the join is missing"


@dataclass(frozen=True)
class _Fan:
    """A join that multiplies rows.

    Attributes:
        join: The join.
        inputs: Rows and tables of its inputs, and its condition.
        kept: Rows that remain after grouping.
        top: Identity of the operator that groups the rows.
        path: Identities of the join and the operators that process its rows.
    """

    join: Timed
    inputs: Inputs
    kept: float
    top: int
    path: frozenset[int]

    @property
    def rows(self) -> float:
        return self.join.node.rows or 0.0


def find(case: Case) -> list[Finding]:
    """Return a finding for each aggregate of rows that joins have multiplied."""
    nodes = timed_nodes(case)
    fans: dict[int, list[_Fan]] = {}
    for join in nodes:
        fan = _fan(case, join, nodes) if join.node.operator in JOINS else None
        if fan is not None:
            fans.setdefault(fan.top, []).append(fan)
    findings = [_finding(case, same, nodes) for same in fans.values()]
    return [finding for finding in findings if finding.effect_share >= EFFECT_MIN]


def _fan(case: Case, join: Timed, nodes: Sequence[Timed]) -> _Fan | None:
    """Return a join that multiplies rows which are then grouped; None for other joins."""
    rows, inputs = join.node.rows or 0.0, inputs_of(case, join)
    if inputs is None or rows < max(ROWS_MIN, PAIRS_MIN * max(inputs.rows)):
        return None
    statement = plain(join.plan.text)
    if inputs.is_crossed:
        is_wanted = is_deliberate(statement) or min(inputs.rows) < CROSSED_ROWS_MIN
        if is_wanted or computes_by_pairs(statement, inputs.tables):
            return None
    elif not inputs.condition or needs_pairs(statement, inputs.tables):
        return None
    grouped = _grouped(case, join, rows, nodes)
    if grouped is None:
        return None
    top, kept, path = grouped
    return _Fan(join, inputs, kept, top, frozenset({id(join.node), *_looked_up(join.node), *path}))


def _grouped(
    case: Case, source: Timed, rows: float, nodes: Sequence[Timed]
) -> tuple[int, float, set[int]] | None:
    """Return the operator that groups rows: its identity, its rows, and the operators up to it.

    None if the rows are not grouped, or another operator reduces them before.
    """
    path: set[int] = set()
    statement = plain(source.plan.text)
    for at in range(len(source.above) - 1, -1, -1):
        node = source.above[at]
        if node.operator == CTE:
            below = (*source.above, source.node)[at + 1]
            if below is node.children[-1]:
                return _grouped_scans(case, source.plan, node, rows, path, nodes)
            continue
        path |= {id(node), *_looked_up(node)}
        if node.operator == AGGREGATE:
            kept = _kept(source.above[: at + 1])
            return None if kept is None or kept * REDUCED_MIN > rows else (id(node), kept, path)
        if node.operator == TOP_N and is_grouped(statement):
            # The limit hides the number of groups of a plan without an operator that groups rows.
            kept = groups_at_most(source.plan.root, statement)
            return None if kept is None or kept * REDUCED_MIN > rows else (id(node), kept, path)
        if node.operator not in BETWEEN:
            return None
        if node.rows is not None and node.rows < PASSED_MIN * rows:
            # A plan without an operator that groups rows groups them before it sorts them.
            is_reduced = node.operator == SORT and node.rows * REDUCED_MIN <= rows
            is_reduced = is_reduced and is_grouped(statement)
            return (id(node), node.rows, path) if is_reduced else None
    return _returned(case, source, rows, path)


def _returned(
    case: Case, source: Timed, rows: float, path: set[int]
) -> tuple[int, float, set[int]] | None:
    """Return the grouping of a plan that has no operator for it, by the rows of the result."""
    statement, of_operation = plain(source.plan.text), case.plans.get(source.operation, ())
    kept = next((op.rows for op in case.operations if op.name == source.operation), None)
    is_known = kept is not None and len(of_operation) == 1 and is_grouped(statement)
    if not is_known or kept is None or kept * REDUCED_MIN > rows:
        return None
    return id(source.plan.root), float(kept), path


def _grouped_scans(
    case: Case,
    plan: Plan,
    cte: PlanNode,
    rows: float,
    path: set[int],
    nodes: Sequence[Timed],
) -> tuple[int, float, set[int]] | None:
    """Return the grouping of rows that a common table expression passes to all of its scans."""
    scans = [
        timed
        for timed in nodes
        if timed.node.operator == CTE and not timed.node.children
        if timed.node.object == cte.object and timed.plan is plan
    ]
    own = {id(node) for node in cte.walk()}
    inside = [scan for scan in scans if id(scan.node) in own] or scans
    computing = {id(node) for node in cte.children[-1].walk()}
    if any(id(scan.node) in computing for scan in inside):
        return None
    grouped = [
        _grouped(case, scan, rows, nodes)
        for scan in inside
        if (scan.node.rows or 0.0) >= PASSED_MIN * rows
    ]
    known = [part for part in grouped if part is not None]
    if not known or len(known) < len(inside):
        return None
    path |= {id(cte), *(id(scan.node) for scan in inside)}
    return id(cte), max(part[1] for part in known), path.union(*(part[2] for part in known))


def _kept(above: Sequence[PlanNode]) -> float | None:
    """Return the rows of the highest of several aggregates on top of each other."""
    kept = above[-1].rows
    for node in reversed(above[:-1]):
        if node.operator not in (AGGREGATE, SORT, "exchange", "projection"):
            break
        if node.operator == AGGREGATE and node.rows is not None:
            kept = node.rows if kept is None else min(kept, node.rows)
    return kept


def _looked_up(node: PlanNode) -> set[int]:
    """Return the identities of the operators that a nested loop executes for each row."""
    if node.operator != NESTED_LOOP or len(node.children) < 2:  # noqa: PLR2004 - two sides
        return set()
    return {id(inner) for inner in node.children[1].walk()}


def _finding(case: Case, fans: Sequence[_Fan], nodes: Sequence[Timed]) -> Finding:
    """Return the finding of joins whose rows one operator groups."""
    fan = max(fans, key=lambda one: one.rows)
    places = frozenset().union(*(one.path for one in fans))
    whole = fraction_of(timed for timed in nodes if id(timed.node) in places)
    fractions = scaled(whole, max(0.0, 1 - sum(fan.inputs.rows) / fan.rows))
    effect, operation = case.of_run(fractions), fan.join.operation
    evidence = [
        Evidence(
            f"{one.join.node.native} of {_names(one, 0)} and {_names(one, 1)} returned "
            f"{count_text(one.rows)} rows for {one.inputs.condition or 'no condition'}",
            f"plan:{operation}",
        )
        for one in fans
    ]
    claim = f"{_claim(fan)}; this took {percent_text(effect)} of the time"
    finding = case.finding(METHOD, claim, fractions, to_try=_to_try(fan), evidence=evidence)
    settle = WITH_CONDITION if fan.inputs.is_crossed else FIRST_AGGREGATED
    finding = replace(finding.without_interval(), settle=settle)
    return finding.of(COMPUTING, saved=(0.0, effect))


def _claim(fan: _Fan) -> str:
    left, right = (count_text(rows) for rows in fan.inputs.rows)
    joined, kept, operation = count_text(fan.rows), count_text(fan.kept), fan.join.operation
    sides = f"{left} rows of {_names(fan, 0)} with {right} rows of {_names(fan, 1)}"
    if fan.inputs.is_crossed:
        return (
            f"Join without a condition: {operation} combines {sides}; an aggregate reduces these "
            f"{joined} pairs to {kept} rows"
        )
    return (
        f"Fan-out: {operation} joins {sides} by {fan.inputs.condition}; an aggregate reduces these "
        f"{joined} rows to {kept}"
    )


def _to_try(fan: _Fan) -> str:
    if fan.inputs.is_crossed:
        return (
            "add the condition that relates both inputs of the join; if all pairs are wanted, "
            "aggregate each table before the join"
        )
    advice = (
        "aggregate each table by the join's key before the join: `join (select key, count(*) ... "
        "group by key) as x`"
    )
    if has_distinct_values(plain(fan.join.plan.text)):
        return f"{advice}; `distinct` is then not needed"
    return (
        f"{advice}; check the result, too, because the join counts each row of one table once for "
        "each match in the other"
    )


def _names(fan: _Fan, side: int) -> str:
    return ", ".join(sorted(fan.inputs.tables[side])) or "a subquery"
