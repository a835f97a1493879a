"""Time in which operations waited for locks and latches that somebody else held."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.findings.case import names_text
from assay.analysis.findings.waits import waited, waiting_evidence
from assay.model.units import percent_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding

METHOD = "lock-wait"
PARTS = ("lock", "latch")
# Looks at threads are some milliseconds apart: a thirtieth is the least that stands out from them.
EFFECT_MIN = 0.03


def find(case: Case) -> list[Finding]:
    """The operations that waited, and how long."""
    case = case.known(*PARTS)
    fractions = waited(case, *PARTS)
    effect = case.of_run(fractions)
    if effect < EFFECT_MIN:
        return []
    latches = case.of_run(case.part("latch"))
    what = "latches" if latches > effect / 2 else "locks"
    claim = (
        f"{percent_text(effect)} of the time was waiting for {what} that others held, most in"
        f" {names_text(case.largest_first(fractions))}"
    )
    to_try = (
        "fewer --clients, or rows that are not everybody's"
        if case.load is not None
        else "look for other sessions: operations of this run were asked one after another"
    )
    evidence = waiting_evidence(case, fractions, PARTS)
    return [case.finding(METHOD, claim, fractions, to_try=to_try, evidence=evidence)]
