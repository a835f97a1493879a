"""Sorts findings into their order in the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.finding import TELLS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.model.finding import Finding


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings in report order: limiting resource first, then causes, then others.

    Seen causes come before suspected ones, both by effect, largest first. Only the largest claim
    about the bound is kept.
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
