"""Chart of operations, CPU, memory, disk and pressure of a run over one time axis."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from assay.analysis.host.timeline import BACKGROUND, STEAL, under_way
from assay.model.units import bytes_text, percent_text, seconds_text
from assay.report.charts.data import inline
from assay.report.charts.palette import (
    BLUE,
    BYTE_UNITS,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    VERMILION,
    WIDTH,
)

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

    from assay.analysis.host.timeline import Timeline
    from assay.report.documents.run import RunDocument

BAND_TONES = ("#7f93ab", "#a9b8c9")

ACCOUNT_COLOURS = {
    "engine": BLUE,
    "engine and driver": BLUE,
    "driver": GREEN,
    "bridge": ORANGE,
    "probes": PURPLE,
    BACKGROUND: GREY,
    STEAL: VERMILION,
}
ALL_TASKS = " (all tasks)"
PRESSURE_WORDS = {
    "cpu_some": "CPU",
    "io_some": "disk",
    "io_full": f"disk{ALL_TASKS}",
    "memory_some": "memory",
    "memory_full": f"memory{ALL_TASKS}",
}
PRESSURE_COLOURS = {"CPU": BLUE, "disk": VERMILION, "memory": GREEN}
DIRECTION_COLOURS = {"read": BLUE, "write": ORANGE}

AXIS_EXTENT = 34
NAMED_UNDER_WAY = 4


def chart(timeline: Timeline, document: RunDocument) -> alt.TopLevelMixin:
    """Return chart panels with a shared time axis that a selection zooms."""
    import altair as alt

    shade = alt.BrushConfig(fill=BLUE, fillOpacity=0.3, stroke=BLUE, strokeWidth=1.5)
    brush = alt.selection_interval(name="brush", encodings=["x"], mark=shade)
    zoomed = alt.Scale(domain={"param": "brush", "encoding": "x"}, nice=False)
    moments = _Moments(timeline, zoomed)
    lanes = [(_band_lane(timeline, zoomed), 26)]
    if not timeline.cpu.is_empty():
        lanes.append((_cpu_panel(timeline.cpu, document, zoomed), 130))
    if not timeline.memory.is_empty():
        lanes.append((_memory_panel(timeline.memory, zoomed), 80))
    if not timeline.disk.is_empty():
        lanes.append((_disk_panel(timeline.disk, zoomed), 80))
    if not timeline.pressure.is_empty():
        lanes.append((_pressure_panel(timeline.pressure, zoomed), 70))
    _name_time_axis(lanes[-1][0])
    panels = [
        alt.layer(*moments.join(layers, pointed_at=place > 0), width=WIDTH, height=height)
        for place, (layers, height) in enumerate(lanes)
    ]
    overview = _overview(timeline).add_params(brush)
    with warnings.catch_warnings():
        # All panels share one selection on purpose: hovering marks the same moment in each panel.
        warnings.filterwarnings("ignore", message="Automatically deduplicated selection")
        joined = alt.vconcat(overview, *panels, bounds="full")
    resolved: alt.TopLevelMixin = joined.resolve_scale(color="independent")
    return resolved


def data(timeline: Timeline) -> pl.DataFrame:
    """Return all series of the timeline as one table: time_s, series, unit, value."""
    import polars as pl

    parts = (
        (timeline.cpu, "CPU, ", "account", "cores", "cores"),
        (timeline.memory, "memory, ", "account", "resident_bytes", "bytes"),
        (timeline.disk, "disks, ", "direction", "bytes_per_s", "bytes/s"),
        (timeline.pressure, "stalled on ", "pressure", "share", "share"),
    )
    return pl.concat(
        frame.select(
            "time_s",
            (pl.lit(label) + pl.col(key).replace(PRESSURE_WORDS)).alias("series"),
            pl.lit(unit).alias("unit"),
            pl.col(column).cast(pl.Float64).alias("value"),
        )
        for frame, label, key, column, unit in parts
    )


def _name_time_axis(layers: list[alt.Chart]) -> None:
    """Give the lowest chart panel the title of the shared time axis."""
    layers[0].encoding.x.axis = _time_axis("seconds since the measured part began")


def _time_axis(title: str | None = None, *, labels: bool = True) -> alt.Axis:
    import altair as alt

    return alt.Axis(title=title, labels=labels, ticks=labels, tickCount=10, gridOpacity=0.6)


def _value_axis(title: str, label: str = "datum.label") -> alt.Axis:
    """Return a vertical axis of fixed width, so that all panels begin at the same position."""
    import altair as alt

    return alt.Axis(
        title=title,
        labelExpr=label,
        tickCount=4,
        gridOpacity=0.6,
        titlePadding=2,
        minExtent=AXIS_EXTENT,
        maxExtent=AXIS_EXTENT,
    )


def _from_zero(values: pl.Series) -> alt.Scale:
    """Return a chart scale that starts at zero and has a height even if all values are zero."""
    import altair as alt

    largest = values.max()
    return alt.Scale(zero=True, nice=True) if largest else alt.Scale(domain=[0, 1])


def _strokes() -> alt.Legend:
    import altair as alt

    return alt.Legend(symbolType="stroke", symbolStrokeWidth=3)


def _span(timeline: Timeline) -> tuple[float, float]:
    """Return the first and the last moment of all chart panels, in seconds."""
    import polars as pl

    bands = timeline.bands
    frames = (timeline.cpu, timeline.memory, timeline.disk, timeline.pressure)
    times = pl.concat([bands["begin_s"], bands["end_s"], *(frame["time_s"] for frame in frames)])
    first, last = times.min(), times.max()
    assert isinstance(first, float)  # noqa: S101 - a chart without bands is not drawn
    assert isinstance(last, float)  # noqa: S101
    return first, last


def _band_rows(timeline: Timeline) -> alt.InlineData:

    rows = timeline.bands.to_dicts()
    for place, row in enumerate(rows):
        row["tone"] = "failed" if row["outcome"] != "ok" else ("even", "odd")[place % 2]
        row["time"] = seconds_text(row["seconds"])
        row["pass"] += 1
    return inline(rows)


def _bands(timeline: Timeline, x: alt.X, height: int) -> alt.Chart:
    import altair as alt

    tones = {"even": BAND_TONES[0], "odd": BAND_TONES[1], "failed": VERMILION}
    drawn: alt.Chart = (
        alt.Chart(_band_rows(timeline), width=WIDTH, height=height)
        .mark_rect(clip=True)
        .encode(
            x=x,
            x2=alt.X2("end_s"),
            color=alt.Color("tone:N", scale=_palette(tones), legend=None),
            opacity=alt.OpacityValue(
                **alt.condition(
                    "datum.phase != 'warmup' && datum.phase != 'after'",
                    alt.value(1),
                    alt.value(0.4),
                )
            ),
            tooltip=[
                alt.Tooltip("operation:N"),
                alt.Tooltip("phase:N"),
                alt.Tooltip("pass:Q"),
                alt.Tooltip("time:N"),
                alt.Tooltip("outcome:N"),
            ],
        )
    )
    return drawn


def _overview(timeline: Timeline) -> alt.Chart:
    import altair as alt

    axis = _time_axis()
    axis.title = "drag above to zoom"
    x = alt.X("begin_s:Q", scale=alt.Scale(domain=_span(timeline), nice=False), axis=axis)
    return _bands(timeline, x, 16)


def _band_lane(timeline: Timeline, zoomed: alt.Scale) -> list[alt.Chart]:
    import altair as alt

    x = alt.X("begin_s:Q", scale=zoomed, axis=_time_axis(labels=False))
    bands = _bands(timeline, x, 26)
    begun, ended = _span(timeline)
    # A label is drawn if its band is wide enough at the current zoom.
    shown_s = f"(isValid(brush.begin_s) ? brush.begin_s[1] - brush.begin_s[0] : {ended - begun})"
    names = (
        alt.Chart(_band_rows(timeline))
        .transform_filter(f"datum.seconds > 0.032 * {shown_s}")
        .transform_calculate(middle_s="(datum.begin_s + datum.end_s) / 2")
        .mark_text(fontSize=10, color="#10151b", clip=True)
        .encode(x=alt.X("middle_s:Q", scale=zoomed), text=alt.Text("operation:N"))
    )
    return [bands, names]


def _over_time(zoomed: alt.Scale) -> alt.X:
    import altair as alt

    return alt.X("time_s:Q", scale=zoomed, axis=_time_axis(labels=False))


def _cpu_panel(cpu: pl.DataFrame, document: RunDocument, zoomed: alt.Scale) -> list[alt.Chart]:
    import altair as alt

    present = set(cpu["account"].unique())
    colours = {name: colour for name, colour in ACCOUNT_COLOURS.items() if name in present}
    colours |= dict.fromkeys(sorted(present - set(colours)), GREEN)
    layers = {name: place for place, name in enumerate(colours)}
    rows = [row | {"layer": layers[row["account"]]} for row in cpu.to_dicts()]
    cpus = document["accounts"]["cpus"] if document["accounts"] else None
    area = (
        alt.Chart(inline(rows))
        .mark_area(interpolate="step-before", clip=True, opacity=0.9)
        .encode(
            x=_over_time(zoomed),
            y=alt.Y("cores:Q", stack="zero", axis=_value_axis("CPU, cores")),
            color=alt.Color("account:N", scale=_palette(colours)),
            order=alt.Order("layer:Q"),
        )
    )
    if cpus is None:
        return [area]
    limit = alt.Chart(inline([{"cpus": cpus}])).mark_rule(color=GREY, strokeDash=[4, 3])
    return [area, limit.encode(y=alt.Y("cpus:Q"))]


def _memory_panel(memory: pl.DataFrame, zoomed: alt.Scale) -> list[alt.Chart]:
    import altair as alt
    import polars as pl

    step, unit = _byte_unit(memory["resident_bytes"].max())
    rows = memory.select("time_s", "account", (pl.col("resident_bytes") / step).alias("resident"))
    line = (
        alt.Chart(inline(rows))
        .mark_area(clip=True, color=GREEN, opacity=0.35, line={"color": GREEN, "strokeWidth": 1.5})
        .encode(
            x=_over_time(zoomed),
            y=alt.Y("resident:Q", axis=_value_axis(f"memory, {unit}"), stack=None),
        )
    )
    return [line]


def _disk_panel(disk: pl.DataFrame, zoomed: alt.Scale) -> list[alt.Chart]:
    import altair as alt
    import polars as pl

    step, unit = _byte_unit(disk["bytes_per_s"].max())
    rows = disk.select("time_s", "direction", (pl.col("bytes_per_s") / step).alias("rate"))
    line = (
        alt.Chart(inline(rows))
        .mark_line(interpolate="step-before", clip=True, strokeWidth=1.5)
        .encode(
            x=_over_time(zoomed),
            y=alt.Y("rate:Q", axis=_value_axis(f"disks, {unit}/s"), scale=_from_zero(rows["rate"])),
            color=alt.Color("direction:N", scale=_palette(DIRECTION_COLOURS), legend=_strokes()),
        )
    )
    return [line]


def _pressure_panel(pressure: pl.DataFrame, zoomed: alt.Scale) -> list[alt.Chart]:
    import altair as alt
    import polars as pl

    rows = pressure.with_columns(pl.col("pressure").replace(PRESSURE_WORDS)).filter(
        pl.col("pressure").is_in(list(PRESSURE_COLOURS))
    )
    line = (
        alt.Chart(inline(rows))
        .mark_line(interpolate="step-before", clip=True, strokeWidth=1.5)
        .encode(
            x=_over_time(zoomed),
            y=alt.Y(
                "share:Q",
                axis=_value_axis("stalled, %", "round(datum.value * 1000) / 10"),
                scale=_from_zero(rows["share"]),
            ),
            color=alt.Color("pressure:N", scale=_palette(PRESSURE_COLOURS), legend=_strokes()),
        )
    )
    return [line]


class _Moments:
    """Adds a line to all chart panels at the moment under the pointer, with all values."""

    def __init__(self, timeline: Timeline, zoomed: alt.Scale) -> None:
        import altair as alt

        self._rows = _moments(timeline)
        self._zoomed = zoomed
        self._hover = alt.selection_point(
            name="hover",
            fields=["seconds"],
            nearest=True,
            on="pointermove",
            clear="pointerout",
            empty=False,
        )

    def join(self, layers: list[alt.Chart], *, pointed_at: bool = True) -> list[alt.Chart]:
        """Return a panel's chart layers with a line at the moment nearest to the pointer.

        If `pointed_at` is false, the panel keeps its own tooltips.
        """
        import altair as alt

        if not self._rows:
            return layers
        # The tooltip shows the whole row. With single fields, Vega looks them up in the wrong place
        # if the nearest mark handles the pointer.
        rule = (
            alt.Chart(inline(self._rows))
            .mark_rule(color=GREY, clip=True, tooltip=alt.TooltipContent("data"))
            .encode(
                x=alt.X("seconds:Q", scale=self._zoomed),
                opacity=alt.OpacityValue(
                    **alt.condition(self._hover, alt.value(0.9), alt.value(0))
                ),
            )
        )
        return [*layers, rule.add_params(self._hover) if pointed_at else rule]


def _moments(timeline: Timeline) -> list[dict[str, Any]]:
    """Return rows of readable texts with all values of the timeline, one per time tick."""
    import polars as pl

    series = data(timeline).filter(~pl.col("series").str.ends_with(ALL_TASKS))
    times = series["time_s"].unique().sort()
    moments: dict[float, dict[str, Any]] = {
        time: {"seconds": round(time, 3), "operations": _named(names)}
        for time, names in zip(times, under_way(timeline.bands, times), strict=True)
    }
    for time, column, unit, value in series.iter_rows():
        moments[time][column] = _value_text(value, unit)
    return list(moments.values())


def _named(names: list[str]) -> str:
    shown = ", ".join(names[:NAMED_UNDER_WAY])
    left = len(names) - NAMED_UNDER_WAY
    return f"{shown} and {left} more" if left > 0 else shown or "none"


def _value_text(value: float, unit: str) -> str:
    match unit:
        case "bytes":
            return bytes_text(value)
        case "bytes/s":
            return f"{bytes_text(value)}/s"
        case "share":
            return percent_text(value)
        case _:
            return f"{value:.2f} {unit}"


def _byte_unit(largest: object) -> tuple[int, str]:
    """Return the byte unit in which the largest value has one to four digits, and its size."""
    size = float(largest) if isinstance(largest, int | float) else 0.0
    return next(((step, unit) for step, unit in BYTE_UNITS if size >= step), (1, "B"))


def _palette(colours: dict[str, str]) -> alt.Scale:
    import altair as alt

    return alt.Scale(domain=list(colours), range=list(colours.values()))
