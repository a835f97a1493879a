"""Statistics of times compared in rounds, by their ratios.

Ratios are taken within a round, because a drift of the host affects both times of a round alike.
The mean is geometric, and intervals are Student's on the logarithms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.analysis.stats.student import student_quantile

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclass(frozen=True)
class Noise:
    """The variation of logarithmic ratios between rounds.

    Attributes:
        deviation: Standard deviation of the logarithms.
        freedom: Degrees of freedom of the standard deviation.
    """

    deviation: float
    freedom: int


@dataclass(frozen=True)
class Factor:
    """The factor by which something takes longer, with its 95 % interval.

    Attributes:
        times: Geometric mean over the rounds.
        interval: 95 % interval; None if the noise is not known.
        rounds: Number of rounds.
    """

    times: float
    interval: tuple[float, float] | None
    rounds: int

    @property
    def is_distinct(self) -> bool:
        """True if the interval excludes a factor of one; False without an interval."""
        return self.interval is not None and not self.interval[0] <= 1.0 <= self.interval[1]


def noise_of(several: Iterable[Sequence[float]]) -> Noise | None:
    """Return the common noise of several series of ratios; None if each series has only one round.

    Args:
        several: Series of ratios by round, above zero and with equal noise.
    """
    squares, freedom = 0.0, 0
    for ratios in several:
        logs = [math.log(ratio) for ratio in ratios]
        mean = math.fsum(logs) / len(logs)
        squares += math.fsum((logarithm - mean) ** 2 for logarithm in logs)
        freedom += len(logs) - 1
    return Noise(math.sqrt(squares / freedom), freedom) if freedom else None


def factor_of(ratios: Sequence[float], noise: Noise | None = None) -> Factor | None:
    """Return the geometric mean of the ratios of all rounds; None without rounds.

    Args:
        ratios: One ratio per round, above zero.
        noise: Variation between rounds; None means that it is estimated from these ratios.
    """
    if not ratios:
        return None
    assumed = noise or noise_of([ratios])
    mean = math.fsum(math.log(ratio) for ratio in ratios) / len(ratios)
    if assumed is None:
        return Factor(math.exp(mean), None, len(ratios))
    half = student_quantile(assumed.freedom) * assumed.deviation / math.sqrt(len(ratios))
    return Factor(math.exp(mean), (math.exp(mean - half), math.exp(mean + half)), len(ratios))
