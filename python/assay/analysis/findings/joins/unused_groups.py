"""Finds derived tables that group all rows of a table, although the statement uses few groups.

The engine computes such a table before the join, because it does not pass the join's condition
into a subquery with `group by`. A lateral subquery computes only the groups that are joined. So
does a copy of the condition within the subquery.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.analysis.findings.joins.wanted_groups import wanted_groups
from assay.analysis.findings.plans.plan_time import Timed, fraction_of, scaled, timed_nodes
from assay.analysis.time.operation_tree import COMPUTING
from assay.model.finding import Evidence
from assay.model.units import count_text, percent_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.analysis.findings.case import Case
    from assay.analysis.findings.joins.wanted_groups import WantedGroup
    from assay.model.finding import Finding
    from assay.model.plan import Plan, PlanNode

METHOD = "unused-groups"
EFFECT_MIN = 0.05
# Grouping all rows at once is cheaper than a look-up for each of many groups.
GROUPS_MIN = 1000
USED_SHARE_MAX = 0.05
JOINS = ("hash join", "merge join", "nested loop")
CTE, AGGREGATE = "cte", "aggregate"
SCANS = ("scan", "index scan", "bitmap scan")
# Operators between the join and the groups.
BETWEEN = (
    *("hash build", "materialize", "exchange", "projection", "sort", "subquery", "index scan"),
    *("scan", "filter"),
)
# Prefix of the names of MariaDB's derived tables, which may be grouped without an operator.
DERIVED = "<derived"
NOT_GROUPS = ("set operation", "window", "limit", "top-n")
# A condition by which rows of a derived table are looked up: it does not compute with them.
_EQUAL = re.compile(r"\s*filter\s+(?:trigcond)?\(*\s*[\w.`]+\s*=\s*[\w.`']+\s*\)*", re.IGNORECASE)
COMPUTED_FEW = (
    "compute the groups of the joined rows only: a lateral subquery (`join lateral (select ... "
    "where key = other.key) as x on true`), or `where key in (select ...)` within the subquery, "
    "with an index of {table} that begins with the key"
)
TO_SETTLE = "measure the statement with a lateral subquery instead of the derived table"


@dataclass(frozen=True)
class _Groups:
    """The groups that a join gets as one of its inputs.

    Attributes:
        node: Operator that returns the groups, with the operators that make them below it.
        made: Number of groups.
    """

    node: PlanNode
    made: float


def find(case: Case) -> list[Finding]:
    """Return a finding for each join that uses few groups of a derived table."""
    nodes = timed_nodes(case)
    findings = [
        _finding(case, join, groups, nodes)
        for join in nodes
        if join.node.operator in JOINS and join.node.rows is not None
        for side, groups in _group_inputs(join)
        if _are_unused(join.node, side, groups)
    ]
    findings += [
        finding
        for operation in dict.fromkeys(timed.operation for timed in nodes)
        for plan in case.plans[operation]
        if (finding := _uncounted(case, plan)) is not None
    ]
    return [finding for finding in findings if finding.effect_share >= EFFECT_MIN]


def _group_inputs(join: Timed) -> list[tuple[PlanNode, _Groups]]:
    """Return the inputs of a join that are groups, with the operator that made the groups."""
    sides = [child for child in join.node.children if not _is_beside(child)]
    inputs = [(side, _groups(side, join.plan.root)) for side in sides]
    return [(side, groups) for side, groups in inputs if groups is not None]


def _is_beside(node: PlanNode) -> bool:
    """Return True for a common table expression that is listed beside the inputs of a join."""
    return node.operator == CTE and bool(node.children)


def _groups(node: PlanNode, root: PlanNode) -> _Groups | None:
    """Return the groups below an input of a join; None if something filters them."""
    while node.operator != AGGREGATE:
        if _is_derived(node):
            return _Groups(node, (node.rows or 0.0) + (node.removed_rows or 0.0))
        if node.operator == CTE and not node.children:
            computed = _computed(node, root)
            if computed is None or node.removed_rows:
                return None
            node = computed
            continue
        if len(node.children) != 1 or node.operator not in BETWEEN or node.removed_rows:
            return None
        (node,) = node.children
    return _Groups(node, node.rows or 0.0)


def _is_derived(node: PlanNode) -> bool:
    """Return True for the scan of a derived table that no operator of the plan groups (MariaDB)."""
    if not (node.object or "").startswith(DERIVED) or not node.children:
        return False
    below = [part for child in node.children for part in child.walk()]
    is_looked_up = not node.removed_rows or _EQUAL.fullmatch(node.condition or "") is not None
    # Other subqueries are merged into the statement.
    others = (AGGREGATE, *NOT_GROUPS)
    return is_looked_up and not any(part.operator in others for part in below)


def _computed(scan: PlanNode, root: PlanNode) -> PlanNode | None:
    """Return the query of a common table expression that only one scan reads; None for others."""
    same = [node for node in root.walk() if node.operator == CTE and node.object == scan.object]
    computing = [node for node in same if node.children]
    if len(computing) != 1 or len(same) != 2:  # noqa: PLR2004 - the query, and its only scan
        return None
    # DuckDB lists the statement that reads the table as the first input.
    return computing[0].children[-1]


def _are_unused(join: PlanNode, side: PlanNode, groups: _Groups) -> bool:
    """Return True if a join returns few rows beside the groups that were computed once.

    A join that was cut short by a limit may need no more groups, but neither do look-ups.
    """
    used, few = join.rows, USED_SHARE_MAX * groups.made
    others = [child for child in join.children if child is not side and not _is_beside(child)]
    counts = [node.estimated_rows if node.rows is None else node.rows for node in others]
    is_once = (groups.node.loops or 1.0) <= 1.0
    are_few = used is not None and used <= few
    # Without few rows on the other side, each of its rows needs a look-up that finds nothing.
    others_few = all(rows is not None and rows <= few for rows in counts)
    return groups.made >= GROUPS_MIN and is_once and are_few and others_few


def _finding(case: Case, join: Timed, groups: _Groups, nodes: Sequence[Timed]) -> Finding:
    below = set(map(id, groups.node.walk()))
    whole = fraction_of(timed for timed in nodes if id(timed.node) in below)
    made, used = groups.made, join.node.rows or 0.0
    fractions = scaled(whole, 1 - used / made)
    effect, operation = case.of_run(fractions), join.operation
    tables = [node.object for node in groups.node.walk() if node.object]
    table = next((name for name in tables if not name.startswith(DERIVED)), "a subquery")
    claim = (
        f"{operation} groups all rows of {table} into {count_text(made)} groups, and the join "
        f"returns {count_text(used)} rows; computing the other groups took {percent_text(effect)} "
        "of the time"
    )
    evidence = [
        Evidence(
            f"{groups.node.native} made {count_text(made)} groups, of which {join.node.native} "
            f"returned {count_text(used)} rows",
            f"plan:{operation}",
        )
    ]
    wanted = _wanted(case, join.plan, table)
    if wanted is not None:
        evidence.append(Evidence(_value_words(wanted), f"statement:{operation}"))
    to_try = COMPUTED_FEW.format(table=table) if wanted is None else _repeated(wanted)
    finding = case.finding(METHOD, claim, fractions, to_try=to_try, evidence=evidence)
    finding = replace(finding.without_interval(), settle=_to_settle(case, wanted))
    return finding.of(COMPUTING, saved=(0.0, effect))


def _wanted(case: Case, plan: Plan, table: str) -> WantedGroup | None:
    """Return the subquery of a table whose wanted groups are known from the statement."""
    known = wanted_groups(plan.text, case.grammar)
    same = [wanted for wanted in known if wanted.table == table.lower()]
    return same[0] if len(same) == 1 else None


def _uncounted(case: Case, plan: Plan) -> Finding | None:
    """Return the finding of a plan without counted rows (SQLite); None without unused groups."""
    if plan.timed or plan.reads is None or (plan.reads.scan_rows or 0.0) < GROUPS_MIN:
        return None
    for built in plan.root.walk():
        scan = _only_scan(built, plan)
        if built.operator != CTE or scan is None or not built.object:
            continue
        for wanted in wanted_groups(plan.text, case.grammar):
            names = {wanted.alias, wanted.name}
            if built.object.lower() in names and _reads_no_other(plan, built, names):
                return _uncounted_finding(case, plan, scan, wanted)
    return None


def _only_scan(built: PlanNode, plan: Plan) -> PlanNode | None:
    """Return the full scan that makes a subquery; None for other subqueries.

    A set operation or a window does not group rows.
    """
    nodes = list(built.walk())
    scans = [node for node in nodes if node.operator in SCANS]
    is_plain = not any(node.operator in NOT_GROUPS for node in nodes)
    if built is plan.root or len(scans) != 1 or not is_plain:
        return None
    is_searched = scans[0].operator != "scan" and scans[0].condition
    return None if is_searched else scans[0]


def _reads_no_other(plan: Plan, built: PlanNode, names: set[str]) -> bool:
    """Return True if a plan reads in full only the table of a subquery, and the subquery once."""
    inside = set(map(id, built.walk()))
    outside = [
        (node.object or "").lower()
        for node in plan.root.walk()
        if id(node) not in inside
        if node.operator == "scan" or (node.operator in SCANS and not node.condition)
    ]
    return len(outside) <= 1 and all(name in names for name in outside)


def _uncounted_finding(case: Case, plan: Plan, scan: PlanNode, wanted: WantedGroup) -> Finding:
    operation, table = plan.operation, wanted.table or scan.object or "a table"
    whole = sum(other.execution_s or 0.0 for other in case.plans[operation])
    share = (plan.execution_s or 0.0) / whole if whole else 0.0
    fractions = {operation: share * case.computing(operation)}
    effect, read = case.of_run(fractions), plan.reads.scan_rows if plan.reads else None
    claim = (
        f"{operation} groups all rows of {table} ({wanted.alias}), and uses only those of a given "
        f"value: {_value_words(wanted)}. It reads {count_text(read)} rows, which took "
        f"{percent_text(effect)} of the time"
    )
    evidence = [
        Evidence(f"{scan.native} of {table} has no condition", f"plan:{operation}"),
        Evidence(_value_words(wanted), f"statement:{operation}"),
        Evidence(f"scans made {count_text(read)} steps", "counter:fullscan_step"),
    ]
    to_try = _repeated(wanted)
    finding = case.finding(METHOD, claim, fractions, to_try=to_try, evidence=evidence)
    finding = replace(finding.without_interval(), settle=_to_settle(case, wanted))
    return finding.of(COMPUTING, saved=(0.0, effect))


def _value_words(wanted: WantedGroup) -> str:
    own = f"{wanted.alias}.{wanted.column}"
    if wanted.compared is None:
        return f"the statement compares {own} with a value"
    return f"{own} is equal to {wanted.compared}, which the statement compares with a value"


def _repeated(wanted: WantedGroup) -> str:
    """Return the advice to repeat a condition within a subquery."""
    key = wanted.key or wanted.column
    what = "its query" if wanted.table is None else f"the subquery {wanted.alias}"
    beside = "" if wanted.compared is None else f", as for {wanted.compared}"
    return (
        f"repeat the condition within {what}: `where {key} = ...` before `group by`{beside}, so "
        "that only these groups are computed"
    ) + (". A view has to be replaced by its query first" if wanted.table is None else "")


def _to_settle(case: Case, wanted: WantedGroup | None) -> str | None:
    """Return the doubt that few groups are faster; None if the statement and an index show it."""
    if wanted is None or wanted.table is None or wanted.key is None:
        return TO_SETTLE
    for index in case.indexes_of(wanted.table, None):
        first = index.columns[0].strip('"`').lower() if index.columns else ""
        if index.valid and index.predicate is None and first == wanted.key:
            return None
    return f"create an index of {wanted.table} ({wanted.key}), and repeat the condition"
