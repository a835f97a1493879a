"""Finds time spent parsing and planning statements instead of executing them.

Prepared statements are not planned again, unless the engine reports that they are.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.findings.operation_shares import at_least, names_text
from assay.analysis.findings.plans.captured_plan import captured_seconds
from assay.analysis.findings.plans.planned_partitions import planned_partitions
from assay.analysis.findings.shape.work_time import work_fractions
from assay.analysis.time.computing import BY_SAMPLES, planning_seconds
from assay.analysis.time.operation_tree import COMPUTING, EXECUTING, PLANNING
from assay.analysis.time.plan_share import with_cpu_waits
from assay.model.finding import Advice, Evidence
from assay.model.units import percent_text, seconds_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.analysis.findings.case import Case
    from assay.analysis.findings.plans.planned_partitions import Planned
    from assay.analysis.time.tree import TimeNode
    from assay.model.finding import Finding
    from assay.model.plan import Plan

METHOD = "optimiser"
# Role of the setting that makes an engine use one plan for all values.
REUSE = "plan_reuse"
WORK = ("optimiser/parse",)
# Planning takes the same time at every scale, so a smaller share vanishes at a larger scale.
EFFECT_MIN = 0.05
# A query that is executed once has to be planned once. Planning is a cause only from this share of
# the time on.
CAUSE_MIN = 0.35
NAMED_SHARE = 0.02
# Statements with this share of all planning are its cause.
MOST = 0.5
NAMED_OPERATIONS = 3
# An operator that reads more rows is no look-up by a key.
LOOK_UP_ROWS = 100
REPLANNED = "the engine plans a statement at each execution, prepared or not"
# If execution alone explains this share of the timed median, the timed part had no planning.
EXPLAINED_SHARE = 0.95


def find(case: Case) -> list[Finding]:
    """Return a finding of planning time, by CPU samples or else by plans."""
    # The waits of a busy host do not decide whether planning is reported.
    largest = at_least(
        {name: planning_share(tree) for name, tree in case.trees.items()}, NAMED_SHARE
    )
    most = case.of_run(largest)
    if most < EFFECT_MIN:
        return []
    fractions = {name: case.trees[name].share_of(f"{COMPUTING}/{PLANNING}") for name in largest}
    effect = case.of_run(fractions)
    names = case.largest_first(fractions)
    planned = _largest(case, fractions)
    claim = (
        f"Parsing and planning took {percent_text(effect)} of the time, most in"
        f" {names_text(names)}{_growth_words(case, planned)}"
    )
    evidence = [fact for name in names[:NAMED_OPERATIONS] for fact in _evidence(case, name)]
    to_try = _to_try(case, fractions)
    if planned is not None:
        evidence.insert(0, planned.evidence)
        to_try = "; ".join(filter(None, (planned.to_try, to_try)))
    finding = case.finding(
        METHOD,
        claim,
        fractions,
        tells="cause" if most >= CAUSE_MIN else "shape",
        to_try=to_try,
        evidence=evidence,
        advice=_advice(case, names[0], effect),
    ).of(COMPUTING, saved=(0.0, most))
    return [finding if _is_sampled(case, names[0]) else replace(finding, interval=None)]


def _largest(case: Case, fractions: Mapping[str, float]) -> Planned | None:
    """Return the most partitions that a statement plans, if such statements plan the longest."""
    planned = planned_partitions(case, fractions)
    within = {name: fractions[name] for name in planned}
    if not planned or case.of_run(within) < MOST * case.of_run(fractions):
        return None
    return planned[case.largest_first(within)[0]]


def _growth_words(case: Case, planned: Planned | None) -> str:
    """Return the end of the claim: what planning grows with; empty if it is not known."""
    if planned is not None:
        return (
            f"; {planned.operation} plans {planned.text} at each execution, and planning grows "
            "with their number"
        )
    # Data that come later may need more partitions.
    return "; it does not grow with the data" if case.partition_keys == {} else ""


def planning_share(tree: TimeNode) -> float:
    """Return planning's share of an operation's time, with its portion of CPU waits."""
    return with_cpu_waits(tree, PLANNING)


def _is_sampled(case: Case, name: str) -> bool:
    node = case.trees[name].at(f"{COMPUTING}/{EXECUTING}")
    return node is not None and node.source == BY_SAMPLES


def _evidence(case: Case, name: str) -> list[Evidence]:
    """Return the evidence of planning time: CPU samples, plans, and the clock."""
    evidence = []
    sampled = work_fractions(case, WORK).get(name)
    if sampled:
        evidence.append(
            Evidence(
                f"{name}: {percent_text(sampled)} of its CPU samples are planning",
                f"profile:{name}",
            )
        )
    plans = case.plans.get(name, ())
    planning = sum(planning_seconds(plan, prepared=case.prepared) for plan in plans)
    if planning:
        evidence.append(
            Evidence(
                f"{name}: {seconds_text(planning)} of planning according to its plan",
                f"plan:{name}",
            )
        )
    timed, captured = case.seconds.get(name), captured_seconds(case, name)
    if timed and captured and planning:
        executing = captured - planning
        evidence.append(
            Evidence(
                f"{name}: {seconds_text(timed)} measured, of which its plan executed for "
                f"{seconds_text(executing)}",
                f"clock:{name}",
                contradicts=executing >= EXPLAINED_SHARE * timed,
            )
        )
    return evidence


def _to_try(case: Case, fractions: Mapping[str, float]) -> str | None:
    if case.can_prepare:
        return case.try_words(METHOD, fractions, "prepares statements once per session")
    if case.replans:
        return _for_replanned(case, fractions)
    if not case.prepared:
        return (
            "prepare the statements once per session: statements sent as text are planned at "
            "each execution"
        )
    name = case.largest_first(fractions)[0]
    if not _is_planned_anew(case, name):
        return f"assay explain {case.run_id} --operation {name}"
    setting = case.setting(REUSE)
    if setting is None:
        return "let the session use one generic plan, if that is as fast as custom plans"
    return case.try_words(METHOD, fractions, f"lets sessions use one generic plan ({setting.name})")


def _for_replanned(case: Case, fractions: Mapping[str, float]) -> str | None:
    """Return the advice for an engine that plans each execution; None if nothing can be simpler.

    Statements of one table by key are as simple as statements can be.
    """
    most = case.largest_first(fractions)[0]
    own = case.plans.get(most, ())
    if not own or not all(map(_is_look_up, own)):
        return f"statements of fewer tables, or fewer statements, each for more rows: {REPLANNED}"
    if len(own) == 1:
        return None
    return (
        f"fewer statements, each for more rows: {REPLANNED}, and those of {most} are of one table "
        "by key"
    )


def _is_look_up(plan: Plan) -> bool:
    """Return True if a statement reads or changes few rows of one table, by a key if it reads."""
    parts = list(plan.root.walk())
    is_one = len({node.object for node in parts if node.object is not None}) <= 1
    rows = max((node.rows or 0.0) + (node.removed_rows or 0.0) for node in parts)
    return is_one and rows <= LOOK_UP_ROWS and not any(node.operator == "scan" for node in parts)


def _advice(case: Case, name: str, effect: float) -> Advice | None:
    """Return the advice to plan a statement once; None if the engine cannot do so."""
    if case.can_prepare:
        return Advice("prepared", "statements", {}, effect)
    if case.prepared and _is_planned_anew(case, name) and case.setting(REUSE) is not None:
        return Advice("setting", REUSE, {"value": "on"}, effect)
    return None


def _is_planned_anew(case: Case, name: str) -> bool:
    """Return True if the engine plans a prepared statement again for each execution."""
    return "custom" in {plan.mode for plan in case.plans.get(name, ())}
