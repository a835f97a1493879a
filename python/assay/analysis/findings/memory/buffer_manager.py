"""Finds the cost of looking up pages that are already in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.findings.memory.cache import missed_share
from assay.analysis.findings.operation_shares import names_text
from assay.analysis.findings.shape.work_time import work_fractions
from assay.model.finding import Evidence
from assay.model.units import percent_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding

METHOD = "buffer-manager"
WORK = ("buffer manager",)
# Engines whose data are in memory are known to spend at most a thirtieth of their time on it.
EFFECT_MIN = 0.03
# With a larger share of misses, reading pages is the cost.
MISSED_SHARE_MAX = 0.01
NAMED_OPERATIONS = 3


def find(case: Case) -> list[Finding]:
    """Return a finding of the time to look up pages that are already in memory."""
    missed = missed_share(case)
    if missed is None or missed > MISSED_SHARE_MAX:
        return []
    fractions = work_fractions(case, WORK)
    effect = case.of_run(fractions)
    if effect < EFFECT_MIN:
        return []
    names = case.largest_first(fractions)
    claim = (
        f"Looking up pages that are already in the buffer pool took {percent_text(effect)} of "
        f"the time, most in {names_text(names)}"
    )
    evidence = [
        Evidence(f"{name}: {percent_text(fractions[name])} of its time", f"profile:{name}")
        for name in names[:NAMED_OPERATIONS]
    ]
    evidence.append(Evidence(f"{percent_text(1 - missed)} were found", "counter:buffer_hits"))
    return [case.finding(METHOD, claim, fractions, tells="shape", evidence=evidence)]
