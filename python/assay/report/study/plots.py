"""Charts that draw a study's table: values over time, and curves of two quantities."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

from assay.analysis.figures.contract import LINE, POINT
from assay.analysis.quantities import BYTES, text
from assay.report.charts.axes import logarithmic, sizes_axis
from assay.report.charts.palette import BLUE, GREY, ORANGE, SKY, SUBJECT_COLOURS, VERMILION, WIDTH
from assay.report.study.compare_charts import compare_rows, forest, waterfall
from assay.report.study.fits import FITTED, fitted
from assay.report.study.tables import number_in, records_of
from assay.report.study.trades import HEAT, TRADE, heat, heat_rows, trade

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Literal

    import altair as alt

    from assay.analysis.figures.contract import Cell
    from assay.report.documents.study import ChartEntry, FigureEntry
    from assay.report.study.chart_rows import (
        CurveRow,
        FieldRow,
        PanelRow,
        RatioRow,
        StepRow,
        TableChartRow,
        TradeRow,
    )

ARTICLE, CURVES = "the article", "curves"
COMPARE = ("forest", "waterfall")
PANEL, CURVES_HEIGHT, MARGIN = 120, 330, 44
# Colours of CPU states from the bottom up: at work, waiting, idle.
CPU_COLOURS = {
    "user": BLUE,
    "kernel": SKY,
    "iowait": VERMILION,
    "stolen": ORANGE,
    "idle": "#e4e5eb",
}
AXIS_WORDS = {"seconds": "seconds since it began"}
# A size axis has a tick at every second power of two.
TICKS_EVERY = 2


def plot_rows(figure: FigureEntry, chart: ChartEntry) -> Sequence[TableChartRow]:
    """Return the rows of a table's chart: one per point, including the article's points."""
    table = next((entry for entry in figure["tables"] if entry["name"] == chart["table"]), None)
    if table is None:
        return []
    rows = records_of(table)
    if chart["kind"] in COMPARE:
        return compare_rows(chart["kind"], rows)
    if chart["kind"] == TRADE:
        return cast("list[TradeRow]", rows)
    if chart["kind"] == HEAT:
        return heat_rows(chart, table)
    if chart["kind"] in (CURVES, FITTED):
        units = {column["name"]: column["unit"] for column in table["columns"]}
        unit = units["y"]
        ours = [cast("CurveRow", row | {"unit": unit}) for row in rows if row["y"] is not None]
        places = {str(row["key"]): number_in(row["x"]) for row in rows if row["key"] is not None}
        return [*_articles_curves(figure, places, unit), *ours] if ours else []
    return list(_melted(chart, rows, table["columns"][0]["name"]))


def _melted(
    chart: ChartEntry, rows: Sequence[Mapping[str, Cell]], panel: str
) -> Iterator[PanelRow]:
    for row in rows:
        for place, key in enumerate(chart["keys"]):
            if row[key] is not None:
                yield {
                    "panel": str(row[panel]),
                    "x": number_in(row[str(chart["axis"])]),
                    "what": key,
                    "place": place,
                    "value": number_in(row[key]),
                }


def _articles_curves(
    figure: FigureEntry, places: Mapping[str, float], unit: str | None
) -> Iterator[CurveRow]:
    """Yield the article's values at the same positions as the study's."""
    article = figure["article"]
    for compared in () if article is None else article["compared"]:
        if compared["key"] in places:
            yield {
                "curve": f"{ARTICLE}: {compared['key'].rpartition(' ')[2]}",
                "key": compared["key"],
                "x": places[compared["key"]],
                "y": compared["article"],
                "low": None,
                "high": None,
                "drawn": LINE,
                "unit": unit,
            }


def drawn(
    chart: ChartEntry, rows: Sequence[TableChartRow], colours: Mapping[str, str]
) -> alt.TopLevelMixin:
    """Return the chart that draws the rows of a study's table.

    Args:
        chart: A chart of a study's document that draws a table.
        rows: Rows of `plot_rows`, at least one.
        colours: Colours of subjects.
    """
    drawing: Mapping[str, Callable[[], alt.TopLevelMixin]] = {
        "forest": lambda: forest(chart["title"], cast("Sequence[RatioRow]", rows)),
        "waterfall": lambda: waterfall(chart["title"], cast("Sequence[StepRow]", rows)),
        TRADE: lambda: trade(chart, cast("Sequence[TradeRow]", rows), colours),
        HEAT: lambda: heat(chart, cast("Sequence[FieldRow]", rows)),
        FITTED: lambda: fitted(chart, cast("Sequence[CurveRow]", rows), colours),
        CURVES: lambda: _curves(chart, cast("Sequence[CurveRow]", rows), colours),
    }
    panels = cast("Sequence[PanelRow]", rows)
    return drawing.get(chart["kind"], lambda: _panels(chart, panels, colours))()


def _panels(
    chart: ChartEntry, rows: Sequence[PanelRow], colours: Mapping[str, str]
) -> alt.TopLevelMixin:
    """Return a chart with a panel per engine, side by side, with a shared value axis."""
    import altair as alt

    names = list(dict.fromkeys(row["panel"] for row in rows))
    most_s = max(row["x"] for row in rows)
    drawing = _areas if chart["kind"] == "areas" else _lines
    panels = []
    for name in names:
        own = [row for row in rows if row["panel"] == name]
        y = alt.Y(
            "value:Q",
            title=None,
            axis=alt.Axis(gridOpacity=0.5, tickCount=5, format=_format(chart)),
            scale=alt.Scale(domain=_domain(chart, rows), nice=chart["kind"] != "areas"),
            stack="zero" if chart["kind"] == "areas" else None,
        )
        x = alt.X(
            "x:Q",
            title=AXIS_WORDS.get(str(chart["axis"]), chart["axis"]),
            scale=alt.Scale(domain=[min(0.0, *(row["x"] for row in rows)), most_s], nice=False),
            axis=alt.Axis(tickCount=4, gridOpacity=0.3, titleFontWeight="normal"),
        )
        width = WIDTH / len(names) - MARGIN
        base = alt.Chart(alt.InlineData(values=own), width=width, height=PANEL, title=_title(name))
        panels.append(drawing(base, x, y, chart, colours.get(name, BLUE)))
    whole = alt.TitleParams(chart["title"], fontSize=12, anchor="start", offset=8)
    return alt.concat(*panels, columns=len(panels), title=whole)


def _format(chart: ChartEntry) -> str:
    return "~%" if chart["kind"] == "areas" else "~s"


def _title(name: str) -> alt.TitleParams:
    import altair as alt

    return alt.TitleParams(name, fontSize=11, fontWeight="normal", anchor="start", limit=WIDTH)


def _domain(chart: ChartEntry, rows: Sequence[PanelRow]) -> list[float]:
    if chart["kind"] == "areas":
        return [0.0, 1.0]
    return [0.0, max(row["value"] for row in rows)]


def _areas(
    base: alt.Chart,
    x: alt.X,
    y: alt.Y,
    chart: ChartEntry,
    colour: str,  # noqa: ARG001 - parts have their own
) -> alt.Chart:
    import altair as alt

    keys = list(chart["keys"])
    colours = [CPU_COLOURS.get(key, GREY) for key in keys]
    areas: alt.Chart = base.mark_area(interpolate="step-before").encode(
        x=x,
        y=y,
        order=alt.Order("place:Q"),
        color=alt.Color("what:N", scale=alt.Scale(domain=keys, range=colours), title=None),
        tooltip=[
            alt.Tooltip("what:N"),
            alt.Tooltip("value:Q", format=".1%"),
            alt.Tooltip("x:Q", format=".2f"),
        ],
    )
    return areas


def _lines(
    base: alt.Chart,
    x: alt.X,
    y: alt.Y,
    chart: ChartEntry,  # noqa: ARG001 - there is one line
    colour: str,
) -> alt.Chart:
    import altair as alt

    points = alt.OverlayMarkDef(size=18, filled=True, color=colour)
    tips = [alt.Tooltip("value:Q", format=",.4~r"), alt.Tooltip("x:Q", format=".2f")]
    line = base.mark_line(interpolate="step-before", color=colour, strokeWidth=1.6, point=points)
    lines: alt.Chart = line.encode(x=x, y=y, tooltip=tips)
    return lines


def _curves(
    chart: ChartEntry, rows: Sequence[CurveRow], colours: Mapping[str, str]
) -> alt.TopLevelMixin:
    """Return a chart on two logarithmic axes: lines of limits, points of measured values."""
    import altair as alt

    column = {"x": chart["keys"][0], "y": chart["keys"][1]}
    named = [{**row, "size": text(row["x"], BYTES), "rate": f"{row['y']:,.0f}"} for row in rows]
    x = alt.X("x:Q", title=column["x"], scale=_scale(rows, "x"), axis=_sizes(rows))
    y = alt.Y(
        "y:Q",
        title=column["y"],
        scale=_scale(rows, "y"),
        axis=alt.Axis(format="~s", tickCount=6, gridOpacity=0.5),
    )
    drawn_fully = alt.Legend(title=None, symbolOpacity=1)
    colour = alt.Color("curve:N", scale=_curve_colours(rows, colours), legend=drawn_fully)
    tips = ["curve:N", "size:N", "rate:N"]
    base = alt.Chart(alt.InlineData(values=named), width=WIDTH - 120, height=CURVES_HEIGHT)
    lines = base.transform_filter(f"datum.drawn == '{LINE}'").encode(
        x=x, y=y, color=colour, tooltip=tips
    )
    points = base.transform_filter(f"datum.drawn == '{POINT}'").encode(
        x=x, y=y, color=colour, tooltip=tips
    )
    ends = base.transform_filter("isValid(datum.low) && isValid(datum.high)")
    low = alt.Y("low:Q", scale=_scale(rows, "y"))
    return alt.layer(
        ends.mark_rule(opacity=0.35, clip=True).encode(
            x=x, y=low, y2=alt.Y2("high:Q"), color=colour
        ),
        lines.mark_line(point=alt.OverlayMarkDef(size=20, filled=True), strokeWidth=1.6),
        points.mark_point(size=150, filled=True, shape="diamond", opacity=1, stroke="white"),
    )


def _scale(rows: Sequence[CurveRow], key: Literal["x", "y"]) -> alt.Scale:
    import altair as alt

    return logarithmic(float(row[key]) for row in rows) or alt.Scale()


def _sizes(rows: Sequence[CurveRow]) -> alt.Axis:
    """Return a chart axis of sizes in bytes with a tick at every second power of two."""
    first = math.ceil(math.log2(min(row["x"] for row in rows)))
    last = math.floor(math.log2(max(row["x"] for row in rows)))
    return sizes_axis([2**power for power in range(first, last + 1, TICKS_EVERY)])


def _curve_colours(rows: Sequence[CurveRow], colours: Mapping[str, str]) -> alt.Scale:
    """Return the colours of a chart's curves: grey for the article's."""
    import altair as alt

    names = list(dict.fromkeys(str(row["curve"]) for row in rows))
    points = {str(row["curve"]) for row in rows if row["drawn"] == POINT}
    given = {name: colours[name] for name in names if name in points and name in colours}
    greys = iter((GREY, "#c4c4c4"))
    free = iter(shade for shade in SUBJECT_COLOURS if shade not in given.values())
    for name in names:
        if name not in given:
            given[name] = next(greys if name.startswith(ARTICLE) else free, GREY)
    return alt.Scale(domain=names, range=[given[name] for name in names])
