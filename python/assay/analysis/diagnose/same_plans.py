"""Decides from recorded plans whether a change alters how operations are executed."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.plans.difference import READS
from assay.analysis.plans.recorded import captured, compare_plans, read_plans

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.model.plan import Plan, PlanNode
    from assay.record.reader import Run

    Plans = Mapping[str, tuple[Plan, ...]]

# Operator of a statement that changes rows.
WRITES = "modify"


def plans_stayed(before: Run, after: Run, operations: Sequence[str]) -> bool:
    """Return True if every plan of some operations was captured twice and did not change.

    Args:
        before: Run without the change.
        after: Run with the change.
        operations: Names of the operations; empty means all.
    """
    return _are_same(read_plans(before), read_plans(after), operations)


def estimates_suffice(executed: Run, estimated: Run, operations: Sequence[str]) -> bool:
    """Return True if plans captured without execution show how operations are executed.

    Both kinds of plans of the unchanged run must be the same: then the engine does not change a
    plan while it executes it, and both runs have equal data and statistics. No executed plan may be
    compiled or spill, because estimates do not show this. No operation may write, because the data
    would change during the load.

    Args:
        executed: Run without the change, whose plans were captured by execution.
        estimated: The same run, whose plans were captured without execution.
        operations: Names of the operations; empty means all.
    """
    record = captured(executed)
    names = list(operations) or list(record.plans)
    if record.missing or any(_writes(plan) for plans in record.plans.values() for plan in plans):
        return False
    concerned = [plan for name in names for plan in record.plans.get(name, ())]
    if any(plan.compiling_s or plan.spilled_bytes for plan in concerned):
        return False
    return _are_same(_as_planned(record.plans), _as_planned(read_plans(estimated)), names)


def estimated_cost(run: Run, operations: Sequence[str]) -> float | None:
    """Return the optimiser's cost of some operations, in its own unit; None if a cost is missing.

    Args:
        run: Run with captured plans.
        operations: Names of the operations; empty means all.
    """
    plans = read_plans(run)
    costs = [plan.cost for name in operations or plans for plan in plans.get(name, ())]
    known = [cost for cost in costs if cost is not None]
    return math.fsum(known) if known and len(known) == len(costs) else None


def _are_same(ours: Plans, theirs: Plans, operations: Sequence[str]) -> bool:
    names = list(operations) or list(ours)
    if not names or any(
        not ours.get(name) or len(ours[name]) != len(theirs.get(name, ())) for name in names
    ):
        return False
    return all(
        _is_same(old, new)
        for name in names
        for old, new in zip(ours[name], theirs[name], strict=True)
    )


def _is_same(old: Plan, new: Plan) -> bool:
    """Return True if two plans execute a statement in the same way, whatever their estimates.

    Estimates also decide whether code is generated for the same plan, how much memory an operator
    gets before it spills, and in which way an index is read.
    """
    comparison = compare_plans(old, new)
    if any(change.kind != "estimate" for change in comparison.changes):
        return False
    both = [(pair.before, pair.after) for pair in comparison.pairs if pair.before and pair.after]
    return all(
        before.native == after.native
        for before, after in both
        if before is not None and after is not None and after.operator in READS
    )


def _writes(plan: Plan) -> bool:
    return any(node.operator == WRITES for node in plan.root.walk())


def _as_planned(plans: Plans) -> Plans:
    """Return plans with the planned number of workers instead of the number that started."""
    return {
        name: tuple(replace(plan, root=_with_planned_workers(plan.root)) for plan in own)
        for name, own in plans.items()
    }


def _with_planned_workers(node: PlanNode) -> PlanNode:
    workers = node.workers if node.workers_planned is None else node.workers_planned
    children = tuple(_with_planned_workers(child) for child in node.children)
    return replace(node, workers=workers, children=children)
