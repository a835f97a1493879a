"""Chart of measured points along a numeric axis, with the curve fitted to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.figures.contract import LINE, POINT
from assay.analysis.quantities import COUNT, SECONDS, SHARE, text
from assay.report.charts.axes import logarithmic
from assay.report.charts.palette import GREY, SUBJECT_COLOURS, WIDTH

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import altair as alt

    from assay.report.documents.study import ChartEntry
    from assay.report.study.chart_rows import CurveRow, LabelledCurveRow

FITTED = "fitted"
HEIGHT, ROOM = 280, 1.15
# Larger counts are written with a suffix, such as k.
LONG = 10_000


def fitted(
    chart: ChartEntry, rows: Sequence[CurveRow], colours: Mapping[str, str]
) -> alt.TopLevelMixin:
    """Return a chart of points with their spread, and lines with confidence bands.

    Both axes begin at 0, or are logarithmic if the chart is.

    Args:
        chart: A chart of a study's document.
        rows: Columns of `CURVE_COLUMNS`, and the unit of y.
        colours: Colours by subject; the names of curves begin with the subject.
    """
    import altair as alt

    shown, title, form = _in_unit(chart, rows)
    names = list(dict.fromkeys(str(row["curve"]) for row in shown))
    free = iter(shade for shade in SUBJECT_COLOURS if shade not in colours.values())
    range_ = [colours.get(name) or next(free, GREY) for name in names]
    base = alt.Chart(alt.InlineData(values=shown), width=WIDTH - 120, height=HEIGHT)
    along, up = _scales(chart, shown)
    x = alt.X("x:Q", title=chart["keys"][0], scale=along, axis=_whole(shown))
    axis = alt.Axis(format=form, tickCount=6, gridOpacity=0.5)
    y = alt.Y("y:Q", title=title, scale=up, axis=axis)
    legend = alt.Legend(title=None, symbolOpacity=1)
    colour = alt.Color("curve:N", scale=alt.Scale(domain=names, range=range_), legend=legend)
    lines = base.transform_filter(f"datum.drawn == '{LINE}'")
    points = base.transform_filter(f"datum.drawn == '{POINT}'")
    with_ends = "isValid(datum.low) && isValid(datum.high)"
    ends = {"y": alt.Y("low:Q", title=title), "y2": "high:Q"}
    return alt.layer(
        lines.transform_filter(with_ends)
        .mark_area(opacity=0.15, clip=True)
        .encode(x=x, color=colour, **ends),
        lines.mark_line(strokeWidth=1.8).encode(x=x, y=y, color=colour),
        points.transform_filter(with_ends)
        .mark_rule(strokeWidth=1.5)
        .encode(x=x, color=colour, **ends),
        points.mark_point(size=60, filled=True, opacity=1).encode(
            x=x, y=y, color=colour, tooltip=["curve:N", "place:N", "value:N"]
        ),
    )


def _scales(chart: ChartEntry, rows: Sequence[CurveRow]) -> tuple[alt.Scale, alt.Scale]:
    """Return the scales of the position and value axes of a fitted curve's chart."""
    import altair as alt

    if chart["logarithmic"]:
        ends = [end for row in rows for end in (row["y"], row["low"], row["high"])]
        values = [end for end in ends if end is not None]
        places = [row["x"] for row in rows]
        return logarithmic(places) or alt.Scale(), logarithmic(values) or alt.Scale()
    return alt.Scale(zero=True), alt.Scale(domain=[0.0, _top(rows)])


def _top(rows: Sequence[CurveRow]) -> float:
    """Return the top of the value axis, so that all points and lines fit."""
    lines = [row["y"] for row in rows]
    points = [row["high"] for row in rows if row["drawn"] == POINT and row["high"] is not None]
    return ROOM * max(*lines, *points, 0.0) or 1.0


def _whole(rows: Sequence[CurveRow]) -> alt.Axis:
    """Return a chart axis with ticks at the measured positions."""
    import altair as alt

    places = sorted({row["x"] for row in rows if row["drawn"] == POINT})
    form = ".3~s" if max(places) >= LONG else "~r"
    return alt.Axis(values=places, format=form, gridOpacity=0.3, labelOverlap=True)


def _in_unit(
    chart: ChartEntry, rows: Sequence[CurveRow]
) -> tuple[list[LabelledCurveRow], str, str]:
    """Return chart rows with short times in milliseconds, the axis title, and number format."""
    unit, title = rows[0]["unit"], str(chart["title"])
    most = max(float(row["y"]) for row in rows)
    by = 1e3 if unit == SECONDS and most < 1 else 1.0
    shown: list[LabelledCurveRow] = [
        {
            **row,
            "y": float(row["y"]) * by,
            "low": None if row["low"] is None else float(row["low"]) * by,
            "high": None if row["high"] is None else float(row["high"]) * by,
            "place": text(row["x"], COUNT),
            "value": text(row["y"], unit),
        }
        for row in rows
    ]
    if unit == SECONDS:
        title = f"{title}, {'ms' if by > 1 else 'seconds'}"
    return shown, title, "~%" if unit == SHARE else "~s" if by == 1 else "~r"
