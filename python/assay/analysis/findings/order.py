"""Sorts findings into their order in the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.finding import TELLS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.model.finding import Finding


# Weight of the share of time of a suspected cause, about as often as such causes are right.
SUSPECTED_WEIGHT = 0.5


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings in report order: limiting resource first, then causes, then others.

    Causes are sorted by effect, largest first. The effect of a suspected cause counts half. Only
    the largest claim about the bound is kept.
    """
    ordered = sorted(
        findings,
        key=lambda finding: (
            TELLS.index(finding.tells),
            -weighted_effect(finding),
            finding.key,
        ),
    )
    bounds = [finding for finding in ordered if finding.tells == "bound"]
    return [*bounds[:1], *(finding for finding in ordered if finding.tells != "bound")]


def weighted_effect(finding: Finding) -> float:
    """Return a finding's share of time, half of it if the cause is only suspected."""
    is_suspected = finding.tells == "cause" and finding.certainty != "seen"
    return finding.effect_share * (SUSPECTED_WEIGHT if is_suspected else 1.0)
