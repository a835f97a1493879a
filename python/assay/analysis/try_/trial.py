"""Compares runs with advice against runs without it, round by round.

Gains are shares of time: 0.25 means that 25 % of the time is saved. Each round is compared
separately, because both of its runs were executed side by side (`rounds`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import polars as pl

from assay.analysis.load.latency import measured_times, succeeded
from assay.analysis.load.summary import summarise_load
from assay.analysis.load_plan import OPEN, load_of
from assay.analysis.operations import NS, geometric_mean, operation_table
from assay.analysis.stats.rounds import factor_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from assay.model.finding import Advice
    from assay.record.reader import Run

# A prediction counts as right if the measured gain is within this factor of it.
HIT_FACTOR = 1.5

TryOutcome = Literal[
    "came true", "smaller", "larger", "no gain", "slower", "gain", "undecided", "not compared"
]
MISSES: tuple[TryOutcome, ...] = ("smaller", "larger", "no gain", "slower")


@dataclass(frozen=True)
class Gain:
    """The time that a change saves on the same operations.

    Attributes:
        before_s, after_s: Seconds before and after the change: geometric means over the rounds.
        share: Saved share of `before_s`; negative if it takes longer.
        interval: 95 % interval of the share; None with one round.
    """

    before_s: float
    after_s: float
    share: float
    interval: tuple[float, float] | None


@dataclass(frozen=True)
class OperationGain:
    """The time saved on one operation; `predicted` is None if nothing was predicted."""

    operation: str
    predicted: float | None
    gain: Gain | None


@dataclass(frozen=True)
class Judged:
    """The predicted and the measured saving on which a verdict is based.

    Attributes:
        operations: Operations whose times are added up; empty means the whole run.
        predicted: Predicted saving as a share of these operations' time; None if not predicted.
        gain: Measured gain; None if not compared.
    """

    operations: tuple[str, ...]
    predicted: float | None
    gain: Gain | None


@dataclass(frozen=True)
class Trial:
    """The outcome of trying an advised change in several rounds.

    Attributes:
        predicted: Predicted saving as a share of the whole time; None if not predicted.
        gain: Measured gain; None if no operation succeeded in all runs.
        operations: Operations that the finding concerns.
        judged: Figures of the verdict: those of these operations, or of the whole.
        verdict: Result of the trial.
        left_out: Operations that did not succeed in every run; no total includes them.
    """

    predicted: float | None
    gain: Gain | None
    operations: tuple[OperationGain, ...]
    judged: Judged
    verdict: TryOutcome
    left_out: tuple[str, ...] = ()

    @property
    def hit(self) -> bool | None:
        """True if the predicted saving came true; None if not known."""
        if self.judged.predicted is None or self.verdict in {"undecided", "not compared"}:
            return None
        return self.verdict not in MISSES


@dataclass(frozen=True)
class Times:
    """The times of the operations of a run, as the basis of comparisons.

    Attributes:
        operations: Seconds of each successful operation: the median over passes, or the mean
            under a load.
        whole_s: Seconds per operation of a load: the inverse of the throughput of a closed load,
            or the mean latency of an open load; None without a load, where the whole is the sum.
    """

    operations: Mapping[str, float]
    whole_s: float | None = None


def times_of(run: Run) -> Times:
    """Return the times of a run's measured part."""
    load = load_of(run.facts)
    if load is None:
        rows = operation_table(run.table("events")).select("operation", "seconds", "failed")
        medians = {name: seconds for name, seconds, failed in rows.iter_rows() if not failed}
        return Times({name: seconds for name, seconds in medians.items() if seconds})
    done = succeeded(measured_times(run.table("events")))
    operations = _means(done)
    if load.shape == OPEN:
        mean_ns = done["latency_ns"].mean()
        return Times(operations, mean_ns * NS if isinstance(mean_ns, float) else None)
    summary = summarise_load(run)
    per_s = summary.all_operations.throughput_per_s if summary else 0.0
    return Times(operations, 1 / per_s if per_s else None)


def times_for(advice: Advice | None, run: Run) -> Times:
    """Return the times of a run's measured part by which the effect of an advice is judged.

    A change of the number of clients is judged by the seconds that an operation of a closed load
    takes its client: one client alone may need less time for an operation although the engine
    completes fewer operations per second.
    """
    times, load = times_of(run), load_of(run.facts)
    if advice is None or not advice.is_per_client or load is None or load.shape == OPEN:
        return times
    return times if times.whole_s is None else replace(times, whole_s=times.whole_s * load.clients)


def mean_times_of(run: Run) -> Times:
    """Return the times of a run's measured part, with means instead of medians over passes.

    A slowed run needs means: an engine that is stopped for milliseconds at a time does not slow
    each of many short executions.
    """
    if load_of(run.facts) is not None:
        return times_of(run)
    return Times(_means(succeeded(measured_times(run.table("events")))))


def _means(done: pl.DataFrame) -> dict[str, float]:
    """Return the mean service time in seconds of each operation."""
    means = (
        done.group_by("operation", maintain_order=True)
        .agg(pl.col("service_ns").mean() * NS)
        .sort("operation")
    )
    return {str(name): seconds for name, seconds in means.iter_rows() if seconds}


