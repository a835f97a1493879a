"""Charts of a closed or an open load: rate, latency and backlog over time, and the tail.

Every chart draws aggregates, so a page with ten million operations is as large as one with ten
thousand.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import polars as pl

from assay.analysis.load.latency import HEAT_ROWS_A_DECADE
from assay.model.units import grouped_text, rate_text, seconds_text
from assay.report.charts.data import inline
from assay.report.charts.palette import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    VERMILION,
    WIDTH,
)
from assay.report.words.loads.statements import moved_words

if TYPE_CHECKING:
    import altair as alt

    from assay.analysis.load.view import LoadView
    from assay.report.documents.load.load import StallsSection
    from assay.report.documents.run import RunDocument

NAMES = ("throughput", "latency", "heat", "percentiles", "backlog")
HEIGHT = 170
HEAT_HEIGHT = 230
NEVER_STARTED = "never started"
OUTCOMES = {"ok_per_s": "succeeded", "failed_per_s": "failed"}
OUTCOME_COLOURS = {"succeeded": BLUE, "failed": VERMILION, NEVER_STARTED: ORANGE}
PERCENTILES = {"max_seconds": "longest", "p99_seconds": "p99", "p50_seconds": "median"}
PERCENTILE_COLOURS = {"longest": VERMILION, "p99": ORANGE, "median": BLUE}
# Colours from few operations in a cell to many, visible on light and dark pages.
HEAT_COLOURS = ("#b9dcf2", SKY, BLUE, ORANGE, VERMILION)
CURVE_COLOURS = (BLUE, ORANGE, GREEN, VERMILION, PURPLE, SKY, "#8a6d00", GREY)
SECONDS_LABEL = "replace(format(datum.value, '~s'), regexp('([0-9.]+)(.*)'), '$1 $2s')"
# The axis of nines has the position -log10 of the share beyond: 1 is 90 %, 2 is 99 %.
NINES_LABEL = (
    "datum.value < 0.5 ? '50 %' : format(100 * (1 - pow(10, -datum.value)),"
    " '.' + max(0, datum.value - 2) + 'f') + ' %'"
)
MEDIAN_PLACE = -math.log10(0.5)
TICKS_OF_A_DECADE = (1, 2, 5)
DECADES_WITH_ALL_TICKS = 2.5
# Factor by which logarithmic axes extend beyond the smallest and the largest value.
ROOM = 1.08
WORD_ROOM = 1.14


def chart(name: str, view: LoadView, document: RunDocument) -> alt.TopLevelMixin:
    """Return a chart of a load by its name, before `styled` is applied."""
    match name:
        case "throughput":
            return _throughput(view, document["conditions"]["rate_per_s"])
        case "latency":
            return _marked(_latency(view), view, document["stalls"])
        case "heat":
            return _marked(_heat(view), view, document["stalls"])
        case "percentiles":
            return _tail(view)
        case _:
            return _backlog(view)


def data(name: str, view: LoadView) -> pl.DataFrame:
    """Return the data of a load's chart as a table."""
    match name:
        case "throughput" | "latency":
            return view.series
        case "heat":
            return view.heat
        case "percentiles":
            return view.curves
        case _:
            return view.series.clear() if view.backlog is None else view.backlog


def _throughput(view: LoadView, rate_per_s: float | None) -> alt.TopLevelMixin:
    import altair as alt

    rows = _outcome_rows(view)
    drawn = set(rows["outcome"])
    if view.series["skipped_per_s"].sum():
        drawn.add(NEVER_STARTED)
    colours = {outcome: colour for outcome, colour in OUTCOME_COLOURS.items() if outcome in drawn}
    bars: alt.Chart = (
        alt.Chart(inline(rows), width=WIDTH, height=HEIGHT)
        .mark_rect()
        .encode(
            x=_time(view, "begin_s"),
            x2=alt.X2("end_s"),
            y=alt.Y(
                "low:Q",
                title="operations a second",
                axis=_axis(4),
                scale=alt.Scale(domain=[0, _highest_rate(view, rate_per_s)], nice=False),
            ),
            y2=alt.Y2("high"),
            color=_colour("outcome", colours),
            tooltip=[_tooltip("seconds"), _tooltip("outcome"), _tooltip("rate", "a second")],
        )
    )
    layers = [bars, *_never_started(view)]
    if rate_per_s is None:
        closed: alt.TopLevelMixin = alt.layer(*layers)
        return closed
    rate = alt.Chart(inline([{"rate": rate_per_s, "words": "due"}]))
    rule = rate.mark_rule(color=GREY, strokeDash=[4, 3], strokeWidth=1.5).encode(y=alt.Y("rate:Q"))
    label = rate.mark_text(align="left", dx=4, dy=-6, fontSize=11).encode(
        x=alt.XDatum(0), y=alt.Y("rate:Q"), text=alt.Text("words:N")
    )
    layered: alt.TopLevelMixin = alt.layer(*layers, rule, label)
    return layered


