"""What changes would be worth: predictions of a model, for a metric of the runs."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from assay.analysis.figures.contract import Chart, Column, Figure, Measure, Spread, Table
from assay.analysis.figures.metrics import summary_of
from assay.analysis.figures.quantities import SHARE, change_text, each_text, spread
from assay.analysis.figures.subjects import subjects_of
from assay.analysis.whatif import measured_of, predict, worth
from assay.analysis.whatif.changes import (
    RemoveWait,
    RemoveWork,
    ScaleOperation,
    SetCores,
    SetTime,
    wait_named,
)
from assay.model.errors import AssayError, UsageError, suggestion
from assay.model.units import percent_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from assay.analysis.figures.contract import Asked, Cell, StudyRun
    from assay.analysis.figures.subjects import Subject
    from assay.analysis.whatif.changes import SupposedChange
    from assay.analysis.whatif.prediction import PredictedMetric, Prediction
    from assay.analysis.whatif.timing import Measured
    from assay.record.reader import Run

OPTIONS = {
    "changes": "tables of a name and what is changed: scale = { q15 = 0.5 }, set = { q15 = 0.1 }"
    " (seconds), remove_work = ['sort'], remove_wait = ['disk read'], cores = 8; without it the"
    " kinds of work and causes of waiting that would be worth most",
    "of": "'work' or 'wait': only these of what would be worth most",
}
KINDS = ("work", "wait")
CHANGES = ("scale", "set", "remove_work", "remove_wait", "cores")
SHOWN_MAX = 8
COLUMNS = (
    Column("change"),
    Column("subject"),
    Column("metric"),
    Column("now", "count"),
    Column("would be", "count"),
    Column("change of it", SHARE),
    Column("at least", SHARE),
    Column("at most", SHARE),
)


def figure(asked: Asked) -> Figure:
    """The figure."""
    subjects = subjects_of(asked)
    named, kinds = _named(asked), _kinds(asked)
    missing: dict[str, None] = {}
    found: dict[str, dict[str, list[Prediction]]] = {}
    for subject in subjects:
        for one in subject.runs:
            for name, made in _predictions(one, subject, named or kinds, missing):
                found.setdefault(name, {}).setdefault(subject.name, []).append(made)
    measures = tuple(
        Measure(name, name, SHARE, {who: _spread(made) for who, made in by_subject.items()})
        for name, by_subject in found.items()
    )
    ordered = sorted(measures, key=lambda one: -max(abs(v.middle) for v in one.values.values()))
    keys = tuple(one.key for one in ordered[:SHOWN_MAX])
    return Figure(
        asked.name,
        asked.kind,
        asked.title,
        says=(
            *_in_all(subjects, ordered, found),
            *(words for one in subjects if (words := _says(one, ordered, found))),
        ),
        subjects=tuple(one.name for one in subjects if any(one.name in m.values for m in measures)),
        measures=tuple(ordered if not named else measures),
        tables=(
            Table("gains", "what each change would do", COLUMNS, tuple(_rows(ordered, found))),
        ),
        charts=(Chart("gains", "change of the metric", "bars", keys),) if keys else (),
        notes=tuple(_assumptions(found)),
        missing=tuple(missing),
    )


def _named(asked: Asked) -> dict[str, list[SupposedChange]]:
    """The changes that are asked for, by their names."""
    told = asked.options.get("changes", [])
    found: dict[str, list[SupposedChange]] = {}
    for one in told:
        where = f"figure {asked.name}: change {one.get('name')!r}"
        if not isinstance(one.get("name"), str):
            raise UsageError(f"figure {asked.name}: each of changes has a name")
        for key in one:
            if key not in ("name", *CHANGES):
                raise UsageError(f"{where} has no key {key!r}; {suggestion(key, list(CHANGES))}")
        found[one["name"]] = list(_changes(one))
        if not found[one["name"]]:
            raise UsageError(f"{where} changes nothing: give it one of {', '.join(CHANGES)}")
    return found


def _kinds(asked: Asked) -> tuple[str, ...]:
    """Of what the changes are that nobody asked for by name."""
    told = asked.options.get("of")
    if told is not None and told not in KINDS:
        raise UsageError(f"figure {asked.name}: option of is one of {', '.join(KINDS)}")
    return KINDS if told is None else (str(told),)


def _changes(told: Mapping[str, Any]) -> Iterator[SupposedChange]:
    yield from (ScaleOperation(name, float(by)) for name, by in told.get("scale", {}).items())
    yield from (SetTime(name, float(seconds)) for name, seconds in told.get("set", {}).items())
    yield from (RemoveWork(str(word)) for word in told.get("remove_work", ()))
    yield from (RemoveWait(wait_named(str(name))) for name in told.get("remove_wait", ()))
    if "cores" in told:
        yield SetCores(int(told["cores"]))


def _predictions(
    one: StudyRun,
    subject: Subject,
    wanted: dict[str, list[SupposedChange]] | tuple[str, ...],
    missing: dict[str, None],
) -> Iterator[tuple[str, Prediction]]:
    measured = _measured(one.run)
    if measured.why_not is not None:
        missing[f"{subject.name}: {measured.why_not}"] = None
        return
    if isinstance(wanted, tuple):
        found = [each for each in worth(measured) if each.kind in wanted]
        yield from ((f"no {each.title}", each.prediction) for each in found)
        return
    for name, changes in wanted.items():
        try:
            for change in changes:
                change.check(measured)
            yield name, predict(measured, changes)
        except AssayError as error:
            missing[f"{subject.name}, {name}: {error}"] = None


@lru_cache(maxsize=64)
def _measured(run: Run) -> Measured:
    return measured_of(run, summary_of(run))


def _first(made: Prediction) -> PredictedMetric:
    """The metric that a run is first judged by: the composite where there is one."""
    by_name = {one.metric.name: one for one in made.metrics}
    return by_name.get("test_composite_per_h", made.metrics[0])


def _spread(made: list[Prediction]) -> Spread:
    found = spread(_first(one).change for one in made)
    return found or Spread(0.0, 0.0, 0.0, len(made))


def _rows(
    measures: list[Measure], found: dict[str, dict[str, list[Prediction]]]
) -> Iterator[tuple[Cell, ...]]:
    for measure in measures:
        for subject, made in found[measure.key].items():
            for one in made[:1]:
                first = _first(one)
                yield (
                    measure.title,
                    subject,
                    f"{first.metric.label}, {first.metric.unit}",
                    first.before,
                    first.after,
                    first.change,
                    first.change_least,
                    first.change_most,
                )


def _gain(found: dict[str, dict[str, list[Prediction]]], change: str, subject: str) -> float:
    """By how much a subject's metric would be better, whichever of more and less is."""
    made = found[change][subject]
    sign = 1 if _first(made[0]).metric.better == "higher" else -1
    return sign * _spread(made).middle


