"""Curves of throughput by number of clients: measured points and the fitted scalability law."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.figures.contract import CURVE_COLUMNS, LINE, POINT, Chart, Column, Table
from assay.analysis.quantities import COUNT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.analysis.figures.contract import Cell, ChartKind
    from assay.analysis.figures.growth.swept import Quantified, Swept

FITTED: ChartKind = "fitted"
CURVES = "curves: "
# Number of points of a fitted line along the axis.
PLACES = 48


def curve_tables(
    swept: Sequence[Swept], levels: Sequence[int], drawn: Sequence[Quantified]
) -> tuple[Table, ...]:
    """Return a table for each charted quantity, with the columns of `CURVE_COLUMNS`."""
    tables = []
    for what in drawn:
        rows = [row for sweep in swept for row in _rows(sweep, what, levels)]
        units = (None, None, COUNT, what.unit, what.unit, what.unit, None)
        columns = tuple(map(Column, CURVE_COLUMNS, units))
        if rows:
            title = f"what the chart of {what.title} draws"
            tables.append(Table(f"{CURVES}{what.key}", title, columns, tuple(rows)))
    return tuple(tables)


def fitted_charts(tables: Sequence[Table], drawn: Sequence[Quantified]) -> tuple[Chart, ...]:
    """Return a chart for each table of measured points and fitted curves."""
    names = {table.name for table in tables}
    return tuple(
        Chart(what.key, what.title, FITTED, ("clients", what.title), axis="clients", table=name)
        for what in drawn
        if (name := f"{CURVES}{what.key}") in names
    )


def _rows(sweep: Swept, what: Quantified, levels: Sequence[int]) -> Iterator[tuple[Cell, ...]]:
    fit = sweep.fits.get(what.key)
    for level in levels:
        summary = sweep.of(what, level)
        if summary is None:
            continue
        ends = (summary.low, summary.high) if summary.count > 1 else (None, None)
        yield (sweep.name, f"{level} {what.key}", level, summary.middle, *ends, POINT)
        if fit is None:
            yield (sweep.name, None, level, summary.middle, None, None, LINE)
    if fit is not None:
        first, last = min(sweep.runs), max(sweep.runs)
        for number in range(PLACES + 1):
            at = first + (last - first) * number / PLACES
            ends = fit.band(at) or (None, None)
            yield (sweep.name, None, at, fit.law.throughput(at), *ends, LINE)
