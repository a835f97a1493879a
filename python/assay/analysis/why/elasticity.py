"""Estimates the elasticity of time to a resource, from runs with less of the resource.

If a resource is F times as scarce, its part of the time is F times as long: T = a + b F. So the
elasticity at F = 1 is -b / (a + b). The model is fitted to the logarithms of times, with one
offset per round, because drift affects all runs of a round. The interval is Student's, from the
residuals. A bootstrap of three rounds would instead give 95 % intervals that contain the truth
in 70 of 100 cases.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from statistics import median
from typing import TYPE_CHECKING, Literal

from assay.analysis.stats.student import student_quantile

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Shape = Literal["serial", "flat", "kinked", "unclear"]

# A smaller elasticity is not relevant.
FLAT_BELOW = 0.05
# From this value on, a part of the time is worth naming.
PART_FROM = 0.25
STEPS_MAX, STEP_SMALL = 60, 1e-10
# Limits of the share, so that the predicted time at every level stays positive.
SHARE_FLOOR, SHARE_CEILING = -0.9, 5.0
# A kink closer to 1 differs from proportionality only by noise, and a small reserve is not
# relevant.
KINK_MIN = 1.25
# Huber's constant: 95 % of the efficiency of least squares under normal noise.
HUBER = 1.345
# With fewer rounds the scale of residuals is too uncertain for calling one an outlier.
ROBUST_ROUNDS = 5
NORMAL_MAD = 0.6745
KINKS = 200
# Minimum number of levels for a law; any law fits two levels.
LEVELS_MIN = 3


@dataclass(frozen=True)
class Observation:
    """The time of one run in which a resource was scarce by a factor.

    Attributes:
        run: Id of the run. One run may be the unhindered run of several resources.
        round: Round of the study.
        factor: Factor of scarcity of the resource; 1 means unchanged.
        seconds: Time in seconds, above 0.
    """

    run: str
    round: int
    factor: float
    seconds: float


@dataclass(frozen=True)
class Fit:
    """The fitted model T = a + b F of the time T by the factor of scarcity F.

    Attributes:
        share: b / (a + b): the resource's share of the time.
        error: Standard error of the share; None without degrees of freedom.
        freedom: Degrees of freedom of the error.
        influence: Derivative of the share by the logarithm of a run's time, by run.
        scale: Standard deviation of the logarithm of one time.
        squares: Sum of the squared residuals.
    """

    share: float
    error: float | None
    freedom: int
    influence: Mapping[str, float] = field(default_factory=dict)
    scale: float = 0.0
    squares: float = 0.0

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the elasticity; None without an error."""
        return _interval(-self.share, self.error, self.freedom)


@dataclass(frozen=True)
class Elasticity:
    """The elasticity of time with respect to a resource.

    Attributes:
        value: d ln T / d ln capacity at the present capacity.
        interval: 95 % interval; None with too few runs.
        shape: `serial`: time grows in proportion to scarcity; `flat`: no relevant effect;
            `kinked`: an effect only below some capacity; `unclear`: too much noise.
        binds_below: For `kinked`, the share of the capacity below which it binds.
        fit: The fitted model.
    """

    value: float
    interval: tuple[float, float] | None
    shape: Shape
    binds_below: float | None
    fit: Fit


def elasticity(observations: Sequence[Observation]) -> Elasticity | None:
    """Return the elasticity of run times to a resource; None without two levels in a round."""
    observed = _useful(observations)
    if not observed:
        return None
    fit = fitted(observed)
    kink = _kink(observed, fit)
    if kink is not None:
        # Within the levels without an effect, more capacity brings nothing.
        return Elasticity(0.0, _interval(0.0, fit.error, fit.freedom), "kinked", 1 / kink, fit)
    return Elasticity(-fit.share, fit.interval, _shape(fit), None, fit)


def fitted(observations: Sequence[Observation]) -> Fit:
    """Return the fitted model of run time by the factor of scarcity.

    The Gauss-Newton method fits ln T = round + ln(1 + share (F - 1)). From `ROBUST_ROUNDS`
    rounds on it uses Huber's weights, so that a single disturbed run does not decide.
    """
    floor = SHARE_FLOOR / (max(observation.factor for observation in observations) - 1)
    robust = len({observation.round for observation in observations}) >= ROBUST_ROUNDS
    weights = [1.0] * len(observations)
    share, step = 0.5, 1.0
    for number in range(STEPS_MAX):
        residuals, slopes = _linear(observations, weights, share)
        if abs(step) < STEP_SMALL:
            break
        spread = sum(w * slope**2 for w, slope in zip(weights, slopes, strict=True))
        moved = sum(w * s * r for w, s, r in zip(weights, slopes, residuals, strict=True)) / spread
        step = min(SHARE_CEILING, max(floor, share + moved)) - share
        share += step
        if robust and number:
            weights = _huber(residuals, _freedom(observations))
    return _fit(observations, weights, share)


def total(fits: Sequence[Fit]) -> tuple[float, tuple[float, float] | None]:
    """Return the sum of elasticities, with an interval that considers shared runs.

    The unhindered runs are common to all resources, so a disturbance of one of them affects all
    elasticities at once.
    """
    value = -math.fsum(fit.share for fit in fits)
    if not fits or any(fit.error is None for fit in fits):
        return value, None
    variance = math.fsum(
        left.scale * right.scale * influence * right.influence[run]
        for left in fits
        for right in fits
        for run, influence in left.influence.items()
        if run in right.influence
    )
    freedom = min(fit.freedom for fit in fits)
    return value, _interval(value, math.sqrt(max(0.0, variance)), freedom)


