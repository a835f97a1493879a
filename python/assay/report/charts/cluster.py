"""Chart of a cluster's nodes over time: cores in use, barriers, messages, bytes and waits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from assay.report.charts.data import inline
from assay.report.charts.palette import GREY, SUBJECT_COLOURS, WIDTH

if TYPE_CHECKING:
    from collections.abc import Sequence

    import altair as alt

    from assay.report.documents.host.cluster import ClusterSection, NodeFigure

NAME = "cluster"
HEIGHT = 90
AXIS_EXTENT = 40
KIB = 1024.0
CORES = "cpu_cores"
# Formats of axis labels, in D3's notation.
COUNTED, PLAIN, PERCENT = "~s", "~g", ".0%"
# Heading of a panel, the nodes' counter, its divisor, and the format of its axis labels.
PANELS: tuple[tuple[str, NodeFigure, float, str], ...] = (
    ("Messages a second from other nodes", "messages_per_s", 1.0, COUNTED),
    ("KB a second from other nodes", "bytes_per_s", KIB, COUNTED),
    ("Share of tasks' time spent waiting for other nodes", "waiting_share", 1.0, PERCENT),
)
SCHEMA = {"figure": pl.String, "node": pl.String, "time_s": pl.Float64, "value": pl.Float64}


def why_empty(cluster: ClusterSection | None) -> str | None:
    """Return why the chart of a cluster has no data; None if it has."""
    if cluster is None:
        return "The engine is no cluster."
    is_drawn = not data(cluster).drop_nulls("value").is_empty()
    return None if is_drawn else "Neither the kernel nor the engine recorded its nodes over time."


def data(cluster: ClusterSection) -> pl.DataFrame:
    """Return a cluster's time series as one table: counter, node, time_s and value."""
    series = cluster["series"]
    rows: list[tuple[str, str, float, float | None]] = [
        (CORES, node, time_s, value)
        for node, values in series.items()
        if node != "time_s"
        for time_s, value in zip(series["time_s"], values, strict=True)
    ]
    rows += [
        (figure, node["name"], interval["ended_s"], node[figure])
        for interval in cluster["intervals"]
        for node in interval["nodes"]
        for _, figure, *_ in PANELS
    ]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def chart(cluster: ClusterSection, ended_s: float) -> alt.TopLevelMixin:
    """Return a panel for each measured counter with a line per node, over one time axis."""
    import altair as alt

    rows = data(cluster).drop_nulls("value")
    names = [node["name"] for node in cluster["nodes"]]
    figures = set(rows["figure"])
    shown = [panel for panel in PANELS if panel[1] in figures]
    drawn: list[Any] = []
    if CORES in figures:
        drawn.append(_cores(rows, cluster, names, ended_s, is_last=not shown))
    for panel in shown:
        panel_rows = rows.filter(pl.col("figure") == panel[1])
        drawn.append(_lines(panel_rows, panel, names, ended_s, is_last=panel is shown[-1]))
    joined: alt.TopLevelMixin = alt.vconcat(*drawn, bounds="full")
    return joined


def _cores(
    rows: pl.DataFrame,
    cluster: ClusterSection,
    names: Sequence[str],
    ended_s: float,
    *,
    is_last: bool,
) -> alt.TopLevelMixin:
    """Return a chart of all nodes' stacked cores in use, up to the available, with barriers."""
    import altair as alt

    core_rows = rows.filter(pl.col("figure") == CORES)
    area: alt.Chart = (
        _panel(_values(core_rows, 1.0), "Cores that each node has; grey: barriers")
        .mark_area(interpolate="step-before", clip=True)
        .encode(
            x=_time(ended_s, is_last=is_last),
            y=alt.Y("value:Q", stack="zero", axis=_axis(PLAIN), scale=_cores_scale(cluster)),
            color=_colour(names),
            tooltip=_tips(),
        )
    )
    values = [
        {"begun_s": barrier["begun_s"], "ended_s": barrier["ended_s"]}
        for barrier in cluster["barriers"]["found"]
    ]
    if not values:
        return area
    bands = (
        alt.Chart(inline(values))
        .mark_rect(color=GREY, opacity=0.35, clip=True)
        .encode(x=alt.X("begun_s:Q"), x2=alt.X2("ended_s:Q"))
    )
    layered: alt.TopLevelMixin = alt.layer(bands, area)
    return layered


def _cores_scale(cluster: ClusterSection) -> alt.Scale:
    import altair as alt

    most = cluster["platform_cores"]
    return alt.Scale(zero=True) if most is None else alt.Scale(domain=[0, most])


def _lines(
    rows: pl.DataFrame,
    panel: tuple[str, str, float, str],
    names: Sequence[str],
    ended_s: float,
    *,
    is_last: bool,
) -> alt.Chart:
    import altair as alt

    heading, _, step, labels = panel

    drawn: alt.Chart = (
        _panel(_values(rows, step), heading)
        .mark_line(interpolate="step-before", clip=True, strokeWidth=1.5, point={"size": 10})
        .encode(
            x=_time(ended_s, is_last=is_last),
            y=alt.Y("value:Q", axis=_axis(labels), scale=alt.Scale(zero=True)),
            color=_colour(names),
            tooltip=_tips(),
        )
    )
    return drawn


def _values(rows: pl.DataFrame, step: float) -> list[dict[str, Any]]:
    return [
        {"time_s": time_s, "node": node, "value": value / step}
        for node, time_s, value in rows.select("node", "time_s", "value").iter_rows()
    ]


def _panel(rows: list[dict[str, Any]], heading: str) -> alt.Chart:
    import altair as alt

    title = alt.TitleParams(heading, anchor="start", fontSize=11)
    return alt.Chart(inline(rows), width=WIDTH, height=HEIGHT, title=title)


def _time(ended_s: float, *, is_last: bool) -> alt.X:
    import altair as alt

    title = "seconds since the measured part began" if is_last else None
    axis = alt.Axis(title=title, labels=is_last, ticks=is_last, tickCount=10, gridOpacity=0.6)
    return alt.X("time_s:Q", scale=alt.Scale(domain=[0, ended_s], nice=False), axis=axis)


def _axis(labels: str) -> alt.Axis:
    import altair as alt

    return alt.Axis(
        title=None,
        tickCount=4,
        labelExpr=f"format(datum.value, '{labels}')",
        gridOpacity=0.6,
        minExtent=AXIS_EXTENT,
        maxExtent=AXIS_EXTENT,
    )


def _colour(names: Sequence[str]) -> alt.Color:
    import altair as alt

    tones = [SUBJECT_COLOURS[at % len(SUBJECT_COLOURS)] for at in range(len(names))]
    return alt.Color(
        "node:N",
        scale=alt.Scale(domain=list(names), range=tones),
        legend=alt.Legend(title=None),
    )


def _tips() -> list[alt.Tooltip]:
    import altair as alt

    return [
        alt.Tooltip("node:N"),
        alt.Tooltip("time_s:Q", title="seconds", format=".3~f"),
        alt.Tooltip("value:Q", format=".4~s"),
    ]
