"""Charts of a study: compared quantities per engine or setting, with the article's values.

Each chart is made from the document only, in the same way for every kind of figure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.quantities import BYTES, SECONDS, SHARE, TIMES, text
from assay.report.charts.palette import (
    BYTE_UNITS,
    GREY,
    SUBJECT_COLOURS,
    WIDTH,
    WORK_COLOURS,
    work_colour,
)
from assay.report.charts.run import styled
from assay.report.study import plots
from assay.report.study.plots import ARTICLE
from assay.report.study.scatter import scatter

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    import altair as alt

    from assay.report.documents.study import ChartEntry, FigureEntry, MeasureEntry
    from assay.report.study.chart_rows import (
        MeasureRow,
        RelativeChart,
        SegmentRow,
        ShownChart,
        TableChartRow,
        TippedRow,
    )

BAR, ROW, LINES = 15, 22, 260
# With more subjects, bars become lines.
SUBJECTS_MAX = len(SUBJECT_COLOURS)
ROOM = 1.15
# Space for labels behind bars, as a share of the longest bar.
BEHIND = 0.2
OTHER_COLOUR = "#c9d0d9"
UNIT_WORDS = {"/h": "an hour", TIMES: "times", SECONDS: "seconds"}
# Units in which the numbers of an axis are short.
READABLE = (TIMES, SECONDS, "ms", *(unit for _, unit in BYTE_UNITS))
# Units whose article values stand beside the study's, because they do not depend on scale.
OF_ANY_SCALE = (SHARE, TIMES)
# If quantities differ by a larger factor, the smaller bars are invisible.
APART_MAX = 50.0
# Kinds that are smaller than this share in every bar are drawn together.
SMALL, OTHERS = 0.015, "others"
STACKED = "stacked"


def charts_of(
    figure: FigureEntry, colours: Mapping[str, str] | None = None
) -> dict[str, alt.TopLevelMixin]:
    """Return the charts of a study's result that have data, by a name unique in the page.

    Args:
        figure: Figure of a study's document.
        colours: Colours of subjects, as `colours_of` returns them; None means those of this
            figure's subjects.
    """
    drawings = {}
    colour_of = colours_of([figure]) if colours is None else colours
    for chart in all_charts(figure):
        drawing = _drawing(figure, chart, colour_of)
        if drawing is not None:
            drawings[f"{figure['name']}-{chart['name']}"] = styled(drawing)
    return drawings


def _drawing(
    figure: FigureEntry, chart: ShownChart, colours: Mapping[str, str]
) -> alt.TopLevelMixin | None:
    if chart["kind"] != "relative" and chart["kind"] != STACKED and chart["table"] is not None:
        rows = plots.plot_rows(figure, chart)
        return plots.drawn(chart, rows, colours) if rows else None
    measured = _measure_rows(figure, chart)
    return _drawn(chart, _in_steps(measured), colours) if measured else None


def colours_of(figures: Sequence[FigureEntry]) -> dict[str, str]:
    """Return a colour for each engine or setting, the same in all charts of a study."""
    colours: dict[str, str] = {}
    for figure in (figure for figure in figures if figure["charts"]):
        shown = figure["subjects"][:SUBJECTS_MAX]
        taken = {colours[name] for name in shown if name in colours}
        for name in shown:
            if name not in colours:
                free = [
                    colour
                    for colour in SUBJECT_COLOURS
                    if colour not in {*taken, *colours.values()}
                ]
                colours[name] = next(
                    iter([*free, *(colour for colour in SUBJECT_COLOURS if colour not in taken)])
                )
                taken.add(colours[name])
    return colours | {ARTICLE: GREY}


def all_charts(figure: FigureEntry) -> list[ShownChart]:
    """Return the charts of a study's result; charts of ratios to a base come first."""
    return [*_relative(figure), *figure["charts"]]


def chart_rows(
    figure: FigureEntry, chart: ShownChart
) -> Sequence[MeasureRow] | Sequence[TableChartRow]:
    """Return the rows of a study's chart: one per engine and quantity, the article's first."""
    if chart["kind"] != "relative" and chart["kind"] != STACKED and chart["table"] is not None:
        return plots.plot_rows(figure, chart)
    return _measure_rows(figure, chart)


