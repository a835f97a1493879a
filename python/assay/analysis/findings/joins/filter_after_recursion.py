"""Finds recursive queries that start from all rows, and whose result a condition then reduces.

No engine moves a condition into a recursive query. If it compares a column that keeps its value
from the start, such as the root of a tree, the start can have the condition, with the same result.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.analysis.findings.indexes.conditions import conjuncts, whole_part
from assay.analysis.findings.joins.carried_columns import recursions
from assay.analysis.findings.plans.plan_time import Timed, fraction_of, scaled, timed_nodes
from assay.analysis.findings.plans.repeated_walk import is_recursion
from assay.analysis.time.operation_tree import COMPUTING
from assay.model.finding import Evidence
from assay.model.units import count_text, percent_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding
    from assay.model.plan import Plan, PlanNode

METHOD = "filter-after-recursion"
EFFECT_MIN = 0.05
ROWS_MIN = 1000
# If the condition keeps more rows, a recursion for these alone takes nearly as long.
KEPT_SHARE_MAX = 0.1
CTE = "cte"
FILTERING = ("filter", "scan", "index scan", CTE)
# Operators between the recursion and the condition.
BETWEEN = ("projection", "exchange", "materialize", "subquery")
# A column that is compared with a value for equality.
_EQUAL = re.compile(
    r"\s*\(*\s*(?:[\w\"`]+\.)*[\"`]?(?P<column>\w+)[\"`]?\)?(?:::[\w ]+)?\s*=\s*"
    r"\(?(?:-?\d[\d.]*|'(?:[^']|'')*'|\$\d+|const\b|<cache>\([^()]*\))\)?(?:::[\w \"]+)?\s*\)*\s*",
    re.IGNORECASE,
)
_NAME = re.compile(r"[A-Za-z_]\w*")
OF_VIEW = (
    "find out whether the recursive part selects {column} without a change (`select t.{column}, "
    "...`), and measure the view's query with the condition in its start"
)
TO_SETTLE = "measure the statement with the condition in the start of the recursion"


@dataclass(frozen=True)
class _Filtered:
    """A recursion whose rows a condition reduces.

    Attributes:
        made: Rows of the recursion.
        kept: Rows that the condition keeps.
        top: Operator with the condition.
        column: Compared column.
        condition: The comparison.
        start: Expression of the start that the column has its value from; None for a view.
        path: Identities of the operators of the recursion, and of those up to the condition.
    """

    made: float
    kept: float
    top: PlanNode
    column: str
    condition: str
    start: str | None
    path: frozenset[int]


def find(case: Case) -> list[Finding]:
    """Return a finding for each recursion of whose rows a condition keeps few."""
    nodes = timed_nodes(case)
    findings = [
        _finding(case, walked, filtered, nodes)
        for walked in nodes
        if is_recursion(walked.node) and (filtered := _filtered(case, walked, nodes)) is not None
    ]
    findings += [
        finding
        for operation in dict.fromkeys(timed.operation for timed in nodes)
        for plan in case.plans[operation]
        if (finding := _uncounted(case, plan)) is not None
    ]
    return [finding for finding in findings if finding.effect_share >= EFFECT_MIN]


def _filtered(case: Case, walked: Timed, nodes: Sequence[Timed]) -> _Filtered | None:
    """Return the condition on a recursion's rows; None unless it keeps few of many."""
    made = (walked.node.rows or 0.0) + (walked.node.removed_rows or 0.0)
    reader = _reader(walked, nodes)
    if made < ROWS_MIN or reader is None:
        return None
    path = {id(node) for node in walked.node.walk()} | {id(reader.node)}
    for node in (reader.node, *reversed(reader.above)):
        path.add(id(node))
        is_reduced = node.rows is not None and node.rows <= KEPT_SHARE_MAX * made
        if node.operator in FILTERING and is_reduced and node.condition:
            compared = _compared(case, walked, node)
            if compared is None:
                return None
            return _Filtered(made, node.rows or 0.0, node, *compared, frozenset(path))
        if node is not reader.node and node.operator not in (*BETWEEN, CTE):
            return None
    return None


def _reader(walked: Timed, nodes: Sequence[Timed]) -> Timed | None:
    """Return the operator that reads the rows of a recursion: itself, or the only scan elsewhere.

    None if several scans read them, which may need other rows.
    """
    if not walked.above or walked.above[-1].operator != CTE:
        return walked
    own = {id(node) for node in walked.node.walk()}
    scans = [
        timed
        for timed in nodes
        if timed.plan is walked.plan and timed.node.operator == CTE and not timed.node.children
        if timed.node.object == walked.above[-1].object and id(timed.node) not in own
    ]
    return scans[0] if len(scans) == 1 else None