def _in_all(
    subjects: tuple[Subject, ...],
    measures: list[Measure],
    found: dict[str, dict[str, list[Prediction]]],
) -> Iterator[str]:
    """One sentence of all subjects, where there are several."""
    told = []
    for subject in subjects:
        mine = [one for one in measures if subject.name in one.values]
        if mine:
            best = max(mine, key=lambda one: _gain(found, one.key, subject.name))
            change = change_text(best.values[subject.name].middle)
            gains = _gain(found, best.key, subject.name) > 0
            told.append((subject.name, f"'{best.title}', {change}" if gains else "none of them"))
    if len(told) > 1:
        yield f"Worth most would be {each_text(told)}."


def _says(
    subject: Subject, measures: list[Measure], found: dict[str, dict[str, list[Prediction]]]
) -> str | None:
    mine = [one for one in measures if subject.name in one.values]
    if not mine:
        return None
    best = max(mine, key=lambda one: _gain(found, one.key, subject.name))
    first = _first(found[best.key][subject.name][0])
    if _gain(found, best.key, subject.name) > 0:
        change = change_text(best.values[subject.name].middle)
        words = f"{subject.name}: '{best.title}' would be worth most, {first.metric.label} {change}"
    else:
        words = f"{subject.name}: none of them would change its {first.metric.label}"
    if first.change_least is not None and first.change_most is not None:
        least, most = sorted((abs(first.change_least), abs(first.change_most)))
        words += f" (the model leaves {percent_text(least)} to {percent_text(most)} open)"
    return f"{words}."


def _assumptions(found: dict[str, dict[str, list[Prediction]]]) -> Iterator[str]:
    told: dict[str, None] = {"Predicted by a model, not measured.": None}
    for by_subject in found.values():
        for made in by_subject.values():
            told |= dict.fromkeys(made[0].assumptions)
    yield from told
