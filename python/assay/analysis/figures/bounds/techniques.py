"""What each technique of planner and executor is worth: times without it, over times with all."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from assay.analysis.ablation.techniques import in_all, worths
from assay.analysis.figures.contract import Chart, Column, Figure, Measure, Spread, Table
from assay.analysis.figures.metrics import seconds_of
from assay.analysis.figures.quantities import COUNT, SECONDS, TIMES, listed, text
from assay.analysis.figures.subjects import subjects_of
from assay.analysis.plans.recorded import read_plans
from assay.analysis.plans.shape import same_shape

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.analysis.ablation.techniques import Worth
    from assay.analysis.figures.contract import Asked, Cell, StudyRun
    from assay.analysis.figures.subjects import Subject
    from assay.model.plan import Plan
    from assay.record.reader import Run

OPTIONS = {
    "factor": "the factor whose levels leave techniques out; without it 'without'",
    "shown": "how many of the largest factors of each subject are drawn; without it 10",
}
FACTOR, SHOWN = "without", 10
LARGEST = (
    Column("engine"),
    Column("without"),
    Column("operation"),
    Column("takes", TIMES),
    Column("at least", TIMES),
    Column("at most", TIMES),
    Column("with all", SECONDS),
    Column("without it", SECONDS),
    Column("plan"),
)
IN_ALL = (
    Column("engine"),
    Column("without"),
    Column("all operations take", TIMES),
    Column("most it is worth", TIMES),
    Column("to"),
    Column("most it costs", TIMES),
    Column("in"),
    Column("distinct", COUNT),
)


def figure(asked: Asked) -> Figure:
    """The figure."""
    factor = str(asked.options.get("factor", FACTOR))
    shown = int(asked.options.get("shown", SHOWN))
    subjects = subjects_of(asked, without=(factor,))
    found = {subject.name: _worths(subject) for subject in subjects}
    largest = {name: _largest(worth, shown) for name, worth in found.items()}
    alone = len(subjects) == 1
    measures = tuple(
        _measure(name, one, alone=alone) for name, some in largest.items() for one in some
    )
    return Figure(
        asked.name,
        asked.kind,
        asked.title,
        says=tuple(words for name, worth in found.items() for words in _says(name, worth)),
        subjects=tuple(found),
        measures=measures,
        tables=(
            Table(
                "in_all", "what each technique is worth to all operations", IN_ALL, _in_all(found)
            ),
            Table(
                "operations",
                "what each technique is worth to each operation",
                LARGEST,
                _rows(found),
            ),
        ),
        charts=_charts(measures),
        notes=_notes(asked),
        missing=tuple(words for subject in subjects for words in _missing(subject, found)),
    )


def _off(run: Run) -> tuple[str, ...]:
    """Techniques that were switched off."""
    return tuple(run.facts["request"].get("without", ()))


def _by_technique(subject: Subject) -> dict[str, dict[int, StudyRun]]:
    """Runs by what was off, then by round; those with all techniques under an empty name."""
    found: dict[str, dict[int, StudyRun]] = {}
    for one in subject.runs:
        found.setdefault(", ".join(_off(one.run)), {})[one.round] = one
    return found


def _worths(subject: Subject) -> list[Worth]:
    """The largest factor first, with whether plans changed."""
    runs = _by_technique(subject)
    all_on = runs.pop("", {})
    made = worths(_seconds(all_on), {name: _seconds(some) for name, some in runs.items()})
    changed = {
        (name, operation): how
        for name, some in runs.items()
        for operation, how in _changed(all_on, some).items()
    }
    return [replace(one, plan_changed=changed.get((one.technique, one.operation))) for one in made]


def _seconds(runs: Mapping[int, StudyRun]) -> dict[int, dict[str, float]]:
    return {
        number: {name: s for name, s in seconds_of(one.run).items() if s}
        for number, one in runs.items()
    }


def _changed(all_on: Mapping[int, StudyRun], without: Mapping[int, StudyRun]) -> dict[str, bool]:
    """By operation whether it was executed in another way in the first round that has both."""
    for number in sorted(all_on.keys() & without.keys()):
        before, after = _plans(all_on[number].run), _plans(without[number].run)
        return {name: not same_shape(before[name], after[name]) for name in before if name in after}
    return {}


@lru_cache(maxsize=512)
def _plans(run: Run) -> Mapping[str, tuple[Plan, ...]]:
    return read_plans(run)


def _largest(found: Sequence[Worth], most: int) -> list[Worth]:
    """The largest that are told from noise; all where nothing is, because there was one round."""
    if all(one.factor.interval is None for one in found):
        return list(found[:most])
    return [one for one in found if one.factor.is_distinct and one.factor.times > 1][:most]


def _measure(subject: str, one: Worth, *, alone: bool) -> Measure:
    key = f"{one.technique}.{one.operation}"
    low, high = one.factor.interval or (one.factor.times, one.factor.times)
    spread = Spread(one.factor.times, low, high, one.factor.rounds)
    title = f"{one.operation} without {one.technique}"
    shown = title if alone else f"{title} ({subject})"
    return Measure(f"{subject}.{key}", shown, TIMES, {subject: spread})


def _charts(measures: tuple[Measure, ...]) -> tuple[Chart, ...]:
    if not measures:
        return ()
    keys = tuple(one.key for one in measures)
    return (Chart("techniques", "times as long without it", "bars", keys),)


def _says(name: str, found: Sequence[Worth]) -> list[str]:
    if not found:
        return []
    first = _largest(found, 3)
    told = [f"{one.operation} takes {_times(one)} without {one.technique}" for one in first]
    says = [f"{name}: {listed(told)}."] if told else [f"{name}: no technique is worth anything."]
    every = sorted(in_all(list(found)).items(), key=lambda one: -one[1])
    (most, times) = every[0]
    says.append(
        f"{name}: all operations together would miss {most} most: they take {text(times, TIMES)} as"
        " long without it."
    )
    costs = [one for one in reversed(found) if one.factor.is_distinct and one.factor.times < 1]
    if costs:
        one = costs[0]
        says.append(
            f"{name}: {len(costs)} times an operation is faster without a technique; most of all"
            f" {one.operation}, which takes {_times(one)} without {one.technique}."
        )
    return says


def _times(one: Worth) -> str:
    """`3.2 x as long [2.9, 3.6]`."""
    times = f"{text(one.factor.times, TIMES)} as long"
    if one.factor.interval is None:
        return times
    low, high = one.factor.interval
    return f"{times} [{low:.3g}, {high:.3g}]"


def _rows(found: Mapping[str, Sequence[Worth]]) -> tuple[tuple[Cell, ...], ...]:
    words: dict[bool | None, Cell] = {True: "another", False: "the same", None: None}
    return tuple(
        (
            name,
            one.technique,
            one.operation,
            one.factor.times,
            *(one.factor.interval or (None, None)),
            one.with_s,
            one.without_s,
            words[one.plan_changed],
        )
        for name, some in found.items()
        for one in some
    )


def _in_all(found: Mapping[str, Sequence[Worth]]) -> tuple[tuple[Cell, ...], ...]:
    rows: list[tuple[Cell, ...]] = []
    for name, some in found.items():
        for technique, times in sorted(in_all(list(some)).items(), key=lambda one: -one[1]):
            own = [one for one in some if one.technique == technique]
            best, worst = own[0], own[-1]
            distinct = sum(one.factor.is_distinct for one in own)
            known: Any = None if best.factor.interval is None else distinct
            rows.append(
                (
                    name,
                    technique,
                    times,
                    best.factor.times,
                    best.operation,
                    worst.factor.times,
                    worst.operation,
                    known,
                )
            )
    return tuple(rows)


def _notes(asked: Asked) -> tuple[str, ...]:
    rounds = max((one.round for one in asked.runs), default=0)
    if rounds < 2:  # noqa: PLR2004 - of one there is no interval
        return ("One round: no interval, and nothing tells a small factor from noise.",)
    return (
        f"Geometric means over {rounds} rounds, beside times of the same round with all of them.",
        "Intervals are of 95 %, from the noise that an operation has in all of its runs.",
        "Of a hundred techniques that are worth nothing five look distinct all the same.",
        "All are compared with the same runs, so a lucky one of these makes all look worth more.",
    )


def _missing(subject: Subject, found: Mapping[str, Sequence[Worth]]) -> list[str]:
    """Operations that have no time without a technique."""
    runs = _by_technique(subject)
    if "" not in runs:
        return [
            f"{subject.name}: no run has all techniques on, so there is nothing to compare with"
        ]
    known = {(one.technique, one.operation) for one in found[subject.name]}
    operations = list(dict.fromkeys(n for one in runs[""].values() for n in seconds_of(one.run)))
    told = []
    for technique in runs:
        lacking = [name for name in operations if technique and (technique, name) not in known]
        if lacking:
            words = f"{listed(lacking)} without {technique}: no execution succeeded in its time"
            told.append(f"{subject.name} has no time of {words}")
    return told
