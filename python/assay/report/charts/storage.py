"""Chart of the host's CPUs and the disk with the data: utilisation, IOPS, rate and size of I/O."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import polars as pl

from assay.report.charts.data import inline
from assay.report.charts.palette import (
    BLUE,
    CAUSE_COLOURS,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    VERMILION,
    WIDTH,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import altair as alt

    from assay.report.documents.host.storage import CpuSeries, DiskSeries, StorageSection

NAME = "storage"
AXIS_EXTENT = 40
CPU_HEIGHT, HEIGHT = 110, 70
KIB_PER_MIB = 1024
# Colours from the bottom up: time at work, waiting, idle.
CPU_COLOURS = {
    "%usr": BLUE,
    "%nice": "#288fee",
    "%guest": GREEN,
    "%gnice": "#44b9a4",
    "%sys": SKY,
    "%irq": GREY,
    "%soft": PURPLE,
    "%steal": CAUSE_COLOURS["stolen"],
    "%iowait": VERMILION,
    "%idle": CAUSE_COLOURS["idle"],
}
DIRECTIONS = {"read": BLUE, "write": ORANGE}
# Heading of a panel, its series of reads and of writes, and the divisor of values.
PANELS = (
    ("IOPS: requests a second", ("r/s", "w/s"), 1.0),
    ("MiB a second", ("rkB/s", "wkB/s"), KIB_PER_MIB),
    ("I/O size: mean KiB a request", ("rareq-sz", "wareq-sz"), 1.0),
)
SCHEMA = {"time_s": pl.Float64, "figure": pl.String, "value": pl.Float64}


def why_empty(storage: StorageSection | None) -> str | None:
    """Return why the chart of CPU and disk use is empty; None if it is not."""
    if storage is None:
        return "No block device was observed that holds the data."
    return None


def data(storage: StorageSection) -> pl.DataFrame:
    """Return CPU and disk use over time as one table, with iostat's and mpstat's names."""
    rows = [
        (time_s, name, value)
        for series in (_series(storage["disk"]), _series(storage["cpu"]))
        for name in series
        if name not in ("time_s", "seconds")
        for time_s, value in zip(series["time_s"], series[name], strict=True)
    ]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def chart(storage: StorageSection, ended_s: float) -> alt.TopLevelMixin:
    """Return chart panels of CPU and disk use over one time axis."""
    import altair as alt

    panels = [_cpu(_series(storage["cpu"]), ended_s)] if storage["cpu"]["time_s"] else []
    for heading, figures, step in PANELS:
        is_last = heading == PANELS[-1][0]
        panels.append(
            _lines(_series(storage["disk"]), heading, figures, step, ended_s, is_last=is_last)
        )
    joined: alt.TopLevelMixin = alt.vconcat(*panels, bounds="full").resolve_scale(
        color="independent"
    )
    return joined


def _series(section: DiskSeries | CpuSeries) -> Mapping[str, list[float | None]]:
    """Return the time series of CPU or disk use by name."""
    return cast("Mapping[str, list[float | None]]", section)


def _cpu(cpu: Mapping[str, list[float | None]], ended_s: float) -> alt.Chart:
    import altair as alt

    colours = {name: tone for name, tone in CPU_COLOURS.items() if any(cpu[name])}
    layers = {name: place for place, name in enumerate(colours)}
    rows = [
        {"time_s": time_s, "part": name, "percent": value, "layer": layers[name]}
        for name in colours
        for time_s, value in _steps(cpu, name)
    ]
    drawn: alt.Chart = (
        _panel(rows, "CPU utilisation of all CPUs, percent", CPU_HEIGHT)
        .mark_area(interpolate="step-before", clip=True)
        .encode(
            x=_time(ended_s, is_last=False),
            y=alt.Y("percent:Q", stack="zero", axis=_values(), scale=alt.Scale(domain=[0, 100])),
            color=_colour("part", colours),
            order=alt.Order("layer:Q"),
            tooltip=[_tip("time_s", "seconds"), _tip("part"), _tip("percent")],
        )
    )
    return drawn


def _lines(
    disk: Mapping[str, list[float | None]],
    heading: str,
    figures: Sequence[str],
    step: float,
    ended_s: float,
    *,
    is_last: bool,
) -> alt.Chart:
    import altair as alt

    rows = [
        {"time_s": time_s, "direction": direction, "value": None if value is None else value / step}
        for direction, name in zip(DIRECTIONS, figures, strict=True)
        for time_s, value in _steps(disk, name)
    ]
    drawn: alt.Chart = (
        _panel(rows, heading, HEIGHT)
        .mark_line(interpolate="step-before", clip=True, strokeWidth=1.5, point={"size": 8})
        .encode(
            x=_time(ended_s, is_last=is_last),
            y=alt.Y("value:Q", axis=_values(), scale=alt.Scale(zero=True)),
            color=_colour("direction", DIRECTIONS),
            tooltip=[_tip("time_s", "seconds"), _tip("direction"), _tip("value")],
        )
    )
    return drawn


def _steps(
    series: Mapping[str, list[float | None]], name: str
) -> Iterator[tuple[float | None, float | None]]:
    """Yield a series as steps: values at their intervals' ends, the first also at its start."""
    times, values = series["time_s"], series[name]
    if times:
        yield max(0.0, (times[0] or 0.0) - (series["seconds"][0] or 0.0)), values[0]
    yield from zip(times, values, strict=True)


def _panel(rows: list[dict[str, Any]], heading: str, height: int) -> alt.Chart:
    import altair as alt

    title = alt.TitleParams(heading, anchor="start", fontSize=11)
    return alt.Chart(inline(rows), width=WIDTH, height=height, title=title)


def _time(ended_s: float, *, is_last: bool) -> alt.X:
    import altair as alt

    title = "seconds since the measured part began" if is_last else None
    axis = alt.Axis(title=title, labels=is_last, ticks=is_last, tickCount=10, gridOpacity=0.6)
    return alt.X("time_s:Q", scale=alt.Scale(domain=[0, ended_s], nice=False), axis=axis)


def _values() -> alt.Axis:
    import altair as alt

    return alt.Axis(
        title=None,
        tickCount=4,
        labelExpr="format(datum.value, '~s')",
        gridOpacity=0.6,
        minExtent=AXIS_EXTENT,
        maxExtent=AXIS_EXTENT,
    )


def _colour(field: str, colours: dict[str, str]) -> alt.Color:
    import altair as alt

    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    legend = alt.Legend(title=None)
    if colours is DIRECTIONS:
        legend = alt.Legend(title=None, symbolType="stroke", symbolStrokeWidth=3)
    return alt.Color(f"{field}:N", scale=scale, legend=legend)


def _tip(field: str, title: str | None = None) -> alt.Tooltip:
    import altair as alt

    if field in ("part", "direction"):
        return alt.Tooltip(f"{field}:N", title=title or field)
    return alt.Tooltip(f"{field}:Q", title=title or field, format=".3~f")