def _measure_rows(figure: FigureEntry, chart: ShownChart) -> list[MeasureRow]:
    if chart["kind"] == "relative":
        return [*_article_times(figure, chart), *_our_times(figure, chart)]
    if chart["table"] is not None:
        return _parts(figure, chart)
    by_key = {measure["key"]: measure for measure in figure["measures"]}
    measures = [by_key[key] for key in chart["keys"] if key in by_key]
    return [*_article_values(figure, measures), *_our_rows(figure, measures)]


def _parts(figure: FigureEntry, chart: ChartEntry) -> list[MeasureRow]:
    """Return chart rows for a table of shares: a bar per column, cut into the table's rows."""
    table = next((entry for entry in figure["tables"] if entry["name"] == chart["table"]), None)
    if table is None:
        return []
    names = [column["name"] for column in table["columns"]]
    return [
        _row(bar, str(row[0]), str(row[0]), SHARE, share)
        for bar in chart["keys"]
        for row in table["rows"]
        if isinstance(share := row[names.index(bar)], int | float)
    ]


def _relative(figure: FigureEntry) -> Iterator[RelativeChart]:
    """Yield a chart of ratios to another quantity, one for each base."""
    article = figure["article"]
    bases: dict[str, list[str]] = {}
    times: dict[str, float] = {}
    for compared in () if article is None else article["compared"]:
        if (
            compared["base"] is not None
            and compared["article_times"] is not None
            and compared["our_times"]
        ):
            bases.setdefault(compared["base"], []).append(compared["key"])
            times[compared["key"]] = compared["article_times"]
    # A single bar shows no more than the sentence about it.
    several = {base: keys for base, keys in bases.items() if len(keys) > 1 and _alike(keys, times)}
    for place, (base, keys) in enumerate(several.items()):
        yield {
            "name": f"times{place + 1 if place else ''}",
            "title": f"times of: {base}",
            "kind": "relative",
            "keys": keys,
            "logarithmic": False,
            "axis": None,
            "table": None,
        }


def _alike(keys: Sequence[str], times: Mapping[str, float]) -> bool:
    """Return True if quantities are similar enough to share one chart axis."""
    ratios = [times[key] for key in keys]
    return min(ratios) > 0 and max(ratios) / min(ratios) <= APART_MAX


def _article_times(figure: FigureEntry, chart: RelativeChart) -> Iterator[MeasureRow]:
    article = figure["article"]
    for compared in () if article is None else article["compared"]:
        if compared["key"] in chart["keys"] and compared["article_times"] is not None:
            yield _row(
                ARTICLE, compared["key"], compared["title"], TIMES, compared["article_times"]
            )


def _our_times(figure: FigureEntry, chart: RelativeChart) -> Iterator[MeasureRow]:
    article = figure["article"]
    for compared in () if article is None else article["compared"]:
        if compared["key"] in chart["keys"]:
            for subject, value in (compared["our_times"] or {}).items():
                yield _row(subject, compared["key"], compared["title"], TIMES, value)


def _article_values(figure: FigureEntry, measures: Sequence[MeasureEntry]) -> Iterator[MeasureRow]:
    """Yield chart rows of the article's shares and ratios, which compare at any scale."""
    article = figure["article"]
    compared_by_key = (
        {} if article is None else {compared["key"]: compared for compared in article["compared"]}
    )
    for measure in measures:
        compared = compared_by_key.get(measure["key"])
        if (
            compared is None
            or compared["unit"] != measure["unit"]
            or compared["unit"] not in OF_ANY_SCALE
        ):
            continue
        low, high = compared["article"], compared["article_high"]
        middle = low if high is None else (low + high) / 2
        row = _row(ARTICLE, measure["key"], measure["title"], compared["unit"], middle)
        yield (
            row if high is None else {**row, "low": low, "high": high, "label": compared["printed"]}
        )


