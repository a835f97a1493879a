"""Settings of the optimiser away from their default that make it choose slower plans.

Nothing is inferred: the statement was executed once more with the setting back at its default.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.findings.plan_time import timed_nodes
from assay.analysis.time.operation_tree import COMPUTING
from assay.model.finding import Evidence
from assay.model.units import percent_text, seconds_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.analysis.findings.case import Case
    from assay.model.catalogue import Alternative
    from assay.model.finding import Finding

METHOD = "planner-setting"
EFFECT_MIN = 0.05
# Executions of one plan differ by less than this from each other.
FASTER_MAX = 0.8


def find(case: Case) -> list[Finding]:
    """Return one finding a setting whose default brings faster plans."""
    by_setting: dict[str, list[Alternative]] = {}
    for alternatives in case.alternatives.values():
        for one in alternatives:
            if is_faster_by_default(one):
                by_setting.setdefault(one.change, []).append(one)
    # A setting with a role is another finding's, which knows what the role is for.
    roles = {facts.get("name") for facts in case.advice.get("settings", {}).values()}
    found = [
        _finding(case, name, better) for name, better in by_setting.items() if name not in roles
    ]
    return [finding for finding in found if finding.effect_share >= EFFECT_MIN]


def is_faster_by_default(one: Alternative) -> bool:
    """Return whether a statement was faster with a changed setting back at its default."""
    if one.kind != "setting" or not one.differs or not one.seconds:
        return False
    return one.seconds_changed is not None and one.seconds_changed <= FASTER_MAX * one.seconds


def _finding(case: Case, name: str, better: Sequence[Alternative]) -> Finding:
    fractions: dict[str, float] = {}
    for one in better:
        saved = 1 - (one.seconds_changed or 0.0) / (one.seconds or 1.0)
        part = saved * _statement_fraction(case, one)
        fractions[one.operation] = fractions.get(one.operation, 0.0) + part
    effect = case.of_run(fractions)
    first = max(better, key=lambda one: fractions[one.operation])
    value = next((one.value for one in case.changed_settings or () if one.name == name), None)
    set_to = f"{name} = {value}" if value is not None else name
    claim = (
        f"{set_to} makes the optimiser choose slower plans: {first.operation} took"
        f" {seconds_text(first.seconds)} with it and {seconds_text(first.seconds_changed)} with"
        f" its default {first.value}; that is {percent_text(effect)} of the time"
    )
    evidence = [
        Evidence(f"{set_to}; its default is {first.value}", f"setting:{name}"),
        *(
            Evidence(
                f"{one.operation}: {seconds_text(one.seconds)}, and"
                f" {seconds_text(one.seconds_changed)} with the default",
                f"clock:{one.operation}",
            )
            for one in better
        ),
        *(
            Evidence(f"{one.operation} with the default: {one.summary}", f"plan:{one.operation}")
            for one in better
            if one.summary
        ),
    ]
    to_try = f"reset {name}, so that it is {first.value} again"
    finding = case.finding(METHOD, claim, fractions, to_try=to_try, evidence=evidence)
    best = {name: case.reached(name) for name in fractions}
    return finding.without_interval().of(COMPUTING, saved=(0.0, max(effect, case.of_run(best))))


def _statement_fraction(case: Case, one: Alternative) -> float:
    """Part of the operation's time that the statement's plan took."""
    return sum(
        timed.fraction or 0.0
        for timed in timed_nodes(case)
        if timed.operation == one.operation and timed.plan.statement == one.statement
    )
