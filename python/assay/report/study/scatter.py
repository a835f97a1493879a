"""Scatter charts of a study: one colour and mark per engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.report.charts.axes import logarithmic
from assay.report.charts.palette import WIDTH

if TYPE_CHECKING:
    from collections.abc import Sequence

    import altair as alt

    from assay.report.study.chart_rows import MeasureRow, ShownChart

HEIGHT = 320
SHAPES = ("diamond", "circle", "square", "triangle-up", "cross", "triangle-right")


def scatter(chart: ShownChart, rows: Sequence[MeasureRow], colours: alt.Scale) -> alt.TopLevelMixin:
    """Return a chart of points with the spread of each over its rounds."""
    import altair as alt

    names = list(colours.domain)
    # The first subject is drawn last, so that its points are on top.
    values = [dict(row) for row in reversed(rows)]
    base = alt.Chart(alt.InlineData(values=values), width=WIDTH, height=HEIGHT)
    unit = str(rows[0]["unit"])
    title = chart["title"] if unit == "s" else f"{chart['title']}, {unit}"
    ends = [
        end
        for row in rows
        for end in (row["value"], row.get("low"), row.get("high"))
        if end is not None
    ]
    axis = alt.Axis(tickCount=6, labelOverlap=True, gridOpacity=0.6)
    places = [place for row in rows if (place := row.get("at")) is not None]
    x = alt.X("at:Q", title=chart["axis"], axis=axis, scale=_scale(chart, places))
    y = alt.Y("value:Q", title=title, axis=axis, scale=_scale(chart, ends))
    colour = alt.Color("subject:N", scale=colours, sort=names, title=None)
    points = base.mark_point(size=80, filled=True, opacity=0.9).encode(
        x=x,
        y=y,
        color=colour,
        shape=alt.Shape("subject:N", scale=alt.Scale(domain=names, range=list(_shapes(names)))),
        tooltip=[alt.Tooltip("subject:N"), alt.Tooltip("measure:N"), alt.Tooltip("label:N")],
    )
    if not any("low" in row for row in rows):
        return alt.layer(points)
    spread = base.mark_rule(strokeWidth=1.5, opacity=0.5).encode(
        x=x, y=alt.Y("low:Q"), y2=alt.Y2("high:Q"), color=colour
    )
    return alt.layer(spread, points)


def _shapes(names: Sequence[str]) -> list[str]:
    return [SHAPES[number % len(SHAPES)] for number, _ in enumerate(names)]


def _scale(chart: ShownChart, values: Sequence[float]) -> alt.Scale:
    import altair as alt

    scale = logarithmic(values) if chart["logarithmic"] else None
    return scale or alt.Scale(zero=False)
