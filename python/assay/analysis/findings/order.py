"""Sorts findings into the order in which they are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.finding import TELLS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.model.finding import Finding


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Return what bounds the run first, then its causes, then where its time goes.

    Causes that were seen come before suspected ones, each in order of their effect. Of the claims
    on the run's bound only the largest is kept.
    """
    ordered = sorted(
        findings,
        key=lambda finding: (
            TELLS.index(finding.tells),
            finding.certainty != "seen",
            -finding.effect_share,
            finding.key,
        ),
    )
    bounds = [finding for finding in ordered if finding.tells == "bound"]
    return [*bounds[:1], *(finding for finding in ordered if finding.tells != "bound")]
