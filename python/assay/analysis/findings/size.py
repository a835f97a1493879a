"""Decides whether a cause takes enough time to be reported."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding

# Times vary by this share from run to run, so a smaller cause cannot be confirmed.
CAUSE_SHARE_MIN = 0.05
# In a user's own list of statements, the frequency of each is unknown, so shares of the run's time
# mean little. A cause counts there if it has this share of a slow operation's time.
OWN_EFFECT_MIN = 0.5
SLOW_MIN_S = 0.005


def is_large(case: Case, finding: Finding) -> bool:
    """Return True if a cause takes much of the run, or of a slow query on existing tables."""
    if finding.effect_share >= CAUSE_SHARE_MIN:
        return True
    if case.load is not None or case.is_observed or not case.own_tables:
        return False
    return any(
        fraction >= OWN_EFFECT_MIN and case.seconds.get(operation, 0.0) >= SLOW_MIN_S
        for operation, fraction in finding.fractions.items()
    )
