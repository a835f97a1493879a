"""Chart of planner techniques: time without each technique divided by time with all."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from assay.analysis.ablation.techniques import in_all, worths
from assay.analysis.figures.contract import Chart, Column, Figure, Measure, Table
from assay.analysis.figures.subjects import subjects_of
from assay.analysis.metrics import seconds_of
from assay.analysis.plans.recorded import read_plans
from assay.analysis.plans.shape import same_shape
from assay.analysis.quantities import COUNT, SECONDS, TIMES, Spread, listed, text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.analysis.ablation.techniques import Worth
    from assay.analysis.figures.contract import Asked, Cell
    from assay.analysis.figures.subjects import Subject
    from assay.analysis.study_runs import StudyRun
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
    """Return a chart of the slowdown without each planner technique."""
    factor = str(asked.options.get("factor", FACTOR))
    shown = int(asked.options.get("shown", SHOWN))
    subjects = subjects_of(asked, without=(factor,))
    by_subject = {subject.name: _worths(subject) for subject in subjects}
    largest = {name: _largest(worth, shown) for name, worth in by_subject.items()}
    alone = len(subjects) == 1
    measures = tuple(
        _measure(name, effect, alone=alone) for name, some in largest.items() for effect in some
    )
    return Figure(
        asked.name,
        asked.kind,
        asked.title,
        says=tuple(
            sentence for name, worth in by_subject.items() for sentence in _says(name, worth)
        ),
        subjects=tuple(by_subject),
        measures=measures,
        tables=(
            Table(
                "in_all",
                "what each technique is worth to all operations",
                IN_ALL,
                _in_all(by_subject),
            ),
            Table(
                "operations",
                "what each technique is worth to each operation",
                LARGEST,
                _rows(by_subject),
            ),
        ),
        charts=_charts(measures),
        notes=_notes(asked),
        missing=tuple(
            sentence for subject in subjects for sentence in _missing(subject, by_subject)
        ),
    )


def _techniques_off(run: Run) -> tuple[str, ...]:
    """Return the planner techniques that were switched off in a run."""
    return tuple(run.facts["request"].get("without", ()))


def _by_technique(subject: Subject) -> dict[str, dict[int, StudyRun]]:
    """Return runs by disabled planner technique and round; all-techniques runs have the key ""."""
    by_technique: dict[str, dict[int, StudyRun]] = {}
    for run in subject.runs:
        by_technique.setdefault(", ".join(_techniques_off(run.run)), {})[run.round] = run
    return by_technique


def _worths(subject: Subject) -> list[Worth]:
    """Return the slowdown without each planner technique, and whether plans changed."""
    runs = _by_technique(subject)
    all_on = runs.pop("", {})
    made = worths(_seconds(all_on), {name: _seconds(some) for name, some in runs.items()})
    changed = {
        (name, operation): how
        for name, some in runs.items()
        for operation, how in _changed(all_on, some).items()
    }
    return [
        replace(effect, plan_changed=changed.get((effect.technique, effect.operation)))
        for effect in made
    ]


def _seconds(runs: Mapping[int, StudyRun]) -> dict[int, dict[str, float]]:
    return {
        number: {name: s for name, s in seconds_of(run.run).items() if s}
        for number, run in runs.items()
    }


def _changed(all_on: Mapping[int, StudyRun], without: Mapping[int, StudyRun]) -> dict[str, bool]:
    """Return whether each operation's plan changed, from the first round that has both runs."""
    for number in sorted(all_on.keys() & without.keys()):
        before, after = _plans(all_on[number].run), _plans(without[number].run)
        return {name: not same_shape(before[name], after[name]) for name in before if name in after}
    return {}


@lru_cache(maxsize=512)
def _plans(run: Run) -> Mapping[str, tuple[Plan, ...]]:
    return read_plans(run)


def _largest(effects: Sequence[Worth], most: int) -> list[Worth]:
    """Return the largest effects beyond noise; with one round, which has no noise, all effects."""
    if all(effect.factor.interval is None for effect in effects):
        return list(effects[:most])
    return [effect for effect in effects if effect.factor.is_distinct and effect.factor.times > 1][
        :most
    ]


def _measure(subject: str, effect: Worth, *, alone: bool) -> Measure:
    key = f"{effect.technique}.{effect.operation}"
    low, high = effect.factor.interval or (effect.factor.times, effect.factor.times)
    spread = Spread(effect.factor.times, low, high, effect.factor.rounds)
    title = f"{effect.operation} without {effect.technique}"
    shown = title if alone else f"{title} ({subject})"
    return Measure(f"{subject}.{key}", shown, TIMES, {subject: spread})


