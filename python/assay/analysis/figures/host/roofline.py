"""Compares a query's disk reads with the disk's maximum rate for reads of that size."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from assay.analysis.ceiling.trials import read_ceiling
from assay.analysis.figures.contract import POINT, Chart, Column, Figure, Table
from assay.analysis.figures.host.contiguous_reads import (
    contiguity_says,
    contiguity_tables,
    why_not_traced,
)
from assay.analysis.figures.host.query_reads import (
    disturbance_text,
    is_disturbed,
    middle_run,
    query_reads,
    span_s,
)
from assay.analysis.figures.host.read_sizes import AXES, CURVES, curve_table, curves
from assay.analysis.figures.subjects import briefly, measure, subjects_of
from assay.analysis.host.disk_series import data_device, disk_series
from assay.analysis.host.roofline import Placed, Reads, place
from assay.analysis.quantities import (
    BYTES,
    COUNT,
    PER_SECOND,
    SHARE,
    TIMES,
    interval_text,
    listed,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from assay.analysis.ceiling.trials import Ceiling
    from assay.analysis.figures.contract import Asked, Cell, Measure
    from assay.analysis.figures.subjects import Subject
    from assay.record.reader import Run

OPTIONS = {"operation": "its name; without it the one that takes longest"}
COLUMNS = (
    Column("subject"),
    Column("a read", BYTES),
    Column("reads/s", COUNT, 4),
    Column("at once", COUNT, 3),
    Column("disk at random", COUNT, 4),
    Column("of that", SHARE),
    Column("disk in sequence", COUNT, 4),
    Column("disk, many at once", COUNT, 4),
)
NO_CEILING = "the disk's ceiling was not measured: the part of kind ceiling has no run"
# The gain of concurrent reads is mentioned from this factor on.
NOTABLY_MORE = 1.5
SEVERAL = 1.5


def figure(asked: Asked) -> Figure:
    """Return a chart of a query's reads per second against the disk's maximum."""
    operation = asked.options.get("operation")
    subjects = briefly(subjects_of(asked))
    if not asked.ceilings or not subjects:
        lacking = "no run of the query was made" if asked.ceilings else NO_CEILING
        missing = (lacking,)
        return Figure(asked.name, asked.kind, asked.title, missing=missing)
    ceiling = read_ceiling(asked.ceilings[0].run)
    placed = {
        subject.name: placed_reads(middle_run(subject.runs, operation).run, ceiling, operation)
        for subject in subjects
    }
    points = tuple(_points(subjects, ceiling, operation))
    return Figure(
        asked.name,
        asked.kind,
        asked.title,
        says=(*_says(placed), *contiguity_says(subjects[0], operation)),
        subjects=tuple(subject.name for subject in subjects),
        measures=tuple(_measures(subjects, ceiling, operation)),
        tables=(
            Table("placed", "reads beside what the disk gives", COLUMNS, tuple(_rows(placed))),
            *contiguity_tables(subjects, operation),
            curve_table((*curves(ceiling), *points)),
        ),
        charts=(Chart("roofline", "reads a second by their size", "curves", AXES, table=CURVES),),
        notes=tuple(_notes(asked)),
        missing=tuple(_missing(subjects, placed, operation)),
    )


def _disturbance(subject: Subject, operation: str | None) -> str:
    run = middle_run(subject.runs, operation).run
    return f": {disturbance_text(run, operation)}" if is_disturbed(run, operation) else ""


def _missing(
    subjects: tuple[Subject, ...], placed: dict[str, Placed | None], operation: str | None
) -> Iterator[str]:
    for subject in subjects:
        if placed[subject.name] is None:
            yield f"{subject.name}: its reads are not known{_disturbance(subject, operation)}"
        if not subject.first.has("requests"):
            yield f"{subject.name}: how contiguous its reads were: {why_not_traced(subject.first)}"


def placed_reads(run: Run, ceiling: Ceiling, operation: str | None = None) -> Placed | None:
    """Return the reads of a run's operation compared with the disk's limits; None if not known."""
    reads = reads_of(run, operation)
    return None if reads is None else place(reads, ceiling)


@lru_cache(maxsize=256)
def reads_of(run: Run, operation: str | None = None) -> Reads | None:
    """Return the disk reads of a run's operation; None if not known, or if it read nothing."""
    observed = None if is_disturbed(run, operation) else query_reads(run, operation)
    if observed is None or not observed.mean_read_bytes or observed.reads_per_s is None:
        return None
    return Reads(observed.mean_read_bytes, observed.reads_per_s, _mean_queue_depth(run, operation))


