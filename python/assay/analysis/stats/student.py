"""Computes means of a few rounds with their 95 % intervals by Student's t."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Mean:
    """A mean of values that differ only by noise.

    Attributes:
        value: Mean in the unit of the values.
        interval: 95 % interval in the same unit; None means a single value.
    """

    value: float
    interval: tuple[float, float] | None


def mean_of(values: Sequence[float]) -> Mean:
    """Return the arithmetic mean of values with its 95 % interval.

    Args:
        values: The values, at least one.
    """
    mean = math.fsum(values) / len(values)
    freedom = len(values) - 1
    if not freedom:
        return Mean(mean, None)
    squares = math.fsum((value - mean) ** 2 for value in values)
    half = student_quantile(freedom) * math.sqrt(squares / freedom / len(values))
    return Mean(mean, (mean - half, mean + half))


def difference_of_means(first: Sequence[float], second: Sequence[float]) -> Mean:
    """Return the difference of two means with Welch's interval.

    Of logarithms, the result is the logarithm of the ratio of geometric means.

    Args:
        first: Values of the first group; at least two for an interval.
        second: Values of the second group; at least two for an interval.
    """
    means = [math.fsum(values) / len(values) for values in (first, second)]
    difference = means[1] - means[0]
    if min(len(first), len(second)) < 2:  # noqa: PLR2004 - one value does not vary
        return Mean(difference, None)
    # Squares of the standard errors of both means.
    errors = [
        math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1) / len(values)
        for values, mean in zip((first, second), means, strict=True)
    ]
    whole = math.fsum(errors)
    if not whole:
        return Mean(difference, (difference, difference))
    freedom = whole**2 / math.fsum(
        error**2 / (len(values) - 1) for error, values in zip(errors, (first, second), strict=True)
    )
    half = student_quantile(freedom) * math.sqrt(whole)
    return Mean(difference, (difference - half, difference + half))


def student_quantile(freedom: float) -> float:
    """Return the 97.5 % quantile of Student's t; Abramowitz and Stegun 26.7.5.

    The values for 1 to 3 degrees of freedom are exact, because that expansion is too small below
    4. Fractional degrees are then rounded down.
    """
    exact = {1: 12.7062, 2: 4.3027, 3: 3.1824}
    if freedom < max(exact) + 1:
        return exact[max(1, math.floor(freedom))]
    z = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return z + sum(term / freedom**power for power, term in enumerate(terms, start=1))
