"""Rounds intervals and metrics as TPC-H requires, with its rule on a 1000:1 ratio of times."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

HUNDREDTH_NS = 10_000_000
HUNDREDTHS = 100
# A query interval below the longest divided by this factor counts as that quotient.
SPREAD_MAX = 1000
TENTHS = 10


def counted_s(length_ns: int | Fraction) -> float:
    """Return an interval in seconds, rounded to 0.01 s and at least 0.01 s, as TPC-H requires."""
    # The floor of length / HUNDREDTH_NS + 1 / 2, in integers, because a sum of fractions is
    # slow.
    parts = length_ns.denominator * HUNDREDTH_NS
    hundredths = (2 * length_ns.numerator + parts) // (2 * parts)
    return max(1, hundredths) / HUNDREDTHS


def elapsed_s(length_ns: int) -> float:
    """Return the elapsed seconds of a throughput test, rounded up to 0.01 s."""
    return -(-length_ns // HUNDREDTH_NS) / HUNDREDTHS


def raised(lengths_ns: Sequence[int]) -> list[int | Fraction]:
    """Return query intervals raised to at least a thousandth of the longest (TPC-H's rule).

    The rule applies to queries of a power test, not to refresh functions or throughput tests.
    """
    longest = max(lengths_ns)
    least = Fraction(longest, SPREAD_MAX)
    return [least if length * SPREAD_MAX < longest else length for length in lengths_ns]


def raised_s(seconds: Sequence[float]) -> list[float]:
    """Return seconds raised to at least a thousandth of the longest (TPC-H's rule)."""
    least_s = max(seconds) / SPREAD_MAX
    return [max(length_s, least_s) for length_s in seconds]


def reported(value: float) -> float:
    """Return a TPC-H metric rounded to the nearest 0.1."""
    return floor(value * TENTHS + 0.5) / TENTHS
