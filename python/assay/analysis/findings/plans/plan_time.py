"""Computes the share of an operation's time that each operator of its plans took.

A plan is captured outside of the timed part and is slower, so its times count only as proportions.
They divide the operation's timed computing time, including the wait for a CPU. Time in commits,
locks and the network belongs to no operator.
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
    """One operator with its place and its part.

    Attributes:
        operation: The operation.
        plan: The plan that it is in.
        node: The operator.
        above: Operators above it, the root first.
        fraction: Share of the operation's computing time, without the operator's inputs; None if it
            was not timed.
        reach: The same with the operation's reads and writes divided alike: the most that it took.
    """

    operation: str
    plan: Plan
    node: PlanNode
    above: tuple[PlanNode, ...]
    fraction: float | None
    reach: float | None = None


def timed_nodes(case: Case) -> list[Timed]:
    """Every operator of every operation that has a share of the run's time."""
    shares = case.shares
    return [
        timed
        for operation, plans in case.plans.items()
        if operation in shares
        for timed in _operation_nodes(case, operation, plans)
    ]


def _operation_nodes(case: Case, operation: str, plans: Sequence[Plan]) -> list[Timed]:
    """Return the operators of all statements: together they took the operation's computing."""
    whole = sum(
        (plan.execution_s if plan.execution_s is not None else plan.seconds or 0.0)
        + planning_seconds(plan, prepared=case.prepared)
        for plan in plans
    )
    computing, reached = case.computing(operation), case.reached(operation)
    operators = []
    for plan in plans:
        # Threads of a parallel plan have more seconds than passed: they share what passed.
        threads_s = sum(node.seconds or 0.0 for node in plan.root.walk())
        passed_s = plan.execution_s if plan.execution_s is not None else threads_s
        scale = min(1.0, passed_s / threads_s) / whole if threads_s and whole else None
        for node, above in _with_those_above(plan.root, ()):
            # Of a plan without times, operators whose rows were counted may have one.
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
    """Return the elapsed time of a statement when its plan was captured; None if not known."""
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
    """Return the part of each operation's time that its given operators took together."""
    fractions: dict[str, float] = {}
    for timed in operators:
        fractions[timed.operation] = fractions.get(timed.operation, 0.0) + (timed.fraction or 0.0)
    return {operation: min(1.0, fraction) for operation, fraction in fractions.items()}


def reach_of(timed_operators: Iterable[Timed]) -> dict[str, float]:
    """Return the most of each operation's time that its given operators took together."""
    fractions: dict[str, float] = {}
    for timed in timed_operators:
        fractions[timed.operation] = fractions.get(timed.operation, 0.0) + (timed.reach or 0.0)
    return {operation: min(1.0, fraction) for operation, fraction in fractions.items()}


def scaled(fractions: Mapping[str, float], factor: float) -> dict[str, float]:
    """Return fractions times a factor."""
    return {operation: fraction * factor for operation, fraction in fractions.items()}