def judge_trial(
    rounds: Sequence[tuple[Times, Times]],
    predicted: float | None,
    operations: Sequence[str],
    measured: Gain | None = None,
) -> Trial:
    """Return the verdict on a prediction from rounds of (before, after the change).

    Args:
        rounds: At least one round.
        predicted: Predicted saving as a share of the whole time.
        operations: Operations that the finding names; empty means all.
        measured: Gain of the judged times, if its interval was computed elsewhere; None means an
            interval for a number of rounds that was chosen before the trial.
    """
    every = [set(times.operations) for pair in rounds for times in pair]
    common, seen = set.intersection(*every), set.union(*every)
    whole = gain_over([(_whole(before, common), _whole(after, common)) for before, after in rounds])
    named = [name for name in operations if name in seen]
    compared = [name for name in named if name in common]
    operation_predicted = _each_predicted(predicted, whole, rounds, compared)
    about = tuple(
        OperationGain(
            name,
            operation_predicted if name in common else None,
            gain_over([(b.operations.get(name), a.operations.get(name)) for b, a in rounds]),
        )
        for name in named
    )
    judged_names, pairs = judged_times(rounds, operations)
    is_of_names = named and rounds[0][0].whole_s is None
    judged = Judged(
        judged_names,
        operation_predicted if is_of_names else predicted,
        gain_over(pairs) if measured is None else measured,
    )
    left_out = tuple(sorted(seen - common))
    verdict = _verdict(judged.predicted, judged.gain)
    return Trial(predicted, whole, about, judged, verdict, left_out)


def judged_times(
    rounds: Sequence[tuple[Times, Times]], operations: Sequence[str]
) -> tuple[tuple[str, ...], list[tuple[float | None, float | None]]]:
    """Return the times before and after a change in each round, for its verdict.

    Without a load, these are the sums over the operations that the change concerns. For a load,
    and if no operation is named, they are the times of the whole.

    Args:
        rounds: At least one round.
        operations: Operations that the change concerns; empty means all.

    Returns:
        The operations that are added up (empty for the whole), and the pairs in seconds.
    """
    every = [set(times.operations) for pair in rounds for times in pair]
    common, seen = set.intersection(*every), set.union(*every)
    if any(name in seen for name in operations) and rounds[0][0].whole_s is None:
        compared = tuple(name for name in operations if name in common)
        return compared, [(_sum(b, compared), _sum(a, compared)) for b, a in rounds]
    return (), [(_whole(before, common), _whole(after, common)) for before, after in rounds]


def _whole(times: Times, names: Iterable[str]) -> float | None:
    return times.whole_s if times.whole_s is not None else _sum(times, names)


def _sum(times: Times, names: Iterable[str]) -> float | None:
    return math.fsum(times.operations[name] for name in names) or None


def gain_over(rounds: Sequence[tuple[float | None, float | None]]) -> Gain | None:
    """Return the time saved over the rounds; None if a round lacks a time."""
    pairs = [(before, after) for before, after in rounds if before and after]
    if len(pairs) < len(rounds):
        return None
    change = factor_of([after / before for before, after in pairs])
    before_s = geometric_mean([before for before, _ in pairs])
    if change is None or before_s is None:
        return None
    low, high = change.interval or (None, None)
    interval = None if low is None or high is None else (1 - high, 1 - low)
    return Gain(before_s, before_s * change.times, 1 - change.times, interval)


def _each_predicted(
    predicted: float | None,
    whole: Gain | None,
    rounds: Sequence[tuple[Times, Times]],
    names: Sequence[str],
) -> float | None:
    """Return the predicted saving of each named operation, if it is equal for all.

    The prediction applies only without a load, because the operations' times in a load do not
    sum to the whole.
    """
    if predicted is None or whole is None or rounds[0][0].whole_s is not None or not names:
        return None
    of_names = sum(before.operations[name] for before, _ in rounds for name in names) / len(rounds)
    return min(1.0, predicted * whole.before_s / of_names)


def _verdict(predicted: float | None, gain: Gain | None) -> TryOutcome:
    if gain is None:
        return "not compared"
    if gain.interval is None:
        return "undecided"
    low, high = gain.interval
    if high < 0:
        return "slower"
    if predicted is None:
        return "gain" if low > 0 else "no gain"
    # An interval as wide as the prediction includes it by chance, so noise would count as a hit.
    if low <= predicted <= high and high - low >= predicted:
        return "undecided"
    return "no gain" if low <= 0 else _against(predicted, gain, gain.interval)


def _against(predicted: float, gain: Gain, interval: tuple[float, float]) -> TryOutcome:
    """Return the verdict on a measured saving, compared with its prediction."""
    low, high = interval
    near = predicted / HIT_FACTOR <= gain.share <= predicted * HIT_FACTOR
    if near or low <= predicted <= high:
        return "came true"
    return "smaller" if gain.share < predicted else "larger"
