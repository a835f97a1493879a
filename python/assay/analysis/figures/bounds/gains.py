"""Chart of predicted gains: the change of a metric that a model predicts per supposed change."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from assay.analysis.figures.contract import Chart, Column, Figure, Measure, Table
from assay.analysis.figures.subjects import subjects_of
from assay.analysis.metrics import summary_of
from assay.analysis.quantities import SHARE, Spread, change_text, each_text, spread
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

    from assay.analysis.figures.contract import Asked, Cell
    from assay.analysis.figures.subjects import Subject
    from assay.analysis.study_runs import StudyRun
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
    """Return a chart of the predicted gain of each supposed change."""
    subjects = subjects_of(asked)
    named, kinds = _named(asked), _kinds(asked)
    missing: dict[str, None] = {}
    by_change: dict[str, dict[str, list[Prediction]]] = {}
    for subject in subjects:
        for run in subject.runs:
            for name, made in _predictions(run, subject, named or kinds, missing):
                by_change.setdefault(name, {}).setdefault(subject.name, []).append(made)
    measures = tuple(
        Measure(name, name, SHARE, {who: _spread(made) for who, made in by_subject.items()})
        for name, by_subject in by_change.items()
    )
    ordered = sorted(
        measures, key=lambda measure: -max(abs(v.middle) for v in measure.values.values())
    )
    keys = tuple(measure.key for measure in ordered[:SHOWN_MAX])
    return Figure(
        asked.name,
        asked.kind,
        asked.title,
        says=(
            *_in_all(subjects, ordered, by_change),
            *(sentence for subject in subjects if (sentence := _says(subject, ordered, by_change))),
        ),
        subjects=tuple(
            subject.name for subject in subjects if any(subject.name in m.values for m in measures)
        ),
        measures=tuple(ordered if not named else measures),
        tables=(
            Table("gains", "what each change would do", COLUMNS, tuple(_rows(ordered, by_change))),
        ),
        charts=(Chart("gains", "change of the metric", "bars", keys),) if keys else (),
        notes=tuple(_assumptions(by_change)),
        missing=tuple(missing),
    )


def _named(asked: Asked) -> dict[str, list[SupposedChange]]:
    """Return the supposed changes that the study requests, by their names."""
    changes = asked.options.get("changes", [])
    by_name: dict[str, list[SupposedChange]] = {}
    for change in changes:
        where = f"figure {asked.name}: change {change.get('name')!r}"
        if not isinstance(change.get("name"), str):
            raise UsageError(f"figure {asked.name}: every entry of changes needs a name")
        for key in change:
            if key not in ("name", *CHANGES):
                raise UsageError(f"{where} has no key {key!r}; {suggestion(key, list(CHANGES))}")
        by_name[change["name"]] = list(_changes(change))
        if not by_name[change["name"]]:
            raise UsageError(
                f"{where} does not say what to change: add one of {', '.join(CHANGES)}"
            )
    return by_name


def _kinds(asked: Asked) -> tuple[str, ...]:
    """Return the kinds of changes to predict if the study names no changes."""
    option = asked.options.get("of")
    if option is not None and option not in KINDS:
        raise UsageError(f"figure {asked.name}: the option 'of' must be one of {', '.join(KINDS)}")
    return KINDS if option is None else (str(option),)


def _changes(keys: Mapping[str, Any]) -> Iterator[SupposedChange]:
    yield from (ScaleOperation(name, float(by)) for name, by in keys.get("scale", {}).items())
    yield from (SetTime(name, float(seconds)) for name, seconds in keys.get("set", {}).items())
    yield from (RemoveWork(str(word)) for word in keys.get("remove_work", ()))
    yield from (RemoveWait(wait_named(str(name))) for name in keys.get("remove_wait", ()))
    if "cores" in keys:
        yield SetCores(int(keys["cores"]))


def _predictions(
    run: StudyRun,
    subject: Subject,
    wanted: dict[str, list[SupposedChange]] | tuple[str, ...],
    missing: dict[str, None],
) -> Iterator[tuple[str, Prediction]]:
    measured = _measured(run.run)
    if measured.why_not is not None:
        missing[f"{subject.name}: {measured.why_not}"] = None
        return
    if isinstance(wanted, tuple):
        candidates = [candidate for candidate in worth(measured) if candidate.kind in wanted]
        yield from ((f"no {candidate.title}", candidate.prediction) for candidate in candidates)
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
    """Return the main metric of a prediction: TPC-H's composite, or else the first."""
    by_name = {metric.metric.name: metric for metric in made.metrics}
    return by_name.get("test_composite_per_h", made.metrics[0])


def _spread(made: list[Prediction]) -> Spread:
    change = spread(_first(prediction).change for prediction in made)
    return change or Spread(0.0, 0.0, 0.0, len(made))


def _rows(
    measures: list[Measure], by_change: dict[str, dict[str, list[Prediction]]]
) -> Iterator[tuple[Cell, ...]]:
    for measure in measures:
        for subject, made in by_change[measure.key].items():
            for prediction in made[:1]:
                first = _first(prediction)
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


def _gain(by_change: dict[str, dict[str, list[Prediction]]], change: str, subject: str) -> float:
    """Return the relative improvement of a metric by a change; negative if worse."""
    made = by_change[change][subject]
    sign = 1 if _first(made[0]).metric.better == "higher" else -1
    return sign * _spread(made).middle


def _in_all(
    subjects: tuple[Subject, ...],
    measures: list[Measure],
    by_change: dict[str, dict[str, list[Prediction]]],
) -> Iterator[str]:
    """Yield one sentence on the best change of all engines; nothing for a single engine."""
    best_changes = []
    for subject in subjects:
        mine = [measure for measure in measures if subject.name in measure.values]
        if mine:
            best = max(mine, key=lambda measure: _gain(by_change, measure.key, subject.name))
            change = change_text(best.values[subject.name].middle)
            gains = _gain(by_change, best.key, subject.name) > 0
            best_changes.append(
                (subject.name, f"'{best.title}', {change}" if gains else "none of them")
            )
    if len(best_changes) > 1:
        yield f"Worth most would be {each_text(best_changes)}."


def _says(
    subject: Subject, measures: list[Measure], by_change: dict[str, dict[str, list[Prediction]]]
) -> str | None:
    mine = [measure for measure in measures if subject.name in measure.values]
    if not mine:
        return None
    best = max(mine, key=lambda measure: _gain(by_change, measure.key, subject.name))
    first = _first(by_change[best.key][subject.name][0])
    if _gain(by_change, best.key, subject.name) > 0:
        change = change_text(best.values[subject.name].middle)
        sentence = (
            f"{subject.name}: '{best.title}' would be worth most, {first.metric.label} {change}"
        )
    else:
        sentence = f"{subject.name}: none of them would change its {first.metric.label}"
    if first.change_least is not None and first.change_most is not None:
        least, most = sorted((abs(first.change_least), abs(first.change_most)))
        sentence += f" (the model leaves {percent_text(least)} to {percent_text(most)} open)"
    return f"{sentence}."


def _assumptions(by_change: dict[str, dict[str, list[Prediction]]]) -> Iterator[str]:
    assumptions: dict[str, None] = {"Predicted by a model, not measured.": None}
    for by_subject in by_change.values():
        for made in by_subject.values():
            assumptions |= dict.fromkeys(made[0].assumptions)
    yield from assumptions
