"""Judges a cause of lost time by rounds of runs with and without the change that removes it.

Gains are shares of time: 0.25 means that 25 % of the time is saved. The interval is valid after
any number of rounds (`stats.anytime`), so the experiment may stop as soon as it is conclusive.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from assay.analysis.operations import geometric_mean
from assay.analysis.stats.anytime import Sample, bounded_interval, sample_interval, values_min
from assay.analysis.try_.trial import Gain, judged_times

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.analysis.try_.trial import Times

CauseVerdict = Literal["confirmed", "refuted", "undecided"]
# Probability of any wrong verdict on the causes of one step.
ALPHA = 0.05
# A smaller gain is useless, and few hosts have less noise for long.
GAIN_MIN = 0.03
# Assumed upper bound of the noise: the standard deviation of the logarithm of a round's ratio of
# times. Two thirds of the runs then take at most 1.5 times as long or as short as usual.
NOISE_MAX = math.sqrt(2) * math.log(1.5)
# Part of the error probability for intervals that rest on this bound. They are short enough for
# large gains after two rounds; with more rounds, the measured noise gives shorter ones.
BOUNDED_PART = 0.2
# If more rounds would be needed, their number is not reported.
ROUNDS_MAX = 200
# Maximum rounds of one cause in a step of a diagnosis.
TRIED_ROUNDS_MAX = 12
# Another operation counts as slower if it loses more than this share of its time.
SLOWER_MIN = 0.05
# A resource on which less of the time depends does not bound a run.
DEPENDS_MIN = 0.1


@dataclass(frozen=True)
class Slower:
    """An operation that a change makes slower beyond noise.

    Attributes:
        operation: Name of the operation.
        share: Lower bound of the extra time, as a share of the operation's time.
        lost_s: Lower bound of the extra seconds in a round.
    """

    operation: str
    share: float
    lost_s: float


@dataclass(frozen=True)
class Dependence:
    """The share of the time that depends on a resource: the elasticity of the time to it.

    Attributes:
        share: Share of the time, 0 to 1 within noise.
        interval: Interval of the share that is valid after any number of rounds; None with too few
            rounds.
    """

    share: float
    interval: tuple[float, float] | None


@dataclass(frozen=True)
class Judgement:
    """The verdict on one cause of lost time, with its evidence.

    Attributes:
        verdict: Result of the rounds.
        operations: Operations whose times were added up; empty means the whole run.
        gain: Saved share of the time of these operations, with an interval that is valid after
            any number of rounds; None if no round was compared.
        whole: Saved share of the time of all operations.
        rounds: Number of compared rounds.
        rounds_needed: Number of rounds that would suffice for a verdict with the present
            variation; None if the verdict is clear, more than `ROUNDS_MAX` are needed, or it is
            not known.
        by_plan: Whether the cause was refuted because no plan changed.
        slower: Other operations that take longer.
        dependence: Share of the time that depends on a resource that was slowed; None for changes
            that remove a cause.
        gain_min: Smallest gain that counts, as a share of the time.
        loss_min: Smallest loss that counts, for a change that leaves out an earlier one; None for
            other changes.
    """

    verdict: CauseVerdict
    operations: tuple[str, ...] = ()
    gain: Gain | None = None
    whole: Gain | None = None
    rounds: int = 0
    rounds_needed: int | None = None
    by_plan: bool = False
    slower: tuple[Slower, ...] = ()
    dependence: Dependence | None = None
    gain_min: float = GAIN_MIN
    loss_min: float | None = None

    @property
    def saved_s(self) -> float:
        """Saved seconds of a round, minus the minimum extra seconds of other operations.

        The time of the whole run counts only if it is longer beyond noise, because noise of the
        other operations would hide a small gain.
        """
        if self.gain is None:
            return 0.0
        whole = self.whole
        if whole is not None and whole.interval is not None and whole.interval[1] < 0:
            return whole.before_s - whole.after_s
        # The time of the whole run already contains the operations that take longer. Under a load
        # it is the time per operation, which depends on how often each is executed.
        lost_s = math.fsum(op.lost_s for op in self.slower) if self.operations else 0.0
        return self.gain.before_s - self.gain.after_s - lost_s


def judge(
    rounds: Sequence[tuple[Times, Times]],
    operations: Sequence[str],
    alpha: float = ALPHA,
    *,
    gain_min: float = GAIN_MIN,
    plans_stayed: bool = False,
) -> Judgement:
    """Return the verdict on a cause from rounds of (run before, run after the change).

    Args:
        rounds: Rounds in which both runs succeeded, in their order.
        operations: Operations that the cause concerns; empty means all.
        alpha: Probability of a wrong verdict, over all interim evaluations together.
        gain_min: Smallest gain that counts, as a share of the time.
        plans_stayed: Whether the change acts only through plans and no plan changed.
    """
    if not rounds:
        return Judgement("undecided")
    names, pairs = judged_times(rounds, operations)
    logs = _logs(pairs)
    gain = _gain(pairs, alpha)
    whole = _gain(judged_times(rounds, ())[1], alpha)
    slower = tuple(_slower(rounds, operations, alpha))
    if plans_stayed:
        return Judgement("refuted", names, gain, whole, len(rounds), by_plan=True, slower=slower)
    verdict = _verdict(gain, gain_min)
    needed = None
    if verdict == "undecided" and logs:
        mean = math.fsum(logs) / len(logs)
        # Distance of the mean from zero, or from the smallest gain that counts.
        needed = _rounds_needed(logs, alpha, max(-mean, mean - math.log(1 - gain_min)))
    return Judgement(
        verdict, names, gain, whole, len(rounds), needed, slower=slower, gain_min=gain_min
    )


def judge_superfluous(
    rounds: Sequence[tuple[Times, Times]], operations: Sequence[str], alpha: float = ALPHA
) -> Judgement:
    """Return the verdict on an earlier change from rounds of (run with it, run without it).

    The change is confirmed as superfluous if the loss without it is less than `SLOWER_MIN`, also of
    other operations. It is refuted as superfluous if the loss is larger.

    Args:
        rounds: Rounds in which both runs succeeded, in their order.
        operations: Operations for which the change was made; empty means all.
        alpha: Probability of a wrong verdict, over all interim evaluations together.
    """
    judged = judge(rounds, operations, alpha)
    if judged.gain is None:
        return replace(judged, loss_min=SLOWER_MIN)
    verdict: CauseVerdict = "undecided"
    if judged.gain.interval is not None:
        verdict = "confirmed" if judged.gain.interval[0] > -SLOWER_MIN else verdict
        intervals = (gain.interval for gain in (judged.gain, judged.whole) if gain is not None)
        is_longer = any(ends is not None and ends[1] < -SLOWER_MIN for ends in intervals)
        verdict = "refuted" if is_longer or judged.slower else verdict
    needed = None
    if verdict == "undecided":
        logs = _logs(judged_times(rounds, operations)[1])
        room = abs(math.fsum(logs) / len(logs) - math.log(1 + SLOWER_MIN))
        needed = _rounds_needed(logs, alpha, room)
    return replace(judged, verdict=verdict, rounds_needed=needed, loss_min=SLOWER_MIN)


def judge_slowed(
    rounds: Sequence[tuple[Times, Times]], factor: float, alpha: float = ALPHA
) -> Judgement:
    """Return the verdict on a resource from rounds of (run as fast as usual, run with it slowed).

    If a share e of the time depends on the resource, the run takes 1 + e (factor - 1) times as
    long. The resource is confirmed if e is at least `DEPENDS_MIN`, and refuted if it is less.

    Args:
        rounds: Rounds in which both runs succeeded, in their order.
        factor: Factor by which the resource was slowed, more than 1.
        alpha: Probability of a wrong verdict, over all interim evaluations together.
    """
    if not rounds:
        return Judgement("undecided")
    names, pairs = judged_times(rounds, ())
    logs, gain = _logs(pairs), _gain(pairs, alpha)
    if gain is None:
        return Judgement("undecided", names, None, None, len(rounds))
    interval = None
    if gain.interval is not None:
        # A gain of -1 means twice the time.
        low, high = (-end / (factor - 1) for end in reversed(gain.interval))
        interval = (low, high)
    dependence = Dependence(-gain.share / (factor - 1), interval)
    verdict = _dependence_verdict(dependence)
    needed = None
    if verdict == "undecided":
        mean = math.fsum(logs) / len(logs)
        room = abs(mean - math.log(1 + DEPENDS_MIN * (factor - 1)))
        needed = _rounds_needed(logs, alpha, room)
    return Judgement(verdict, names, gain, gain, len(rounds), needed, dependence=dependence)


def _dependence_verdict(dependence: Dependence) -> CauseVerdict:
    if dependence.interval is None:
        return "undecided"
    low, high = dependence.interval
    if high < DEPENDS_MIN:
        return "refuted"
    return "confirmed" if low >= DEPENDS_MIN else "undecided"


def _verdict(gain: Gain | None, gain_min: float) -> CauseVerdict:
    if gain is None or gain.interval is None:
        return "undecided"
    low, high = gain.interval
    if high < gain_min:
        return "refuted"
    return "confirmed" if low > 0 else "undecided"


def _logs(pairs: Sequence[tuple[float | None, float | None]]) -> list[float]:
    """Return the logarithms of the time ratio after / before; empty if a time is missing."""
    whole = [(before, after) for before, after in pairs if before and after]
    return [math.log(after / before) for before, after in whole] if len(whole) == len(pairs) else []


def _gain(pairs: Sequence[tuple[float | None, float | None]], alpha: float) -> Gain | None:
    logs = _logs(pairs)
    before_s = geometric_mean([before for before, _ in pairs if before])
    if not logs or before_s is None:
        return None
    times = math.exp(math.fsum(logs) / len(logs))
    ends = _ends(Sample.of(logs), alpha)
    interval = None if ends is None else (1 - math.exp(ends[1]), 1 - math.exp(ends[0]))
    return Gain(before_s, before_s * times, 1 - times, interval)


def rounds_min(alpha: float) -> int:
    """Return the smallest number of rounds with an interval by the measured noise."""
    return values_min((1 - BOUNDED_PART) * alpha)


def _ends(logs: Sample, alpha: float) -> tuple[float, float] | None:
    """Return the interval of the mean logarithm, by the measured noise or by its assumed bound."""
    measured = sample_interval(logs, (1 - BOUNDED_PART) * alpha)
    bounded = bounded_interval(logs, BOUNDED_PART * alpha, NOISE_MAX)
    if measured is None or bounded is None:
        return measured or bounded
    both = max(measured[0], bounded[0]), min(measured[1], bounded[1])
    return both if both[0] <= both[1] else measured


def _slower(
    rounds: Sequence[tuple[Times, Times]], about: Sequence[str], alpha: float
) -> Iterator[Slower]:
    """Yield the other operations that a change makes slower beyond noise."""
    every = [set(times.operations) for pair in rounds for times in pair]
    others = sorted(set.intersection(*every).difference(about))
    for name in others:
        pairs = [(before.operations[name], after.operations[name]) for before, after in rounds]
        gain = _gain(pairs, alpha / len(others))
        if gain is not None and gain.interval is not None and gain.interval[1] < -SLOWER_MIN:
            yield Slower(name, -gain.interval[1], -gain.interval[1] * gain.before_s)


def _rounds_needed(logs: Sequence[float], alpha: float, room: float) -> int | None:
    """Return the number of rounds needed for a verdict if later rounds vary like earlier ones.

    `room` is the distance of the logarithms' mean from the value that separates two verdicts.
    """
    seen = Sample.of(logs)
    if seen.count < 2:  # noqa: PLR2004 - one round has no spread
        return None
    for rounds in range(seen.count + 1, ROUNDS_MAX + 1):
        ends = _ends(replace(seen, count=rounds), alpha)
        if ends is not None and (ends[1] - ends[0]) / 2 < room:
            return rounds
    return None
