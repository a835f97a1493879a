"""Analysis of variance: tests whether groups of values differ more than by chance."""

from __future__ import annotations

import math
from statistics import fmean, stdev
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# Relative error and number of terms of the continued fraction of the incomplete beta function.
_PRECISION, _TERMS = 1e-12, 400


def chance_of_alike(groups: Sequence[Sequence[float]]) -> float | None:
    """Return the probability that groups differ at least as much by chance (one-way ANOVA).

    R. A. Fisher, Statistical Methods for Research Workers (1925), chapter VII. If no group
    varies in itself, groups are equal only if all values are equal.

    Args:
        groups: Values of each group. Empty groups are ignored.

    Returns:
        Probability, 0 to 1; None if fewer than two groups have values, or no group has two
        values.
    """
    filled = [group for group in groups if group]
    between, within = len(filled) - 1, sum(map(len, filled)) - len(filled)
    if between < 1:
        return None
    apart, noise = _squares(filled)
    # Sums of squares have rounding errors of the order of the values' own squares.
    nothing = 1e-18 * max(1e-300, math.fsum(value**2 for group in filled for value in group))
    if apart <= nothing:
        return 1.0
    if within < 1:
        return None
    if noise <= nothing:
        return 0.0
    ratio = (apart / between) / (noise / within)
    return incomplete_beta(within / 2, between / 2, within / (within + between * ratio))


def explained_share(groups: Sequence[Sequence[float]]) -> float | None:
    """Return the share of total variance explained by group: epsilon squared (Kelley 1935).

    The expected value of epsilon squared is 0 if groups explain nothing.

    Args:
        groups: Values of each group. Empty groups are ignored.

    Returns:
        0 to 1; None if fewer than two groups have values, no group has two, or all values are
        equal.
    """
    filled = [group for group in groups if group]
    between, within = len(filled) - 1, sum(map(len, filled)) - len(filled)
    if between < 1 or within < 1:
        return None
    apart, noise = _squares(filled)
    if not apart + noise:
        return None
    return min(1.0, max(0.0, (apart - between * noise / within) / (apart + noise)))


def coefficient_of_variation(values: Sequence[float]) -> float | None:
    """Return the standard deviation divided by the mean; None for fewer than two values."""
    if len(values) < 2:  # noqa: PLR2004 - a deviation is of two
        return None
    mean = fmean(values)
    return stdev(values) / mean if mean > 0 else None


def _squares(groups: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Return the sums of squared deviations between groups and within groups."""
    means = [math.fsum(group) / len(group) for group in groups]
    grand = math.fsum(map(math.fsum, groups)) / sum(map(len, groups))
    own = list(zip(groups, means, strict=True))
    apart = math.fsum(len(group) * (mean - grand) ** 2 for group, mean in own)
    noise = math.fsum((value - mean) ** 2 for group, mean in own for value in group)
    return apart, noise


def incomplete_beta(a: float, b: float, x: float) -> float:
    """Return the regularised incomplete beta function I_x(a, b), by its continued fraction.

    Abramowitz and Stegun 26.5.8, evaluated by Lentz's method; 6.6.3 where it converges slowly.

    Args:
        a: Above 0.
        b: Above 0.
        x: 0 to 1.
    """
    if x <= 0 or x >= 1:
        return min(1.0, max(0.0, x))
    if x > (a + 1) / (a + b + 2):
        return 1.0 - incomplete_beta(b, a, 1.0 - x)
    logarithm = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(logarithm + a * math.log(x) + b * math.log1p(-x)) / a
    value, c, d = 1.0, 1.0, 0.0
    for term in range(_TERMS):
        half = term // 2
        if term == 0:
            part = 1.0
        elif term % 2:
            part = -(a + half) * (a + b + half) * x / ((a + 2 * half) * (a + 2 * half + 1))
        else:
            part = half * (b - half) * x / ((a + 2 * half - 1) * (a + 2 * half))
        d = 1.0 / _apart_from_0(1.0 + part * d)
        c = _apart_from_0(1.0 + part / c)
        value *= c * d
        if abs(1.0 - c * d) < _PRECISION:
            break
    return min(1.0, max(0.0, front * (value - 1.0)))


def _apart_from_0(value: float) -> float:
    return value if abs(value) > 1e-30 else 1e-30  # noqa: PLR2004 - Lentz's smallest
