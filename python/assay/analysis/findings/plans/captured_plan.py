"""Checks whether plans captured after the timed part are the plans that ran in it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from assay.analysis.time.computing import planning_seconds
from assay.model.units import seconds_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case

# A plan that takes less than half or more than twice the timed median may be another plan.
RATIO_MIN, RATIO_MAX = 0.5, 2.0


def captured_seconds(case: Case, operation: str) -> float | None:
    """Return the seconds of an operation's captured plans; None if any plan was not timed."""
    plans = case.plans.get(operation, ())
    if not plans or any(plan.execution_s is None for plan in plans):
        return None
    return math.fsum(
        (plan.execution_s or 0.0) + planning_seconds(plan, prepared=case.prepared) for plan in plans
    )


def doubt_of_plan(case: Case, operation: str) -> str | None:
    """Return the reason why a captured plan may differ from the executed one; None without doubt.

    The timed median may include commits, locks or the network. So the lower bound uses only the
    time in which a plan can have worked.
    """
    plans = case.plans.get(operation, ())
    if any((plan.shapes or 1) > 1 for plan in plans):
        return f"{operation} had several plans when it was captured again"
    watched, timed = captured_seconds(case, operation), case.seconds.get(operation)
    if watched is None or not timed:
        return f"the plan of {operation} was not timed"
    least = RATIO_MIN * timed * case.worked(operation)
    if least <= watched <= RATIO_MAX * timed:
        return None
    return (
        f"the captured plan of {operation} took {seconds_text(watched)}, the timed executions"
        f" {seconds_text(timed)}"
    )
