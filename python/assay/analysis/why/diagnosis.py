"""Finds the resource that limits an operation, from its response to each scarce resource.

Invariant: a level that did not take effect is part of no elasticity, and is reported.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from assay.analysis.quantities import spread
from assay.analysis.time.undisturbed import waiting_shares
from assay.analysis.try_.trial import Gain, gain_over, times_of
from assay.analysis.why.demand import Demand, demand_of
from assay.analysis.why.elasticity import Elasticity, Observation, elasticity, total
from assay.analysis.why.scarcity import (
    DISK,
    TITLES,
    Method,
    Scarcity,
    capacities_of,
    doubt_of,
    is_unhindered,
    scarcity_of,
    times_as_scarce,
    without_effect,
)
from assay.model.limit import CPU

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from assay.analysis.host.roofline import Placed
    from assay.analysis.quantities import Spread
    from assay.analysis.study_runs import StudyRun

METHODS: tuple[Method, ...] = ("slowed", "limited")
# Operations with fewer read bytes read nothing but the engine's own bookkeeping.
READ_BYTES_MIN = 64 << 10


@dataclass(frozen=True)
class Level:
    """The measured times of an operation at one level of scarcity of a resource.

    Attributes:
        name: Name of the level as text.
        factor: Factor of scarcity; None if the capacity is not known.
        time: Seconds over the rounds.
        change: Change against the unhindered run of the same round.
        left_out: Reason why the level is in no elasticity; None if it is in one.
        doubt: Doubt that a check reports about a level that counts.
    """

    name: str
    factor: float | None
    time: Spread
    change: Gain | None
    left_out: str | None = None
    doubt: str | None = None


@dataclass(frozen=True)
class TimeResponse:
    """The response of an operation's time to the scarcity of one resource.

    Attributes:
        levels: Levels, the least scarce first.
        elasticity: Elasticity of the time; None if no level took effect.
        at_most: Most negative elasticity that is possible if unused allowance hides part of a
            limit's effect.
    """

    resource: str
    method: Method
    levels: tuple[Level, ...]
    elasticity: Elasticity | None
    at_most: float | None = None


@dataclass(frozen=True)
class Diagnosis:
    """The response of one operation's time to the scarcity of each resource.

    Attributes:
        time: Seconds without limits, over the rounds.
        demand: Use of each resource without limits.
        waited_share: Share of its time in which it waited for a CPU; elasticities exclude this
            time.
        answers: Responses by every method that was used.
        chosen: The response that counts, by resource.
        unmeasured: Reason why there is no response, by resource.
        total: Sum of the chosen elasticities.
        interval: 95 % interval of the sum.
    """

    operation: str
    time: Spread
    demand: Demand | None
    waited_share: float
    answers: tuple[TimeResponse, ...]
    chosen: Mapping[str, TimeResponse]
    unmeasured: Mapping[str, str]
    total: float | None
    interval: tuple[float, float] | None

    def value(self, resource: str) -> float | None:
        """Return the elasticity of the time to a resource; None if not measured."""
        answer = self.chosen.get(resource)
        fit = None if answer is None else answer.elasticity
        return None if fit is None else fit.value


def operations_of(runs: Iterable[StudyRun]) -> list[str]:
    """Return operations that all runs executed, in the order of the first run."""
    played = [list(run.run.facts["plan"]["operations"]) for run in runs]
    return (
        [name for name in played[0] if all(name in operations for operations in played)]
        if played
        else []
    )


def diagnose(
    runs: Sequence[StudyRun],
    operation: str,
    placed: Placed | None = None,
    known_capacities: Mapping[str, float] | None = None,
) -> Diagnosis | None:
    """Return the response of an operation's time to each resource that runs made scarce.

    Args:
        runs: Runs in rounds, with requests that differ only in the scarce resource.
        operation: Name of the operation.
        placed: Its unhindered reads compared with the disk's ceiling; None if not measured.
        known_capacities: Known capacities by option of `--limit`, in the option's unit.

    Returns:
        The diagnosis; None if the operation did not succeed in an unhindered run.
    """
    timed = [timed_run for run in runs if (timed_run := _timed(run, operation)) is not None]
    free = [timed_run for timed_run in timed if is_unhindered(timed_run.request)]
    time = spread(timed_run.seconds for timed_run in free)
    if time is None:
        return None
    demand = demand_of([timed_run.of.run for timed_run in free], operation)
    capacities = {**capacities_of(demand, placed), **(known_capacities or {})}
    answers = tuple(
        answer
        for resource in TITLES
        for method in METHODS
        if (answer := _answer(timed, free, (resource, method), capacities)) is not None
    )
    chosen = {name: response for name in TITLES if (response := _chosen(answers, name)) is not None}
    value, interval = _total(chosen.values())
    return Diagnosis(
        operation,
        time,
        demand,
        median(timed_run.waited_share for timed_run in free),
        answers,
        chosen,
        _unmeasured(answers, chosen, demand),
        value,
        interval,
    )


@dataclass(frozen=True)
class _Timed:
    """A run with an operation's time, as input of a diagnosis.

    Attributes:
        waited_share: Share of its time in which the operation waited for a CPU.
    """

    of: StudyRun
    seconds: float
    waited_share: float

    @property
    def request(self) -> Mapping[str, Any]:
        request: Mapping[str, Any] = self.of.run.facts["request"]
        return request

    def observed(self, factor: float, *, raw: bool) -> Observation:
        seconds = self.seconds if raw else self.seconds * (1 - self.waited_share)
        return Observation(self.of.run.id, self.of.round, factor, seconds)


def _timed(study_run: StudyRun, operation: str) -> _Timed | None:
    seconds = times_of(study_run.run).operations.get(operation)
    if not seconds:
        return None
    return _Timed(study_run, seconds, waiting_shares(study_run.run).get(operation, 0.0))


def _answer(
    timed: Sequence[_Timed],
    free: Sequence[_Timed],
    of: tuple[str, Method],
    capacities: Mapping[str, float],
) -> TimeResponse | None:
    """Return the response of an operation's time to one scarce resource; None without runs."""
    by_level: dict[Scarcity, list[_Timed]] = {}
    for timed_run in timed:
        scarcity = scarcity_of(timed_run.request)
        if scarcity is not None and (scarcity.resource, scarcity.method) == of:
            by_level.setdefault(scarcity, []).append(timed_run)
    if not by_level:
        return None
    # Time that a CPU quota holds back is counted as a wait for a CPU, and is the quota's effect.
    raw = of == (CPU, "limited")
    observed = [timed_run.observed(1.0, raw=raw) for timed_run in free]
    levels = []
    for scarcity, runs in by_level.items():
        factors = {
            timed_run.of.run.id: times_as_scarce(scarcity, timed_run.of.run.facts, capacities)
            for timed_run in runs
        }
        levels.append(_level(scarcity, runs, free, factors))
        observed += [
            timed_run.observed(factor, raw=raw)
            for timed_run in runs
            if (factor := factors[timed_run.of.run.id]) is not None and _counts(timed_run, factor)
        ]
    levels.sort(key=lambda level: level.factor or 0.0)
    fit = elasticity(observed) if len(observed) > len(free) else None
    return TimeResponse(*of, tuple(levels), fit, _at_most(of[1], fit, levels))


