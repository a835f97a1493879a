"""Finds the resource that limits a query, by ruling out resources whose removal saves no time.

The method needs no resource limits. If limits are possible, `bottleneck` gives more: the
response of the time to each resource.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from assay.analysis.ablation.removed import Removal
    from assay.analysis.host.roofline import Placed
    from assay.analysis.try_.trial import Gain

By = Literal["the disk", "reading", "its computation", "both"]
# A part below the first share of the time does not bound a query; one above the second does.
LITTLE, MOST = 0.1, 0.5


@dataclass(frozen=True)
class Bound:
    """The resource that limits a query.

    Attributes:
        by: `the disk` if reading is nearly all of the time and the disk is at its limit; `reading`
            if the disk could deliver more, or its limit is not known; None if the bound is not
            known.
        reason: Reason why the bound is not known, else None.
    """

    by: By | None
    reason: str | None = None


def bound_by(removal: Removal | None, placed: Placed | None) -> Bound:
    """Return the resource that limits an operation, from runs with and without its computation.

    Args:
        removal: The operation without its computation; None if that was not run.
        placed: The operation's reads compared with the disk's limits; None if not known.
    """
    if removal is None:
        return Bound(None, "it was not run without its computation")
    if removal.verdict == "failed":
        return Bound(None, f"without its computation it read otherwise: {removal.differs[0]}")
    if removal.gain is None:
        return Bound(None, "not all of its runs have a time")
    return _bound_of_gain(removal.gain, placed)


def _bound_of_gain(gain: Gain, placed: Placed | None) -> Bound:
    low, high = gain.interval or (gain.share, gain.share)
    if low >= MOST:
        return Bound("its computation")
    # A wide interval, or one that includes no effect, allows no verdict.
    is_costly = gain.share >= LITTLE
    if high - low >= MOST or (is_costly and low <= 0) or (not is_costly and high >= MOST):
        return Bound(None, "its times differ too much from round to round: repeat it more often")
    if is_costly:
        return Bound("both")
    at_ceiling = placed is not None and placed.is_at_ceiling
    return Bound("the disk" if at_ceiling else "reading")
