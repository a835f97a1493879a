"""Time that went into finding a plan instead of executing one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.findings.case import at_least, names_text
from assay.analysis.findings.plan_time import plan_seconds
from assay.analysis.findings.work_time import work_fractions
from assay.model.finding import Evidence
from assay.model.units import percent_text, seconds_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding
    from assay.model.plan import Plan

METHOD = "optimiser"
WORK = ("optimiser/parse",)
# It takes the same time at every scale: where it is less, a larger scale leaves next to none.
EFFECT_MIN = 0.05
NAMED_SHARE = 0.02
NAMED_OPERATIONS = 3


def find(case: Case) -> list[Finding]:
    """By CPU samples of the run itself, else by what plans told when they were asked for."""
    sampled = at_least(work_fractions(case, WORK), NAMED_SHARE)
    planned = {name: _planning(plans) for name, plans in case.plans.items()}
    told = {name: share for name, share in planned.items() if name in case.shares}
    fractions = sampled or at_least(told, NAMED_SHARE)
    effect = case.of_run(fractions)
    if effect < EFFECT_MIN:
        return []
    names = case.largest_first(fractions)
    claim = (
        f"Parsing and optimising took {percent_text(effect)} of the time, most in"
        f" {names_text(names)}; it does not grow with the data"
    )
    evidence = [
        Evidence(_words(case, name, fractions[name]), f"{'profile' if sampled else 'plan'}:{name}")
        for name in names[:NAMED_OPERATIONS]
    ]
    to_try = (
        "a larger --scale shows what remains of it; statements that are prepared once are not"
        " optimised again"
    )
    found = case.finding(METHOD, claim, fractions, to_try=to_try, evidence=evidence)
    return [found if sampled else found.without_interval()]


def _planning(plans: Sequence[Plan]) -> float:
    whole = sum(plan_seconds(plan) for plan in plans)
    planning = sum(plan.planning_s or 0.0 for plan in plans)
    return planning / whole if whole > 0 else 0.0


def _words(case: Case, name: str, fraction: float) -> str:
    planning = [plan.planning_s for plan in case.plans.get(name, ()) if plan.planning_s is not None]
    took = f", {seconds_text(sum(planning))} of planning" if planning else ""
    return f"{name}: {percent_text(fraction)} of its time{took}"
