"""Fits the Universal Scalability Law (Gunther) to throughput by number of clients.

X(N) = lambda N / (1 + sigma (N - 1) + kappa N (N - 1)). Lambda is the throughput of one client.
Sigma is contention: clients wait for one another. Kappa is coherence: each client synchronises
with each other client. N / X is linear in a = 1 / lambda, b = sigma / lambda and c = kappa /
lambda. So the least squares of relative errors, with b and c not below 0, have an exact
solution.

The knee is the maximum of Kleinrock's power X / R, where R = N / X is the response time: beyond
it 1 % more clients bring less than half a percent more throughput. Intervals are those of the
profile likelihood: all values of a quantity for which the sum of squares stays below the minimum
times 1 + t^2 / f, with Student's t and f degrees of freedom.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from assay.analysis.stats.student import student_quantile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Ends = tuple[float, float]

# Three parameters need at least three levels; below five levels a fit depends on single ones.
PARAMETERS = 3
LEVELS_ENOUGH = 5
# Number of directions in which the border of the likely parameters is searched.
DIRECTIONS = 400
# A throughput that deviates from a straight line by less counts as linear.
TINY = 1e-12


class Law(NamedTuple):
    """The Universal Scalability Law with its parameters.

    Attributes:
        single_per_s: Throughput of one client per second.
        sigma, kappa: Contention and coherence; not negative.
    """

    single_per_s: float
    sigma: float
    kappa: float

    def throughput(self, clients: float) -> float:
        """Return the law's throughput per second at a number of clients."""
        others = clients - 1
        return (
            self.single_per_s * clients / (1 + self.sigma * others + self.kappa * clients * others)
        )

    def most_at(self) -> float:
        """Return the number of clients with the highest throughput; infinity if it never falls."""
        if self.sigma >= 1:
            return 1.0
        return max(1.0, math.sqrt((1 - self.sigma) / self.kappa)) if self.kappa > TINY else math.inf

    def most(self) -> float:
        """Return the highest throughput per second, or its limit as clients grow."""
        at = self.most_at()
        if at < math.inf:
            return self.throughput(at)
        return self.single_per_s / self.sigma if self.sigma > TINY else math.inf

    def knee_at(self) -> float:
        """Return the number of clients at the knee (maximum of throughput / latency)."""
        if self.sigma >= 1:
            return 1.0
        if self.kappa <= TINY:
            return max(1.0, (1 - self.sigma) / self.sigma) if self.sigma > TINY else math.inf
        # The point from which X^2 / N falls: 3 kappa N^2 + (sigma - kappa) N - (1 - sigma) = 0.
        apart = self.sigma - self.kappa
        root = math.sqrt(apart**2 + 12 * self.kappa * (1 - self.sigma))
        return max(1.0, (root - apart) / (6 * self.kappa))


@dataclass(frozen=True)
class Quantity:
    """A quantity of the scalability law, with its 95 % interval."""

    value: float
    ends: Ends | None


@dataclass(frozen=True)
class Scaling:
    """A fit of the Universal Scalability Law.

    Attributes:
        law: The fitted law.
        single_per_s, sigma, kappa: The law's parameters with intervals.
        most_at, most: Clients at the highest throughput, and that throughput.
        knee_at: Clients at the knee.
        error: Root mean square of the relative errors.
        levels: Number of different numbers of clients.
        likely: Laws at the border of the likely parameters; empty if the border is not known.
    """

    law: Law
    single_per_s: Quantity
    sigma: Quantity
    kappa: Quantity
    most_at: Quantity
    most: Quantity
    knee_at: Quantity
    error: float
    levels: int
    likely: tuple[Law, ...]

    def band(self, clients: float) -> Ends | None:
        """Return the 95 % band of the throughput at a number of clients; None if not known."""
        return _ends(self.likely, lambda law: law.throughput(clients))


def scaling(points: Sequence[tuple[float, float]]) -> Scaling | None:
    """Return the law that fits best; None for fewer than three different numbers of clients.

    Args:
        points: Clients and throughput of each run; throughput above 0.
    """
    levels = len({clients for clients, _ in points})
    if levels < PARAMETERS:
        return None
    squares = _Squares(points)
    best = min(squares.faces(), key=lambda face: face.least)
    least, best_law = best.least, best.law()
    freedom = len(points) - PARAMETERS
    likely: tuple[Law, ...] = ()
    if freedom > 0:
        most = least * (1 + student_quantile(freedom) ** 2 / freedom)
        likely = _likely(best_law, squares, most)

    def quantity(of: Callable[[Law], float]) -> Quantity:
        return Quantity(of(best_law), _ends(likely, of))

    return Scaling(
        best_law,
        quantity(lambda law: law.single_per_s),
        quantity(lambda law: law.sigma),
        quantity(lambda law: law.kappa),
        quantity(Law.most_at),
        quantity(Law.most),
        quantity(Law.knee_at),
        math.sqrt(max(0.0, least) / len(points)),
        levels,
        likely,
    )


