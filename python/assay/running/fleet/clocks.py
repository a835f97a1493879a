"""Clocks of other hosts: offset from this host's clock, its uncertainty and its drift.

It uses exchanges like NTP (RFC 5905, sections 8 and 10). Of several, the shortest exchange is the
most exact. The error of its offset is at most half of its duration, even if the two directions
differ.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

PPM = 1e6


@dataclass(frozen=True)
class Exchange:
    """One request for the time: CLOCK_MONOTONIC in ns, ours before and after, theirs in between."""

    sent_ns: int
    theirs_ns: int
    received_ns: int

    @property
    def delay_ns(self) -> int:
        """The round trip time in ns."""
        return self.received_ns - self.sent_ns


@dataclass(frozen=True)
class Offset:
    """The offset of another clock from ours at a moment.

    Attributes:
        at_ns: The moment on our clock.
        offset_ns: Their clock minus ours.
        uncertainty_ns: The true one is not further away than this.
        exchanges: Number of exchanges.
    """

    at_ns: int
    offset_ns: int
    uncertainty_ns: int
    exchanges: int


def estimated(exchanges: Sequence[Exchange]) -> Offset:
    """The offset by the exchange that took least time. There must be one."""
    best = min(exchanges, key=lambda exchange: exchange.delay_ns)
    middle_ns = (best.sent_ns + best.received_ns) // 2
    uncertainty_ns = (best.delay_ns + 1) // 2 + 1
    return Offset(middle_ns, best.theirs_ns - middle_ns, uncertainty_ns, len(exchanges))


@dataclass(frozen=True)
class ClockOf:
    """The clock of one host over a run.

    Attributes:
        before: As measured before the first phase.
        after: As measured after the last; None means nobody answered any more.
        same: Whether it is the very clock of the run, so that nothing has to be measured.
    """

    before: Offset
    after: Offset | None = None
    same: bool = False

    @property
    def uncertainty_ns(self) -> int:
        """The uncertainty of this host's times on the run's clock in ns; 0 for the same clock."""
        if self.same:
            return 0
        measured = [self.before] if self.after is None else [self.before, self.after]
        return max(offset.uncertainty_ns for offset in measured)

    @property
    def slope(self) -> float:
        """The rate at which their clock gains on ours, as a share of time."""
        if self.after is None or self.after.at_ns <= self.before.at_ns:
            return 0.0
        return (self.after.offset_ns - self.before.offset_ns) / (
            self.after.at_ns - self.before.at_ns
        )

    @property
    def slope_uncertainty(self) -> float | None:
        """The uncertainty of that rate; None if it was not measured."""
        if self.after is None or self.after.at_ns <= self.before.at_ns:
            return None
        both_ns = self.before.uncertainty_ns + self.after.uncertainty_ns
        return both_ns / (self.after.at_ns - self.before.at_ns)

    def theirs_ns(self, ours_ns: int) -> int:
        """A moment of our clock on theirs, as far as is known before the run has ended."""
        return ours_ns if self.same else ours_ns + self.before.offset_ns

    def ours_ns(self, theirs_ns: int) -> int:
        """A moment of their clock on ours."""
        if self.same:
            return theirs_ns
        plain_ns = theirs_ns - self.before.offset_ns
        return plain_ns - round(self.slope * (plain_ns - self.before.at_ns))

    def ours(self, theirs: pl.Series) -> pl.Series:
        """Moments of their clock on ours; null stays null."""
        if self.same:
            return theirs
        plain = theirs - self.before.offset_ns
        gained = ((plain - self.before.at_ns).cast(float) * self.slope).round()
        return plain - gained.cast(plain.dtype)

    def facts(self) -> dict[str, Any]:
        """Return the clock's facts for `run.json`."""
        uncertainty = self.slope_uncertainty
        return {
            "same": self.same,
            "before": asdict(self.before),
            "after": None if self.after is None else asdict(self.after),
            "uncertainty_ns": self.uncertainty_ns,
            "drift_ppm": None if uncertainty is None else self.slope * PPM,
            "drift_uncertainty_ppm": None if uncertainty is None else uncertainty * PPM,
        }