def _highest_rate(view: LoadView, rate_per_s: float | None) -> float:
    """Return the top of the throughput axis, with a margin for a label."""
    ended = pl.col("ok_per_s") + pl.col("failed_per_s")
    tops = view.series.select(ended.max(), pl.col("skipped_per_s").max()).row(0)
    return float(WORD_ROOM * max(*tops, rate_per_s or 0.0))


def _never_started(view: LoadView) -> list[alt.Chart]:
    """Return a line of operations that were due and never started."""
    import altair as alt

    if not view.series["skipped_per_s"].sum():
        return []
    last = view.series.tail(1).with_columns(pl.col("begin_s") + pl.col("width_s"))
    rows = pl.concat([view.series, last]).select(
        "begin_s",
        pl.col("skipped_per_s").alias("skipped"),
        _text("skipped_per_s", rate_text).alias("rate"),
        pl.lit(NEVER_STARTED).alias("outcome"),
        _span_text(),
    )
    line = alt.Chart(inline(rows)).mark_line(interpolate="step-after", strokeWidth=2)
    return [
        line.encode(
            x=_time(view, "begin_s"),
            y=alt.Y("skipped:Q"),
            color=alt.Color("outcome:N"),
            tooltip=[_tooltip("seconds"), _tooltip("outcome"), _tooltip("rate", "a second")],
        )
    ]


def _outcome_rows(view: LoadView) -> pl.DataFrame:
    """Return stacked bars of operations by outcome, a row per interval and outcome."""
    series = view.series.with_columns((pl.col("begin_s") + pl.col("width_s")).alias("end_s"))
    base = pl.lit(0.0)
    parts = []
    for column, outcome in OUTCOMES.items():
        if column != "ok_per_s" and not series[column].sum():
            continue
        high = base + pl.col(column)
        part = series.select(
            "begin_s",
            "end_s",
            base.alias("low"),
            high.alias("high"),
            pl.lit(outcome).alias("outcome"),
            _text(column, rate_text).alias("rate"),
            _span_text(),
        )
        parts.append(part.filter(pl.col("high") > pl.col("low")))
        base = high
    return pl.concat(parts)


def _marked(
    drawn: alt.TopLevelMixin, view: LoadView, stalls: StallsSection | None
) -> alt.TopLevelMixin:
    """Return a load's chart over time with stalls marked behind it."""
    import altair as alt

    if not stalls or not stalls["stalls"]:
        return drawn
    rows = pl.DataFrame(
        [
            {
                "stall_begin": stall["begin_s"],
                "stall_end": stall["end_s"],
                "stall": f"{stall['begin_s']:.4g} to {stall['end_s']:.4g} s",
                "moved": moved_words(stall["moved"]),
            }
            for stall in stalls["stalls"]
        ]
    )
    bands = (
        alt.Chart(inline(rows))
        .mark_rect(color=GREY, opacity=0.28)
        .encode(
            x=_time(view, "stall_begin"),
            x2=alt.X2("stall_end"),
            tooltip=[_tooltip("stall"), _tooltip("moved", "moved with it")],
        )
    )
    layered: alt.TopLevelMixin = alt.layer(bands, drawn)  # type: ignore[arg-type]
    return layered


