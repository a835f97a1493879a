"""The steps of a diagnosis: each step tries causes on top of the changes adopted before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from assay.analysis.operations import geometric_mean
from assay.analysis.try_.trial import judged_times, times_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.analysis.diagnose.judging import Judgement
    from assay.model.finding import Finding
    from assay.record.reader import Run

# Reasons for which a diagnosis ended.
Ending = Literal["no cause left", "budget", "nothing can be tried"]


@dataclass(frozen=True)
class Tried:
    """One cause of lost time and the experiment that removes it.

    Attributes:
        cause: The finding that names the cause.
        change: Short description of the change.
        kind: Kind of experiment.
        judgement: Result of the experiment.
        rounds: Pairs of runs before and with the change.
        takes_back: Name of the kept change that the change leaves out again; None for others.
    """

    cause: Finding
    change: str
    kind: str
    judgement: Judgement
    rounds: tuple[tuple[Run, Run], ...]
    takes_back: str | None = None


@dataclass(frozen=True)
class Untried:
    """One cause of lost time without an experiment, and the reason."""

    cause: Finding
    why: str
    change: str | None = None


@dataclass(frozen=True)
class Step:
    """One step of a diagnosis: the causes of one run, tried side by side.

    Attributes:
        run: The run whose findings name these causes.
        on_top_of: Changes that earlier steps adopted, in their order.
        tried: Tried causes, in the order of their start.
        untriable: Causes for which no experiment is available.
        left_out: Causes for which the time limit was too short.
        kept: The cause whose change later steps adopt; None if no change is adopted.
    """

    run: Run
    on_top_of: tuple[str, ...]
    tried: tuple[Tried, ...]
    untriable: tuple[Untried, ...]
    left_out: tuple[Untried, ...]
    kept: Tried | None


@dataclass(frozen=True)
class Shortage:
    """The time limit that a diagnosis needs for its first verdict, if its own is too short.

    Attributes:
        rounds: Smallest number of rounds with which a verdict is possible.
        enough_s: Seconds that these rounds and everything before them take.
    """

    rounds: int
    enough_s: float


@dataclass(frozen=True)
class Way:
    """All steps of a diagnosis, and the reason why it ended.

    Attributes:
        steps: The steps in their order, at least one.
        ending: Reason for the end of the diagnosis.
        last: The run with all adopted changes. The findings of this run are the remaining
            causes.
        shortage: Time limit for verdicts by the measured noise; None if the limit did not seem too
            short.
    """

    steps: tuple[Step, ...]
    ending: Ending
    last: Run
    shortage: Shortage | None = None


@dataclass(frozen=True)
class Point:
    """The run time after one more change was adopted.

    Attributes:
        change: The change that was adopted last; None means no change yet.
        seconds: Seconds of all operations: the geometric mean over runs.
        runs: Number of runs in this mean.
    """

    change: str | None
    seconds: float
    runs: int


def points(steps: Sequence[Step]) -> list[Point]:
    """Return the run time before any change and after each adopted change.

    The result is empty if no change was adopted. A run with the adopted change and an unchanged
    run of the next step have equal settings, so both count.
    """
    kept = [step.kept for step in steps if step.kept is not None]
    if not kept:
        return []
    progress = []
    for number in range(len(kept) + 1):
        runs = {after.id: after for _, after in kept[number - 1].rounds} if number else {}
        if number < len(steps):
            # A run whose resource is slowed has a baseline of its own.
            removing = (t for t in steps[number].tried if t.judgement.dependence is None)
            runs |= {before.id: before for tried in removing for before, _ in tried.rounds}
        wholes = [whole for run in runs.values() if (whole := _whole_s(run)) is not None]
        seconds = geometric_mean(wholes)
        if seconds is not None:
            change = kept[number - 1].change if number else None
            progress.append(Point(change, seconds, len(wholes)))
    return progress


def _whole_s(run: Run) -> float | None:
    times = times_of(run)
    return judged_times([(times, times)], ())[1][0][0]


def interactions(steps: Sequence[Step]) -> Iterator[str]:
    """Yield a sentence for each pair of changes whose effects are not independent.

    A change is tried alone and again on top of another. An interaction exists if its gain
    disappears, or appears only then. If a change would remove several causes, each is compared with
    itself.
    """
    yield from dict.fromkeys(_interactions(steps))


def _interactions(steps: Sequence[Step]) -> Iterator[str]:
    seen: dict[tuple[str, str], tuple[Step, Tried]] = {}
    for step in steps:
        for tried in step.tried:
            of = tried.change, tried.cause.key
            if (earlier := seen.get(of)) is not None:
                yield from _between(*earlier, step, tried)
            if tried.takes_back is not None and tried.judgement.verdict == "confirmed":
                yield _no_longer_needed(step, tried.takes_back)
            seen[of] = step, tried


def _no_longer_needed(step: Step, change: str) -> str:
    later = step.on_top_of[step.on_top_of.index(change) + 1 :]
    return (
        f"{change} saves time by itself, and is no longer needed once there is {', '.join(later)}"
    )


def _between(first: Step, alone: Tried, later: Step, on_top: Tried) -> Iterator[str]:
    added = ", ".join(name for name in later.on_top_of if name not in first.on_top_of)
    verdicts = alone.judgement.verdict, on_top.judgement.verdict
    if verdicts == ("confirmed", "refuted"):
        gain = on_top.judgement.gain
        harms = gain is not None and gain.interval is not None and gain.interval[1] < 0
        undone = "makes it slower" if harms else "saves nothing more"
        yield f"{alone.change} saves time by itself, and {undone} once there is {added}"
    elif verdicts == ("refuted", "confirmed"):
        yield f"{alone.change} saves nothing by itself, and saves time together with {added}"
