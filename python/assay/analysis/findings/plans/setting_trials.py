"""Finds the time lost to non-default settings, from statements executed with both values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.findings.advising import named_setting_advice
from assay.analysis.findings.plans.plan_time import timed_nodes
from assay.analysis.time.operation_tree import COMPUTING
from assay.model.finding import Evidence
from assay.model.units import percent_text, seconds_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.analysis.findings.case import Case
    from assay.model.catalogue import Alternative
    from assay.model.finding import Finding

EFFECT_MIN = 0.05
# Repeated executions of one plan differ less than this.
FASTER_MAX = 0.8


def settings_tried(case: Case, *, differs: bool) -> dict[str, list[Alternative]]:
    """Return statements that were faster with a setting at its default, by the setting's name.

    Args:
        case: The run.
        differs: True for statements whose plan changes with the default, False for those whose plan
            stays the same.
    """
    by_setting: dict[str, list[Alternative]] = {}
    for alternatives in case.alternatives.values():
        for alternative in alternatives:
            if alternative.differs == differs and is_faster_by_default(alternative):
                by_setting.setdefault(alternative.change, []).append(alternative)
    return by_setting


def is_faster_by_default(alternative: Alternative) -> bool:
    """Return True if a statement was faster with a changed setting at its default."""
    return alternative.kind == "setting" and is_faster(alternative)


def is_faster(alternative: Alternative) -> bool:
    """Return True if a statement was clearly faster with a change."""
    seconds, changed = alternative.seconds, alternative.seconds_changed
    return bool(seconds and changed is not None and changed <= FASTER_MAX * seconds)


def tried_finding(
    case: Case, method: str, name: str, better: Sequence[Alternative], does: str
) -> list[Finding]:
    """Return a finding for one non-default setting; empty if it costs little of the time.

    Args:
        case: The run.
        method: Method of the finding.
        name: Name of the setting.
        better: Statements that were faster with its default.
        does: Phrase on the effect of the setting on the plans.
    """
    fractions = saved_fractions(case, better)
    effect = case.of_run(fractions)
    first = max(better, key=lambda alternative: fractions[alternative.operation])
    value = next(
        (setting.value for setting in case.changed_settings or () if setting.name == name), None
    )
    set_to = f"{name} = {value}" if value is not None else name
    claim = (
        f"{set_to} {does}: {first.operation} took {_time_text(first)} with this "
        f"value and {seconds_text(first.seconds_changed)} with the default {first.value}, a loss "
        f"of {percent_text(effect)} of the time"
    )
    evidence = [
        Evidence(f"{set_to}; its default is {first.value}", f"setting:{name}"),
        *(
            Evidence(
                f"{alternative.operation}: {_time_text(alternative)}, and"
                f" {seconds_text(alternative.seconds_changed)} with the default",
                f"clock:{alternative.operation}",
            )
            for alternative in better
        ),
        *(
            Evidence(
                f"{alternative.operation} with the default: {alternative.summary}",
                f"plan:{alternative.operation}",
            )
            for alternative in better
            if alternative.summary and alternative.differs
        ),
    ]
    to_try = f"reset {name} to its default {first.value}"
    if effect < EFFECT_MIN:
        return []
    advice = None
    if first.value is not None:
        advice = named_setting_advice(name, first.value, effect, by_plan=first.differs)
        to_try += f"; {case.try_words(method, fractions, 'tries it')}"
    finding = case.finding(
        method, claim, fractions, to_try=to_try, evidence=evidence, advice=advice
    )
    best = {name: case.reached(name) for name in fractions}
    at_best = max(effect, case.of_run(best))
    return [finding.without_interval().of(COMPUTING, saved=(0.0, at_best))]


def saved_fractions(case: Case, better: Sequence[Alternative]) -> dict[str, float]:
    """Return the share of each operation's time that faster statements save together."""
    fractions: dict[str, float] = {}
    for alternative in better:
        saved = 1 - (alternative.seconds_changed or 0.0) / (alternative.seconds or 1.0)
        part = saved * _statement_fraction(case, alternative)
        fractions[alternative.operation] = fractions.get(alternative.operation, 0.0) + part
    return fractions


def _statement_fraction(case: Case, alternative: Alternative) -> float:
    """Return the share of an operation's time that the statement's plan took."""
    return sum(
        timed.fraction or 0.0
        for timed in timed_nodes(case)
        if timed.operation == alternative.operation
        and timed.plan.statement == alternative.statement
    )


def _time_text(alternative: Alternative) -> str:
    """Return the time of the chosen plan, which is a lower bound if the plan was cancelled."""
    least = "more than " if alternative.cancelled else ""
    return f"{least}{seconds_text(alternative.seconds)}"
