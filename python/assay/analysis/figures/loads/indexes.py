"""What was done to each index: while memory filled, and from then on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.counters.index_work import HOLDS, WORDS, index_work, parts_of, share_of_reads
from assay.analysis.figures.contract import Chart, Column, Figure, Measure, Table
from assay.analysis.figures.quantities import COUNT, SHARE, by_subject, spread, text
from assay.analysis.figures.subjects import subjects_of

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
    """The figure."""
    subjects = subjects_of(asked)
    most = int(asked.options.get("rows", ROWS_DEFAULT))
    known = [one for one in subjects if worked(one.first, STEADY) is not None]
    measures = tuple(_measures(known))
    keys = tuple(one.key for one in measures)
    found = [parts_of(one.first) for one in known]
    return Figure(
        asked.name,
        asked.kind,
        asked.title,
        says=tuple(words for one in known for words in _says(one)),
        subjects=tuple(one.name for one in subjects),
        measures=measures,
        tables=tuple(_tables(known, most)),
        charts=(Chart("reads", "pages read, by what they hold", "bars", keys),) if keys else (),
        notes=tuple(
            f"{one.name}: {SINCE_THE_START} is {told.words}."
            for one, told in zip(known, found, strict=True)
            if told is not None
        ),
        missing=tuple(
            f"what was done to the indexes of {one.name} was not told by its engine"
            for one in subjects
            if one not in known
        ),
    )


def worked(run: Run, part: str) -> tuple[IndexWork, ...] | None:
    """Indexes of one part of a run; None where its engine does not tell."""
    found = parts_of(run)
    if found is None:
        return None
    return index_work(run, found.rest if part == STEADY else found.first)


def _tables(subjects: Sequence[Subject], most: int) -> Iterator[Table]:
    for one in subjects:
        for part in (SINCE_THE_START, STEADY):
            name = part if len(subjects) == 1 else f"{one.name}, {part}"
            rows = tuple(
                (told.name, told.touches, told.reads, told.buffers)
                for told in (worked(one.first, part) or ())[:most]
            )
            yield Table(name, f"touches and pages by index, {name}", COLUMNS, rows)


def _measures(subjects: Sequence[Subject]) -> Iterator[Measure]:
    for kind in HOLDS:

        def share(run: Run, kind: Holds = kind) -> float | None:
            return share_of_reads(worked(run, STEADY) or (), kind)

        values = by_subject((one.name, spread(one.over_rounds(share))) for one in subjects)
        if values:
            yield Measure(kind, f"pages read that hold {WORDS[kind]}", SHARE, values)


def _says(subject: Subject) -> Iterator[str]:
    for part in (SINCE_THE_START, STEADY):
        work = worked(subject.first, part) or ()
        pages = sum(one.reads or 0.0 for one in work)
        if not work or not pages:
            yield f"{subject.name}, {part}: no page was read."
            continue
        most = max(work, key=lambda one: one.touches or 0.0)
        shares = [
            f"{text(share, SHARE)} {WORDS[kind]}"
            for kind in HOLDS
            if (share := share_of_reads(work, kind)) is not None
        ]
        of_it = f", {', '.join(shares)}" if shares else ""
        yield (
            f"{subject.name}, {part}: {text(pages, COUNT)} pages were read{of_it}; most are of"
            f" {work[0].name}, and {most.name} was touched most."
        )
