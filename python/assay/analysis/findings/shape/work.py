"""States the kinds of work that took the engine's CPU time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.profile.tables import matrix, within_operations, work_table
from assay.analysis.work.rules import UNCLASSIFIED
from assay.model.finding import Evidence, Finding
from assay.model.units import percent_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.analysis.profile.profile import Profile

METHOD = "work"
# Work that dominates has this share of all samples at least.
DOMINANT_SHARE = 0.2
NAMED_OPERATIONS = 3
# Of fewer samples nothing is claimed: a share of a fifth is then known to some percent only.
SAMPLES_MIN = 1_000
# Too much without a rule, and what leads may only be what has one.
UNCLASSIFIED_MAX = 0.25


def find(case: Case) -> list[Finding]:
    """Return the work that dominates, if one does, with the operations that it is most of."""
    shares = work_shares(case.profile)
    if shares.pop(UNCLASSIFIED, 0.0) > UNCLASSIFIED_MAX or not shares or case.profile is None:
        return []
    work = max(shares, key=lambda word: shares[word])
    if shares[work] < DOMINANT_SHARE:
        return []
    claim = f"{work} is {percent_text(shares[work])} of the engine's CPU time"
    to_try, evidence = f"assay explain {case.run_id}", Evidence(claim, "profile")
    if case.profile.sampling.told_apart:
        cells = matrix(case.profile).filter(pl.col("work") == work).sort("samples", descending=True)
        largest = list(cells.head(NAMED_OPERATIONS).select("operation", "share").iter_rows())
        where = ", ".join(f"{name} ({percent_text(share)} of its own)" for name, share in largest)
        claim, to_try = f"{claim}, most in {where}", f"{to_try} --operation {largest[0][0]}"
        evidence = Evidence(claim, f"profile:{largest[0][0]}")
    finding = Finding(
        claim=claim,
        effect_share=shares[work],
        interval=None,
        runs=(case.run_id,),
        method=METHOD,
        to_try=to_try,
        tells="shape",
        evidence=(evidence,),
    )
    return [finding]


def work_shares(profile: Profile | None) -> dict[str, float]:
    """Share of each word of work in the samples within operations; empty of too few samples."""
    if profile is None or within_operations(profile).height < SAMPLES_MIN:
        return {}
    return dict(work_table(profile).select("work", "share").iter_rows())