def _compared(case: Case, walked: Timed, node: PlanNode) -> tuple[str, str, str | None] | None:
    """Return the carried column that a condition compares, the comparison, and its start.

    The statement of a view does not show its recursion. There, a column by which the recursion
    continues is not carried. None if no column is.
    """
    known = recursions(walked.plan.text, case.grammar)
    if len(known) > 1:
        return None
    for part in map(whole_part, conjuncts(node.condition)):
        matched = _EQUAL.fullmatch(part)
        if matched is None:
            continue
        column = matched["column"].lower()
        if known and column in known[0].carried:
            return column, part, known[0].carried[column]
        if not known and column not in _step_names(walked.node):
            return column, part, None
    return None


def _step_names(walked: PlanNode) -> set[str]:
    """Return the names in the conditions of a recursion's operators."""
    below = [node for child in walked.children for node in child.walk()]
    return {name.lower() for node in below for name in _NAME.findall(node.condition or "")}


def _finding(case: Case, walked: Timed, filtered: _Filtered, nodes: Sequence[Timed]) -> Finding:
    operation, made, kept = walked.operation, filtered.made, filtered.kept
    whole = fraction_of(timed for timed in nodes if id(timed.node) in filtered.path)
    fractions = scaled(whole, 1 - kept / made)
    effect = case.of_run(fractions)
    claim = (
        f"the recursive query of {operation} makes {count_text(made)} rows, of which the condition "
        f"{filtered.condition} keeps {count_text(kept)}; making the others took "
        f"{percent_text(effect)} of the time"
    )
    evidence = [
        Evidence(
            f"{filtered.top.native} kept {count_text(kept)} of {count_text(made)} rows by "
            f"{filtered.condition}",
            f"plan:{operation}",
        )
    ]
    settle: str | None = OF_VIEW.format(column=filtered.column)
    if filtered.start is not None:
        settle = None
        evidence.append(_carried_evidence(operation, filtered.column))
    to_try = _to_try(filtered.column, filtered.start)
    finding = case.finding(METHOD, claim, fractions, to_try=to_try, evidence=evidence)
    finding = replace(finding.without_interval(), settle=settle)
    return finding.of(COMPUTING, saved=(0.0, effect))


def _uncounted(case: Case, plan: Plan) -> Finding | None:
    """Return the finding of a plan without counted rows (SQLite), by the statement's text.

    The recursion has to start with all rows of a table, and the statement has to compare a carried
    column with a value.
    """
    read = 0.0 if plan.reads is None else plan.reads.scan_rows or 0.0
    known = recursions(plan.text, case.grammar)
    if plan.timed or read < ROWS_MIN or len(known) != 1 or not known[0].is_whole:
        return None
    columns = sorted(known[0].fixed & set(known[0].carried))
    if not columns:
        return None
    operation, column = plan.operation, columns[0]
    whole = sum(other.execution_s or 0.0 for other in case.plans[operation])
    share = (plan.execution_s or 0.0) / whole if whole else 0.0
    fractions = {operation: share * case.computing(operation)}
    effect = case.of_run(fractions)
    claim = (
        f"the recursive query of {operation} starts with {count_text(read)} rows, and a condition "
        f"on {known[0].name}.{column} then keeps those of one start; this took "
        f"{percent_text(effect)} of the time"
    )
    evidence = [
        _carried_evidence(operation, column),
        Evidence(f"scans made {count_text(read)} steps", "counter:fullscan_step"),
    ]
    to_try = _to_try(column, known[0].carried[column])
    finding = case.finding(METHOD, claim, fractions, to_try=to_try, evidence=evidence)
    finding = replace(finding.without_interval(), settle=TO_SETTLE)
    return finding.of(COMPUTING, saved=(0.0, effect))


def _carried_evidence(operation: str, column: str) -> Evidence:
    text = f"the recursive part selects {column} without a change, so it has the start's value"
    return Evidence(text, f"statement:{operation}")


def _to_try(column: str, start: str | None) -> str:
    of_view = "" if start is not None else "replace the view by its query, and "
    return (
        f"{of_view}move the condition into the start of the recursion: `where "
        f"{start or column} = ...` in its first select, so that it makes only the wanted rows"
    )
