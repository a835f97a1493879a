"""Finds the kinds of work that took most of the engine's CPU time."""

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
# A dominant kind of work has at least this share of all samples.
DOMINANT_SHARE = 0.2
NAMED_OPERATIONS = 3
# With fewer samples, the sampling error of a fifth is too large for a claim.
SAMPLES_MIN = 1_000
# With a larger unclassified share, the leading kind of work may not be the largest.
UNCLASSIFIED_MAX = 0.25


def find(case: Case) -> list[Finding]:
    """Return a finding of the dominant kind of work, with the operations that do most of it."""
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
    """Return each kind of work's share of the samples in operations; empty with too few samples."""
    if profile is None or within_operations(profile).height < SAMPLES_MIN:
        return {}
    return dict(work_table(profile).select("work", "share").iter_rows())
