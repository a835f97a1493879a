"""What bounds an operation: how its time answers to each resource, and what is left.

Invariant: a level that did not take effect is in no elasticity, and is told.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from assay.analysis.figures.quantities import spread
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

    from assay.analysis.figures.contract import Spread, StudyRun
    from assay.analysis.host.roofline import Placed

METHODS: tuple[Method, ...] = ("slowed", "limited")
# Reads of so few bytes are of what the engine writes down of itself.
READ_BYTES_MIN = 64 << 10


@dataclass(frozen=True)
class Level:
    """One level of scarcity.

    Attributes:
        name: In words.
        factor: How many times as scarce; None where the capacity is not known.
        time: Seconds over the rounds.
        change: Against the unhindered run of the same round.
        left_out: Why it is in no elasticity; None: it is.
        doubt: What a check doubts of one that is.
    """

    name: str
    factor: float | None
    time: Spread
    change: Gain | None
    left_out: str | None = None
    doubt: str | None = None


@dataclass(frozen=True)
class TimeResponse:
    """How time answers to a resource that is made scarce by one method.

    Attributes:
        levels: The least scarce first.
        elasticity: None where no level took effect.
        at_most: How negative it may be in truth where a limit lets a fine mixture pass.
    """

    resource: str
    method: Method
    levels: tuple[Level, ...]
    elasticity: Elasticity | None
    at_most: float | None = None


@dataclass(frozen=True)
class Diagnosis:
    """What bounds an operation.

    Attributes:
        time: Seconds as it is, over the rounds.
        demand: What it takes of each resource.
        waited_share: Of its time it was ready and had no CPU; no elasticity has that in it.
        answers: By every method that was used.
        chosen: By resource the answer that counts.
        unmeasured: By resource why there is none.
        total: Sum of the elasticities that count.
        interval: Of the sum.
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
        """The elasticity that counts of a resource; None: not measured."""
        answer = self.chosen.get(resource)
        told = None if answer is None else answer.elasticity
        return None if told is None else told.value


def operations_of(runs: Iterable[StudyRun]) -> list[str]:
    """Operations that were played in all runs, in the order of the first."""
    played = [list(one.run.facts["plan"]["operations"]) for one in runs]
    return [name for name in played[0] if all(name in one for one in played)] if played else []


def diagnose(
    runs: Sequence[StudyRun],
    operation: str,
    placed: Placed | None = None,
    known: Mapping[str, float] | None = None,
) -> Diagnosis | None:
    """What runs at several levels of scarcity say of an operation.

    Args:
        runs: Asked for alike but for what was scarce, in rounds.
        operation: Its name.
        placed: Its unhindered reads beside what the disk gives; None: nobody looked.
        known: Capacities by option of `--limit`, in its unit, that are known otherwise.

    Returns:
        None where it did not succeed in an unhindered run.
    """
    timed = [told for run in runs if (told := _timed(run, operation)) is not None]
    free = [one for one in timed if is_unhindered(one.request)]
    time = spread(one.seconds for one in free)
    if time is None:
        return None
    demand = demand_of([one.of.run for one in free], operation)
    capacities = {**capacities_of(demand, placed), **(known or {})}
    answers = tuple(
        answer
        for resource in TITLES
        for method in METHODS
        if (answer := _answer(timed, free, (resource, method), capacities)) is not None
    )
    chosen = {name: one for name in TITLES if (one := _chosen(answers, name)) is not None}
    value, interval = _total(chosen.values())
    return Diagnosis(
        operation,
        time,
        demand,
        median(one.waited_share for one in free),
        answers,
        chosen,
        _unmeasured(answers, chosen, demand),
        value,
        interval,
    )


