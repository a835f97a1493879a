"""Chart of an engine's own counters over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from assay.model.units import BYTES, SECONDS, amount_rate_text, amount_text
from assay.report.charts.data import inline
from assay.report.charts.palette import BLUE, BYTE_UNITS, WIDTH

if TYPE_CHECKING:
    import altair as alt

    from assay.report.documents.host.engine_counters import (
        CounterRow,
        CounterSeries,
        EngineCountersSection,
    )

NAME = "counters"
# Readers cannot follow more panels. The engine declares its most important counters first.
PANELS_MAX = 5
POINTS_MAX = 300
HEIGHT = 56
AXIS_EXTENT = 40
COUNTER = "counter"
SECOND_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))
SCHEMA = {"name": pl.String, "unit": pl.String, "time_s": pl.Float64, "value": pl.Float64}


def drawn(counted: EngineCountersSection) -> list[str]:
    """Return the names of the counters to draw: the first that are not always zero."""
    return [series["name"] for series in counted["series"] if any(series["values"])][:PANELS_MAX]


def why_empty(counted: EngineCountersSection | None) -> str | None:
    """Return why the chart of counters has no data; None if it has."""
    if counted is None:
        return "The record holds no counters of the engine."
    return None if drawn(counted) else "No counter of the engine moved."


def data(counted: EngineCountersSection) -> pl.DataFrame:
    """Return the engine's counters over time as one table: name, unit, time_s, value."""
    figures = {figure["name"]: figure for figure in counted["counters"]}
    rows = [
        (series["name"], _unit(figures[series["name"]]), time_s, value)
        for series in counted["series"]
        for time_s, value in zip(series["time_s"], series["values"], strict=True)
    ]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def chart(counted: EngineCountersSection, ended_s: float) -> alt.TopLevelMixin:
    """Return a chart with a panel per counter over one time axis."""
    import altair as alt

    figures = {figure["name"]: figure for figure in counted["counters"]}
    by_name = {series["name"]: series for series in counted["series"]}
    names = drawn(counted)
    panels = [
        _panel(figures[name], by_name[name], ended_s, is_last=name == names[-1]) for name in names
    ]
    joined: alt.TopLevelMixin = alt.vconcat(*panels, bounds="full")
    return joined


def _unit(figure: CounterRow) -> str:
    return f"{figure['unit']}/s" if figure["kind"] == COUNTER else str(figure["unit"])


def _panel(
    figure: CounterRow, series: CounterSeries, ended_s: float, *, is_last: bool
) -> alt.Chart:
    import altair as alt

    rows, unit = _rows(figure, series)
    title = "seconds since the measured part began" if is_last else None
    axis = alt.Axis(title=title, labels=is_last, ticks=is_last, tickCount=10, gridOpacity=0.6)
    value_axis = alt.Axis(
        title=None,
        tickCount=3,
        labelExpr="format(datum.value, '~s')",
        gridOpacity=0.6,
        minExtent=AXIS_EXTENT,
        maxExtent=AXIS_EXTENT,
    )
    drawn_as: alt.Chart = (
        alt.Chart(
            inline(rows),
            width=WIDTH,
            height=HEIGHT,
            title=alt.TitleParams(f"{figure['title']}, {unit}", anchor="start", fontSize=11),
        )
        .mark_area(
            interpolate="step-before",
            clip=True,
            color=BLUE,
            opacity=0.35,
            line={"color": BLUE, "strokeWidth": 1.5},
        )
        .encode(
            x=alt.X("time_s:Q", scale=alt.Scale(domain=[0, ended_s], nice=False), axis=axis),
            y=alt.Y("value:Q", axis=value_axis, scale=alt.Scale(zero=True), stack=None),
            tooltip=[alt.Tooltip("time_s:Q", title="seconds"), alt.Tooltip("told:N", title=unit)],
        )
    )
    return drawn_as


def _rows(figure: CounterRow, series: CounterSeries) -> tuple[list[dict[str, Any]], str]:
    """Return a counter's chart points in the unit that fits the largest value, and that unit."""
    is_rate = figure["kind"] == COUNTER
    times, values = thinned(series["time_s"], series["values"], is_rate=is_rate)
    if is_rate and len(values) > 1:
        # A rate holds since the previous reading, so the first reading has no rate.
        values[0] = values[1]
    text = amount_rate_text if is_rate else amount_text
    largest = max((value for value in values if value is not None), default=0.0)
    step, unit = step_of(figure["unit"], largest)
    rows = [
        {
            "time_s": round(time_s, 3),
            "value": None if value is None else value / step,
            "told": text(value, figure["unit"]),
        }
        for time_s, value in zip(times, values, strict=True)
    ]
    return rows, f"{unit} a second" if is_rate else unit


def thinned(
    times: list[float], values: list[float | None], *, is_rate: bool
) -> tuple[list[float], list[float | None]]:
    """Return a series thinned to as many points as a chart can show.

    A point of a rate is the mean over the readings that it replaces, or None if any reading is
    None. A point of a gauge is the largest of its readings.
    """
    step = -(-(len(times) - 1) // POINTS_MAX)
    if step <= 1:
        return list(times), list(values)
    kept_times, kept = [times[0]], [values[0]]
    for begin in range(0, len(times) - 1, step):
        end = min(begin + step, len(times) - 1)
        spans = [times[n] - times[n - 1] for n in range(begin + 1, end + 1)]
        part = values[begin + 1 : end + 1]
        read = [value for value in part if value is not None]
        kept_times.append(times[end])
        if is_rate and len(read) == len(part):
            grown = sum(value * span for value, span in zip(read, spans, strict=True))
            kept.append(grown / sum(spans))
        else:
            kept.append(max(read) if read and not is_rate else None)
    return kept_times, kept


def step_of(unit: str, largest: float) -> tuple[float, str]:
    """Return the divisor that makes values readable in a larger unit, and that unit's name."""
    steps = {BYTES: BYTE_UNITS, SECONDS: SECOND_UNITS}.get(unit, ((1, unit),))
    return next(((step, name) for step, name in steps if largest >= step), steps[-1])