def _latency(view: LoadView) -> alt.TopLevelMixin:
    import altair as alt

    middle = pl.col("begin_s") + pl.col("width_s") / 2
    rows = (
        view.series.with_columns(middle.alias("time_s"), _span_text())
        .unpivot(list(PERCENTILES), index=["time_s", "seconds"], variable_name="percentile")
        .rename({"seconds": "span", "value": "latency_s"})
        .with_columns(
            pl.col("percentile").replace(PERCENTILES),
            _text("latency_s", seconds_text).alias("time"),
        )
        .drop_nulls("latency_s")
        .filter(pl.col("latency_s") > 0)
    )
    line: alt.TopLevelMixin = (
        alt.Chart(inline(rows), width=WIDTH, height=HEIGHT)
        .mark_line(strokeWidth=1.6, point=alt.OverlayMarkDef(size=14))
        .encode(
            x=_time(view, "time_s"),
            y=_log_seconds("latency_s", rows["latency_s"], "latency"),
            color=_colour("percentile", PERCENTILE_COLOURS, lines=True),
            tooltip=[
                _tooltip("span", "seconds"),
                _tooltip("percentile"),
                _tooltip("time", "latency"),
            ],
        )
    )
    return line


def _heat(view: LoadView) -> alt.TopLevelMixin:
    import altair as alt

    edges = pl.concat([view.heat["low_seconds"], view.heat["high_seconds"]])
    most = view.heat["operations"].max()
    domain = [1, max(10, most if isinstance(most, int) else 1)]
    cells: alt.TopLevelMixin = (
        # The chart has many cells, so it computes their edges from two integers when it is drawn.
        alt.Chart(inline(view.heat.select("column", "row", "operations")), width=WIDTH)
        .properties(height=HEAT_HEIGHT)
        .transform_calculate(
            begin_s=f"datum.column * {view.heat_column_s}",
            end_s=f"(datum.column + 1) * {view.heat_column_s}",
            low_seconds=f"1e-9 * pow(10, datum.row / {HEAT_ROWS_A_DECADE})",
            high_seconds=f"1e-9 * pow(10, (datum.row + 1) / {HEAT_ROWS_A_DECADE})",
            seconds="format(datum.begin_s, '.2~f') + ' to ' + format(datum.end_s, '.2~f')",
            latency="format(datum.low_seconds, '.2s') + 's to '"
            " + format(datum.high_seconds, '.2s') + 's'",
        )
        .mark_rect(clip=True)
        .encode(
            x=_time(view, "begin_s"),
            x2=alt.X2("end_s:Q"),
            y=_log_seconds("low_seconds", edges, "latency"),
            y2=alt.Y2("high_seconds:Q"),
            color=alt.Color(
                "operations:Q",
                scale=alt.Scale(
                    type="log", domain=domain, range=list(HEAT_COLOURS), interpolate="rgb"
                ),
                legend=alt.Legend(
                    title="operations in a cell",
                    titleOrient="left",
                    titleFontSize=11,
                    titleFontWeight=500,
                    format="~s",
                    values=_powers_of_ten(domain[1]),
                    gradientLength=200,
                ),
            ),
            tooltip=[
                _tooltip("seconds"),
                _tooltip("latency"),
                alt.Tooltip("operations:Q", format=","),
            ],
        )
    )
    return cells


def _tail(view: LoadView) -> alt.TopLevelMixin:
    import altair as alt

    rows = view.curves.filter(pl.col("seconds") > 0).with_columns(
        (-pl.col("beyond_share").log10()).alias("place"),
        ((1 - pl.col("beyond_share")) * 100).round(6).alias("percentile"),
        _text("seconds", seconds_text).alias("time"),
    )
    names = rows["operation"].unique(maintain_order=True).to_list()
    colours = dict(zip(names, CURVE_COLOURS, strict=False))
    largest = rows["place"].max()
    last = largest if isinstance(largest, float) else 1.0
    lines: alt.TopLevelMixin = (
        alt.Chart(inline(rows), width=WIDTH, height=HEAT_HEIGHT)
        .mark_line(strokeWidth=1.8, interpolate="step-before")
        .encode(
            x=alt.X(
                "place:Q",
                title="share of the operations that were as fast, or faster",
                scale=alt.Scale(domain=[MEDIAN_PLACE, last], nice=False),
                axis=alt.Axis(
                    values=[MEDIAN_PLACE, *range(1, math.floor(last) + 1)],
                    labelExpr=NINES_LABEL,
                    gridOpacity=0.6,
                ),
            ),
            y=_log_seconds("seconds", rows["seconds"], "latency"),
            color=_colour("operation", colours, lines=True),
            tooltip=[
                _tooltip("operation"),
                alt.Tooltip("percentile:Q"),
                _tooltip("time", "latency"),
            ],
        )
    )
    return lines


