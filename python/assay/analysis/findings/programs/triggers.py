"""Finds time in triggers and foreign key checks of statements that change rows."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.findings.advising import index_advice
from assay.analysis.findings.operation_shares import execution_text
from assay.analysis.findings.plans.captured_plan import captured_seconds
from assay.analysis.findings.programs.counted_programs import counted_programs, times_text
from assay.analysis.findings.programs.trigger_texts import (
    CHEAPER,
    cheaper_text,
    firing,
    reads_evidence,
    text_of,
)
from assay.analysis.time.computing import planning_seconds
from assay.analysis.time.operation_tree import COMPUTING
from assay.model.finding import UNSEEN, Advice, Evidence
from assay.model.units import calls_text, percent_text, seconds_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.analysis.findings.case import Case
    from assay.analysis.findings.programs.counted_programs import CountedProgram
    from assay.model.catalogue import ForeignKey, Index
    from assay.model.finding import Finding
    from assay.model.plan import Plan, Trigger

METHOD = "triggers"
EFFECT_MIN = 0.05


def find(case: Case) -> list[Finding]:
    """Return a finding for each trigger or foreign key constraint that takes much time."""
    by_trigger: dict[tuple[str, str], list[tuple[Plan, Trigger]]] = {}
    for name in case.shares:
        for plan in case.plans.get(name, ()):
            for trigger in plan.triggers:
                key = (trigger.table, trigger.constraint or trigger.name)
                by_trigger.setdefault(key, []).append((plan, trigger))
    findings = [_finding(case, fired) for fired in by_trigger.values()]
    if not by_trigger:
        counted = counted_programs(
            case, case.triggers, lambda name: firing(case, text_of(case, name))
        )
        findings = [_counted_finding(case, trigger) for trigger in counted]
    return [finding for finding in findings if finding.effect_share >= EFFECT_MIN]


def _counted_finding(case: Case, trigger: CountedProgram) -> Finding:
    """Return the finding of a trigger that plans do not show but the engine counts."""
    text = text_of(case, trigger.name)
    of_run = sum(case.shares[op] for op in trigger.operations)
    fractions = {op: min(1.0, trigger.share / of_run) for op in trigger.operations if of_run}
    calls, execution = times_text(trigger.calls), execution_text(case, trigger.operations)
    claim = (
        f"{percent_text(case.of_run(fractions))} of the time was in trigger {trigger.name}, "
        f"which is called {calls} per {execution}"
    )
    evidence = [
        Evidence(f"{trigger.name} is called {calls} per {execution}", "counter:triggers"),
        Evidence(
            f"{trigger.name} took {percent_text(trigger.share)} of the time according to the "
            "engine's own timing",
            f"clock:{trigger.name}",
        ),
        *reads_evidence(text),
    ]
    effect = case.of_run(fractions)
    # The engine's name of the trigger may include its schema.
    advice = Advice("trigger", trigger.name.rpartition(".")[2], {}, effect)
    finding = case.finding(
        METHOD, claim, fractions, to_try=cheaper_text(text), evidence=evidence, advice=advice
    )
    return finding.without_interval().of(COMPUTING, saved=(0.0, finding.effect_share))


def _fraction(case: Case, operation: str, seconds: float) -> float:
    """Return the share of an operation's time that a number of seconds of its plans represent."""
    whole = math.fsum(
        (plan.execution_s or 0.0) + planning_seconds(plan, prepared=case.prepared)
        for plan in case.plans[operation]
    )
    return min(1.0, seconds / whole) * case.computing(operation) if whole else 0.0


def _timed_seconds(case: Case, plan: Plan, trigger: Trigger) -> float:
    """Return the seconds of a trigger in an execution of median time.

    A plan that is captured takes longer than a timed execution, above all in a new session.
    """
    timed = case.seconds.get(plan.operation)
    if timed is None or not _is_slower(case, plan):
        return trigger.seconds
    return timed * _fraction(case, plan.operation, trigger.seconds)


def _is_slower(case: Case, plan: Plan) -> bool:
    """Return True if an operation took longer when its plan was captured than its median."""
    captured, timed = captured_seconds(case, plan.operation), case.seconds.get(plan.operation)
    return captured is not None and timed is not None and captured > timed


def _scaled_text(case: Case, plan: Plan) -> str:
    """Return how times of a plan become those of an execution; empty if the plan was no slower."""
    if not _is_slower(case, plan):
        return ""
    return (
        " when its plan was captured; its time is scaled to that of a median execution, "
        f"{seconds_text(case.seconds[plan.operation])}"
    )


def _for_key(
    case: Case, check: Trigger, fractions: Mapping[str, float]
) -> tuple[str, Advice | None]:
    """Return text on a foreign key's check, and advice that `assay try` can carry out."""
    found_by = "so that the engine finds the rows that reference a changed row"
    keys = [key for key in case.foreign_keys if key.name == check.constraint]
    key = next((key for key in keys if key.refers_to == check.table), None)
    if key is None:
        if any(key.table == check.table for key in keys):
            return (
                f"change fewer rows of {check.table}: each changed row is looked up in the "
                "other table"
            ), None
        return (
            f"create an index on the columns of the foreign key {check.constraint}, {found_by}"
        ), None
    columns = f"{key.table} ({', '.join(key.columns)})"
    if any(_begins_with(index, key) for index in case.indexes_of(key.table, key.schema)):
        return (
            f"change fewer rows of {check.table}: the columns {columns} already have an index"
        ), None
    advice = index_advice(key.table, key.columns, key.schema, case.of_run(fractions))
    advice = replace(advice, values={**advice.values, **UNSEEN})
    to_try = case.try_words(METHOD, fractions, f"makes an index of {columns}, {found_by}")
    return to_try, advice


def _begins_with(index: Index, key: ForeignKey) -> bool:
    """Return True if an index finds the rows that reference a foreign key."""
    first = {name.strip('"').lower() for name in index.columns[: len(key.columns)]}
    wanted = {name.lower() for name in key.columns}
    return index.valid and index.predicate is None and first == wanted


def _finding(case: Case, fired: list[tuple[Plan, Trigger]]) -> Finding:
    seconds: dict[str, float] = {}
    for plan, trigger in fired:
        seconds[plan.operation] = seconds.get(plan.operation, 0.0) + trigger.seconds
    fractions = {name: _fraction(case, name, spent) for name, spent in seconds.items()}
    plan, first = max(fired, key=lambda pair: pair[1].seconds)
    effect = case.of_run(fractions)
    if first.constraint is not None:
        what = f"foreign key {first.constraint}, which involves {first.table}"
        to_try, advice = _for_key(case, first, fractions)
    else:
        what, to_try = f"trigger {first.name} on {first.table}", CHEAPER
        advice = Advice("trigger", first.name, {"table": first.table}, effect)
    claim = (
        f"{percent_text(case.of_run(fractions))} of the time was spent in {what}: "
        f"{seconds_text(_timed_seconds(case, plan, first))} for {calls_text(first.calls)} in "
        f"{plan.operation}"
    )
    evidence = [
        Evidence(
            f"{trigger.constraint or trigger.name} took {seconds_text(trigger.seconds)} of the "
            f"statement's {seconds_text(of.execution_s or 0.0)}" + _scaled_text(case, of),
            f"plan:{of.operation}",
        )
        for of, trigger in fired
    ]
    finding = case.finding(
        METHOD, claim, fractions, to_try=to_try, evidence=evidence, advice=advice
    )
    return finding.without_interval().of(COMPUTING, saved=(0.0, effect))
