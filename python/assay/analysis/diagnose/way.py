"""The way down: causes that were tried in steps, each on top of the changes kept before. Pure."""

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

# Why the way ended.
Ending = Literal["no cause left", "budget", "nothing can be tried"]


@dataclass(frozen=True)
class Tried:
    """One cause and the experiment on it.

    Attributes:
        cause: The finding that claims the cause.
        change: Short description of the change.
        kind: Kind of experiment.
        judgement: Result of the experiment.
        rounds: Runs before and with the change, side by side.
    """

    cause: Finding
    change: str
    kind: str
    judgement: Judgement
    rounds: tuple[tuple[Run, Run], ...]


@dataclass(frozen=True)
class Untried:
    """A cause without an experiment, and the reason."""

    cause: Finding
    why: str
    change: str | None = None


@dataclass(frozen=True)
class Step:
    """The causes of one run, tried side by side.

    Attributes:
        run: The run that has these causes.
        on_top_of: Changes that were kept before, in their order.
        tried: Tried causes, in the order of their start.
        untriable: Causes for which there is no experiment here.
        left_out: Causes for which the time limit was too short.
        kept: The cause whose change later steps keep; None if no change is kept.
    """

    run: Run
    on_top_of: tuple[str, ...]
    tried: tuple[Tried, ...]
    untriable: tuple[Untried, ...]
    left_out: tuple[Untried, ...]
    kept: Tried | None


@dataclass(frozen=True)
class Way:
    """All steps of a diagnosis, and why it ended.

    Attributes:
        steps: The steps in their order, at least one.
        ending: Reason for the end.
        last: The run with all kept changes. Its findings are the remaining causes.
    """

    steps: tuple[Step, ...]
    ending: Ending
    last: Run


@dataclass(frozen=True)
class Point:
    """The time with the changes that were kept so far.

    Attributes:
        change: The change that was kept last. None means no change yet.
        seconds: Seconds of the whole, the geometric mean over runs.
        runs: Number of runs.
    """

    change: str | None
    seconds: float
    runs: int


def points(steps: Sequence[Step]) -> list[Point]:
    """Return the time before any change and after each kept change; empty without kept changes.

    A run with the kept change and an unchanged run of the next step have equal settings, so both
    count.
    """
    kept = [step.kept for step in steps if step.kept is not None]
    if not kept:
        return []
    found = []
    for number in range(len(kept) + 1):
        runs = {after.id: after for _, after in kept[number - 1].rounds} if number else {}
        if number < len(steps):
            runs |= {b.id: b for tried in steps[number].tried for b, _ in tried.rounds}
        wholes = [whole for run in runs.values() if (whole := _whole_s(run)) is not None]
        seconds = geometric_mean(wholes)
        if seconds is not None:
            change = kept[number - 1].change if number else None
            found.append(Point(change, seconds, len(wholes)))
    return found


def _whole_s(run: Run) -> float | None:
    times = times_of(run)
    return judged_times([(times, times)], ())[1][0][0]


def interactions(steps: Sequence[Step]) -> Iterator[str]:
    """Yield a sentence for each interaction between changes.

    An interaction shows if a change was tried alone and again together with another: its gain
    disappears, or appears only then.
    """
    seen: dict[str, tuple[Step, Tried]] = {}
    for step in steps:
        for tried in step.tried:
            if (earlier := seen.get(tried.change)) is not None:
                yield from _between(*earlier, step, tried)
            seen[tried.change] = step, tried


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
