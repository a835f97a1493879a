"""Finds the locality of random look-ups: rows read sequentially, and repeats in one place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.counters.meters import RND, SEQ, locality, scaled_text
from assay.model.finding import Evidence, Finding
from assay.model.units import percent_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case

METHOD = "look-ups"
# With fewer look-ups, the engine's internal look-ups are a relevant part.
LOOKUPS_MIN = 10_000


def find(case: Case) -> list[Finding]:
    """Return a finding on the locality of random index look-ups, if they are counted."""
    counted = ((case.counters or {}).get("activity") or {}).get("counted") or {}
    lookups, rows = counted.get(RND), counted.get(SEQ)
    if lookups is None or rows is None or lookups < LOOKUPS_MIN:
        return []
    where = locality(counted)
    if where.rows_each is None:
        return []
    places = (
        ("the same segment as the previous look-up", where.same_segment),
        ("the same page as the previous look-up", where.same_page),
        ("another page under the same parent page", where.same_parent),
    )
    shares = [(share, place) for place, share in places if share is not None]
    near = min(1.0, sum(share for share, _ in shares))
    share, place = max(shares, default=(0.0, "an unknown place"))
    claim = (
        f"A random index look-up read {where.rows_each:.3g} rows, and {percent_text(share)} of "
        f"look-ups hit {place}: {_count(lookups)} look-ups, {_count(rows)} rows"
    )
    evidence = [
        Evidence(f"{percent_text(share)} on {place}", "counter:activity") for share, place in shares
    ]
    finding = Finding(
        claim=claim,
        effect_share=near,
        interval=None,
        runs=(case.run_id,),
        method=METHOD,
        tells="shape",
        evidence=tuple(evidence),
    )
    return [finding]


def _count(value: float) -> str:
    return scaled_text(value).strip()
