"""Splits an operation's CPU time by CPU samples, or by its plans if there are no samples."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.analysis.plans.work import plan_work
from assay.analysis.profile.tables import matrix, within_operations
from assay.analysis.work.rules import PLANNING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from assay.analysis.profile.profile import Profile
    from assay.model.plan import Plan

BY_SAMPLES, BY_PLANS = "CPU samples", "plans"
# A run with fewer samples is not split. An operation with fewer samples has errors above a
# tenth.
RUN_SAMPLES_MIN = 1_000
SAMPLES_MIN = 100
# Work of the kernel is a separate node, measured by the kernel's clock.
OF_KERNEL = ("kernel I/O", "kernel memory", "idle")


@dataclass(frozen=True)
class Computing:
    """An operation's time in the engine's code, split by kind of work and planning.

    Attributes:
        kinds: Execution by kind of work, as proportions.
        planning: Share of parsing and planning in the CPU time of the engine's code, 0 to 1.
        source: The measurement: CPU samples, or plans.
    """

    kinds: Mapping[str, float]
    planning: float
    source: str


def computing_by_operation(
    profile: Profile | None, plans: Mapping[str, tuple[Plan, ...]], *, prepared: bool
) -> dict[str, Computing]:
    """Return the split of each operation's CPU time by kind of work, if known.

    Args:
        profile: CPU samples of the run.
        plans: Plans by operation.
        prepared: Whether statements were planned once per session. The planning time of their
            captured plans is then not part of the timed executions.
    """
    by_plans = {
        name: computing
        for name, own_plans in plans.items()
        if (computing := _by_plans(own_plans, prepared=prepared)) is not None
    }
    return by_plans | _by_samples(profile)


def _by_samples(profile: Profile | None) -> dict[str, Computing]:
    if profile is None or not profile.sampling.told_apart:
        return {}
    if within_operations(profile).height < RUN_SAMPLES_MIN:
        return {}
    counted: dict[str, dict[str, float]] = {}
    for operation, work, samples in (
        matrix(profile).select("operation", "work", "samples").iter_rows()
    ):
        if work not in OF_KERNEL:
            counted.setdefault(operation, {})[work] = float(samples)
    return {
        name: _of_samples(samples)
        for name, samples in counted.items()
        if math.fsum(samples.values()) >= SAMPLES_MIN
    }


def _of_samples(samples: Mapping[str, float]) -> Computing:
    whole = math.fsum(samples.values())
    kinds = {work: count for work, count in samples.items() if work != PLANNING}
    return Computing(kinds, samples.get(PLANNING, 0.0) / whole, BY_SAMPLES)


def _by_plans(plans: Sequence[Plan], *, prepared: bool) -> Computing | None:
    kinds = _summed(plan_work(plan) for plan in plans if plan.timed)
    whole = math.fsum(kinds.values())
    if whole <= 0:
        return None
    planning = math.fsum(planning_seconds(plan, prepared=prepared) for plan in plans)
    executing = math.fsum(plan.execution_s or 0.0 for plan in plans) or whole
    return Computing(kinds, planning / (planning + executing), BY_PLANS)


def planning_seconds(plan: Plan, *, prepared: bool) -> float:
    """Return the seconds of planning in each timed execution of a plan's statement.

    A prepared statement is planned again only if the engine reports it.
    """
    each_time = plan.planned_each_time
    if each_time is None:
        each_time = not prepared
    return (plan.planning_s or 0.0) if each_time else 0.0


def _summed(parts: Iterable[Mapping[str, float]]) -> dict[str, float]:
    whole: dict[str, float] = {}
    for part in parts:
        for kind, seconds in part.items():
            whole[kind] = whole.get(kind, 0.0) + seconds
    return whole