@dataclass(frozen=True)
class _Timed:
    """A run in which the operation succeeded.

    Attributes:
        waited_share: Of its time it was ready and had no CPU.
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


def _timed(one: StudyRun, operation: str) -> _Timed | None:
    seconds = times_of(one.run).operations.get(operation)
    if not seconds:
        return None
    return _Timed(one, seconds, waiting_shares(one.run).get(operation, 0.0))


def _answer(
    timed: Sequence[_Timed],
    free: Sequence[_Timed],
    of: tuple[str, Method],
    capacities: Mapping[str, float],
) -> TimeResponse | None:
    """The answer to one resource by one method; None where no run made it scarce so."""
    by_level: dict[Scarcity, list[_Timed]] = {}
    for one in timed:
        scarcity = scarcity_of(one.request)
        if scarcity is not None and (scarcity.resource, scarcity.method) == of:
            by_level.setdefault(scarcity, []).append(one)
    if not by_level:
        return None
    # What a quota of CPU time holds back is counted as waiting for a CPU: that is its effect.
    raw = of == (CPU, "limited")
    observed = [one.observed(1.0, raw=raw) for one in free]
    levels = []
    for scarcity, runs in by_level.items():
        factors = {
            one.of.run.id: times_as_scarce(scarcity, one.of.run.facts, capacities) for one in runs
        }
        levels.append(_level(scarcity, runs, free, factors))
        observed += [
            one.observed(factor, raw=raw)
            for one in runs
            if (factor := factors[one.of.run.id]) is not None and _counts(one, factor)
        ]
    levels.sort(key=lambda one: one.factor or 0.0)
    found = elasticity(observed) if len(observed) > len(free) else None
    return TimeResponse(*of, tuple(levels), found, _at_most(of[1], found, levels))


def _counts(one: _Timed, factor: float | None) -> bool:
    """Whether something was scarce in a run: a limit above what there is limits nothing."""
    return factor is not None and factor > 1 and without_effect(one.of.checks) is None


def _level(
    scarcity: Scarcity,
    runs: Sequence[_Timed],
    free: Sequence[_Timed],
    factors: Mapping[str, float | None],
) -> Level:
    base = {one.of.round: one.seconds for one in free}
    pairs = [(base[one.of.round], one.seconds) for one in runs if one.of.round in base]
    factor, time = spread(factors.values()), spread(one.seconds for one in runs)
    assert time is not None  # noqa: S101 - a level is of runs that were timed
    doubts = [words for one in runs if (words := without_effect(one.of.checks))]
    reason = None
    if not any(_counts(one, factors[one.of.run.id]) for one in runs):
        unknown = "what there is of it is not known"
        enough = "it allows more than there is, so it limits nothing"
        reason = doubts[0] if doubts else unknown if factor is None else enough
    middle = None if factor is None else factor.middle
    doubt = next((words for one in runs if (words := doubt_of(one.of.checks))), None)
    change = gain_over(pairs) if pairs else None
    return Level(scarcity.words, middle, time, change, reason, None if reason else doubt)


def _at_most(method: Method, found: Elasticity | None, levels: Sequence[Level]) -> float | None:
    """What a limit cannot rule out: a part of the time so small that its credit covers it."""
    if method == "slowed" or found is None or found.shape == "serial":
        return None
    if found.binds_below is not None:
        return -found.binds_below
    scarcest = max((one.factor for one in levels if one.factor and not one.left_out), default=None)
    return None if scarcest is None else -1 / scarcest


def _chosen(answers: Sequence[TimeResponse], resource: str) -> TimeResponse | None:
    """Slowing is exact of whatever waits for its turn; a limit counts where it shows clearly more.

    Each of the two can only show too little: what a disk reads ahead is not slowed, and what is
    mixed finely is not limited.
    """
    by_method = {
        one.method: one
        for one in answers
        if one.resource == resource and one.elasticity is not None
    }
    slowed, limited = by_method.get("slowed"), by_method.get("limited")
    if slowed is None or limited is None:
        return slowed or limited
    return limited if _clearly_more(limited.elasticity, slowed.elasticity) else slowed


def _clearly_more(one: Elasticity | None, other: Elasticity | None) -> bool:
    if one is None or other is None or one.interval is None or other.interval is None:
        return False
    return one.shape == "serial" and one.interval[1] < other.interval[0]


def _total(
    chosen: Iterable[TimeResponse],
) -> tuple[float | None, tuple[float, float] | None]:
    fits = [
        one.elasticity.fit
        for one in chosen
        # What is bound only below a level takes no part of the time as it is.
        if one.elasticity is not None and one.elasticity.shape != "kinked"
    ]
    return total(fits) if fits else (None, None)


def _unmeasured(
    answers: Sequence[TimeResponse], chosen: Mapping[str, TimeResponse], demand: Demand | None
) -> dict[str, str]:
    """Why there is no elasticity of a resource that it might be bound by."""
    told = {}
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
            told[resource] = reasons[0]
        elif resource == DISK and reads_nothing(demand):
            told[resource] = "it reads nothing from it"
        else:
            told[resource] = "it was not varied"
    return told


def reads_nothing(demand: Demand | None) -> bool:
    """Whether an operation is known to read nothing to speak of from the disk."""
    return (
        demand is not None and demand.read_bytes is not None and demand.read_bytes < READ_BYTES_MIN
    )
