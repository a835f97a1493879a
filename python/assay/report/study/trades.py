"""Charts of a setting's trade-off, and a heat map of two settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.figures.contract import FIRST, LATER
from assay.analysis.quantities import BYTES, SECONDS, text
from assay.report.charts.palette import BYTE_UNITS, GREY, WIDTH
from assay.report.study.tables import number_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import altair as alt

    from assay.report.documents.study import ChartEntry, TableEntry
    from assay.report.study.chart_rows import FieldRow, LabelledTradeRow, TradeRow

TRADE, HEAT = "trade", "heat"
RESPONSE = "response"
RESPONSE_HEIGHT, SIDE_HEIGHT, FIELD, ROW = 210, 84, 72, 34
# Width of an axis' numbers, so that all panels begin at the same position.
EXTENT = 34
# A first execution this many times as long would flatten the curve, so text reports it instead.
FIRST_MAX = 3.0
SHADES = ("#eaf3fb", "#2171b5")


def trade(
    chart: ChartEntry, rows: Sequence[TradeRow], colours: Mapping[str, str]
) -> alt.TopLevelMixin:
    """Return a chart of the metric over a setting's levels, with a panel per counter.

    Args:
        chart: A chart of a study's document.
        rows: Columns of `TRADE_COLUMNS`; at least one.
        colours: Colours of subjects.
    """
    import altair as alt

    levels = list(dict.fromkeys(str(row["level"]) for row in rows))
    keys = list(dict.fromkeys((str(row["panel"]), str(row["counter"])) for row in rows))
    names = list(dict.fromkeys(str(row["subject"]) for row in rows))
    scale = alt.Scale(domain=names, range=[colours.get(name, GREY) for name in names])
    panels = [
        _panel(
            [row for row in rows if (row["panel"], row["counter"]) == key],
            levels,
            scale,
            axis=chart["axis"] if key == keys[-1] else None,
        )
        for key in keys
    ]
    whole: alt.VConcatChart = alt.vconcat(*panels, spacing=14).resolve_scale(color="shared")
    return whole


def _panel(
    rows: Sequence[TradeRow], levels: Sequence[str], colour: alt.Scale, *, axis: str | None
) -> alt.LayerChart | alt.FacetChart:
    """Return one panel of a trade-off chart."""
    import altair as alt

    panel, counter = str(rows[0]["panel"]), str(rows[0]["counter"])
    shown, unit = _in_steps([row for row in rows if not _is_off(row, rows)])
    is_response = panel == RESPONSE
    heading = counter if is_response else f"{panel}: {counter}"
    if any(row["drawn"] == FIRST for row in shown):
        heading += " (triangles: the first execution)"
    # Counts are long and get suffixes. Values with a unit are already in a unit that fits.
    form = "~s" if unit is None else "~r"
    height, ticks = (RESPONSE_HEIGHT, 5) if is_response else (SIDE_HEIGHT, 3)
    title = alt.TitleParams(
        heading if unit is None else f"{heading}, {unit}", fontSize=11, anchor="start", offset=4
    )
    base = alt.Chart(alt.InlineData(values=shown), width=WIDTH - 150, height=height)
    x = alt.X(
        "level:O",
        sort=list(levels),
        scale=alt.Scale(domain=list(levels)),
        title=axis,
        axis=alt.Axis(
            labelAngle=0, gridOpacity=0.3, labels=axis is not None, ticks=axis is not None
        ),
    )
    y = alt.Y(
        "value:Q",
        title=None,
        scale=alt.Scale(domain=[0.0, _top(shown)], nice=True),
        axis=alt.Axis(tickCount=ticks, format=form, gridOpacity=0.5, minExtent=EXTENT),
    )
    alone = len(list(colour.domain)) == 1
    legend = None if alone else alt.Legend(title=None, symbolOpacity=1)
    of = alt.Color("subject:N", scale=colour, legend=legend)
    tips = ["subject:N", "level:N", "drawn:N", "label:N"]
    later = base.transform_filter(f"datum.drawn == '{LATER}'")
    first = base.transform_filter(f"datum.drawn == '{FIRST}'")
    ends = later.transform_filter("isValid(datum.low) && isValid(datum.high)")
    return alt.layer(
        ends.mark_rule(strokeWidth=1.6, opacity=0.65, clip=True).encode(
            x=x, y=alt.Y("low:Q", title=None), y2=alt.Y2("high:Q"), color=of
        ),
        later.mark_line(strokeWidth=2, point=alt.OverlayMarkDef(size=48, filled=True)).encode(
            x=x, y=y, color=of, tooltip=tips
        ),
        first.mark_point(size=70, shape="triangle-up", filled=False, strokeWidth=1.6).encode(
            x=x, y=y, color=of, tooltip=tips
        ),
        title=title,
    )


def _is_off(row: TradeRow, rows: Sequence[TradeRow]) -> bool:
    """Return True if a first execution is so long that it would hide the later ones."""
    later = max((float(other["value"]) for other in rows if other["drawn"] == LATER), default=0.0)
    return row["drawn"] == FIRST and float(row["value"]) > FIRST_MAX * later


def _top(rows: Sequence[TradeRow]) -> float:
    """Return the top of a chart's value axis; intervals beyond twice the maximum are cut off."""
    most = max(float(row["value"]) for row in rows)
    ends = [float(row["high"]) for row in rows if row["high"] is not None]
    return min(max([most, *ends]), 2 * most) * 1.08 or 1.0