def _our_rows(figure: FigureEntry, measures: Sequence[MeasureEntry]) -> Iterator[MeasureRow]:
    for measure in measures:
        for subject in figure["subjects"][:SUBJECTS_MAX]:
            spread = measure["values"].get(subject)
            if spread is not None:
                row = _row(
                    subject, measure["key"], measure["title"], measure["unit"], spread["middle"]
                )
                row["at"] = measure["at"]
                if spread["count"] > 1:
                    row["low"], row["high"] = spread["low"], spread["high"]
                yield row


def _row(subject: str, key: str, title: str, unit: str, value: float) -> MeasureRow:
    return {
        "subject": subject,
        "key": key,
        "measure": title,
        "unit": unit,
        "value": value,
        "label": text(value, unit),
    }


def _in_steps(rows: Sequence[MeasureRow]) -> list[MeasureRow]:
    """Return chart rows in a readable unit: bytes by the largest value, short times in ms.

    With these units, the axis has round numbers.
    """
    unit = rows[0]["unit"]
    most = max(abs(float(row["value"])) for row in rows)
    step, shown_unit = 1.0, unit
    if unit == BYTES:
        step, shown_unit = next((scale for scale in BYTE_UNITS if most >= scale[0]), BYTE_UNITS[-1])
    elif unit == SECONDS and most < 1:
        step, shown_unit = 1e-3, "ms"
    return [_divided(row, step, shown_unit) for row in rows]


def _divided(row: MeasureRow, step: float, unit: str) -> MeasureRow:
    """Return a chart row with its value and spread in another unit."""
    divided: MeasureRow = {**row, "value": row["value"] / step, "unit": unit}
    if "low" in row and "high" in row:
        divided["low"], divided["high"] = row["low"] / step, row["high"] / step
    return divided


def _drawn(
    chart: ShownChart, rows: Sequence[MeasureRow], colours: Mapping[str, str]
) -> alt.TopLevelMixin:
    kind = chart["kind"]
    if kind == STACKED:
        return _stacked(chart, rows)
    if kind == "lines":
        return _lines(chart, rows, colours)
    if kind == "scatter":
        return scatter(chart, rows, _colours(rows, colours))
    if kind == "dots":
        return _dots(chart, rows, colours)
    return _bars(chart, rows, colours)


def _value_axis(chart: ShownChart, rows: Sequence[MeasureRow]) -> dict[str, Any]:
    """Return the value axis of a chart, in a unit that fits its largest value."""
    import altair as alt

    unit = str(rows[0]["unit"])
    axis: dict[str, Any] = {
        "gridOpacity": 0.6,
        "title": chart["title"],
        "tickCount": 6,
        "labelOverlap": True,
    }
    if unit == SHARE:
        axis["format"] = "~%"
    else:
        axis["format"] = "~r" if unit in READABLE else "~s"
        unit_name = UNIT_WORDS.get(unit, unit)
        axis["title"] = (
            chart["title"] if unit_name in chart["title"] else f"{chart['title']}, {unit_name}"
        )
    scale: dict[str, Any] = {"nice": True}
    if chart["logarithmic"]:
        positive = [float(row["value"]) for row in rows if row["value"] > 0]
        scale = {
            "type": "log",
            "nice": False,
            "domain": [min(positive) / ROOM, max(positive) * ROOM],
        }
        axis["tickCount"] = 5
    return {"axis": alt.Axis(**axis), "scale": alt.Scale(**scale)}


def _colours(rows: Sequence[MeasureRow], colours: Mapping[str, str]) -> alt.Scale:
    import altair as alt

    names = list(dict.fromkeys(str(row["subject"]) for row in rows))
    return alt.Scale(domain=names, range=[colours.get(name, GREY) for name in names])


