"""Finds joins of more tables than the optimiser orders together.

The evidence is measured: the statement was executed again with the limit raised to its tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.findings.advising import named_setting_advice
from assay.analysis.findings.plans.setting_trials import is_faster, saved_fractions
from assay.analysis.time.operation_tree import COMPUTING
from assay.model.finding import Evidence
from assay.model.units import percent_text, seconds_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.model.catalogue import Alternative
    from assay.model.finding import Finding

METHOD = "join-order-limit"
EFFECT_MIN = 0.05


def find(case: Case) -> list[Finding]:
    """Return a finding for each limit that makes statements with many joins slower."""
    by_name: dict[str, list[Alternative]] = {}
    for alternatives in case.alternatives.values():
        for alternative in alternatives:
            if alternative.kind == "limit" and alternative.differs and is_faster(alternative):
                by_name.setdefault(alternative.change, []).append(alternative)
    findings = [_finding(case, name, better) for name, better in by_name.items()]
    return [finding for finding in findings if finding.effect_share >= EFFECT_MIN]


def _finding(case: Case, name: str, better: list[Alternative]) -> Finding:
    fractions = saved_fractions(case, better)
    effect = case.of_run(fractions)
    first = max(better, key=lambda alternative: fractions[alternative.operation])
    value = max((alternative.value or "" for alternative in better), key=int)
    claim = (
        f"{first.operation} joins {first.value} tables, and {name} lets the optimiser order fewer "
        f"together: it took {seconds_text(first.seconds)}, and "
        f"{seconds_text(first.seconds_changed)} with {name} = {first.value}, a loss of "
        f"{percent_text(effect)} of the time"
    )
    evidence = [
        Evidence(
            f"{alternative.operation}: {seconds_text(alternative.seconds)}, and "
            f"{seconds_text(alternative.seconds_changed)} with {name} = {alternative.value}",
            f"clock:{alternative.operation}",
        )
        for alternative in better
    ]
    evidence += [
        Evidence(
            f"{alternative.operation} with {name} = {alternative.value}: {alternative.summary}",
            f"plan:{alternative.operation}",
        )
        for alternative in better
        if alternative.summary
    ]
    to_try = (
        f"set {name} to {value}, or begin the joins with the table whose condition keeps the "
        f"fewest rows; {case.try_words(METHOD, fractions, 'tries the setting')}"
    )
    finding = case.finding(
        METHOD,
        claim,
        fractions,
        to_try=to_try,
        evidence=evidence,
        advice=named_setting_advice(name, value, effect, by_plan=True),
    )
    at_best = max(effect, case.of_run({name: case.reached(name) for name in fractions}))
    return finding.without_interval().of(COMPUTING, saved=(0.0, at_best))