def _mean_queue_depth(run: Run, operation: str | None) -> float | None:
    """Return the mean number of concurrent disk requests, over the first execution's busy time."""
    device, span = data_device(run), span_s(run, operation)
    if device is None or span is None:
        return None
    begun_s, ended_s = span
    own = disk_series(run, None, device)
    own = own.filter((own["time_s"] > begun_s) & (own["time_s"] - own["seconds"] < ended_s))
    queue, busy = own["aqu-sz"] * own["seconds"], own["%util"] / 100 * own["seconds"]
    waited, worked = float(queue.sum()), float(busy.sum())
    return waited / worked if worked else None


def _measures(
    subjects: tuple[Subject, ...], ceiling: Ceiling, operation: str | None
) -> Iterator[Measure]:
    def quantity(take: Callable[[Placed], float | None]) -> Callable[[Run], float | None]:
        def of(run: Run) -> float | None:
            placed = placed_reads(run, ceiling, operation)
            return None if placed is None else take(placed)

        return of

    quantities: dict[str, tuple[str, str, Callable[[Placed], float | None]]] = {
        "iops": ("reads a second", PER_SECOND, lambda placed: placed.reads.per_s),
        "io_size": ("mean size of a read", BYTES, lambda placed: placed.reads.size_bytes),
        "share": ("of what the disk gives at random", SHARE, lambda placed: placed.share),
    }
    for key, (title, unit, take) in quantities.items():
        yield measure(key, title, unit, subjects, quantity(take))


def _points(
    subjects: tuple[Subject, ...], ceiling: Ceiling, operation: str | None
) -> Iterator[tuple[Cell, ...]]:
    """Yield a chart point for each run: read size and reads per second."""
    for subject in subjects:
        for run in subject.runs:
            placed = placed_reads(run.run, ceiling, operation)
            if placed is not None:
                reads = placed.reads
                yield (subject.name, None, reads.size_bytes, reads.per_s, None, None, POINT)


def _rows(placed: dict[str, Placed | None]) -> Iterator[tuple[Cell, ...]]:
    for name, position in placed.items():
        if position is not None:
            rates = (position.random, position.sequential, position.most)
            random, straight, most = (None if rate is None else rate.value for rate in rates)
            reads = position.reads
            yield (
                name,
                reads.size_bytes,
                reads.per_s,
                reads.at_once,
                random,
                position.share,
                straight,
                most,
            )


def _says(placed: dict[str, Placed | None]) -> Iterator[str]:
    for name, position in placed.items():
        if position is None or position.share is None:
            continue
        yield f"{name[:1].upper()}{name[1:]}: {placed_text(position)}."
    first = next((position for position in placed.values() if position is not None), None)
    if first is not None and (first.more_at_once or 0.0) >= NOTABLY_MORE:
        yield (
            f"Of many at once the disk gives {text(first.more_at_once, TIMES)} as many: what"
            " bounds the query is how long one read takes, not how many the disk can do."
        )


def placed_text(position: Placed) -> str:
    """Return text that compares reads per second with the disk's limits."""
    reads = position.reads
    ends = interval_text(position.share_interval, SHARE)
    at_once = f"{position.depth:.2g} at once" if position.depth >= SEVERAL else "one at a time"
    return (
        f"{text(reads.per_s, PER_SECOND)} reads of {text(reads.size_bytes, BYTES)}, which is"
        f" {text(position.share, SHARE)}{ends} of what this disk gives of that size at random,"
        f" {at_once}"
    )


def _notes(asked: Asked) -> Iterator[str]:
    yield (
        "Reads a second are over the whole of the query's time; the disk's curve is of a program"
        f" that does nothing else ({asked.ceilings[0].run.id}). How many reads are under way is"
        " the device's own account: the disk is held against as many."
    )
    devices = {name for run in asked.runs if (name := data_device(run.run)) is not None}
    looked_at = (asked.ceilings[0].run.environment.get("host") or {}).get("data_device") or {}
    others = sorted(devices - {str(looked_at.get("name"))})
    if others and looked_at:
        yield (
            f"The disk that was measured is {looked_at['name']}, and the data lay on"
            f" {listed(others)}: what the one gives is not what the other does."
        )
