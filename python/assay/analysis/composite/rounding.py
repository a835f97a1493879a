"""Rounds intervals and metrics as the specification does, and applies its 1000:1 rule."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

HUNDREDTH_NS = 10_000_000
HUNDREDTHS = 100
# Where the longest query interval is so many times a shorter one, the shorter one counts as more.
SPREAD_MAX = 1000
TENTHS = 10


def counted_s(length_ns: int | Fraction) -> float:
    """Seconds that an interval counts as: to the nearest 0.01 s, and never less than that."""
    # The floor of length / HUNDREDTH_NS + 1 / 2, in whole numbers: a sum of fractions is slow.
    parts = length_ns.denominator * HUNDREDTH_NS
    hundredths = (2 * length_ns.numerator + parts) // (2 * parts)
    return max(1, hundredths) / HUNDREDTHS


def elapsed_s(length_ns: int) -> float:
    """Seconds that a throughput test counts as: rounded up to 0.01 s."""
    return -(-length_ns // HUNDREDTH_NS) / HUNDREDTHS


def raised(lengths_ns: Sequence[int]) -> list[int | Fraction]:
    """Query intervals of a power test by the 1000:1 rule: none below a thousandth of the longest.

    Refresh intervals are not raised, nor does anything of a throughput test need it.
    """
    longest = max(lengths_ns)
    least = Fraction(longest, SPREAD_MAX)
    return [least if length * SPREAD_MAX < longest else length for length in lengths_ns]


def raised_s(seconds: Sequence[float]) -> list[float]:
    """Return raised seconds that are medians or predicted, and so no whole nanoseconds."""
    least_s = max(seconds) / SPREAD_MAX
    return [max(length_s, least_s) for length_s in seconds]


def reported(value: float) -> float:
    """A metric as it is reported: to the nearest 0.1."""
    return floor(value * TENTHS + 0.5) / TENTHS
