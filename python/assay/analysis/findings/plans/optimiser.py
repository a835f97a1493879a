"""Time spent parsing and planning instead of executing.

Prepared statements are not planned again, unless the engine reports that they are.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.findings.case import at_least, names_text
from assay.analysis.findings.plans.captured_plan import captured_seconds
from assay.analysis.findings.shape.work_time import work_fractions
from assay.analysis.time.computing import BY_SAMPLES, planning_seconds
from assay.analysis.time.operation_tree import COMPUTING, EXECUTING, KERNEL, PLANNING
from assay.model.finding import Advice, Evidence
from assay.model.units import percent_text, seconds_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.analysis.findings.case import Case
    from assay.analysis.time.tree import TimeNode
    from assay.model.finding import Finding

METHOD = "optimiser"
WORK = ("optimiser/parse",)
# Planning takes the same time at every scale, so a smaller share vanishes at a larger scale.
EFFECT_MIN = 0.05
# A query that is executed once has to be planned once. Planning is a cause only from this share of
# the time on.
CAUSE_MIN = 0.35
NAMED_SHARE = 0.02
NAMED_OPERATIONS = 3
# If execution alone explains this share of the timed median, the timed part had no planning.
EXPLAINED_SHARE = 0.95


def find(case: Case) -> list[Finding]:
    """Return planning as a part of computing, by CPU samples, or else by plans."""
    fractions = at_least({name: _planning(tree) for name, tree in case.trees.items()}, NAMED_SHARE)
    effect = case.of_run(fractions)
    if effect < EFFECT_MIN:
        return []
    names = case.largest_first(fractions)
    claim = (
        f"Parsing and planning took {percent_text(effect)} of the time, most in"
        f" {names_text(names)}; it does not grow with the data"
    )
    evidence = [fact for name in names[:NAMED_OPERATIONS] for fact in _evidence(case, name)]
    finding = case.finding(
        METHOD,
        claim,
        fractions,
        tells="cause" if effect >= CAUSE_MIN else "shape",
        to_try=_to_try(case, fractions),
        evidence=evidence,
        advice=Advice("prepared", "statements", {}, effect) if case.can_prepare else None,
    ).of(COMPUTING, saved=(0.0, effect))
    return [finding if _is_sampled(case, names[0]) else replace(finding, interval=None)]


def _planning(tree: TimeNode) -> float:
    """Return planning's share of an operation's time, with its part of the waits for a CPU."""
    on_cpu = sum(tree.share_of(f"{COMPUTING}/{name}") for name in (EXECUTING, PLANNING, KERNEL))
    if not on_cpu:
        return 0.0
    return tree.share_of(f"{COMPUTING}/{PLANNING}") / on_cpu * tree.share_of(COMPUTING)


def _is_sampled(case: Case, name: str) -> bool:
    node = case.trees[name].at(f"{COMPUTING}/{EXECUTING}")
    return node is not None and node.source == BY_SAMPLES


def _evidence(case: Case, name: str) -> list[Evidence]:
    """Return the evidence of planning time: CPU samples, plans, and the clock."""
    evidence = []
    sampled = work_fractions(case, WORK).get(name)
    if sampled:
        evidence.append(
            Evidence(f"{name}: {percent_text(sampled)} of its CPU samples", f"profile:{name}")
        )
    plans = case.plans.get(name, ())
    planning = sum(planning_seconds(plan, prepared=case.prepared) for plan in plans)
    if planning:
        evidence.append(
            Evidence(f"{name}: {seconds_text(planning)} of planning by its plan", f"plan:{name}")
        )
    timed, captured = case.seconds.get(name), captured_seconds(case, name)
    if timed and captured and planning:
        executing = captured - planning
        evidence.append(
            Evidence(
                f"{name}: {seconds_text(timed)} timed, of which its plan executed for"
                f" {seconds_text(executing)}",
                f"clock:{name}",
                contradicts=executing >= EXPLAINED_SHARE * timed,
            )
        )
    return evidence


def _to_try(case: Case, fractions: Mapping[str, float]) -> str:
    if case.can_prepare:
        return case.try_words(METHOD, fractions, "prepares statements once a session")
    if not case.prepared:
        return (
            "prepare the statements once a session: statements that are sent as text are planned at"
            " each execution"
        )
    name = case.largest_first(fractions)[0]
    modes = {plan.mode for plan in case.plans.get(name, ())}
    if "custom" in modes:
        return "have the session keep one generic plan, if that is as fast as the custom ones"
    return f"assay explain {case.run_id} --operation {name}"
