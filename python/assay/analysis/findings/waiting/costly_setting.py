"""Finds settings that cost time by themselves, such as a delay of commits.

The engine's `advice.toml` declares these settings, with the value from which they cost time. Memory
settings that differ from their default are tried: statements are executed with both values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.analysis.findings.advising import named_setting_advice
from assay.analysis.findings.changing import CHANGES
from assay.analysis.findings.operation_shares import at_least
from assay.analysis.findings.plans.setting_trials import settings_tried, tried_finding
from assay.model.finding import Evidence
from assay.model.units import percent_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding

METHOD = "costly-setting"
EFFECT_MIN = 0.05
NAMED_SHARE = 0.02
NAMED_OPERATIONS = 3
SLOWS = "slows the same plan"


def find(case: Case) -> list[Finding]:
    """Return a finding for each setting in force that is declared as costly."""
    findings = []
    for declared in case.advice.get("costly", ()):
        value = case.settings.get(declared["setting"])
        if value is not None and is_costly(value, declared):
            findings.append(_finding(case, declared, value))
    tried = [
        finding
        for name, better in settings_tried(case, differs=False).items()
        for finding in tried_finding(case, METHOD, name, better, SLOWS)
    ]
    return [*(finding for finding in findings if finding.effect_share >= EFFECT_MIN), *tried]


def is_costly(value: str, declared: Mapping[str, Any]) -> bool:
    """Return True if a setting has a value declared as costly, or a number above the limit."""
    word = value.strip().lower()
    if word in declared.get("values", ()):
        return True
    above = declared.get("above")
    try:
        return above is not None and float(word) > above
    except ValueError:
        return False


def _shares(case: Case, declared: Mapping[str, Any], value: str) -> dict[str, float]:
    """Return the share of each operation's time that a setting can cost.

    The cost is in a node of the time tree, which has other uses, too. A delay is at most its length
    for each statement.
    """
    shares = case.node(declared["part"])
    if declared.get("changes"):
        shares = {name: share for name, share in shares.items() if _may_change(case, name)}
    if declared.get("seconds") is None:
        return shares
    delay_s = float(value) * declared["seconds"]
    return {name: min(share, _delayed(case, name, delay_s)) for name, share in shares.items()}


def _may_change(case: Case, operation: str) -> bool:
    text = case.statements.get(operation)
    return text is None or CHANGES.search(text) is not None


def _delayed(case: Case, operation: str, delay_s: float) -> float:
    """Return the share of an operation's time in delays of each of its statements; 1 if unknown."""
    seconds = case.seconds.get(operation)
    statements = max(1, len(case.plans.get(operation, ())))
    return statements * delay_s / seconds if seconds else 1.0


def _finding(case: Case, declared: Mapping[str, Any], value: str) -> Finding:
    part: str = declared["part"]
    fractions = at_least(_shares(case, declared, value), NAMED_SHARE)
    effect = case.of_run(fractions)
    assignment = f"{declared['setting']} = {value}"
    title = next((node.title for tree in case.trees.values() if (node := tree.at(part))), part)
    claim = (
        f"{assignment}: {declared['says']}; {title[:1].lower() + title[1:]} is"
        f" {percent_text(effect)} of the time"
    )
    evidence = [Evidence(assignment, f"setting:{declared['setting']}")]
    evidence += [
        Evidence(f"{name}: {percent_text(fractions[name])} of its time", f"where:{name}")
        for name in case.largest_first(fractions)[:NAMED_OPERATIONS]
    ]
    to_try = f"set {declared['setting']} to {declared['default']}"
    advice = named_setting_advice(declared["setting"], declared["default"], None)
    finding = case.finding(
        METHOD, claim, fractions, to_try=to_try, evidence=evidence, advice=advice
    )
    return finding.of(part, saved=(0.0, effect))
