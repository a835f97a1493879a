"""Tables that compare the first power test with the second: the cost of an empty cache."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.composite.naming import POWER, THROUGHPUT
from assay.analysis.figures.contract import Chart, Column, Figure, Table
from assay.analysis.figures.loads.composite import gain
from assay.analysis.figures.subjects import measure, subjects_of
from assay.analysis.findings.shape.first_run import first_and_second
from assay.analysis.host.state import starting_state
from assay.analysis.host.task_counters import executions
from assay.analysis.metrics import metric_of_run
from assay.analysis.operations import is_measured
from assay.analysis.quantities import (
    BYTES,
    COUNT,
    PER_HOUR,
    SECONDS,
    SHARE,
    TIMES,
    change_text,
    each_text,
    listed,
    spread,
    text,
)
from assay.record.layout import PHASE_POWER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.analysis.figures.contract import Asked, Cell, Measure
    from assay.analysis.figures.subjects import Subject
    from assay.record.reader import Run

OPTIONS: dict[str, str] = {}
ROWS_MAX = 24
# Any two runs may deviate by this share.
NOTICED = 0.1
COLUMNS = (
    Column("subject"),
    Column("operation"),
    Column("first", SECONDS),
    Column("second", SECONDS),
    Column("first / second", TIMES),
    Column("more in the kernel", SECONDS),
    Column("more page faults", COUNT),
    Column("more read", BYTES),
)
# Maximum number of a subject's tables and indexes, those with the most cached bytes first.
CACHED_MAX = 8
CACHED_COLUMNS = (
    Column("subject"),
    Column("table or index"),
    Column("in the engine's cache", BYTES),
    Column("of it", SHARE),
)


def figure(asked: Asked) -> Figure:
    """Return tables that compare the first power test's query times with the second's."""
    every = subjects_of(asked)
    subjects = tuple(subject for subject in every if not _pairs(subject).is_empty())
    compared = {subject.name for subject in subjects}
    measures = tuple(_measures(subjects)) if subjects else ()
    keys = tuple(f"{POWER}_{number}" for number in (1, 2))
    return Figure(
        asked.name,
        asked.kind,
        asked.title,
        says=(*_in_all(measures), *(_says(subject) for subject in subjects)),
        subjects=tuple(subject.name for subject in subjects),
        measures=measures,
        tables=(
            Table(
                "operations",
                "operations of both power tests, those that differ most first",
                COLUMNS,
                tuple(row for subject in subjects for row in _rows(subject)),
            ),
            *_cached(subjects),
        ),
        charts=(Chart("power", "power an hour, times the scale", "bars", keys),)
        if subjects
        else (),
        missing=tuple(
            f"{subject.name} has no two power tests of one run (test = 'full')"
            for subject in every
            if subject.name not in compared
        ),
    )


def _cached(subjects: tuple[Subject, ...]) -> Iterator[Table]:
    """Yield a table of the engine's cache content after loading, from each engine's first run.

    Only runs in the state `loaded` on engines that report the content of their cache have rows.
    """
    rows: list[tuple[Cell, ...]] = []
    for subject in subjects:
        state = starting_state(subject.runs[0].run)
        for entry in ((state and state.engine_cache) or ())[:CACHED_MAX]:
            held, whole = entry["cached_bytes"], entry["bytes"]
            share = min(1.0, held / whole) if whole else None
            rows.append((subject.name, entry["name"] or "all together", held, share))
    if rows:
        title = "what the engine's own cache held between the load and the first power test"
        yield Table("cached", title, CACHED_COLUMNS, tuple(rows))


def _measures(subjects: tuple[Subject, ...]) -> Iterator[Measure]:
    for kind in (POWER, THROUGHPUT):
        for number in (1, 2):
            metric = partial(metric_of_run, kind=kind, number=number)
            title = f"{kind} of run {number}"
            yield measure(f"{kind}_{number}", title, PER_HOUR, subjects, metric)
        title = f"{kind}: from the first run to the second"
        yield measure(f"{kind}_gain", title, SHARE, subjects, partial(gain, kind=kind))
    title = "second throughput over the first"
    yield measure("throughput_difference", title, "an hour", subjects, _difference)


def _difference(run: Run) -> float | None:
    first, second = (metric_of_run(run, THROUGHPUT, number) for number in (1, 2))
    return None if first is None or second is None else second - first


def _pairs(subject: Subject) -> pl.DataFrame:
    """Return one row of times per operation of both power tests, with medians over rounds."""
    frames = [frame for run in subject.runs if (frame := _power_test_pairs(run.run)) is not None]
    if not frames:
        return pl.DataFrame()
    names = [name for name in frames[0].columns if name not in ("operation", "in_warm_up")]
    return (
        pl.concat(frames)
        .group_by("operation", maintain_order=True)
        .agg(pl.col(name).median() for name in names)
        .with_columns((pl.col("seconds") / pl.col("later_seconds")).alias("times"))
        .sort("times", "operation", descending=[True, False])
    )


def _power_test_pairs(run: Run) -> pl.DataFrame | None:
    if run.facts.get("test") is None:
        return None
    tasks = run.table("tasks") if run.has("tasks") else None
    executed = executions(run.table("events"), tasks)
    played = executed.filter(is_measured(executed))
    names = played["phase"].unique().to_list()
    phases = sorted(name for name in names if name.startswith(f"{PHASE_POWER}-"))
    if len(phases) < 2:  # noqa: PLR2004 - first and second
        return None
    return first_and_second(played, *phases[:2])


def _rows(subject: Subject) -> Iterator[tuple[Cell, ...]]:
    for row in _pairs(subject).head(ROWS_MAX).iter_rows(named=True):
        yield (
            subject.name,
            row["operation"],
            row["seconds"],
            row["later_seconds"],
            row["times"],
            *(
                _more(row, name, floor=name != "system_s")
                for name in ("system_s", "minor_faults", "read_bytes")
            ),
        )


def _more(row: dict[str, float | None], name: str, *, floor: bool) -> float | None:
    first, later = row[name], row[f"later_{name}"]
    if first is None or later is None:
        return None
    return max(0.0, first - later) if floor else first - later


def _in_all(measures: tuple[Measure, ...]) -> Iterator[str]:
    """Yield one sentence on the first power test of all engines; nothing for a single engine."""
    for gains in measures:
        if gains.key == f"{POWER}_gain" and len(gains.values) > 1:
            changes = each_text(
                (name, change_text(change.middle)) for name, change in gains.values.items()
            )
            yield f"Beside the first, the power of the second test is {changes}."


def _says(subject: Subject) -> str:
    pairs = _pairs(subject)
    first_s, second_s = float(pairs["seconds"].sum()), float(pairs["later_seconds"].sum())
    gains = [
        share for share in subject.over_rounds(lambda run: gain(run, POWER)) if share is not None
    ]
    sentence = (
        f"{subject.name}: the first power test takes {text(first_s, SECONDS)}, the second"
        f" {text(second_s, SECONDS)}"
    )
    if gains:
        change = spread(gains)
        assert change is not None  # noqa: S101 - of at least one
        sentence += f", whose power is {change_text(change.middle)}"
    slower = pairs.filter(pl.col("times") > 1 + NOTICED)["operation"].to_list()
    if not slower:
        return f"{sentence}; no operation took {NOTICED * 100:.0f} % longer the first time."
    return (
        f"{sentence}; {len(slower)} operations took over {NOTICED * 100:.0f} % longer at first,"
        f" most {listed(slower[:3])}."
    )
