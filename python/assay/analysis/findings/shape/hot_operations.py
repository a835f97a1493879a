"""Finds a few operations that take most of the run's time."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from assay.model.finding import Evidence
from assay.model.units import percent_text, seconds_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding

METHOD = "hot-operations"
# The named operations have this share of the time together.
HOT_SHARE = 0.5
# Operations stand out if their share of time is at least this multiple of their share of
# operations.
UNEVEN = 2.0


def find(case: Case) -> list[Finding]:
    """Return a finding of the few operations that take half of the time."""
    shares = sorted(case.shares.items(), key=lambda pair: (-pair[1], pair[0]))
    sums = list(accumulate(share for _, share in shares))
    few = next((number for number, whole in enumerate(sums, start=1) if whole >= HOT_SHARE), None)
    if few is None or sums[few - 1] < UNEVEN * few / len(shares):
        return []
    hot = dict(shares[:few])
    seconds = case.seconds
    are = "is" if few == 1 else "are"
    claim = (
        f"{', '.join(hot)} {are} {percent_text(sums[few - 1])} of the time and "
        f"{percent_text(few / len(shares))} of the operations"
    )
    evidence = [
        Evidence(
            f"{name}: {percent_text(share)}, {seconds_text(seconds.get(name))}", f"where:{name}"
        )
        for name, share in hot.items()
    ]
    to_try = f"assay explain {case.run_id} --operation {shares[0][0]}"
    whole = dict.fromkeys(hot, 1.0)
    return [case.finding(METHOD, claim, whole, tells="shape", to_try=to_try, evidence=evidence)]
