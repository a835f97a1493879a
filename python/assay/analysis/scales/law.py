"""A cost as a power law of the size of the data: cost = a size^b, by logarithms.

Each round has a run at every size, so each gives an exponent of its own: the least squares of
logarithms over its runs. What drifts from round to round weighs on all of its runs alike and goes
out. The exponent is their mean, its interval Student's over the rounds; of two sizes that is the
ratio's interval (`rounds`) by the logarithm of the sizes' ratio.

A run at another size is foreseen by one line through all runs, with what single runs are off it:
the interval of a new observation (Draper and Smith, Applied Regression Analysis).
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

# An intercept and a slope.
PARAMETERS = 2
SIZES_MIN = 2
# Exponents that differ by less within the range are one.
BEND_MIN = 0.1


class Point(NamedTuple):
    """A cost of one run, in one round, at one size."""

    round: int
    size: float
    value: float


@dataclass(frozen=True)
class Predicted:
    """The predicted cost of a run at some size.

    Attributes:
        value: Prediction in the unit of the cost.
        interval: 95 %, of one new run; None with one round.
        beyond: How many times as large as the largest size that was run, or as small as the
            smallest; 1 within the range.
    """

    value: float
    interval: tuple[float, float] | None
    beyond: float


@dataclass(frozen=True)
class PowerLaw:
    """A fitted law.

    Attributes:
        exponent: b, with its interval over rounds; no interval with one round.
        at_one: a, the cost at size 1.
        ratio: Ratio of the largest size to the smallest, over rounds.
        sizes: Sizes of the fit, ascending.
        values: Geometric means over rounds, of these sizes.
        rounds: Rounds that have all of these sizes.
        locals: Exponents between neighbouring sizes.
        bend: The last of these less the first; None of two sizes.
        error: Of a single run about the line, as the deviation of a logarithm; None with one round.
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
        """True if the exponent changes within the range beyond noise, and by much."""
        ends = None if self.bend is None else self.bend.interval
        if self.bend is None or ends is None:
            return False
        return not ends[0] <= 0.0 <= ends[1] and abs(self.bend.value) >= BEND_MIN

    def at(self, size: float) -> float:
        """The cost at a size, by the law."""
        return self.at_one * math.exp(self.exponent.value * math.log(size))

    def by_last_two(self, size: float) -> float:
        """The cost at a size, by the line through the two largest that were run."""
        away = math.log(size / self.sizes[-1])
        return self.values[-1] * math.exp(self.locals[-1].value * away)

    def with_fixed_part(self, size: float) -> float:
        """Return the cost at a size by another law: a fixed part, and one in proportion.

        By the least squares of relative errors; neither part is below 0. How far it is from the
        power law tells what not knowing the law is worth.
        """
        fixed, per_unit = _fixed_and_each(self.sizes, self.values)
        return fixed + per_unit * size

    def predicted(self, size: float) -> Predicted:
        """Return the cost of a new run at a size.

        Args:
            size: Above zero.
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
    """The law of a cost; None of fewer than two sizes, or of a cost that is not above 0.

    Args:
        points: One a run. Of several runs of a round at a size the last counts.
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
    """Return costs by size, of the rounds that have most sizes: they have the same ones.

    Where there are several such sets of sizes, it is the one that most rounds have.
    """
    rounds: dict[int, dict[float, float]] = {}
    for point in points:
        rounds.setdefault(point.round, {})[point.size] = point.value
    sets = [frozenset(own) for own in rounds.values()]
    best = max(sets, key=lambda own: (len(own), sets.count(own)), default=frozenset())
    return {number: own for number, own in sorted(rounds.items()) if frozenset(own) == best}


def _fixed_and_each(sizes: Sequence[float], values: Sequence[float]) -> tuple[float, float]:
    """Return the fixed part and the part for each unit of size."""
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
    """Return how far single runs are off the line."""
    if len(logs) < 2:  # noqa: PLR2004 - one round tells nothing of rounds
        return None
    squares = math.fsum(
        (b - at_one - slope * a) ** 2 for y in logs for a, b in zip(x, y, strict=True)
    )
    return math.sqrt(squares / (len(logs) * len(x) - PARAMETERS))
