"""The order in which findings are told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.finding import TELLS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.model.finding import Finding


def in_order(found: Iterable[Finding]) -> list[Finding]:
    """What bounds the run first, then why it takes so long, then where its time goes.

    Of causes those that were seen stand before those that are suspected. Within each, largest
    effect first. Of what bounds the run only the largest is kept.
    """
    ordered = sorted(
        found,
        key=lambda one: (
            TELLS.index(one.tells),
            one.certainty != "seen",
            -one.effect_share,
            one.key,
        ),
    )
    bounds = [one for one in ordered if one.tells == "bound"]
    return [*bounds[:1], *(one for one in ordered if one.tells != "bound")]
