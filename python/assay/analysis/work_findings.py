"""What the engine's CPU time went into, as a claim."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.profile_tables import matrix, within_operations, work_table
from assay.analysis.work.rules import UNCLASSIFIED
from assay.model.finding import Finding
from assay.model.units import percent_text

if TYPE_CHECKING:
    from assay.analysis.profile import Profile

METHOD_WORK = "work"
# Work that dominates has this share of all samples at least.
DOMINANT_SHARE = 0.2
NAMED_OPERATIONS = 3
# Of fewer samples nothing is claimed: a share of a fifth is then known to some percent only.
SAMPLES_MIN = 1_000
# Too much without a rule, and what leads may only be what has one.
UNCLASSIFIED_MAX = 0.25


def work_findings(run_id: str, profile: Profile) -> list[Finding]:
    """The work that dominates, if one does, with the operations that it is most of."""
    if within_operations(profile).height < SAMPLES_MIN:
        return []
    shares = dict(work_table(profile).select("work", "share").iter_rows())
    if shares.pop(UNCLASSIFIED, 0.0) > UNCLASSIFIED_MAX or not shares:
        return []
    work = max(shares, key=lambda one: shares[one])
    if shares[work] < DOMINANT_SHARE:
        return []
    share = f"{work} is {percent_text(shares[work])} of the engine's CPU time"
    if not profile.sampling.told_apart:
        return [
            Finding(share, shares[work], None, (run_id,), METHOD_WORK, f"assay explain {run_id}")
        ]
    cells = matrix(profile).filter(pl.col("work") == work).sort("samples", descending=True)
    told = cells.head(NAMED_OPERATIONS).select("operation", "share").iter_rows()
    where = ", ".join(f"{name} ({percent_text(share)} of its own)" for name, share in told)
    claim = f"{share}, most in {where}"
    to_try = f"assay explain {run_id} --operation {cells['operation'][0]}"
    return [Finding(claim, shares[work], None, (run_id,), METHOD_WORK, to_try)]
