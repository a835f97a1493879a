"""Charts of a host's maximum disk, memory and core speed, from its document only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.report.ceiling.tables import points_of
from assay.report.ceiling.words import size_text
from assay.report.charts.axes import sizes_axis
from assay.report.charts.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, WIDTH
from assay.report.charts.run import styled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Literal

    import altair as alt

    from assay.report.documents.ceiling import (
        CeilingDocument,
        DiskPointEntry,
        EstimateEntry,
    )

HEIGHT = 300
DEPTH_COLOURS = (BLUE, GREEN, ORANGE, VERMILION, PURPLE, SKY)
BUFFERED_WORDS = "page cache"
QUANTILES: Mapping[Literal["p50", "p99", "p999"], str] = {
    "p50": "median",
    "p99": "p99",
    "p999": "p99.9",
}
QUANTILE_COLOURS = (BLUE, ORANGE, VERMILION)
MIB, GIB = 1 << 20, 1 << 30
US = 1e6
# Factor by which an axis extends beyond the smallest and the largest value.
ROOM = 3.0


def charts_of(document: CeilingDocument) -> dict[str, alt.TopLevelMixin]:
    """Return the charts of a hardware ceiling that have data, by name."""
    drawn = {
        "iops": _by_size(document, "iops", 1.0, "requests a second"),
        "bandwidth": _by_size(document, "bytes_per_s", 1 / MIB, "MiB a second"),
        "latency": _latency(document),
        "queue": _queue(document),
        "cpu": _cpu(document),
        "memory": _memory(document),
        "loads": _loads(document),
    }
    return {name: styled(chart) for name, chart in drawn.items() if chart is not None}


def _by_size(
    document: CeilingDocument, figure: Literal["iops", "bytes_per_s"], factor: float, title: str
) -> alt.TopLevelMixin | None:
    """Return a chart of disk speed by request size, with a line per queue depth and pattern."""
    rows = [
        {
            "size": point["size_bytes"],
            "size_words": size_text(point["size_bytes"]),
            "under way": _series(point),
            "pattern": point["pattern"],
            **_value(point[figure], factor),
        }
        for cache in ("direct", "buffered")
        for point in points_of(document, cache=cache)
    ]
    return _lines(rows, "under way", title, dashed="pattern")


def _series(point: DiskPointEntry) -> str:
    depth = point["depth"]
    if point["cache"] == "buffered":
        return f"{depth}, {BUFFERED_WORDS}"
    return str(depth)


def _latency(document: CeilingDocument) -> alt.TopLevelMixin | None:
    rows = [
        {
            "size": point["size_bytes"],
            "size_words": size_text(point["size_bytes"]),
            "quantile": label,
            "value": point["latency_s"][name] * US,
        }
        for point in points_of(document)
        if point["depth"] == 1 and point["pattern"] == "random"
        for name, label in QUANTILES.items()
    ]
    return _lines(rows, "quantile", "µs a request", colours=QUANTILE_COLOURS)


def _queue(document: CeilingDocument) -> alt.TopLevelMixin | None:
    """Return a chart of disk latency by requests per second, with a line per request size."""
    import altair as alt

    sizes = {4 << 10, 8 << 10, 32 << 10, 128 << 10}
    rows = [
        {
            "size": size_text(point["size_bytes"]),
            "depth": point["depth"],
            "iops": point["iops"]["value"],
            "latency": point["latency_s"]["p50"] * US,
        }
        for point in points_of(document)
        if point["pattern"] == "random" and point["size_bytes"] in sizes
    ]
    if not rows:
        return None
    names = list(dict.fromkeys(str(row["size"]) for row in rows))
    base = alt.Chart(alt.InlineData(values=rows), width=WIDTH, height=HEIGHT).encode(
        x=alt.X("iops:Q", title="requests a second", axis=_axis("~s")).scale(
            type="log", nice=False
        ),
        y=alt.Y("latency:Q", title="median µs a request", axis=_axis("~s")).scale(
            type="log", nice=False
        ),
        color=alt.Color("size:N", sort=names, scale=alt.Scale(domain=names, range=_range(names))),
        order=alt.Order("depth:Q"),
        tooltip=[
            alt.Tooltip("size:N"),
            alt.Tooltip("depth:Q"),
            alt.Tooltip("iops:Q"),
            alt.Tooltip("latency:Q"),
        ],
    )
    marks = base.mark_line(strokeWidth=2, point=_point())
    labels = base.mark_text(dy=-9, fontSize=10).encode(
        text=alt.Text("depth:Q"), color=alt.ColorValue(GREY)
    )
    return alt.layer(marks, labels)


def _cpu(document: CeilingDocument) -> alt.TopLevelMixin | None:
    rows = [
        {
            "size": point["size_bytes"],
            "size_words": size_text(point["size_bytes"]),
            "under way": _series(point),
            **_value(point["cpu_s"], US),
        }
        for cache in ("direct", "buffered")
        for point in points_of(document, cache=cache)
        if point["pattern"] == "random" and point["cpu_s"] is not None
    ]
    return _lines(rows, "under way", "µs of CPU a request")


def _memory(document: CeilingDocument) -> alt.TopLevelMixin | None:
    import altair as alt

    rows = [
        {
            "kernel": point["kernel"],
            "threads": point["threads"],
            **_value(point["bytes_per_s"], 1 / GIB),
        }
        for point in document["memory"]
    ]
    if not rows:
        return None
    kernels = ["read", "write", "copy", "triad"]
    base = alt.Chart(alt.InlineData(values=rows), width=WIDTH, height=220)
    x = alt.X("threads:O", title="threads", axis=alt.Axis(labelAngle=0))
    colour = alt.Color(
        "kernel:N", sort=kernels, scale=alt.Scale(domain=kernels, range=_range(kernels))
    )
    offset = alt.XOffset("kernel:N", sort=kernels)
    bars = base.mark_bar().encode(
        x=x,
        xOffset=offset,
        y=alt.Y("value:Q", title="GiB a second", axis=_axis("~r")),
        color=colour,
        tooltip=[alt.Tooltip("kernel:N"), alt.Tooltip("threads:O"), alt.Tooltip("value:Q")],
    )
    return alt.layer(bars, *_spread(base, rows, x=x, xOffset=offset))


def _loads(document: CeilingDocument) -> alt.TopLevelMixin | None:
    rows = [
        {
            "size": point["array_bytes"],
            "size_words": size_text(point["array_bytes"] or 0),
            "load": "one load",
            **_value(point["seconds"], 1e9),
        }
        for point in document["loads"]
    ]
    return _lines(rows, "load", "ns a load", legend=False)


def _lines(
    rows: Sequence[Mapping[str, Any]],
    series: str,
    title: str,
    *,
    dashed: str | None = None,
    colours: Sequence[str] = DEPTH_COLOURS,
    legend: bool = True,
) -> alt.TopLevelMixin | None:
    """Return chart lines by request size, on logarithmic axes with ticks at the measured sizes."""
    import altair as alt

    if not rows:
        return None
    names = list(dict.fromkeys(str(row[series]) for row in rows))
    sizes = sorted({int(row["size"]) for row in rows})
    base = alt.Chart(alt.InlineData(values=[dict(row) for row in rows]), width=WIDTH, height=HEIGHT)
    x = alt.X("size:Q", title="size", axis=sizes_axis(sizes)).scale(
        type="log", base=2, domain=[sizes[0], sizes[-1]], nice=False
    )
    colour = alt.Color(
        f"{series}:N",
        sort=names,
        scale=alt.Scale(domain=names, range=_range(names, colours)),
        legend=_legend(_legend_title(series)) if legend else None,
    )
    encoded: dict[str, Any] = {
        "x": x,
        "y": alt.Y("value:Q", title=title, axis=_axis("~s")).scale(
            type="log", nice=False, domain=_seen([float(row["value"]) for row in rows])
        ),
        "color": colour,
        "tooltip": [f"{series}:N", "size_words:N", "value:Q", *([f"{dashed}:N"] if dashed else [])],
    }
    if dashed:
        encoded["strokeDash"] = alt.StrokeDash(
            f"{dashed}:N",
            sort=["sequential", "random"],
            scale=alt.Scale(domain=["sequential", "random"], range=[[5, 4], [1, 0]]),
            # The text below the chart explains the line styles.
            legend=None,
        )
    line = base.mark_line(strokeWidth=2, point=_point()).encode(**encoded)
    return alt.layer(*_spread(base, rows, x=x, color=colour), line)


def _legend(title: str | None) -> alt.Legend:
    import altair as alt

    # Without this, the legend would be as pale as the bands of spreads.
    return alt.Legend(title=title, orient="top", symbolType="square", symbolOpacity=1)


def _legend_title(series: str) -> str | None:
    return "requests under way" if series == "under way" else None


def _seen(values: Sequence[float]) -> list[float]:
    """Return the range of a chart axis: all values with a margin, without interval ends."""
    return [min(values) / ROOM, max(values) * ROOM]


def _spread(
    base: alt.Chart, rows: Sequence[Mapping[str, Any]], **encoded: object
) -> list[alt.Chart]:
    import altair as alt

    if not any(row.get("low") is not None for row in rows):
        return []
    rule = base.mark_rule(strokeWidth=1.5, opacity=0.45, clip=True)
    return [rule.encode(y=alt.Y("low:Q"), y2=alt.Y2("high:Q"), **encoded)]


def _value(estimate: EstimateEntry, factor: float) -> dict[str, float]:
    parts = {"value": estimate["value"], "low": estimate["low"], "high": estimate["high"]}
    return {name: value * factor for name, value in parts.items() if value is not None}


def _axis(number: str) -> alt.Axis:
    import altair as alt

    return alt.Axis(format=number, gridOpacity=0.5, tickCount=6, labelOverlap=True)


def _point() -> alt.OverlayMarkDef:
    import altair as alt

    return alt.OverlayMarkDef(size=34, filled=True)


def _range(names: Sequence[str], colours: Sequence[str] = DEPTH_COLOURS) -> list[str]:
    return [
        GREY if BUFFERED_WORDS in name else colours[place % len(colours)]
        for place, name in enumerate(names)
    ]


# Title of each chart, and the text below it, by the chart's name.
TITLES = {
    "iops": "Requests a second by size",
    "bandwidth": "Bytes a second by size",
    "latency": "How long one request takes",
    "queue": "What more requests under way bring",
    "cpu": "What a request costs of a CPU",
    "memory": "Memory",
    "loads": "How long one load takes",
}
ABOUT = {
    "iops": (
        "Colours: number of requests in progress. Dashed: sequential requests; solid: random "
        "requests. Grey: through the page cache, which reads ahead."
    ),
    "bandwidth": "The trials of the chart above, in bytes a second.",
    "latency": "Latency of random reads, one at a time; each quantile is the median over rounds.",
    "queue": (
        "Random reads; numbers are requests in progress. Right is more throughput, up is more "
        "latency: where a line only rises, the disk is saturated."
    ),
    "cpu": "CPU time of the threads that issue random reads, without interrupts.",
    "memory": (
        "Each thread streams through its own arrays, which are larger than all caches; bytes "
        "are those that the program reads and writes."
    ),
    "loads": "Each load takes its address from the previous one, at random in such an array.",
}
