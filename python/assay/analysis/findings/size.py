"""Decides whether a cause is large enough to be said."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding

# Times differ by as much from run to run, so a smaller cause could not be shown to be one.
CAUSE_SHARE_MIN = 0.05
# Statements that somebody put beside each other say nothing of how often each is asked, so the
# share of such a run is no measure: there it counts what an operation that is not quick would save.
OWN_EFFECT_MIN = 0.5
SLOW_MIN_S = 0.005


def is_large(case: Case, finding: Finding) -> bool:
    """Return True if a cause takes much of the run, or of a slow query of the user's own."""
    if finding.effect_share >= CAUSE_SHARE_MIN:
        return True
    if case.load is not None or case.is_observed or not case.own_tables:
        return False
    return any(
        fraction >= OWN_EFFECT_MIN and case.seconds.get(operation, 0.0) >= SLOW_MIN_S
        for operation, fraction in finding.fractions.items()
    )
