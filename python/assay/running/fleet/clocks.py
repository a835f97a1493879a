"""Estimates other hosts' clocks: offset from this host's clock, uncertainty and drift.

The clocks are compared by exchanges like NTP (RFC 5905, sections 8 and 10). Of several exchanges,
the shortest is the most exact. The error of its offset is at most half of its duration, even if the
two directions differ.
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
    """One time request to another host: local clock times before and after, and the remote time."""

    sent_ns: int
    theirs_ns: int
    received_ns: int

    @property
    def delay_ns(self) -> int:
        """The round trip time in ns."""
        return self.received_ns - self.sent_ns


@dataclass(frozen=True)
class Offset:
    """The offset of another host's clock from the local clock at one moment.

    Attributes:
        at_ns: Time on this host's clock.
        offset_ns: The other clock minus this host's clock.
        uncertainty_ns: Maximum error of the offset.
        exchanges: Number of exchanges.
    """

    at_ns: int
    offset_ns: int
    uncertainty_ns: int
    exchanges: int


def estimated(exchanges: Sequence[Exchange]) -> Offset:
    """Return the clock offset from the fastest of several time requests."""
    best = min(exchanges, key=lambda exchange: exchange.delay_ns)
    middle_ns = (best.sent_ns + best.received_ns) // 2
    uncertainty_ns = (best.delay_ns + 1) // 2 + 1
    return Offset(middle_ns, best.theirs_ns - middle_ns, uncertainty_ns, len(exchanges))


@dataclass(frozen=True)
class ClockOf:
    """The clock of one host during a run, relative to this host's.

    Attributes:
        before: Offset before the first phase.
        after: Offset after the last phase; None if the host no longer answered.
        same: Whether it is the same clock as the run's, so that nothing is measured.
    """

    before: Offset
    after: Offset | None = None
    same: bool = False

    @property
    def uncertainty_ns(self) -> int:
        """The uncertainty in ns of this host's times on the run's clock."""
        if self.same:
            return 0
        measured = [self.before] if self.after is None else [self.before, self.after]
        return max(offset.uncertainty_ns for offset in measured)

    @property
    def slope(self) -> float:
        """The drift of the other clock against this host's, as a share of time."""
        if self.after is None or self.after.at_ns <= self.before.at_ns:
            return 0.0
        return (self.after.offset_ns - self.before.offset_ns) / (
            self.after.at_ns - self.before.at_ns
        )

    @property
    def slope_uncertainty(self) -> float | None:
        """The uncertainty of the clock drift, as a share of time; None if not measured."""
        if self.after is None or self.after.at_ns <= self.before.at_ns:
            return None
        both_ns = self.before.uncertainty_ns + self.after.uncertainty_ns
        return both_ns / (self.after.at_ns - self.before.at_ns)

    def theirs_ns(self, ours_ns: int) -> int:
        """Return a local clock's time on the other host's clock, from the first measurement."""
        return ours_ns if self.same else ours_ns + self.before.offset_ns

    def ours_ns(self, theirs_ns: int) -> int:
        """Return another host's clock time on the local clock."""
        if self.same:
            return theirs_ns
        plain_ns = theirs_ns - self.before.offset_ns
        return plain_ns - round(self.slope * (plain_ns - self.before.at_ns))

    def ours(self, theirs: pl.Series) -> pl.Series:
        """Return times of the other clock on this host's clock."""
        if self.same:
            return theirs
        plain = theirs - self.before.offset_ns
        gained = ((plain - self.before.at_ns).cast(float) * self.slope).round()
        return plain - gained.cast(plain.dtype)

    def facts(self) -> dict[str, Any]:
        """Return the offset and drift of the clock for `run.json`."""
        uncertainty = self.slope_uncertainty
        return {
            "same": self.same,
            "before": asdict(self.before),
            "after": None if self.after is None else asdict(self.after),
            "uncertainty_ns": self.uncertainty_ns,
            "drift_ppm": None if uncertainty is None else self.slope * PPM,
            "drift_uncertainty_ppm": None if uncertainty is None else uncertainty * PPM,
        }
