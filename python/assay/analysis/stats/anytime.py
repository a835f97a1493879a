"""Computes intervals that stay valid after every round, so that an experiment may stop early.

Student's interval is valid for a number of rounds that was fixed beforehand. If Student's
interval is checked after each round, and the experiment stops as soon as the interval excludes
zero, the error rate is far higher than stated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# Prior variance of the effect, relative to the variance of a round. The interval is valid for
# any effect. With this value it is short after few rounds if the effect is several times the
# noise.
EFFECT_VARIANCE = 10.0


@dataclass(frozen=True, slots=True)
class Sample:
    """The facts of some values on which an interval of their mean depends.

    Attributes:
        count: Number of values.
        mean: Mean of the values; 0 without any.
        deviation: Standard deviation of the values; 0 for fewer than two.
    """

    count: int
    mean: float
    deviation: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Sample:
        """Return the sample of these values."""
        count = len(values)
        mean = math.fsum(values) / max(1, count)
        squares = math.fsum((value - mean) ** 2 for value in values)
        return cls(count, mean, math.sqrt(squares / max(1, count - 1)))


def anytime_interval(values: Sequence[float], alpha: float) -> tuple[float, float] | None:
    """Return an interval of the mean of values that stays valid however often it is computed.

    Args:
        values: One value for each round, in the order of rounds.
        alpha: Probability that the interval is wrong at any time, above 0 and below 1.

    Returns:
        The interval of `sample_interval`.
    """
    return sample_interval(Sample.of(values), alpha)


def sample_interval(sample: Sample, alpha: float) -> tuple[float, float] | None:
    """Return an interval of the mean that stays valid however often it is computed.

    The interval contains all means that the Bayes factor of Student's t, with a normal prior of
    the effect size, does not refute by 1 / alpha. Under each such mean the Bayes factor is a
    test martingale (Hendriksen, de Heide and Grünwald 2021; Perez-Ortiz et al. 2024), so Ville's
    inequality bounds its maximum.

    Args:
        sample: The values of all rounds so far.
        alpha: Probability that the interval is wrong at any time, above 0 and below 1.

    Returns:
        The ends of the interval. None as long as any mean is possible, with one or very few
        rounds.
    """
    count = sample.count
    ratio, bound = _ratio(count), _bound(count, alpha)
    if bound >= ratio:
        return None
    quantile = math.sqrt((count - 1) * (bound - 1) / (1 - bound / ratio))
    half = quantile * sample.deviation / math.sqrt(count)
    return sample.mean - half, sample.mean + half


def bounded_interval(
    sample: Sample, alpha: float, deviation_max: float
) -> tuple[float, float] | None:
    """Return an interval of the mean that stays valid, if the noise has a known upper bound.

    The interval contains all means that a mixture martingale of sub-Gaussian values does not refute
    by 1 / alpha (Robbins 1970; Howard et al. 2021), so that it needs no estimate of the noise.

    Args:
        sample: The values of all rounds so far.
        alpha: Probability that the interval is wrong at any time, above 0 and below 1.
        deviation_max: Upper bound of the standard deviation of a value, which is assumed.

    Returns:
        The ends of the interval. None without two values, or if their standard deviation is
        larger than the bound.
    """
    if sample.count < 2 or sample.deviation > deviation_max:  # noqa: PLR2004 - one has no spread
        return None
    ratio = _ratio(sample.count)
    squares = ratio / EFFECT_VARIANCE * math.log(ratio / alpha**2)
    half = deviation_max * math.sqrt(squares) / sample.count
    return sample.mean - half, sample.mean + half


def values_min(alpha: float) -> int:
    """Return the smallest number of values that have an interval.

    Args:
        alpha: Probability that the interval is wrong at any time, above 0 and below 1.
    """
    count = 2
    while _bound(count, alpha) >= _ratio(count):
        count += 1
    return count


def _ratio(count: int) -> float:
    return 1 + count * EFFECT_VARIANCE


def _bound(count: int, alpha: float) -> float:
    """Return the limit of Student's t, squared and scaled; infinity without a spread of values."""
    if count < 2:  # noqa: PLR2004 - one value has no spread
        return math.inf
    return math.pow(math.sqrt(_ratio(count)) / alpha, 2 / count)