def _charts(measures: tuple[Measure, ...]) -> tuple[Chart, ...]:
    if not measures:
        return ()
    keys = tuple(measure.key for measure in measures)
    return (Chart("techniques", "times as long without it", "bars", keys),)


def _says(name: str, effects: Sequence[Worth]) -> list[str]:
    if not effects:
        return []
    first = _largest(effects, 3)
    parts = [
        f"{effect.operation} takes {_times(effect)} without {effect.technique}" for effect in first
    ]
    says = [f"{name}: {listed(parts)}."] if parts else [f"{name}: no technique is worth anything."]
    every = sorted(in_all(list(effects)).items(), key=lambda pair: -pair[1])
    (most, times) = every[0]
    says.append(
        f"{name}: all operations together would miss {most} most: they take {text(times, TIMES)} as"
        " long without it."
    )
    costs = [
        effect
        for effect in reversed(effects)
        if effect.factor.is_distinct and effect.factor.times < 1
    ]
    if costs:
        effect = costs[0]
        says.append(
            f"{name}: {len(costs)} times an operation is faster without a technique; most of all"
            f" {effect.operation}, which takes {_times(effect)} without {effect.technique}."
        )
    return says


def _times(effect: Worth) -> str:
    """Return the time factor of an effect as text, such as `3.2 x as long [2.9, 3.6]`."""
    times = f"{text(effect.factor.times, TIMES)} as long"
    if effect.factor.interval is None:
        return times
    low, high = effect.factor.interval
    return f"{times} [{low:.3g}, {high:.3g}]"


def _rows(by_subject: Mapping[str, Sequence[Worth]]) -> tuple[tuple[Cell, ...], ...]:
    labels: dict[bool | None, Cell] = {True: "another", False: "the same", None: None}
    return tuple(
        (
            name,
            effect.technique,
            effect.operation,
            effect.factor.times,
            *(effect.factor.interval or (None, None)),
            effect.with_s,
            effect.without_s,
            labels[effect.plan_changed],
        )
        for name, some in by_subject.items()
        for effect in some
    )


def _in_all(by_subject: Mapping[str, Sequence[Worth]]) -> tuple[tuple[Cell, ...], ...]:
    rows: list[tuple[Cell, ...]] = []
    for name, some in by_subject.items():
        for technique, times in sorted(in_all(list(some)).items(), key=lambda pair: -pair[1]):
            own = [effect for effect in some if effect.technique == technique]
            best, worst = own[0], own[-1]
            distinct = sum(effect.factor.is_distinct for effect in own)
            count: Any = None if best.factor.interval is None else distinct
            rows.append(
                (
                    name,
                    technique,
                    times,
                    best.factor.times,
                    best.operation,
                    worst.factor.times,
                    worst.operation,
                    count,
                )
            )
    return tuple(rows)


def _notes(asked: Asked) -> tuple[str, ...]:
    rounds = max((run.round for run in asked.runs), default=0)
    if rounds < 2:  # noqa: PLR2004 - of one there is no interval
        return ("One round: no interval, so a small factor may be noise.",)
    return (
        f"Geometric means over {rounds} rounds, beside times of the same round with all of them.",
        "Intervals are of 95 %, from the noise that an operation has in all of its runs.",
        "Of a hundred techniques that are worth nothing five look distinct all the same.",
        "All are compared with the same runs, so a lucky one of these makes all look worth more.",
    )


def _missing(subject: Subject, by_subject: Mapping[str, Sequence[Worth]]) -> list[str]:
    """Return a sentence for each operation whose time without a technique is missing."""
    runs = _by_technique(subject)
    if "" not in runs:
        return [
            f"{subject.name}: no run has all techniques on, so there is nothing to compare with"
        ]
    timed = {(effect.technique, effect.operation) for effect in by_subject[subject.name]}
    operations = list(dict.fromkeys(n for run in runs[""].values() for n in seconds_of(run.run)))
    missing = []
    for technique in runs:
        lacking = [name for name in operations if technique and (technique, name) not in timed]
        if lacking:
            phrase = f"{listed(lacking)} without {technique}: no execution succeeded in its time"
            missing.append(f"{subject.name} has no time of {phrase}")
    return missing
