"""Finds time in which the engine was ready to run but a CPU limit held it back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.findings.waiting.waits import waited, waiting_evidence
from assay.model.finding import Advice, Evidence, Finding
from assay.model.units import percent_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case

METHOD = "throttled"
# A limit that is reached more rarely costs less than the variation between passes.
EFFECT_MIN = 0.03
TO_TRY = "raise the CPU limit of the engine's control group (`cpu.max`), or remove it"


def find(case: Case) -> list[Finding]:
    """Return a finding of the time in which a CPU limit throttled operations."""
    case = case.with_measured("throttled")
    fractions = waited(case, "throttled")
    effect = case.of_run(fractions)
    held = case.throttled_share
    evidence = waiting_evidence(case, fractions, ("throttled",))
    if held is not None:
        sentence = f"the CPU limit stopped the engine in {percent_text(held)} of its periods"
        evidence.append(Evidence(sentence, "timeline"))
    asked = case.request.get("limits", {}).get("cpu")
    limit = "A CPU limit" if asked is None else f"The CPU limit of {asked:g} cores (--limit cpu)"
    if asked is not None:
        evidence.append(Evidence(f"the run had --limit cpu={asked:g}", "setting:cpu"))
    if effect >= EFFECT_MIN:
        claim = f"{limit} stopped the engine for {percent_text(effect)} of the time"
        advice = None if asked is None else Advice("limit", "cpu", {}, effect)
        finding = case.finding(
            METHOD, claim, fractions, to_try=TO_TRY, evidence=evidence, advice=advice
        )
        return [finding.of("computing/limit")]
    if case.operations or held is None or held < EFFECT_MIN:
        return []
    claim = f"{limit} stopped the engine in {percent_text(held)} of the limit's periods"
    finding = Finding(claim, held, None, (case.run_id,), METHOD, TO_TRY, evidence=tuple(evidence))
    return [finding]
