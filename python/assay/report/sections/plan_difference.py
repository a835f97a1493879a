"""Makes the document section on plan differences between two runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.plans.difference import same_way
from assay.analysis.plans.recorded import compare_plans
from assay.report.sections.plans import captured_of
from assay.report.words.plans import node_words

if TYPE_CHECKING:
    from assay.analysis.plans.recorded import PlanChange, PlanComparison
    from assay.model.plan import Plan, PlanNode
    from assay.record.reader import Run
    from assay.report.documents.plans.plan_difference import (
        PlanChangeRow,
        PlanDifferenceRow,
        PlanStepRow,
        StepMark,
    )
    from assay.report.documents.plans.plans import OperatorName


def plan_differences(
    ours: Run,
    theirs: Run,
    seconds: tuple[dict[str, float], dict[str, float]],
    operation: str | None = None,
) -> list[PlanDifferenceRow]:
    """Return a row for each statement with a plan in both runs, largest time difference first.

    Args:
        ours: The run to explain.
        theirs: The other run, with which it is compared.
        seconds: Time of the operations of each run, in seconds.
        operation: Name of the only operation to include; None includes all.

    Returns:
        Keys: operation, statement, name; changed (whether the plan differs); ours_s and theirs_s
            (time of the operation in the measured part); `changes` (kind, says, and the thread-
            seconds of the changed step: ours_s, theirs_s); `steps` (depth, mark: same, changed, new
            or gone, operator, words, and thread-seconds including inputs: ours_s, theirs_s).
    """
    same_engine = ours.facts["engine"]["name"] == theirs.facts["engine"]["name"]
    others = captured_of(theirs).plans
    differences = [
        plan_difference(mine, other, seconds, same_engine=same_engine)
        for name, plans in captured_of(ours).plans.items()
        if operation in (None, name)
        for mine in plans
        for other in others.get(name, ())
        if _same_statement(mine, other)
    ]
    return sorted(
        differences,
        key=lambda difference: (
            -abs((difference["ours_s"] or 0.0) - (difference["theirs_s"] or 0.0))
        ),
    )


def _same_statement(ours: Plan, other: Plan) -> bool:
    """Return True if two plans belong to the same statement, by its name or number."""
    if ours.name is not None and other.name is not None:
        return ours.name == other.name
    return ours.statement == other.statement


def plan_difference(
    ours: Plan,
    theirs: Plan,
    seconds: tuple[dict[str, float], dict[str, float]],
    *,
    same_engine: bool = True,
) -> PlanDifferenceRow:
    """Return the plan difference of one statement between two runs."""
    comparison = compare_plans(theirs, ours, same_engine=same_engine)
    return {
        "operation": ours.operation,
        "statement": ours.statement,
        "name": ours.name,
        "changed": comparison.changed,
        "ours_s": seconds[0].get(ours.operation),
        "theirs_s": seconds[1].get(ours.operation),
        "changes": [_change(change) for change in comparison.changes],
        "steps": _steps(comparison, same_engine=same_engine),
    }


def _change(change: PlanChange) -> PlanChangeRow:
    return {
        "kind": change.kind,
        "says": change.says,
        "ours_s": change.after_s,
        "theirs_s": change.before_s,
    }


def _steps(comparison: PlanComparison, *, same_engine: bool) -> list[PlanStepRow]:
    """Return the steps of this run's plan, then those that only the other run's plan has."""
    pairs = {id(pair.after): pair for pair in comparison.pairs if pair.after is not None}
    steps = []
    for depth, node in _with_depth(comparison.after.root):
        pair = pairs[id(node)]
        mark = _mark(pair.before, node, same_engine=same_engine)
        steps.append(_step(node, depth, mark, pair.after_s, pair.before_s))
    gone = [pair for pair in comparison.pairs if pair.after is None]
    return steps + [
        _step(pair.before, 0, "gone", None, pair.before_s) for pair in gone if pair.before
    ]


def _mark(before: PlanNode | None, after: PlanNode, *, same_engine: bool) -> StepMark:
    if before is None:
        return "new"
    same = same_way(before, after, same_engine=same_engine) and before.index == after.index
    return "same" if same else "changed"


def _step(
    node: PlanNode, depth: int, mark: StepMark, ours_s: float | None, theirs_s: float | None
) -> PlanStepRow:
    return {
        "depth": depth,
        "mark": mark,
        "operator": node.operator,
        "words": node_words(_operator_name(node)),
        "ours_s": ours_s,
        "theirs_s": theirs_s,
    }


def _operator_name(node: PlanNode) -> OperatorName:
    return {"native": node.native, "object": node.object, "index": node.index}


def _with_depth(node: PlanNode, depth: int = 0) -> list[tuple[int, PlanNode]]:
    below = [pair for child in node.children for pair in _with_depth(child, depth + 1)]
    return [(depth, node), *below]
