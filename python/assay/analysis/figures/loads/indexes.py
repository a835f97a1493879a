"""Table of the work on each index, while the cache filled and afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.counters.index_work import HOLDS, WORDS, index_work, share_of_reads
from assay.analysis.figures.contract import Chart, Column, Figure, Measure, Table
from assay.analysis.figures.subjects import subjects_of
from assay.analysis.load.parts import parts_of
from assay.analysis.quantities import COUNT, SHARE, by_subject, spread, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.analysis.counters.index_work import Holds, IndexWork
    from assay.analysis.figures.contract import Asked
    from assay.analysis.figures.subjects import Subject
    from assay.record.reader import Run

OPTIONS = {"rows": "how many indexes of each part are told (10)"}
ROWS_DEFAULT = 10
SINCE_THE_START, STEADY = "since the start", "steady"
COLUMNS = (
    Column("index"),
    Column("touches", COUNT, 10),
    Column("reads", COUNT, 10),
    Column("buffers", COUNT, 10),
)


def figure(asked: Asked) -> Figure:
    """Return a table of the work on each index."""
    subjects = subjects_of(asked)
    most = int(asked.options.get("rows", ROWS_DEFAULT))
    measured = [subject for subject in subjects if worked(subject.first, STEADY) is not None]
    measures = tuple(_measures(measured))
    keys = tuple(measure.key for measure in measures)
    splits = [parts_of(subject.first) for subject in measured]
    return Figure(
        asked.name,
        asked.kind,
        asked.title,
        says=tuple(sentence for subject in measured for sentence in _says(subject)),
        subjects=tuple(subject.name for subject in subjects),
        measures=measures,
        tables=tuple(_tables(measured, most)),
        charts=(Chart("reads", "pages read, by what they hold", "bars", keys),) if keys else (),
        notes=tuple(
            f"{subject.name}: {SINCE_THE_START} is {split.first_text}."
            for subject, split in zip(measured, splits, strict=True)
            if split is not None
        ),
        missing=tuple(
            f"what was done to the indexes of {subject.name} was not reported by its engine"
            for subject in subjects
            if subject not in measured
        ),
    )


def worked(run: Run, part: str) -> tuple[IndexWork, ...] | None:
    """Return the index work of one period of a run; None if the engine does not report it."""
    parts = parts_of(run)
    if parts is None:
        return None
    return index_work(run, parts.rest if part == STEADY else parts.first)


def _tables(subjects: Sequence[Subject], most: int) -> Iterator[Table]:
    for subject in subjects:
        for part in (SINCE_THE_START, STEADY):
            name = part if len(subjects) == 1 else f"{subject.name}, {part}"
            rows = tuple(
                (index.name, index.touches, index.reads, index.buffers)
                for index in (worked(subject.first, part) or ())[:most]
            )
            yield Table(name, f"touches and pages by index, {name}", COLUMNS, rows)


def _measures(subjects: Sequence[Subject]) -> Iterator[Measure]:
    for kind in HOLDS:

        def share(run: Run, kind: Holds = kind) -> float | None:
            return share_of_reads(worked(run, STEADY) or (), kind)

        values = by_subject(
            (subject.name, spread(subject.over_rounds(share))) for subject in subjects
        )
        if values:
            yield Measure(kind, f"pages read that hold {WORDS[kind]}", SHARE, values)


def _says(subject: Subject) -> Iterator[str]:
    for part in (SINCE_THE_START, STEADY):
        work = worked(subject.first, part) or ()
        pages = sum(index.reads or 0.0 for index in work)
        if not work or not pages:
            yield f"{subject.name}, {part}: no page was read."
            continue
        most = max(work, key=lambda index: index.touches or 0.0)
        shares = [
            f"{text(share, SHARE)} {WORDS[kind]}"
            for kind in HOLDS
            if (share := share_of_reads(work, kind)) is not None
        ]
        breakdown = f", {', '.join(shares)}" if shares else ""
        yield (
            f"{subject.name}, {part}: {text(pages, COUNT)} pages were read{breakdown}; most are of"
            f" {work[0].name}, and {most.name} was touched most."
        )