def _useful(observations: Sequence[Observation]) -> list[Observation]:
    """Return the observations of rounds in which the factor of scarcity varies."""
    factors: dict[int, set[float]] = {}
    for observation in observations:
        factors.setdefault(observation.round, set()).add(observation.factor)
    return [observation for observation in observations if len(factors[observation.round]) > 1]


def _freedom(observations: Sequence[Observation]) -> int:
    return len(observations) - len({observation.round for observation in observations}) - 1


def _linear(
    observations: Sequence[Observation], weights: Sequence[float], share: float
) -> tuple[list[float], list[float]]:
    """Return residuals and slopes of the time model at a share, minus the mean of the round."""
    grown = [1 + share * (observation.factor - 1) for observation in observations]
    off = [
        math.log(observation.seconds) - math.log(times)
        for observation, times in zip(observations, grown, strict=True)
    ]
    slopes = [
        (observation.factor - 1) / times
        for observation, times in zip(observations, grown, strict=True)
    ]
    return _centred(observations, weights, off), _centred(observations, weights, slopes)


def _centred(
    observations: Sequence[Observation], weights: Sequence[float], values: Sequence[float]
) -> list[float]:
    sums: dict[int, tuple[float, float]] = {}
    for observation, weight, value in zip(observations, weights, values, strict=True):
        mass, moment = sums.get(observation.round, (0.0, 0.0))
        sums[observation.round] = (mass + weight, moment + weight * value)
    means = {number: moment / mass for number, (mass, moment) in sums.items()}
    return [
        value - means[observation.round]
        for observation, value in zip(observations, values, strict=True)
    ]


def _huber(residuals: Sequence[float], freedom: int) -> list[float]:
    """Return regression weights: below 1 for residuals larger than normal noise explains."""
    lost = math.sqrt(len(residuals) / max(1, freedom))
    scale = HUBER * lost * median(abs(residual) for residual in residuals) / NORMAL_MAD
    return [min(1.0, scale / abs(residual)) if residual else 1.0 for residual in residuals]


def _fit(observations: Sequence[Observation], weights: Sequence[float], share: float) -> Fit:
    residuals, slopes = _linear(observations, weights, share)
    spread = sum(w * slope**2 for w, slope in zip(weights, slopes, strict=True))
    freedom = _freedom(observations)
    influence: dict[str, float] = {}
    for observation, weight, slope in zip(observations, weights, slopes, strict=True):
        influence[observation.run] = influence.get(observation.run, 0.0) + weight * slope / spread
    squares = sum(residual**2 for residual in residuals)
    error = _error(residuals, weights, slopes, freedom) if freedom > 0 else None
    moved = math.sqrt(sum(influence_of_run**2 for influence_of_run in influence.values()))
    return Fit(share, error, freedom, influence, (error or 0.0) / moved, squares)


def _error(
    residuals: Sequence[float], weights: Sequence[float], slopes: Sequence[float], freedom: int
) -> float:
    """Return the standard error of a fitted share (Huber, Robust Statistics, equation 6.5).

    With all weights 1, it is the standard error of least squares.
    """
    kept = sum(weight == 1.0 for weight in weights) / len(weights)
    cut = sum((w * residual) ** 2 for w, residual in zip(weights, residuals, strict=True)) / freedom
    lost = 1 + (len(residuals) - freedom) / len(residuals) * (1 - kept) / kept
    return lost * math.sqrt(cut) / kept / math.sqrt(sum(slope**2 for slope in slopes))


def _interval(value: float, error: float | None, freedom: int) -> tuple[float, float] | None:
    if error is None or freedom < 1:
        return None
    half = student_quantile(freedom) * error
    return value - half, value + half


def _shape(fit: Fit) -> Shape:
    small = abs(fit.share) < FLAT_BELOW
    if fit.interval is None:
        return "flat" if small else "unclear"
    low, high = fit.interval
    if small or low <= 0 <= high:
        return "flat" if low > -PART_FROM else "unclear"
    return "serial"


def _kink(observations: Sequence[Observation], fit: Fit) -> float | None:
    """Return the factor of scarcity up to which time stays constant, if that fits better.

    T = max(1, F / kink) has as many parameters as T = a + b F. The noise of times comes from a
    model with a separate time for each level.
    """
    steps = [1 + (max(o.factor for o in observations) - 1) * n / KINKS for n in range(1, KINKS)]
    squares, kink = min((_squares(observations, _kinked(step)), step) for step in steps)
    levels = len({observation.factor for observation in observations})
    freedom = (
        len(observations) - len({observation.round for observation in observations}) - (levels - 1)
    )
    if freedom < 1 or levels < LEVELS_MIN or kink < KINK_MIN or fit.squares <= squares:
        return None
    noise = _free_squares(observations) / freedom
    # The first levels differ only by noise, and the kink fits better than proportionality by
    # more than noise.
    return kink if fit.squares - squares > student_quantile(freedom) ** 2 * noise else None


def _kinked(kink: float) -> Callable[[float], float]:
    return lambda factor: math.log(max(1.0, factor / kink))


def _squares(observations: Sequence[Observation], law: Callable[[float], float]) -> float:
    off = [math.log(observation.seconds) - law(observation.factor) for observation in observations]
    return sum(residual**2 for residual in _centred(observations, [1.0] * len(off), off))


def _free_squares(observations: Sequence[Observation]) -> float:
    """Return the sum of squared residuals from a mean for each level and one for each round.

    Alternating projections are used, because rounds with a failed run are not balanced.
    """
    left = [math.log(observation.seconds) for observation in observations]
    factors = sorted({observation.factor for observation in observations})
    by_level = [
        replace(observation, round=factors.index(observation.factor))
        for observation in observations
    ]
    ones = [1.0] * len(left)
    for _ in range(STEPS_MAX):
        left = _centred(by_level, ones, _centred(observations, ones, left))
    return sum(residual**2 for residual in left)
