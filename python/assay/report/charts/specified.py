"""Charts of a TPC-H test: query streams over time, and query intervals by run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from assay.model.units import seconds_text
from assay.report.charts.data import inline
from assay.report.charts.palette import BLUE, GREEN, ORANGE, SKY, WIDTH

if TYPE_CHECKING:
    from collections.abc import Iterator

    import altair as alt

    from assay.report.documents.load.specified import SpecifiedTestSection

NAMES = ("streams", "intervals")
ROW_HEIGHT = 19
STREAM_HEIGHT = 26
TONES = {"even": "#7f93ab", "odd": "#a9b8c9", "refresh": ORANGE}
# A band that is narrower than this share of the axis has no label.
NAMED_SHARE = 0.035
ROOM = 1.15
IN_STREAMS = "beside other streams"
STREAM_COLUMNS = {
    "run": pl.Int64,
    "row": pl.String,
    "operation": pl.String,
    "variant": pl.Int64,
    "begin_s": pl.Float64,
    "end_s": pl.Float64,
    "seconds": pl.Float64,
    "tone": pl.String,
}
INTERVAL_COLUMNS = {"operation": pl.String, "where": pl.String, "seconds": pl.Float64}
RUN_COLOURS = (BLUE, ORANGE, SKY)


def why_empty(name: str, test: SpecifiedTestSection | None) -> str | None:
    """Return why a chart of a TPC-H test is empty; None if it is not."""
    if test is None:
        return "The run was not a test of the specification."
    if data(name, test).is_empty():
        return {
            "streams": "The run had no throughput test.",
            "intervals": "No interval of a power or throughput test was measured.",
        }[name]
    return None


def chart(name: str, test: SpecifiedTestSection) -> alt.TopLevelMixin:
    """Return a chart of a TPC-H test by its name, without common styles."""
    return _streams(test) if name == "streams" else _intervals(test)


def data(name: str, test: SpecifiedTestSection) -> pl.DataFrame:
    """Return the data of a TPC-H chart as a table."""
    if name == "streams":
        return pl.DataFrame(list(_stream_rows(test)), schema=STREAM_COLUMNS)
    return pl.DataFrame(list(_interval_rows(test)), schema=INTERVAL_COLUMNS)


def _stream_rows(test: SpecifiedTestSection) -> Iterator[dict[str, object]]:
    """Yield a chart row for each query interval of a TPC-H stream."""
    several = len(test["runs"]) > 1
    for run in test["runs"]:
        lead = f"run {run['run']}, " if several else ""
        for stream in run["throughput"]:
            number = stream["stream"]
            label = "refreshes" if number is None else f"stream {number}"
            for place, interval in enumerate(stream["intervals"]):
                yield {
                    "run": run["run"],
                    "row": f"{lead}{label}",
                    "operation": interval["operation"],
                    "variant": interval["variant"],
                    "begin_s": interval["begun_seconds"],
                    "end_s": interval["begun_seconds"] + interval["seconds"],
                    "seconds": interval["seconds"],
                    "tone": "refresh" if number is None else ("even", "odd")[place % 2],
                }


def _interval_rows(test: SpecifiedTestSection) -> Iterator[dict[str, object]]:
    """Yield chart rows per operation: one per power test, and one for its mean in streams."""
    for run in test["runs"]:
        for interval in run["power"]:
            yield {
                "operation": interval["operation"],
                "where": f"power test {run['run']}",
                "seconds": interval["seconds"],
            }
    lengths: dict[str, list[float]] = {}
    for run in test["runs"]:
        for stream in run["throughput"]:
            for interval in stream["intervals"]:
                lengths.setdefault(interval["operation"], []).append(interval["seconds"])
    for name, seconds in lengths.items():
        yield {"operation": name, "where": IN_STREAMS, "seconds": sum(seconds) / len(seconds)}


def _streams(test: SpecifiedTestSection) -> alt.TopLevelMixin:
    import altair as alt

    rows = _with_times(data("streams", test))
    order = rows["row"].unique(maintain_order=True).to_list()
    longest_s = float(rows["end_s"].max())  # type: ignore[arg-type]
    base = alt.Chart(inline(rows), width=WIDTH, height=STREAM_HEIGHT * len(order))
    y = alt.Y("row:N", title=None, sort=order)
    bands = base.mark_bar(stroke="white", strokeWidth=0.5).encode(
        x=alt.X("begin_s:Q", title="seconds since the test began", scale=alt.Scale(nice=False)),
        x2=alt.X2("end_s:Q"),
        y=y,
        color=alt.Color(
            "tone:N", scale=alt.Scale(domain=list(TONES), range=list(TONES.values())), legend=None
        ),
        tooltip=[
            alt.Tooltip("operation:N"),
            alt.Tooltip("row:N"),
            alt.Tooltip("time:N"),
            alt.Tooltip("variant:Q", title="variant"),
        ],
    )
    names = (
        base.transform_filter(f"datum.seconds > {NAMED_SHARE * longest_s}")
        .transform_calculate(middle="(datum.begin_s + datum.end_s) / 2")
        .mark_text(fontSize=10, color="#10151c")
        .encode(x=alt.X("middle:Q"), y=y, text=alt.Text("operation:N"))
    )
    return alt.layer(bands, names)


def _intervals(test: SpecifiedTestSection) -> alt.TopLevelMixin:
    import altair as alt

    rows = _with_times(data("intervals", test)).filter(pl.col("seconds") > 0)
    order = rows["operation"].unique(maintain_order=True).to_list()
    kinds = rows["where"].unique(maintain_order=True).to_list()
    colours = dict(zip(kinds, RUN_COLOURS, strict=False)) | {IN_STREAMS: GREEN}
    domain = [kind for kind in kinds if kind in colours]
    base = alt.Chart(inline(rows), width=WIDTH, height=ROW_HEIGHT * len(order))
    y = alt.Y("operation:N", title=None, sort=order, axis=alt.Axis(grid=True, gridOpacity=0.35))
    x = alt.X(
        "seconds:Q",
        title="seconds",
        scale=alt.Scale(type="log", nice=False, domain=_with_room(rows["seconds"])),
        axis=alt.Axis(gridOpacity=0.6),
    )
    scale = alt.Scale(domain=domain, range=[colours[kind] for kind in domain])
    dots = base.mark_point(size=52, filled=True, opacity=0.85).encode(
        x=x,
        y=y,
        color=alt.Color("where:N", scale=scale),
        shape=alt.Shape("where:N", scale=alt.Scale(domain=domain)),
        tooltip=[alt.Tooltip("operation:N"), alt.Tooltip("where:N"), alt.Tooltip("time:N")],
    )
    between = base.mark_rule(opacity=0.3).encode(x="min(seconds):Q", x2="max(seconds):Q", y=y)
    return alt.layer(between, dots)


def _with_room(seconds: pl.Series) -> list[float]:
    """Return the ends of a logarithmic axis of times, with a margin."""
    shortest, longest = float(seconds.min()), float(seconds.max())  # type: ignore[arg-type]
    return [shortest / ROOM, longest * ROOM]


def _with_times(rows: pl.DataFrame) -> pl.DataFrame:
    texts = pl.col("seconds").map_elements(seconds_text, return_dtype=pl.String)
    return rows.with_columns(texts.alias("time"))
