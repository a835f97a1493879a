"""Fits costs as power laws of the size of the data: cost = a size^b, by logarithms.

Each round has a run at every size, so each round yields its own exponent: the least-squares
slope of logarithms over its runs. A drift from round to round affects all runs of a round alike
and cancels. The exponent is the mean over the rounds, with Student's interval. With two sizes
this is the interval of the ratio (`rounds`) divided by the logarithm of the sizes' ratio.

The prediction for another size uses one line through all runs. The interval of the prediction is
that of a new observation, from the residuals of single runs (Draper and Smith, Applied
Regression Analysis).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from assay.analysis.stats.rounds import factor_of
from assay.analysis.stats.student import mean_of, student_quantile

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from assay.analysis.stats.rounds import Factor
    from assay.analysis.stats.student import Mean

# Number of fitted parameters: intercept and slope.
PARAMETERS = 2
SIZES_MIN = 2
# Exponents within the range that differ by less count as equal.
BEND_MIN = 0.1


class Point(NamedTuple):
    """A cost of one run in one round, at one data size."""

    round: int
    size: float
    value: float


@dataclass(frozen=True)
class Predicted:
    """The predicted cost of a run at one data size.

    Attributes:
        value: Prediction in the unit of the cost.
        interval: 95 % interval for one new run; None with one round.
        beyond: Factor to the largest measured size, or to the smallest for smaller sizes; 1
            within the range.
    """

    value: float
    interval: tuple[float, float] | None
    beyond: float


@dataclass(frozen=True)
class PowerLaw:
    """The fitted power law of a cost.

    Attributes:
        exponent: b, with its interval over rounds; no interval with one round.
        at_one: a, the cost at size 1.
        ratio: Cost at the largest size divided by cost at the smallest size, over rounds.
        sizes: Sizes of the fit, ascending.
        values: Costs at these sizes: geometric means over rounds.
        rounds: Number of rounds that have all of these sizes.
        locals: Exponents between neighbouring sizes.
        bend: Last local exponent minus the first; None with two sizes.
        error: Standard deviation of a single run's logarithm from the line; None with one round.
    """

    exponent: Mean
    at_one: float
    ratio: Factor
    sizes: tuple[float, ...]
    values: tuple[float, ...]
    rounds: int
    locals: tuple[Mean, ...]
    bend: Mean | None
    error: float | None

    @property
    def is_bent(self) -> bool:
        """True if the growth exponent changes within the range by much and beyond noise."""
        ends = None if self.bend is None else self.bend.interval
        if self.bend is None or ends is None:
            return False
        return not ends[0] <= 0.0 <= ends[1] and abs(self.bend.value) >= BEND_MIN

    def at(self, size: float) -> float:
        """Return the cost at a data size, by the power law."""
        return self.at_one * math.exp(self.exponent.value * math.log(size))

    def by_last_two(self, size: float) -> float:
        """Return the cost at a data size, by the line through the two largest measured sizes."""
        away = math.log(size / self.sizes[-1])
        return self.values[-1] * math.exp(self.locals[-1].value * away)

    def with_fixed_part(self, size: float) -> float:
        """Return the cost at a data size by another law: fixed plus proportional to size.

        The fit minimises the squares of relative errors, and neither part is negative. The
        distance between both laws shows how uncertain the choice of the law makes the
        prediction.
        """
        fixed, per_unit = _fixed_and_each(self.sizes, self.values)
        return fixed + per_unit * size

    def predicted(self, size: float) -> Predicted:
        """Return the predicted cost of a new run at a data size, with its interval.

        Args:
            size: Size of the data, above zero.
        """
        beyond = max(1.0, size / self.sizes[-1], self.sizes[0] / size)
        value = self.at(size)
        if self.error is None:
            return Predicted(value, None, beyond)
        logs = [math.log(run_size) for run_size in self.sizes]
        middle = math.fsum(logs) / len(logs)
        squares = self.rounds * math.fsum((log - middle) ** 2 for log in logs)
        runs = self.rounds * len(logs)
        away = (math.log(size) - middle) ** 2 / squares
        half = student_quantile(runs - PARAMETERS) * self.error * math.sqrt(1 + 1 / runs + away)
        return Predicted(value, (value * math.exp(-half), value * math.exp(half)), beyond)


def power_law(points: Iterable[Point]) -> PowerLaw | None:
    """Return the power law of a cost by data size; None with fewer than two sizes.

    Args:
        points: One point per run. If a round has several runs at a size, the last one counts.
    """
    rounds = _whole_rounds(points)
    sizes = sorted(next(iter(rounds.values()), {}))
    if len(sizes) < SIZES_MIN or sizes[0] <= 0:
        return None
    if any(value <= 0 for own in rounds.values() for value in own.values()):
        return None
    x = [math.log(size) for size in sizes]
    logs = [[math.log(own[size]) for size in sizes] for own in rounds.values()]
    means = [math.fsum(column) / len(logs) for column in zip(*logs, strict=True)]
    exponent = mean_of([_slope(x, y) for y in logs])
    at_one = math.fsum(means) / len(means) - exponent.value * math.fsum(x) / len(x)
    steps = [[(y[n + 1] - y[n]) / (x[n + 1] - x[n]) for n in range(len(x) - 1)] for y in logs]
    ratio = factor_of([math.exp(y[-1] - y[0]) for y in logs])
    assert ratio is not None  # noqa: S101 - there is a round
    return PowerLaw(
        exponent,
        math.exp(at_one),
        ratio,
        tuple(sizes),
        tuple(math.exp(mean) for mean in means),
        len(rounds),
        tuple(mean_of(column) for column in zip(*steps, strict=True)),
        mean_of([own[-1] - own[0] for own in steps]) if len(sizes) > SIZES_MIN else None,
        _error(x, logs, at_one, exponent.value),
    )


def _whole_rounds(points: Iterable[Point]) -> Mapping[int, Mapping[float, float]]:
    """Return costs by data size for each of the most complete rounds, with equal sizes.

    Among several such sets of sizes, the one with the most rounds is chosen.
    """
    rounds: dict[int, dict[float, float]] = {}
    for point in points:
        rounds.setdefault(point.round, {})[point.size] = point.value
    sets = [frozenset(own) for own in rounds.values()]
    best = max(sets, key=lambda own: (len(own), sets.count(own)), default=frozenset())
    return {number: own for number, own in sorted(rounds.items()) if frozenset(own) == best}


def _fixed_and_each(sizes: Sequence[float], values: Sequence[float]) -> tuple[float, float]:
    """Return the fixed portion of a cost, and the portion per unit of data size."""
    z = [1 / value for value in values]
    w = [size / value for size, value in zip(sizes, values, strict=True)]
    zz, ww = math.fsum(number * number for number in z), math.fsum(number * number for number in w)
    zw = math.fsum(a * b for a, b in zip(z, w, strict=True))
    sum_z, sum_w = math.fsum(z), math.fsum(w)
    apart = zz * ww - zw * zw
    fixed, per_unit = (sum_z * ww - sum_w * zw) / apart, (sum_w * zz - sum_z * zw) / apart
    if fixed < 0:
        return 0.0, sum_w / ww
    return (sum_z / zz, 0.0) if per_unit < 0 else (fixed, per_unit)


def _slope(x: Sequence[float], y: Sequence[float]) -> float:
    middle, mean = math.fsum(x) / len(x), math.fsum(y) / len(y)
    both = math.fsum((a - middle) * (b - mean) for a, b in zip(x, y, strict=True))
    return both / math.fsum((a - middle) ** 2 for a in x)


def _error(
    x: Sequence[float], logs: Sequence[Sequence[float]], at_one: float, slope: float
) -> float | None:
    """Return the standard deviation of logarithmic costs around the fit; None for one round."""
    if len(logs) < 2:  # noqa: PLR2004 - one round tells nothing of rounds
        return None
    squares = math.fsum(
        (b - at_one - slope * a) ** 2 for y in logs for a, b in zip(x, y, strict=True)
    )
    return math.sqrt(squares / (len(logs) * len(x) - PARAMETERS))