def _bars(
    chart: ShownChart, rows: Sequence[MeasureRow], colours: Mapping[str, str]
) -> alt.TopLevelMixin:
    """Return a bar chart with a group per quantity, and a bar per engine with its spread."""
    import altair as alt

    subjects = list(dict.fromkeys(row["subject"] for row in rows))
    measures = list(dict.fromkeys(row["measure"] for row in rows))
    height = len(measures) * (len(subjects) * BAR + 12)
    tipped: list[TippedRow] = [
        {**row, "tip": max(row["value"], row.get("high", row["value"]), 0.0)} for row in rows
    ]
    base = alt.Chart(_values(tipped), width=WIDTH, height=height)
    axis = alt.Axis(labelLimit=170, tickCount=0)
    shared = {
        "y": alt.Y("measure:N", title=None, sort=measures, axis=axis),
        "yOffset": alt.YOffset("subject:N", sort=subjects),
    }
    encoded = _value_axis(chart, tipped) | {"scale": _with_room(tipped)}
    x = alt.X("value:Q", **encoded)
    bars = base.mark_bar(cornerRadiusEnd=2).encode(
        x=x,
        color=alt.Color("subject:N", scale=_colours(rows, colours), sort=subjects),
        tooltip=_tooltip(),
        **shared,
    )
    at = alt.X("tip:Q", **encoded)
    labels = base.mark_text(align="left", dx=4, fontSize=10).encode(
        x=at, text=alt.Text("label:N"), **shared
    )
    layers = [bars, *_ends(base, rows, shared), labels]
    return alt.layer(*layers)


def _with_room(rows: Sequence[TippedRow]) -> alt.Scale:
    """Return a chart scale from zero with space for labels behind the longest bar."""
    import altair as alt

    most = max(float(row["tip"]) for row in rows)
    least = min(0.0, *(float(row["value"]) for row in rows))
    span = (most - least) or 1.0
    return alt.Scale(domain=[least, most + BEHIND * span], nice=False)


def _ends(
    base: alt.Chart, rows: Sequence[MeasureRow], shared: Mapping[str, Any]
) -> list[alt.Chart]:
    """Return chart marks for the lowest and highest round; empty for one round."""
    import altair as alt

    if not any("low" in row for row in rows):
        return []
    return [
        base.mark_rule(strokeWidth=1.5, opacity=0.75).encode(
            x=alt.X("low:Q"), x2=alt.X2("high:Q"), **shared
        )
    ]


def _stacked(chart: ShownChart, rows: Sequence[MeasureRow]) -> alt.TopLevelMixin:
    """Return a chart with a stacked bar per engine, cut into kinds of work."""
    import altair as alt

    subjects = list(dict.fromkeys(row["subject"] for row in rows))
    rows = _without_small(rows)
    by_key = {row["key"]: row["measure"] for row in rows}
    order = chart["keys"] if chart["table"] is None else [key for key in by_key if key != OTHERS]
    keys = [by_key[key] for key in (*order, OTHERS) if key in by_key]
    is_work = all(key in WORK_COLOURS for key in keys if key != OTHERS)
    colours = [work_colour(key) for key in keys] if is_work else list(SUBJECT_COLOURS[: len(keys)])
    if keys[-1] == OTHERS:
        colours[-1] = OTHER_COLOUR
    placed = list(_cumulated(rows, keys))
    base = alt.Chart(_values(placed), width=WIDTH, height=len(subjects) * 38)
    y = alt.Y("subject:N", title=None, sort=subjects, axis=alt.Axis(labelLimit=170))
    x = alt.X("begin:Q", **_value_axis(chart, rows))
    bars = base.mark_bar(stroke="white", strokeWidth=0.6, height=26).encode(
        x=x,
        x2=alt.X2("end:Q"),
        y=y,
        color=alt.Color("measure:N", scale=alt.Scale(domain=keys, range=colours), sort=keys),
        tooltip=_tooltip(),
    )
    labels = (
        base.transform_filter("datum.value * width > length(datum.measure) * 6 + 6")
        .transform_calculate(middle="(datum.begin + datum.end) / 2")
        .mark_text(fontSize=10, color="#10151c")
        .encode(x=alt.X("middle:Q"), y=y, text=alt.Text("measure:N"))
    )
    return alt.layer(bars, labels)


