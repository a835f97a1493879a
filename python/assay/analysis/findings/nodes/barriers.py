"""Finds barriers: times in which nearly all cluster nodes were idle between two peaks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.cluster.words import BLOCKED, WAIT
from assay.analysis.findings.knob_advice import sweep_words
from assay.analysis.findings.operation_shares import at_least, names_text
from assay.model.finding import Evidence
from assay.model.units import percent_text, seconds_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding

METHOD = "barriers"
EFFECT_MIN = 0.03
NAMED_SHARE = 0.01
NAMED_BARRIERS = 3
TO_TRY = "use larger batches between two barriers, so that there are fewer barriers"


def find(case: Case) -> list[Finding]:
    """Return a finding of the time saved if cluster nodes had not waited at barriers."""
    cluster = case.cluster
    if cluster is None or not cluster.barriers.barriers:
        return []
    shares = cluster.barriers.lost_shares
    # Under a load, barriers are attributed to all operations together.
    by_operation = dict.fromkeys(case.shares, shares[""]) if "" in shares else shares
    fractions = at_least(by_operation, NAMED_SHARE)
    effect = case.of_run(fractions)
    if effect < EFFECT_MIN:
        return []
    names, barriers = case.largest_first(fractions), cluster.barriers.barriers
    claim = (
        f"All nodes were idle at barriers {len(barriers)} times, most in {names_text(names)}: "
        f"at the peak rate between barriers, {percent_text(effect)} of the time would be saved"
    )
    longest = sorted(barriers, key=lambda barrier: -barrier.lost_s)[:NAMED_BARRIERS]
    evidence = [
        Evidence(
            f"{barrier.operation or 'the load'} from {barrier.begun_s:.1f} s on for"
            f" {seconds_text(barrier.seconds)}: {barrier.cores:.2g} cores busy, "
            f"{barrier.peak_cores:.2g} before and after",
            "cluster",
        )
        for barrier in longest
    ]
    only = names[0] if "" not in shares else None
    to_try = sweep_words(case, "blocking", (WAIT, BLOCKED), only) or TO_TRY
    return [case.finding(METHOD, claim, fractions, to_try=to_try, evidence=evidence)]