def _likely(law: Law, squares: _Squares, most: float) -> tuple[Law, ...]:
    """Return scalability laws that are likely, given the measured throughput.

    The result is empty if any throughput of one client is possible, as with noise and no run of
    few clients. The likely region then has no border, and partial intervals would be too narrow.
    """
    border = [values for at in squares.faces() for values in at.border(most)]
    if any(values[0] <= 0 for values in border):
        return ()
    return (law, *(_law(*values) for values in border))


def _law(a: float, b: float, c: float) -> Law:
    return Law(1 / a, b / a, c / a)


def _ends(likely: Sequence[Law], of: Callable[[Law], float]) -> Ends | None:
    values = [of(law) for law in likely]
    return (min(values), max(values)) if values else None


class _Squares:
    """The sum of squared relative errors of a fitted scalability law."""

    def __init__(self, points: Sequence[tuple[float, float]]) -> None:
        # Columns of 1, N - 1 and N (N - 1), each row divided by the measured N / X, so that it
        # should be 1.
        self._rows = [
            [throughput / n * column for column in (1.0, n - 1, n * (n - 1))]
            for n, throughput in points
        ]

    def faces(self) -> Iterator[_Face]:
        """Yield valid fits of the scalability law, one per choice of parameters fixed at 0."""
        for count in range(PARAMETERS):
            for held in combinations(range(1, PARAMETERS), count):
                free = [at for at in range(PARAMETERS) if at not in held]
                face = _Face(self._rows, free)
                if not held or face.is_allowed():
                    yield face


class _Face:
    """A least-squares fit in which only some of the law's parameters are free."""

    def __init__(self, rows: Sequence[Sequence[float]], free: Sequence[int]) -> None:
        self._free = free
        own = [[row[at] for at in free] for row in rows]
        count = range(len(free))
        matrix = [[math.fsum(row[i] * row[j] for row in own) for j in count] for i in count]
        self._root = _cholesky(matrix)
        self._best = _solved(self._root, [math.fsum(row[i] for row in own) for i in count])
        errors = [
            math.fsum(value * best for value, best in zip(row, self._best, strict=True)) - 1
            for row in own
        ]
        self._least = math.fsum(error**2 for error in errors)

    @property
    def least(self) -> float:
        """Return the minimum sum of squares; infinity if a parameter would be negative."""
        return self._least if self.is_allowed() else math.inf

    def is_allowed(self) -> bool:
        """Return True if the best parameters are valid: a positive, b and c not negative."""
        return self._best[0] > 0 and all(parameter >= 0 for parameter in self._best[1:])

    def law(self) -> Law:
        """Return the scalability law with the minimum sum of squares."""
        return _law(*self._all(self._best))

    def border(self, most: float) -> Iterator[tuple[float, float, float]]:
        """Yield law parameters with a given sum of squared errors."""
        if most < self._least:
            return
        radius = math.sqrt(most - self._least)
        for direction in _directions(len(self._free)):
            step = _back(self._root, [radius * component for component in direction])
            values = [best + change for best, change in zip(self._best, step, strict=True)]
            if all(value >= 0 for value in values[1:]):
                yield self._all(values)

    def _all(self, values: Sequence[float]) -> tuple[float, float, float]:
        """Return all law parameters: fitted values, and 0 for the fixed ones."""
        by_place = dict(zip(self._free, values, strict=True))
        return by_place[0], by_place.get(1, 0.0), by_place.get(2, 0.0)


def _cholesky(matrix: Sequence[Sequence[float]]) -> list[list[float]]:
    """Return the Cholesky factor (lower triangle) of a symmetric positive matrix."""
    root = [[0.0] * len(matrix) for _ in matrix]
    for i, row in enumerate(matrix):
        for j in range(i + 1):
            rest = row[j] - math.fsum(root[i][k] * root[j][k] for k in range(j))
            root[i][j] = math.sqrt(max(rest, TINY * row[i])) if i == j else rest / root[j][j]
    return root


def _solved(root: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    """Return the solution x of (root root') x = right for a triangular matrix."""
    solution: list[float] = []
    for i, row in enumerate(root):
        solution.append((right[i] - math.fsum(row[k] * solution[k] for k in range(i))) / row[i])
    return _back(root, solution)


def _back(root: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    """Return the solution x of root' x = right for a triangular matrix."""
    count = len(root)
    solution = [0.0] * count
    for i in reversed(range(count)):
        rest = right[i] - math.fsum(root[k][i] * solution[k] for k in range(i + 1, count))
        solution[i] = rest / root[i][i]
    return solution


def _directions(count: int) -> Iterator[list[float]]:
    """Yield evenly spread unit vectors: two ends, a circle, or a sphere (Fibonacci lattice)."""
    if count == 1:
        yield from ([1.0], [-1.0])
        return
    if count == PARAMETERS - 1:
        for number in range(DIRECTIONS):
            angle = 2 * math.pi * number / DIRECTIONS
            yield [math.cos(angle), math.sin(angle)]
        return
    golden = math.pi * (3 - math.sqrt(5))
    for number in range(DIRECTIONS):
        height = 1 - 2 * (number + 0.5) / DIRECTIONS
        around = math.sqrt(1 - height**2)
        yield [around * math.cos(golden * number), around * math.sin(golden * number), height]