def _counts(timed_run: _Timed, factor: float | None) -> bool:
    """Return True if a limit made the resource scarce: one above the capacity does not."""
    return factor is not None and factor > 1 and without_effect(timed_run.of.checks) is None


def _level(
    scarcity: Scarcity,
    runs: Sequence[_Timed],
    free: Sequence[_Timed],
    factors: Mapping[str, float | None],
) -> Level:
    base = {timed_run.of.round: timed_run.seconds for timed_run in free}
    pairs = [
        (base[timed_run.of.round], timed_run.seconds)
        for timed_run in runs
        if timed_run.of.round in base
    ]
    factor, time = spread(factors.values()), spread(timed_run.seconds for timed_run in runs)
    assert time is not None  # noqa: S101 - a level is of runs that were timed
    doubts = [
        doubt_text for timed_run in runs if (doubt_text := without_effect(timed_run.of.checks))
    ]
    reason = None
    if not any(_counts(timed_run, factors[timed_run.of.run.id]) for timed_run in runs):
        unknown = "what there is of it is not known"
        enough = "it allows more than there is, so it limits nothing"
        reason = doubts[0] if doubts else unknown if factor is None else enough
    middle = None if factor is None else factor.middle
    doubt = next((text for timed_run in runs if (text := doubt_of(timed_run.of.checks))), None)
    change = gain_over(pairs) if pairs else None
    return Level(scarcity.text, middle, time, change, reason, None if reason else doubt)


def _at_most(method: Method, fit: Elasticity | None, levels: Sequence[Level]) -> float | None:
    """Return the largest effect that a limit cannot exclude, because of saved-up allowance."""
    if method == "slowed" or fit is None or fit.shape == "serial":
        return None
    if fit.binds_below is not None:
        return -fit.binds_below
    scarcest = max(
        (level.factor for level in levels if level.factor and not level.left_out), default=None
    )
    return None if scarcest is None else -1 / scarcest


def _chosen(answers: Sequence[TimeResponse], resource: str) -> TimeResponse | None:
    """Return the response by slowing, unless that to a limit is clearly stronger.

    Each method can only underestimate an effect: read-ahead during stops is not slowed, and a
    fine mixture of CPU and disk use is hardly limited.
    """
    by_method = {
        response.method: response
        for response in answers
        if response.resource == resource and response.elasticity is not None
    }
    slowed, limited = by_method.get("slowed"), by_method.get("limited")
    if slowed is None or limited is None:
        return slowed or limited
    return limited if _clearly_more(limited.elasticity, slowed.elasticity) else slowed


def _clearly_more(left: Elasticity | None, right: Elasticity | None) -> bool:
    if left is None or right is None or left.interval is None or right.interval is None:
        return False
    return left.shape == "serial" and left.interval[1] < right.interval[0]


def _total(
    chosen: Iterable[TimeResponse],
) -> tuple[float | None, tuple[float, float] | None]:
    fits = [
        response.elasticity.fit
        for response in chosen
        # A resource that binds only below a level takes no part of the present time.
        if response.elasticity is not None and response.elasticity.shape != "kinked"
    ]
    return total(fits) if fits else (None, None)


def _unmeasured(
    answers: Sequence[TimeResponse], chosen: Mapping[str, TimeResponse], demand: Demand | None
) -> dict[str, str]:
    """Return why a resource that may limit the operation has no elasticity."""
    reasons_by_resource = {}
    for resource in (CPU, DISK):
        if resource in chosen:
            continue
        reasons = [
            level.left_out
            for answer in answers
            if answer.resource == resource
            for level in answer.levels
            if level.left_out
        ]
        if reasons:
            reasons_by_resource[resource] = reasons[0]
        elif resource == DISK and reads_nothing(demand):
            reasons_by_resource[resource] = "it reads nothing from it"
        else:
            reasons_by_resource[resource] = "it was not varied"
    return reasons_by_resource


def reads_nothing(demand: Demand | None) -> bool:
    """Return True if an operation is known to read almost nothing from the disk."""
    return (
        demand is not None and demand.read_bytes is not None and demand.read_bytes < READ_BYTES_MIN
    )
