"""Refutes causes without timed runs: the plans with a change are captured without execution."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.diagnose.judging import Judgement
from assay.analysis.diagnose.same_plans import estimated_cost, estimates_suffice, plans_stayed
from assay.analysis.diagnose.way import Tried, Untried
from assay.analysis.plans.recorded import captured, read_plans
from assay.study.diagnosing.candidates import LEAVE
from assay.study.variants import Part, Variant

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from assay.record.reader import Run
    from assay.running.asked.request import RunRequest
    from assay.study.diagnosing.candidates import Candidate

# Experiments whose effect on a plan depends on the values that a statement compares with columns.
OF_VALUES = ("statistics", "extended-statistics", "histogram")
ABOUT = "The plans without and with each change, without execution."


def planned_part(
    name: str, baseline: str, run: Run, base: RunRequest, candidates: Sequence[Candidate]
) -> Part | None:
    """Return the part of a study that captures the plans with changes; None if none is needed.

    Args:
        name: Name of the part.
        baseline: Name of the variant without a change.
        run: Run that the causes are about.
        base: Request of the run without a change.
        candidates: Causes that can be tried.
    """
    acting = [candidate for candidate in candidates if candidate.by_plan]
    # After a crash or on a snapshot there is no run whose plans could be captured.
    if not acting or base.kill_s is not None or base.copies or not read_plans(run):
        return None
    variants = [Variant(baseline, _plans_of(base))]
    variants += [
        Variant(candidate.change, _plans_of(candidate.request), {"cause": candidate.cause.key})
        for candidate in acting
    ]
    return Part(name, tuple(variants), 1, ABOUT, apart=True)


def refuted_by_plans(
    run: Run, baseline: str, planned: Mapping[str, Run], candidates: Sequence[Candidate]
) -> list[Tried]:
    """Return the causes whose change acts through plans and alters no plan.

    Args:
        run: Run that the causes are about, with executed plans.
        baseline: Name of the variant without a change.
        planned: Captured plans by the name of the variant, without execution.
        candidates: Causes that can be tried.
    """
    before = planned.get(baseline)
    if before is None:
        return []
    refuted = []
    for candidate in candidates:
        after = planned.get(candidate.change)
        if not candidate.by_plan or after is None:
            continue
        for cause in candidate.causes:
            about = cause.operations
            if not plans_show_change(run, candidate.kind, about):
                continue
            if estimates_suffice(run, before, about) and plans_stayed(before, after, about):
                judgement = Judgement("refuted", tuple(about), by_plan=True)
                refuted.append(Tried(cause, candidate.change, candidate.kind, judgement, ()))
    return refuted


def unused(candidate: Candidate) -> Tried:
    """Return the refuted cause of a change that no captured plan uses."""
    judgement = Judgement("refuted", candidate.cause.operations, by_plan=True)
    return Tried(candidate.cause, candidate.change, candidate.kind, judgement, ())


def plans_show_change(run: Run, kind: str, operations: Sequence[str]) -> bool:
    """Return True if the captured plans of some operations would show the effect of a change.

    A plan is captured for one row of values. Statistics may change the plans of other values, so
    the plans of an operation whose values are drawn at each execution do not suffice.

    Args:
        run: Run that the cause is about.
        kind: Kind of experiment.
        operations: Names of the operations; empty means all.
    """
    drawn = run.facts["workload"].get("drawn_operations", [])
    names = list(operations) or run.facts["plan"]["operations"]
    return kind not in OF_VALUES or not set(drawn).intersection(names)


def untimed(
    before: Run | None, planned: Mapping[str, Run], candidates: Sequence[Candidate]
) -> Iterator[Untried]:
    """Yield the causes whose change is only hypothetical, with its effect on the estimates.

    Args:
        before: Run with captured plans without a change, without execution; None without one.
        planned: Captured plans by the name of the variant, without execution.
        candidates: Causes that plans do not refute.
    """
    for candidate in candidates:
        if not candidate.is_hypothetical:
            continue
        after = planned.get(candidate.change)
        for cause in candidate.causes:
            why = LEAVE
            if before is not None and after is not None:
                why = f"{_estimated_effect(before, after, cause.operations)}; {LEAVE}"
            yield Untried(cause, why, candidate.change)


def _estimated_effect(before: Run, after: Run, about: Sequence[str]) -> str:
    """Return a clause with the effect of a hypothetical change on plans and estimated costs."""
    if reason := captured(after).reason:
        return f"the optimiser could not assume the index ({reason})"
    if plans_stayed(before, after, about):
        return "no estimated plan uses the index, but execution may change these plans"
    costs = [estimated_cost(run, about) for run in (before, after)]
    if None in costs:
        return "estimated plans would use the index"
    old, new = (f"{cost:,.4g}" for cost in costs)
    return f"estimated plans would use the index: their cost falls from {old} to {new}"


def _plans_of(request: RunRequest) -> RunRequest:
    """Return the request of a run that only captures plans, without execution."""
    return request.changed(
        plans=True, plans_only=True, plans_executed=False, fleet=None, engine_host=None
    )
