"""Finds that a few operations take most of the time."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from assay.model.finding import Evidence
from assay.model.units import percent_text, seconds_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding

METHOD = "hot-operations"
# As many operations are named as are half of the time.
HOT_SHARE = 0.5
# They stand out when they are at least twice as much of the time as of the operations.
UNEVEN = 2.0


def find(case: Case) -> list[Finding]:
    """Return the fewest operations with half of the time, if an even share were far less."""
    shares = sorted(case.shares.items(), key=lambda pair: (-pair[1], pair[0]))
    sums = list(accumulate(share for _, share in shares))
    few = next((number for number, whole in enumerate(sums, start=1) if whole >= HOT_SHARE), None)
    if few is None or sums[few - 1] < UNEVEN * few / len(shares):
        return []
    hot = dict(shares[:few])
    seconds = case.seconds
    are = "is" if few == 1 else "are"
    claim = (
        f"{', '.join(hot)} {are} {percent_text(sums[few - 1])} of the time, and"
        f" {percent_text(few / len(shares))} of the operations"
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