def _without_small(rows: Sequence[MeasureRow]) -> list[MeasureRow]:
    """Return chart rows of large quantities, and one row per engine for all small ones.

    Measures without colours of their own are limited to the number of colours, including the row of
    small ones.
    """
    most: dict[str, float] = {}
    for row in rows:
        most[row["key"]] = max(row["value"], most.get(row["key"], 0.0))
    large = {key for key, value in most.items() if value >= SMALL}
    if len(large) >= SUBJECTS_MAX and not all(key in WORK_COLOURS for key in large):
        large = set(sorted(large, key=lambda key: -most[key])[: SUBJECTS_MAX - 1])
    kept = [row for row in rows if row["key"] in large]
    left: dict[str, float] = {}
    for row in rows:
        if row["key"] not in large:
            left[row["subject"]] = left.get(row["subject"], 0.0) + row["value"]
    return [*kept, *(_row(name, OTHERS, OTHERS, SHARE, value) for name, value in left.items())]


def _cumulated(rows: Sequence[MeasureRow], keys: Sequence[str]) -> Iterator[SegmentRow]:
    ends: dict[str, float] = {}
    for row in sorted(rows, key=lambda segment: keys.index(segment["measure"])):
        begin = ends.get(row["subject"], 0.0)
        ends[row["subject"]] = begin + row["value"]
        yield {**row, "begin": begin, "end": begin + row["value"]}


def _lines(
    chart: ShownChart, rows: Sequence[MeasureRow], colours: Mapping[str, str]
) -> alt.TopLevelMixin:
    """Return a chart with a line per engine along the levels of a factor."""
    import altair as alt

    levels = [row["measure"] for row in sorted(rows, key=lambda row: row.get("at") or 0.0)]
    base = alt.Chart(_values(rows), width=WIDTH, height=LINES)
    x = alt.X(
        "measure:O",
        sort=list(dict.fromkeys(levels)),
        title=chart["axis"],
        axis=alt.Axis(labelAngle=0, gridOpacity=0.3),
    )
    encoded = _value_axis(chart, rows)
    y = alt.Y("value:Q", **encoded)
    colour = alt.Color("subject:N", scale=_colours(rows, colours))
    line = base.mark_line(point=alt.OverlayMarkDef(size=55, filled=True), strokeWidth=2).encode(
        x=x, y=y, color=colour, tooltip=_tooltip()
    )
    spread = base.mark_rule(strokeWidth=1.5, opacity=0.6).encode(
        x=x, y=alt.Y("low:Q"), y2=alt.Y2("high:Q"), color=colour
    )
    return alt.layer(spread, line) if any("low" in row for row in rows) else alt.layer(line)


def _dots(
    chart: ShownChart, rows: Sequence[MeasureRow], colours: Mapping[str, str]
) -> alt.TopLevelMixin:
    """Return a chart with a row per quantity and a dot per engine."""
    import altair as alt

    measures = list(dict.fromkeys(row["measure"] for row in rows))
    base = alt.Chart(_values(rows), width=WIDTH, height=ROW * len(measures))
    axis = alt.Axis(grid=True, gridOpacity=0.35, labelLimit=200)
    y = alt.Y("measure:N", title=None, sort=measures, axis=axis)
    x = alt.X("value:Q", **_value_axis(chart, rows))
    dots = base.mark_point(size=58, filled=True, opacity=0.9).encode(
        x=x,
        y=y,
        color=alt.Color("subject:N", scale=_colours(rows, colours)),
        shape=alt.Shape("subject:N", scale=alt.Scale(domain=list(_colours(rows, colours).domain))),
        tooltip=_tooltip(),
    )
    between = base.mark_rule(opacity=0.3).encode(x="min(value):Q", x2="max(value):Q", y=y)
    return alt.layer(between, dots)


def _tooltip() -> list[str]:
    return ["subject:N", "measure:N", "label:N"]


def _values(rows: Sequence[Mapping[str, object]]) -> alt.InlineData:
    import altair as alt

    return alt.InlineData(values=[dict(row) for row in rows])
