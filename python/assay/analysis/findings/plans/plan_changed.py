"""Finds statements whose plan changes with their values, or whose generic plan is slower.

A prepared statement may keep one plan for all values (generic). The generic plan is compared with
plans for each value (custom), executed with the same values.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from assay.analysis.findings.advising import named_setting_advice
from assay.analysis.findings.plans.plan_time import timed_nodes
from assay.analysis.time.operation_tree import COMPUTING
from assay.model.finding import Evidence
from assay.model.units import percent_text, seconds_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.model.catalogue import Alternative
    from assay.model.finding import Finding
    from assay.model.plan import Plan

METHOD = "plan-changed"
EFFECT_MIN = 0.05
# Custom plans are better if they take at most this share of the generic plan's time.
BETTER_MAX = 0.7
GENERIC = "generic"
CUSTOM = "custom"
LINE_MAX = 160


def find(case: Case) -> list[Finding]:
    """Return findings of slower generic plans, and of plans that change with values."""
    findings = []
    for operation, plans in case.plans.items():
        for plan in plans:
            custom = _better_custom(case, operation, plan)
            if custom is not None:
                findings.append(_worse_generic(case, plan, custom))
            elif plan.others:
                findings.append(_changing(case, plan))
    return [finding for finding in findings if finding.effect_share >= EFFECT_MIN]


def _better_custom(case: Case, operation: str, plan: Plan) -> Alternative | None:
    """Return a plan for given values that is clearly faster than the generic; None without one."""
    for other in case.alternatives.get(operation, ()):
        if other.statement != plan.statement or other.kind != CUSTOM or plan.mode != GENERIC:
            continue
        if other.seconds and other.seconds_changed is not None and other.differs:
            return other if other.seconds_changed <= BETTER_MAX * other.seconds else None
    return None


def _worse_generic(case: Case, plan: Plan, custom: Alternative) -> Finding:
    """Return a finding that a generic plan is kept although plans for values are faster."""
    ratio = (custom.seconds_changed or 0.0) / (custom.seconds or 1.0)
    fractions = {plan.operation: _fraction(case, plan) * (1 - ratio)}
    times = (
        f"{seconds_text(custom.seconds or 0.0)} with one plan for all parameter values, "
        f"{seconds_text(custom.seconds_changed or 0.0)} with a plan for each"
    )
    claim = (
        f"{_name(plan)} of {plan.operation} uses one generic plan for all parameter values "
        f"({custom.change}), and custom plans are faster: {times}. "
        f"{percent_text(case.of_run(fractions))} of the time"
    )
    evidence = [
        Evidence(f"the generic plan: {_line(plan.line)}", f"plan:{plan.operation}"),
        Evidence(
            f"a custom plan for one parameter value: {_line(custom.summary or '')}",
            f"plan:{plan.operation}",
        ),
        Evidence(f"with the same parameter values: {times}", f"clock:{plan.operation}"),
    ]
    to_try = (
        f"set {custom.change} = {custom.value} for the session or the role that runs the statement"
    )
    setting = next(
        (setting for setting in case.changed_settings or () if setting.name == custom.change), None
    )
    if setting is not None:
        says = f"{setting.name} = {setting.value}; its default is {setting.default}"
        evidence.append(Evidence(says, f"setting:{setting.name}"))
        to_try = f"reset {setting.name} to its default {setting.default}, or {to_try}"
    advice = None
    if custom.value is not None:
        effect = case.of_run(fractions)
        advice = named_setting_advice(
            custom.change, custom.value, effect, by_plan=True, by_values=True
        )
        to_try += f"; {case.try_words(METHOD, fractions, 'tries it')}"
    finding = case.finding(
        METHOD, claim, fractions, to_try=to_try, evidence=evidence, advice=advice
    )
    effect = finding.effect_share
    return finding.without_interval().of(COMPUTING, saved=(0.0, effect))


def _changing(case: Case, plan: Plan) -> Finding:
    """Return a finding that a statement has other plans for other values."""
    fractions = {plan.operation: _fraction(case, plan)}
    claim = (
        f"{_name(plan)} of {plan.operation} had {1 + len(plan.others)} plans in {plan.captures} "
        f"captures with different parameter values: {_line(plan.line)}, and "
        f"{_line(plan.others[0])}"
    )
    evidence = [
        Evidence(_line(line), f"plan:{plan.operation}") for line in (plan.line, *plan.others)
    ]
    to_try = f"assay explain {case.run_id} --operation {plan.operation}"
    finding = case.finding(
        METHOD, claim, fractions, tells="shape", to_try=to_try, evidence=evidence
    )
    return finding.without_interval()


def _fraction(case: Case, plan: Plan) -> float:
    """Return the share of an operation's time that a plan's operators took."""
    return math.fsum(
        timed.fraction or 0.0
        for timed in timed_nodes(case)
        if timed.operation == plan.operation and timed.plan.statement == plan.statement
    )


def _name(plan: Plan) -> str:
    return plan.name or f"Statement {plan.statement + 1}"


def _line(line: str) -> str:
    return line if len(line) <= LINE_MAX else f"{line[: LINE_MAX - 1]}…"