def _backlog(view: LoadView) -> alt.TopLevelMixin:
    import altair as alt

    waiting = view.series.clear() if view.backlog is None else view.backlog
    rows = waiting.with_columns(
        pl.col("time_s").round(3), _text("waiting", grouped_text).alias("operations")
    )
    flat = not rows["waiting"].max()
    area: alt.TopLevelMixin = (
        alt.Chart(inline(rows), width=WIDTH, height=HEIGHT)
        .mark_area(color=ORANGE, opacity=0.4, line={"color": ORANGE, "strokeWidth": 1.6})
        .encode(
            x=_time(view, "time_s"),
            y=alt.Y(
                "waiting:Q",
                title="operations waiting",
                axis=_axis(4),
                scale=alt.Scale(domain=[0, 1]) if flat else alt.Undefined,
            ),
            tooltip=[alt.Tooltip("time_s:Q", title="seconds"), _tooltip("operations", "waiting")],
        )
    )
    return area


def _time(view: LoadView, field: str) -> alt.X:
    """Return the time axis that all charts of a load share."""
    import altair as alt

    ended = view.series.select((pl.col("begin_s") + pl.col("width_s")).max()).item()
    return alt.X(
        f"{field}:Q",
        title="seconds since the measured part began",
        scale=alt.Scale(domain=[0, ended], nice=False),
        axis=alt.Axis(tickCount=10, gridOpacity=0.6),
    )


def _log_seconds(field: str, values: pl.Series, title: str) -> alt.Y:
    """Return a logarithmic chart axis of seconds with ticks at round times."""
    import altair as alt

    low, high = values.min(), values.max()
    domain = (
        (low, high) if isinstance(low, float) and isinstance(high, float) and low < high else None
    )
    room = (domain[0] / ROOM, domain[1] * ROOM) if domain else alt.Undefined
    scale = alt.Scale(type="log", domain=room, nice=False)
    axis = alt.Axis(
        values=_log_ticks(*domain) if domain else alt.Undefined,
        labelExpr=SECONDS_LABEL,
        gridOpacity=0.6,
    )
    return alt.Y(f"{field}:Q", title=title, scale=scale, axis=axis)


def _log_ticks(low: float, high: float) -> list[float]:
    """Return round values in a range: 1, 2 and 5 of each decade; for many decades only 1."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    few = math.log10(high / low) <= DECADES_WITH_ALL_TICKS
    steps = TICKS_OF_A_DECADE if few else TICKS_OF_A_DECADE[:1]
    # The float is parsed from text, since 5 * 10 ** -5 is not exactly the float 5e-5.
    ticks = [float(f"{step}e{decade}") for decade in decades for step in steps]
    return [tick for tick in ticks if low <= tick <= high]


def _powers_of_ten(largest: float) -> list[int]:
    return [10**power for power in range(math.floor(math.log10(largest)) + 1)]


def _axis(ticks: int) -> alt.Axis:
    import altair as alt

    return alt.Axis(tickCount=ticks, labelExpr="format(datum.value, '~s')", gridOpacity=0.6)


def _colour(field: str, colours: dict[str, str], *, lines: bool = False) -> alt.Color:
    import altair as alt

    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    strokes = alt.Legend(symbolType="stroke", symbolStrokeWidth=3) if lines else alt.Undefined
    return alt.Color(f"{field}:N", scale=scale, legend=strokes)


def _tooltip(field: str, title: str | None = None) -> alt.Tooltip:
    import altair as alt

    return alt.Tooltip(f"{field}:N", title=title or field)


def _text(column: str, text_of: Any) -> pl.Expr:  # noqa: ANN401 - any of the functions of units
    return pl.col(column).map_elements(text_of, return_dtype=pl.String)


def _span_text() -> pl.Expr:
    """Return an expression for the begin and end of a row as text, such as `3.0 to 4.0`."""
    ended = pl.col("begin_s") + pl.col("width_s")
    parts = [moment.round(2).cast(pl.String) for moment in (pl.col("begin_s"), ended)]
    return pl.concat_str(parts[0], pl.lit(" to "), parts[1]).alias("seconds")
