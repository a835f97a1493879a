"""Table of the engine's index look-up counters in the measured part."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.counters.activity import activity_between, why_no_activity
from assay.analysis.counters.index_work import Span
from assay.analysis.counters.meters import TITLES, activity_line, locality, scaled_text
from assay.analysis.figures.contract import Chart, Column, Figure, Measure, Table
from assay.analysis.figures.subjects import subjects_of
from assay.analysis.operations import window_of
from assay.analysis.quantities import COUNT, SHARE, TIMES, by_subject, spread, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from assay.analysis.figures.contract import Asked, Cell
    from assay.analysis.figures.subjects import Subject
    from assay.record.reader import Run

OPTIONS: dict[str, str] = {}
SAME_PAGE, ROWS = "look-ups on the page of the one before", "rows of a look-up"


def figure(asked: Asked) -> Figure:
    """Return a table of the engine's index look-up counters."""
    subjects = subjects_of(asked)
    counted = {subject.name: counted_of(subject.first) for subject in subjects}
    measured = [subject for subject in subjects if counted[subject.name]]
    measures = (*_counts(measured), *_derived(measured))
    keys = tuple(measure.key for measure in measures if measure.unit == SHARE)
    return Figure(
        asked.name,
        asked.kind,
        asked.title,
        says=tuple(_says(subject.name, counted[subject.name]) for subject in measured),
        subjects=tuple(subject.name for subject in subjects),
        measures=measures,
        tables=tuple(_tables(measured, counted)) if measured else (),
        charts=(Chart("places", "look-ups on the page before", "bars", keys),) if keys else (),
        missing=tuple(_missing(subject) for subject in subjects if not counted[subject.name]),
    )


def counted_of(run: Run) -> Mapping[str, float]:
    """Return the activity counts of the measured part by name; empty if not counted."""
    window = window_of(run)
    return {} if window is None else activity_between(run, Span(*window)) or {}


def _counts(subjects: list[Subject]) -> Iterator[Measure]:
    for word, title in TITLES.items():

        def count(run: Run, word: str = word) -> float | None:
            return counted_of(run).get(word)

        values = by_subject(
            (subject.name, spread(subject.over_rounds(count))) for subject in subjects
        )
        if values:
            yield Measure(title, title, COUNT, values)


def _derived(subjects: list[Subject]) -> Iterator[Measure]:
    page = by_subject(
        (subject.name, spread(subject.over_rounds(lambda run: locality(counted_of(run)).same_page)))
        for subject in subjects
    )
    rows = by_subject(
        (subject.name, spread(subject.over_rounds(lambda run: locality(counted_of(run)).rows_each)))
        for subject in subjects
    )
    if page:
        yield Measure(SAME_PAGE, SAME_PAGE, SHARE, page)
    if rows:
        yield Measure(ROWS, ROWS, TIMES, rows)


def _tables(subjects: list[Subject], counted: Mapping[str, Mapping[str, float]]) -> Iterator[Table]:
    columns = (Column("meter"), *(Column(subject.name, COUNT, 4) for subject in subjects))
    rows = tuple(
        (title, *(counted[subject.name].get(word) for subject in subjects))
        for word, title in TITLES.items()
    )
    yield Table("meters", "what the measured part did", columns, rows)
    lines: tuple[tuple[Cell, ...], ...] = tuple(
        (subject.name, activity_line(counted[subject.name])) for subject in subjects
    )
    columns = (Column("subject"), Column("line"))
    yield Table("lines", "the same as the server prints it", columns, lines)


def _says(name: str, counted: Mapping[str, float]) -> str:
    where = locality(counted)
    lookups = scaled_text(counted.get("rnd", 0.0)).strip()
    return (
        f"{name}: {lookups} random look-ups, each of {text(where.rows_each, COUNT, 3)} rows;"
        f" {text(where.same_segment, SHARE)} fell on the segment of the one before,"
        f" {text(where.same_page, SHARE)} on its page, {text(where.same_parent, SHARE)} on another"
        " page under the same parent."
    )


def _missing(subject: Subject) -> str:
    return f"{subject.name} has no such meters: {why_no_activity(subject.first)}"