def _in_steps(rows: Sequence[TradeRow]) -> tuple[list[LabelledTradeRow], str | None]:
    """Return chart rows in a unit that fits their largest value, and the unit's name."""
    unit = str(rows[0]["unit"])
    most = max(abs(float(row["value"])) for row in rows)
    step, shown_unit = (
        1.0,
        {SECONDS: "seconds"}.get(unit, None if unit in ("count", BYTES) else unit),
    )
    if unit == BYTES:
        step, shown_unit = next((scale for scale in BYTE_UNITS if most >= scale[0]), BYTE_UNITS[-1])
    elif unit == SECONDS and most < 1:
        step, shown_unit = 1e-3, "ms"
    labelled: list[LabelledTradeRow] = [
        {
            **row,
            "value": float(row["value"]) / step,
            "low": None if row["low"] is None else float(row["low"]) / step,
            "high": None if row["high"] is None else float(row["high"]) / step,
            "label": text(float(row["value"]), unit),
        }
        for row in rows
    ]
    return labelled, shown_unit


def heat_rows(chart: ChartEntry, table: TableEntry) -> list[FieldRow]:
    """Return the cells of a heat map of two factors' levels."""
    return list(_fields(chart, table))


def _fields(chart: ChartEntry, table: TableEntry) -> Iterator[FieldRow]:
    columns = table["columns"]
    names = [column["name"] for column in columns]
    for row in table["rows"]:
        for key in chart["keys"]:
            place = names.index(key, 1)
            value = row[place]
            if value is not None:
                yield {
                    "down": str(row[0]),
                    "of": names[0],
                    "across": key,
                    "value": number_in(value),
                    "label": text(number_in(value), columns[place]["unit"]),
                }


def heat(chart: ChartEntry, rows: Sequence[FieldRow]) -> alt.TopLevelMixin:
    """Return a heat map with a cell for each combination of levels; larger is darker."""
    import altair as alt

    down = list(dict.fromkeys(str(row["down"]) for row in rows))
    across = [key for key in chart["keys"] if any(row["across"] == key for row in rows)]
    middle = (min(row["value"] for row in rows) + max(row["value"] for row in rows)) / 2
    base = alt.Chart(
        alt.InlineData(values=[dict(row) for row in rows]),
        width=min(WIDTH - 120, FIELD * 1.6 * len(across)),
        height=ROW * len(down),
        title=alt.TitleParams(chart["title"], fontSize=12, anchor="start"),
    ).encode(
        x=alt.X("across:O", sort=across, title=chart["axis"], axis=alt.Axis(labelAngle=0)),
        y=alt.Y("down:O", sort=down, title=str(rows[0]["of"])),
    )
    fields = base.mark_rect(stroke="white").encode(
        color=alt.Color("value:Q", scale=alt.Scale(range=list(SHADES)), legend=None),
        tooltip=[alt.Tooltip("down:N"), alt.Tooltip("across:N"), alt.Tooltip("label:N")],
    )
    labels = base.mark_text(fontSize=11).encode(
        text=alt.Text("label:N"),
        color=alt.condition(f"datum.value > {middle}", alt.value("white"), alt.value("#10151c")),
    )
    return alt.layer(fields, labels)
