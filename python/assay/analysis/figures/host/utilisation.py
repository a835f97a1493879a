"""Table of how much of the machine a single query stream uses, from concurrent streams."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.composite.utilisation import Utilisation, utilisation, utilised_share
from assay.analysis.figures.contract import Chart, Column, Figure, Measure, Table
from assay.analysis.figures.subjects import subjects_of
from assay.analysis.metrics import test_of
from assay.analysis.quantities import COUNT, SECONDS, SHARE, by_subject, each_text, spread, text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.analysis.figures.contract import Asked, Cell
    from assay.analysis.figures.subjects import Subject
    from assay.analysis.quantities import Spread
    from assay.record.reader import Run

OPTIONS: dict[str, str] = {}
# Key of a measure, its title, its unit, and the field of `Utilisation`.
PARTS = (
    ("power_seconds", "power test", SECONDS, "power_s"),
    ("elapsed_seconds", "throughput test", SECONDS, "elapsed_s"),
    ("streams", "query streams", COUNT, "streams"),
    ("stream_seconds", "throughput test, a stream", SECONDS, "stream_s"),
    ("share", "utilised by the power test", SHARE, "share"),
)
EVEN = 0.02
# If the shares of single runs are further apart, the two tests started from different states.
APART_MAX = 0.25


def figure(asked: Asked) -> Figure:
    """Return a table of how much of the machine a single query stream uses."""
    subjects = [
        subject
        for subject in subjects_of(asked)
        if any(_utilisations(run.run) for run in subject.runs)
    ]
    measures = tuple(
        Measure(
            key,
            title,
            unit,
            by_subject((subject.name, _spread(subject, name)) for subject in subjects),
        )
        for key, title, unit, name in PARTS
    )
    measures = (*measures[:-1], _share_of_middles(measures))
    rows = tuple(row for subject in subjects for row in _rows(subject))
    columns = (Column("subject"), Column("round", COUNT), Column("run", COUNT))
    of_parts = tuple(Column(title, unit) for _, title, unit, _ in PARTS)
    names = {subject.name for subject in subjects}
    return Figure(
        asked.name,
        asked.kind,
        asked.title,
        says=(
            *_in_all(subjects, measures[-1]),
            *(_says(subject, measures) for subject in subjects),
        ),
        subjects=tuple(subject.name for subject in subjects),
        measures=measures,
        tables=(Table("runs", "both tests of each run", (*columns, *of_parts), rows),),
        charts=(Chart("share", "utilised by the power test", "bars", ("share",)),)
        if subjects
        else (),
        missing=tuple(
            f"{subject.name} has no power test and throughput test of one run (test = 'full')"
            for subject in subjects_of(asked)
            if subject.name not in names
        ),
    )


def _utilisations(run: Run) -> list[Utilisation]:
    test = test_of(run)
    if test is None or test.why_not:
        return []
    return [use for run in test.runs if (use := utilisation(run)) is not None]


def _spread(subject: Subject, name: str) -> Spread | None:
    return spread(
        float(getattr(use, name)) for run in subject.runs for use in _utilisations(run.run)
    )


def _share_of_middles(measures: tuple[Measure, ...]) -> Measure:
    """Return the machine share from median times, with the lowest and highest share of the runs."""
    by_key = {measure.key: measure.values for measure in measures}
    values = {}
    for name, share in by_key["share"].items():
        power_s, elapsed_s, streams = (
            by_key[key][name].middle for key in ("power_seconds", "elapsed_seconds", "streams")
        )
        middle = utilised_share(power_s, elapsed_s, round(streams))
        values[name] = replace(share, middle=middle)
    return replace(measures[-1], values=values)


def _rows(subject: Subject) -> Iterator[tuple[Cell, ...]]:
    for run in subject.runs:
        for use in _utilisations(run.run):
            yield (
                subject.name,
                run.round,
                use.run,
                *(getattr(use, name) for _, _, _, name in PARTS),
            )


def _in_all(subjects: list[Subject], share: Measure) -> Iterator[str]:
    """Yield one sentence on the machine share of all engines; nothing for a single engine."""
    if len(subjects) > 1:
        shares = [
            (subject.name, text(share.values[subject.name].middle, SHARE)) for subject in subjects
        ]
        yield (
            f"A stream's share of the throughput test is {each_text(shares)} of a power test; what"
            " is missing to 100 % one stream leaves unused."
        )


def _says(subject: Subject, measures: tuple[Measure, ...]) -> str:
    middles = {measure.key: measure.values[subject.name].middle for measure in measures}
    share, ends = middles["share"], measures[-1].values[subject.name]
    sentence = (
        f"{subject.name}: a power test takes {text(middles['power_seconds'], SECONDS)}, and"
        f" {middles['streams']:.0f} times the work in streams"
        f" {text(middles['elapsed_seconds'], SECONDS)},"
        f" so the power test uses {text(share, SHARE)} of what the machine gives"
    )
    if ends.high - ends.low > APART_MAX:
        low, high = text(ends.low, SHARE), text(ends.high, SHARE)
        return (
            f"{sentence}; of single runs it is {low} to {high}, so both tests did not begin alike."
        )
    if share > 1 + EVEN:
        return f"{sentence}: streams are in each other's way."
    if share < 1 - EVEN:
        return f"{sentence}; {text(1 - share, SHARE)} are left to better parallelism of one stream."
    return f"{sentence}: all of it."
