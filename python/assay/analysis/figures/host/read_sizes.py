"""Chart of the disk's sequential and random reads per second by read size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.ceiling.medium import hiding_signs
from assay.analysis.ceiling.trials import BUFFERED, DIRECT, RANDOM, SEQUENTIAL, read_ceiling
from assay.analysis.figures.contract import (
    CURVE_COLUMNS,
    LINE,
    Chart,
    Column,
    Figure,
    Measure,
    Table,
)
from assay.analysis.quantities import BYTES, COUNT, PER_SECOND, TIMES, spread, text
from assay.model.units import bytes_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.analysis.ceiling.trials import Ceiling, Estimate
    from assay.analysis.figures.contract import Asked, Cell
    from assay.analysis.quantities import Spread
    from assay.analysis.study_runs import StudyRun

OPTIONS: dict[str, str] = {}
SUBJECT = "this disk"
CURVES = "curves"
AT_ONCE = 16
# Part of a measure's key: pattern of reads, path of reads, and number of concurrent reads.
WAYS = {
    "sequential": (SEQUENTIAL, DIRECT, 1),
    "random": (RANDOM, DIRECT, 1),
    f"random, {AT_ONCE} at once": (RANDOM, DIRECT, AT_ONCE),
    "sequential, by the page cache": (SEQUENTIAL, BUFFERED, 1),
}
PAGE_BYTES = 8192
AXES = ("size of a read", "reads a second")


def figure(asked: Asked) -> Figure:
    """Return a chart of the disk's reads per second by read size."""
    ceilings = [read_ceiling(ceiling.run) for ceiling in asked.ceilings]
    if not ceilings:
        return Figure(asked.name, asked.kind, asked.title, missing=("the disk was not measured",))
    sizes = sorted({size for ceiling in ceilings for size in ceiling.sizes()})
    measures = tuple(_measures(ceilings, sizes))
    columns = (Column("size"), *(Column(way, COUNT, 4) for way in WAYS))
    return Figure(
        asked.name,
        asked.kind,
        asked.title,
        says=tuple(_says(ceilings, sizes)),
        subjects=(SUBJECT,),
        measures=measures,
        tables=(
            Table("sizes", "reads a second by their size", columns, tuple(_rows(ceilings, sizes))),
            curve_table(curves(ceilings[0])),
        ),
        charts=(Chart("iops", "reads a second", "curves", AXES, table=CURVES),),
        notes=tuple(_notes(asked.ceilings)),
    )


def curve_table(rows: tuple[tuple[Cell, ...], ...]) -> Table:
    """Return a table of the disk's reads per second by read size."""
    units = (None, None, BYTES, PER_SECOND, PER_SECOND, PER_SECOND, None)
    columns = tuple(map(Column, CURVE_COLUMNS, units))
    return Table(CURVES, "what the chart draws", columns, rows)


def curves(ceiling: Ceiling) -> tuple[tuple[Cell, ...], ...]:
    """Return table rows of the disk's maximum reads per second by read size."""
    return tuple(_points(ceiling, ceiling.sizes()))


def _iops(ceiling: Ceiling, way: str, size_bytes: int) -> Estimate | None:
    pattern, cache, depth = WAYS[way]
    return ceiling.iops(size_bytes, depth, pattern, cache=cache)


def _measures(ceilings: list[Ceiling], sizes: list[int]) -> Iterator[Measure]:
    for way in WAYS:
        for size in sizes:
            rate = _rate_over_rounds(ceilings, way, size)
            size_text = bytes_text(size)
            if rate is not None:
                values = {SUBJECT: rate}
                yield Measure(
                    f"{size_text} {way}", f"{size_text} {way}", PER_SECOND, values, at=size
                )


def _rate_over_rounds(ceilings: list[Ceiling], way: str, size_bytes: int) -> Spread | None:
    estimates = [_iops(ceiling, way, size_bytes) for ceiling in ceilings]
    return spread(None if estimate is None else estimate.value for estimate in estimates)


def _rows(ceilings: list[Ceiling], sizes: list[int]) -> Iterator[tuple[Cell, ...]]:
    for size in sizes:
        rates = [_rate_over_rounds(ceilings, way, size) for way in WAYS]
        yield (bytes_text(size), *(None if rate is None else rate.middle for rate in rates))


def _points(ceiling: Ceiling, sizes: list[int]) -> Iterator[tuple[Cell, ...]]:
    for way in WAYS:
        for size in sizes:
            estimate = _iops(ceiling, way, size)
            if estimate is not None:
                key = f"{bytes_text(size)} {way}"
                yield (way, key, size, estimate.value, estimate.low, estimate.high, LINE)


def _says(ceilings: list[Ceiling], sizes: list[int]) -> Iterator[str]:
    ceiling = ceilings[0]
    page = min(sizes, key=lambda size: abs(size - PAGE_BYTES))
    single, many = _iops(ceiling, "random", page), ceiling.most_iops(page, RANDOM)
    straight = _iops(ceiling, "sequential", page)
    if single is None:
        return
    sentence = (
        f"At random, one at a time, this disk gives {text(single.value, PER_SECOND)} reads of"
    )
    more = (
        f"; of many at once {text(many.value, PER_SECOND)}, {many.value / single.value:.1f} times"
        " that"
        if many is not None
        else ""
    )
    yield f"{sentence} {bytes_text(page)}{more}."
    if straight is not None:
        yield (
            f"In sequence it gives {text(straight.value, PER_SECOND)} of that size,"
            f" {text(straight.value / single.value, TIMES)} as many as at random."
        )


def _notes(looks: tuple[StudyRun, ...]) -> Iterator[str]:
    yield (
        "Reads are of a file of Assay's own and go past the page cache (O_DIRECT), but for the"
        " column that says otherwise; each figure is the mean over the rounds of"
        f" {' and '.join(look.run.id for look in looks)}, whose report has the rest."
    )
    for look in looks[:1]:
        environment = look.run.environment
        device = (environment.get("host") or {}).get("data_device")
        for sign in hiding_signs(read_ceiling(look.run), environment.get("medium"), device):
            yield f"It may not be the medium that answers: {sign}."
