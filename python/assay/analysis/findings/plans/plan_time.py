"""Computes the share of an operation's time that each operator of its plans took.

A plan is captured outside of the timed part and runs slower then, so only the proportions of its
times count.
The proportions divide the operation's timed computing time, including waits for a CPU. Time in
commits, locks and the network belongs to no operator.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.analysis.time.computing import planning_seconds

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from assay.analysis.findings.case import Case
    from assay.model.plan import Plan, PlanNode


@dataclass(frozen=True)
class Timed:
    """A plan operator with its position in the plan and its share of the time.

    Attributes:
        operation: Name of the operation.
        plan: Plan that contains the operator.
        node: The operator's node.
        above: Operators above it in the plan, the root first.
        fraction: Share of the operation's computing time, without the operator's inputs; None if it
            was not timed.
        reach: Upper limit of the operator's share, if the operation's reads and writes are divided
            in the same proportions.
    """

    operation: str
    plan: Plan
    node: PlanNode
    above: tuple[PlanNode, ...]
    fraction: float | None
    reach: float | None = None


def counted_rows(case: Case, scan: Timed, part: str | None) -> int | None:
    """Return how many rows of its table a part of a scan's condition keeps; None if not counted.

    The part comes from `conditions.served_part` or `conditions.single_parts`.
    """
    place = (scan.operation, scan.plan.statement, scan.node.object, part)
    for kept in case.kept_rows:
        if (kept.operation, kept.statement, kept.table, kept.condition) == place:
            return kept.rows
    return None


def timed_nodes(case: Case) -> list[Timed]:
    """Return all plan operators of the operations whose share of the run's time is known."""
    shares = case.shares
    return [
        timed
        for operation, plans in case.plans.items()
        if operation in shares
        for timed in _operation_nodes(case, operation, plans)
    ]


def _operation_nodes(case: Case, operation: str, plans: Sequence[Plan]) -> list[Timed]:
    """Return the operators of all statements, which divide an operation's computing time."""
    whole = sum(
        (plan.execution_s if plan.execution_s is not None else plan.seconds or 0.0)
        + planning_seconds(plan, prepared=case.prepared)
        for plan in plans
    )
    computing, reached = case.computing(operation), case.reached(operation)
    operators = []
    for plan in plans:
        # Threads of a parallel plan take more thread-seconds than elapsed time, and share the
        # latter.
        threads_s = sum(node.seconds or 0.0 for node in plan.root.walk())
        passed_s = plan.execution_s if plan.execution_s is not None else threads_s
        scale = min(1.0, passed_s / threads_s) / whole if threads_s and whole else None
        for node, above in _with_those_above(plan.root, ()):
            # In a plan without times, an operator with counted rows may have a time.
            is_counted = plan.timed or node.rows is not None
            is_timed = is_counted and scale is not None and node.seconds is not None
            part = (node.seconds or 0.0) * (scale or 0.0) if is_timed else None
            operators.append(
                Timed(
                    operation,
                    plan,
                    node,
                    above,
                    None if part is None else part * computing,
                    None if part is None else part * reached,
                )
            )
    return operators


def plan_seconds(plan: Plan) -> float:
    """Return the elapsed seconds of a statement when its plan was captured; None if not known."""
    executed = plan.execution_s
    if executed is None:
        executed = sum(node.seconds or 0.0 for node in plan.root.walk())
    return executed + (plan.planning_s or 0.0)


def _with_those_above(
    node: PlanNode, above: tuple[PlanNode, ...]
) -> Iterable[tuple[PlanNode, tuple[PlanNode, ...]]]:
    yield node, above
    for child in node.children:
        yield from _with_those_above(child, (*above, node))


def fraction_of(operators: Iterable[Timed]) -> dict[str, float]:
    """Return the share of each operation's time that the given plan operators took together."""
    fractions: dict[str, float] = {}
    for timed in operators:
        fractions[timed.operation] = fractions.get(timed.operation, 0.0) + (timed.fraction or 0.0)
    return {operation: min(1.0, fraction) for operation, fraction in fractions.items()}


def reach_of(timed_operators: Iterable[Timed]) -> dict[str, float]:
    """Return the upper limit of the time share of the given plan operators, by operation."""
    fractions: dict[str, float] = {}
    for timed in timed_operators:
        fractions[timed.operation] = fractions.get(timed.operation, 0.0) + (timed.reach or 0.0)
    return {operation: min(1.0, fraction) for operation, fraction in fractions.items()}


def scaled(fractions: Mapping[str, float], factor: float) -> dict[str, float]:
    """Return fractions by operation multiplied by a factor."""
    return {operation: fraction * factor for operation, fraction in fractions.items()}
