"""That the last third of a load was faster or slower than the first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.finding import Evidence, Finding
from assay.model.units import rate_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case

METHOD = "steady"
# The last third of a steady run is as fast as its first, but for this.
STEADY_SHARE = 0.10
# Intervals without which thirds of a run say nothing.
STEADY_INTERVALS_MIN = 6


def find(case: Case) -> list[Finding]:
    """By how much throughput changed through the run."""
    rates = () if case.load is None else case.load.pace.throughput_per_s
    if len(rates) < STEADY_INTERVALS_MIN:
        return []
    third = len(rates) // 3
    first, last = sum(rates[:third]) / third, sum(rates[-third:]) / third
    if not first or abs(last / first - 1) <= STEADY_SHARE:
        return []
    way = "fell" if last < first else "rose"
    change = f"from {rate_text(first)} in the first third to {rate_text(last)} in the last"
    found = Finding(
        claim=(
            f"Not steady: throughput {way} {change} ({last / first - 1:+.0%}); the mean hides it"
        ),
        effect_share=min(1.0, abs(last / first - 1)),
        interval=None,
        runs=(case.run_id,),
        method=METHOD,
        to_try="a longer --time",
        tells="shape",
        evidence=(Evidence(f"throughput {way} {change}", "timeline"),),
    )
    return [found]
