"""Finds that an open load completed fewer operations than became due."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.finding import Evidence, Finding
from assay.model.units import rate_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.analysis.load.backlog import Schedule

METHOD = "rate-held"
# An open load holds its rate if at most this share of operations is missing.
RATE_HELD_SHARE = 0.99
# The advised rate leaves the engine some spare capacity.
ROOM_SHARE = 0.85


def find(case: Case) -> list[Finding]:
    """Return a finding if an open load fell behind its rate, with the growth of the backlog."""
    went = None if case.load is None else case.load.schedule
    if case.load is None or went is None or went.done_per_s >= RATE_HELD_SHARE * went.rate_per_s:
        return []
    grown = ""
    if went.grown_per_s is not None and went.grown_per_s > 0:
        grown = f", and the queue of waiting operations grew by {rate_text(went.grown_per_s)}"
    claim = (
        f"The engine did not hold the rate: {rate_text(went.done_per_s)} of "
        f"{rate_text(went.rate_per_s)} were completed{grown}, so latency percentiles depend on "
        "the run's length"
    )
    finding = Finding(
        claim=claim,
        effect_share=1 - went.done_per_s / went.rate_per_s,
        interval=None,
        runs=(case.run_id,),
        method=METHOD,
        to_try=_to_try(went, case.load.load.speed),
        tells="shape",
        evidence=(
            Evidence(f"{went.done_per_s / went.rate_per_s:.0%} was done", "check:rate_held"),
        ),
    )
    return [finding]


def _to_try(went: Schedule, speed: float | None) -> str:
    """Return the advice of a lower rate that leaves the engine some spare capacity."""
    if speed is not None:
        slower = float(f"{speed * ROOM_SHARE * went.done_per_s / went.rate_per_s:.2g}")
        return f"use --speed {slower:g}, or more --clients"
    lower = float(f"{went.done_per_s * ROOM_SHARE:.2g}")
    return f"use --rate {lower:g}, or --clients without --rate to measure the maximum"
