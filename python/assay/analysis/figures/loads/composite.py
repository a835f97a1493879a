"""Table of TPC-H's power, throughput and composite metrics, and how two runs differ."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from assay.analysis.composite.naming import COMPOSITE, POWER, THROUGHPUT
from assay.analysis.figures.contract import Chart, Column, Figure, Measure, Table
from assay.analysis.figures.subjects import measure, subjects_of
from assay.analysis.metrics import metric_of_kind, metric_of_run, test_of
from assay.analysis.operations import NS
from assay.analysis.quantities import PER_HOUR, SECONDS, SHARE, change_text, each_text, text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.analysis.figures.contract import Asked, Cell
    from assay.analysis.figures.subjects import Subject
    from assay.record.reader import Run

OPTIONS: dict[str, str] = {}
KINDS = (COMPOSITE, POWER, THROUGHPUT)
COLUMNS = (
    Column("subject"),
    Column("round", "count"),
    Column("run", "count"),
    Column("composite", PER_HOUR),
    Column("power", PER_HOUR),
    Column("throughput", PER_HOUR),
    Column("power test", SECONDS),
    Column("throughput test", SECONDS),
    Column("reported"),
)


def figure(asked: Asked) -> Figure:
    """Return a table of TPC-H's metrics."""
    subjects = [subject for subject in subjects_of(asked) if test_of(subject.first) is not None]
    measures = tuple(_measures(subjects))
    shown = tuple(subject.name for subject in subjects)
    rows = tuple(row for subject in subjects for row in _rows(subject))
    keys = tuple(
        quantity.key for quantity in measures if quantity.unit == PER_HOUR and "_" in quantity.key
    )
    return Figure(
        asked.name,
        asked.kind,
        asked.title,
        says=tuple(_says(subjects, measures)),
        subjects=shown,
        measures=measures,
        tables=(Table("runs", "metrics of each run of the tests", COLUMNS, rows),),
        charts=(Chart("runs", "an hour, times the scale", "bars", keys),) if keys else (),
        notes=tuple(dict.fromkeys(note for subject in subjects for note in _notes(subject))),
        missing=tuple(_missing(asked, subjects)),
    )


def _measures(subjects: list[Subject]) -> Iterator[Measure]:
    """Yield the reported TPC-H metrics, those of each run, and the difference between runs."""
    for kind in KINDS:
        yield measure(kind, kind, PER_HOUR, subjects, partial(_reported, kind=kind))
    for kind in KINDS:
        for number in (1, 2):
            metric = partial(metric_of_run, kind=kind, number=number)
            title = f"{kind} of run {number}"
            yield measure(f"{kind}_{number}", title, PER_HOUR, subjects, metric)
    for kind in KINDS:
        title = f"{kind}: second run over the first, less 1"
        change = measure(f"{kind}_gain", title, SHARE, subjects, partial(gain, kind=kind))
        if change.values:
            yield change


def _reported(run: Run, kind: str) -> float | None:
    test = test_of(run)
    return None if test is None else metric_of_kind(test.figures(), kind)


def gain(run: Run, kind: str) -> float | None:
    """Return the second run's relative gain in a TPC-H metric; None for a test with one run."""
    first, second = (metric_of_run(run, kind, number) for number in (1, 2))
    return second / first - 1 if first and second else None


def _rows(subject: Subject) -> Iterator[tuple[Cell, ...]]:
    for study_run in subject.runs:
        test = test_of(study_run.run)
        for run in () if test is None else test.runs:
            assert test is not None  # noqa: S101 - there are no runs without
            elapsed_s = None if run.throughput is None else run.throughput.elapsed_ns * NS
            is_reported = test.reported is not None and test.reported.number == run.number
            yield (
                subject.name,
                study_run.round,
                run.number,
                *(metric_of_run(study_run.run, kind, run.number) for kind in KINDS),
                None if run.power is None else run.power.seconds,
                elapsed_s,
                "reported" if is_reported else "",
            )


def _says(subjects: list[Subject], measures: tuple[Measure, ...]) -> Iterator[str]:
    by_key = {quantity.key: quantity for quantity in measures}
    yield from _in_all(by_key)
    for subject in subjects:
        test = test_of(subject.first)
        kind = next((name for name in KINDS if subject.name in by_key[name].values), None)
        if kind is None or test is None:
            continue
        reported = by_key[kind].values[subject.name].middle
        sentence = f"{subject.name}: {test.named(kind).label} {text(reported, PER_HOUR)}"
        gains = {
            name: by_key[f"{name}_gain"].values[subject.name].middle
            for name in KINDS
            if f"{name}_gain" in by_key and subject.name in by_key[f"{name}_gain"].values
        }
        parts = [f"{name} {change_text(share)}" for name, share in gains.items() if name != kind]
        if kind in gains:
            beside = f" ({', '.join(parts)})" if parts else ""
            sentence += f"; its second run's {kind} is {change_text(gains[kind])}{beside}"
        yield f"{sentence}."


def _in_all(by_key: dict[str, Measure]) -> Iterator[str]:
    """Yield one sentence on the TPC-H metrics of all engines; nothing for a single engine."""
    kind = next((name for name in KINDS if len(by_key[name].values) > 1), None)
    if kind is None:
        return
    values = by_key[kind].values
    metrics = each_text((name, text(value.middle, PER_HOUR)) for name, value in values.items())
    yield f"The {kind} is {metrics}."


def _notes(subject: Subject) -> Iterator[str]:
    for run in subject.runs:
        test = test_of(run.run)
        if test is not None and test.left_out:
            name = test.named(test.metrics[0]).is_not
            is_not = "" if name is None else f"; not {name}"
            yield f"{subject.name} left out: {', '.join(test.left_out)}{is_not}."
        if test is not None and test.rounding_dominates:
            yield (
                f"{subject.name}: more than a tenth of the power test's intervals are under 0.1 s,"
                " so rounding to 0.01 s decides about its power."
            )


def _missing(asked: Asked, subjects: list[Subject]) -> Iterator[str]:
    tested = {subject.name for subject in subjects}
    for other in subjects_of(asked):
        if other.name not in tested:
            yield f"{other.name} was put to no test, so it has no metric"
    for subject in subjects:
        for run in subject.runs:
            test = test_of(run.run)
            for why in () if test is None else test.why_not:
                yield f"{subject.name}, round {run.round}, has no metric: {why}"
