"""Checks that a query was executed with the plan that the study expects.

Only studies state expected plans, so the check is not among those of every run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.plans.recorded import captured
from assay.model.verdict import CheckResult, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.model.plan import Plan, PlanNode
    from assay.record.reader import Run

NAME = "plan"
# Operators that are ignored when plans are compared.
UNREMARKED = ("projection", "result")


def expected_plan(run: Run, steps: Sequence[str]) -> CheckResult:
    """Return invalid at the first statement with another plan, unknown if plans are missing.

    Args:
        run: A run that succeeded.
        steps: Operators, each before its inputs: `sort`, `index scan TABLE INDEX`. A step without a
            table or index matches any.
    """
    capture = captured(run)
    if not capture.plans:
        reason = f"the plan was not seen: {capture.reason or 'the engine told none'}"
        return CheckResult(NAME, Verdict.UNKNOWN, reason, measured=False)
    for plans in capture.plans.values():
        for plan in plans:
            actual = plan_steps(plan)
            if not _fits(actual, steps):
                return CheckResult(NAME, Verdict.INVALID, _difference(plan, actual, steps))
    return CheckResult(NAME, Verdict.VALID, f"the plan is the expected one: {_chain(steps)}")


def plan_steps(plan: Plan) -> list[str]:
    """Return a plan's operators with the tables and indexes they read, each before its inputs."""
    return [_step(node) for node in plan.root.walk() if node.operator not in UNREMARKED]


def _step(node: PlanNode) -> str:
    return " ".join(filter(None, (node.operator, node.object, node.index)))


def _fits(actual: Sequence[str], steps: Sequence[str]) -> bool:
    return len(actual) == len(steps) and all(
        f"{actual_step} ".startswith(f"{step} ")
        for actual_step, step in zip(actual, steps, strict=True)
    )


def _difference(plan: Plan, actual: Sequence[str], steps: Sequence[str]) -> str:
    return (
        f"{plan.operation} was executed by another plan than the expected one:"
        f" {_chain(actual)}, and not {_chain(steps)}"
    )


def _chain(steps: Sequence[str]) -> str:
    return " over ".join(steps)
