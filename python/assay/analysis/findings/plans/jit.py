"""Finds compilation of queries that finish sooner than compiling them takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.findings.plans.plan_time import plan_seconds
from assay.model.finding import Advice, Evidence
from assay.model.units import percent_text, seconds_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding
    from assay.model.plan import Plan

METHOD = "jit"
ROLE = "jit"
# Compiled code saves at most about this share of a query's execution, so compiling may cost no
# more. Operations with a smaller share of compilation are left out.
COMPILING_SHARE_MIN = 0.1
EFFECT_MIN = 0.03
NAMED_OPERATIONS = 3


def find(case: Case) -> list[Finding]:
    """Return a finding of queries whose compilation takes longer than it saves."""
    compiled = {name: _compiling(plans) for name, plans in case.plans.items()}
    fractions = {
        name: share * case.computing(name)
        for name, (share, _) in compiled.items()
        if share >= COMPILING_SHARE_MIN and name in case.shares
    }
    effect = case.of_run(fractions)
    if effect < EFFECT_MIN:
        return []
    names = case.largest_first(fractions)
    setting = case.setting(ROLE)
    are = "operation" if len(names) == 1 else "operations"
    claim = (
        f"Compiling queries took {percent_text(effect)} of the time, in {len(names)} {are} that "
        f"are too short to benefit: {_named(names, fractions)}"
    )
    advice, to_try = None, "switch off compilation for queries this short"
    evidence = [
        Evidence(f"{seconds_text(compiled[name][1])} of compilation in {name}", f"plan:{name}")
        for name in names[:NAMED_OPERATIONS]
    ]
    if setting is not None:
        advice = Advice("setting", ROLE, {"value": "off"}, effect)
        to_try = case.try_words(METHOD, fractions, f"sets {setting.name} to off")
        evidence.append(Evidence(f"{setting.text} compiles them", f"setting:{setting.name}"))
    return [
        case.finding(METHOD, claim, fractions, to_try=to_try, evidence=evidence, advice=advice)
        .without_interval()
        .of("computing")
    ]


def _compiling(plans: Sequence[Plan]) -> tuple[float, float]:
    """Return the share of an operation's time, and the seconds, spent compiling."""
    whole = sum(plan_seconds(plan) for plan in plans)
    seconds = sum(plan.compiling_s or 0.0 for plan in plans)
    return (min(1.0, seconds / whole), seconds) if whole > 0 else (0.0, seconds)


def _named(names: Sequence[str], fractions: Mapping[str, float]) -> str:
    texts = [f"{name} ({percent_text(fractions[name])})" for name in names[:NAMED_OPERATIONS]]
    left = len(names) - NAMED_OPERATIONS
    return ", ".join(texts) + (f" and {left} more" if left > 0 else "")
