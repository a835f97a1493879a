"""Charts of two sides beside each other: ratios with their intervals, and the steps of a gain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.analysis.figures.quantities import SECONDS, SHARE, TIMES, text
from assay.report.charts.axes import logarithmic
from assay.report.charts.palette import BLUE, GREY, VERMILION, WIDTH

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import altair as alt

ROW, LABEL = 20, 230
PLOT = WIDTH - LABEL + 120
# Statements stand in the table; a chart of more rows is not read.
RATIOS_MAX, STEPS_MAX = 24, 10
OTHERS, TOTAL = "all others", "all of it"
LESS, MORE, NOISE = "less", "more", "may be noise"
COLOURS = {LESS: BLUE, MORE: VERMILION, NOISE: GREY}


def compare_rows(kind: str, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What the chart of a kind draws of its table's rows."""
    return list(_forest_rows(rows) if kind == "forest" else _steps(rows))


def compare_chart(kind: str, title: str, rows: list[dict[str, Any]]) -> alt.TopLevelMixin:
    """The chart of rows that `compare_rows` gave."""
    return _forest(title, rows) if kind == "forest" else _waterfall(title, rows)


def _forest_rows(rows: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    for row in rows[:RATIOS_MAX]:
        ratio = row["ratio"]
        ends = (row["at least"], row["at most"])
        known = ends[0] is not None
        says = NOISE if row["differs"] != "yes" else (MORE if ratio > 1 else LESS)
        yield {
            "name": f"{row['of']}, {row['quantity']}",
            "ratio": ratio,
            "low": ends[0] if known else ratio,
            "high": ends[1] if known else ratio,
            "says": says,
            "label": text(ratio, TIMES),
        }


def _forest(title: str, rows: list[dict[str, Any]]) -> alt.TopLevelMixin:
    """A ratio a row on a logarithmic axis, with a line where both sides are alike."""
    import altair as alt

    names = [row["name"] for row in rows]
    base = alt.Chart(alt.InlineData(values=rows), width=PLOT, height=ROW * len(rows))
    scale = logarithmic([1.0, *(row[end] for row in rows for end in ("low", "high"))])
    y = alt.Y(
        "name:N",
        title=None,
        sort=names,
        axis=alt.Axis(labelLimit=LABEL, grid=True, gridOpacity=0.3),
    )
    x = alt.X(
        "ratio:Q",
        title=f"ratio: {title}",
        scale=scale or alt.Scale(zero=False),
        axis=alt.Axis(tickCount=6, format="~r"),
    )
    colour = alt.Color("says:N", title=None, scale=_colours(rows))
    tips = ["name:N", "label:N", "low:Q", "high:Q", "says:N"]
    alike = alt.Chart(alt.InlineData(values=[{"ratio": 1.0}])).mark_rule(
        strokeDash=[4, 3], opacity=0.6
    )
    return alt.layer(
        alike.encode(x=alt.X("ratio:Q")),
        base.mark_rule(strokeWidth=1.6).encode(x=alt.X("low:Q"), x2="high:Q", y=y, color=colour),
        base.mark_point(size=55, filled=True, opacity=1).encode(
            x=x, y=y, color=colour, tooltip=tips
        ),
    )


def _steps(rows: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Steps from none to the whole difference, the smaller ones as one before the last."""
    parts = [row for row in rows if row["cause"] != TOTAL]
    shown, others = parts[:STEPS_MAX], parts[STEPS_MAX:]
    reached = 0.0
    for row in shown:
        yield _step(
            row["cause"], reached, row["seconds"], row["share"], noise=row["differs"] == "no"
        )
        reached += row["seconds"]
    if others:
        rest = sum(row["seconds"] for row in others)
        shares = [row["share"] for row in others]
        share = None if None in shares else sum(shares)
        yield _step(f"{OTHERS} ({len(others)})", reached, rest, share, noise=True)
        reached += rest
    whole = rows[-1]
    yield _step(TOTAL, 0.0, reached, whole["share"], noise=whole["differs"] == "no")


def _step(
    name: str, begin: float, seconds: float, share: float | None, *, noise: bool
) -> dict[str, Any]:
    return {
        "name": name,
        "begin": begin * 1e3,
        "end": (begin + seconds) * 1e3,
        "says": NOISE if noise else (MORE if seconds > 0 else LESS),
        "label": f"{text(seconds, SECONDS)}"
        + ("" if share is None else f" ({text(share, SHARE)})"),
    }


def _waterfall(title: str, rows: list[dict[str, Any]]) -> alt.TopLevelMixin:
    """A step a cause; the last bar is their sum."""
    import altair as alt

    names = [row["name"] for row in rows]
    ends = [row[end] for row in rows for end in ("begin", "end")]
    room = 0.25 * ((max(ends) - min(ends)) or 1.0)
    domain = [min(0.0, *ends), max(0.0, *ends) + room]
    placed = [row | {"tip": max(row["begin"], row["end"])} for row in rows]
    base = alt.Chart(alt.InlineData(values=placed), width=PLOT, height=ROW * len(rows))
    y = alt.Y("name:N", title=None, sort=names, axis=alt.Axis(labelLimit=LABEL))
    scale = alt.Scale(domain=domain, nice=False)
    x = alt.X("begin:Q", title=f"{title}, ms", scale=scale, axis=alt.Axis(tickCount=6))
    colour = alt.Color("says:N", title=None, scale=_colours(rows))
    bars = base.mark_bar(height=ROW - 6).encode(
        x=x, x2="end:Q", y=y, color=colour, tooltip=["name:N", "label:N", "says:N"]
    )
    words = base.mark_text(align="left", dx=4, fontSize=10).encode(
        x=alt.X("tip:Q", scale=scale), y=y, text="label:N"
    )
    return alt.layer(bars, words)


def _colours(rows: Sequence[Mapping[str, Any]]) -> alt.Scale:
    import altair as alt

    names = [name for name in COLOURS if any(row["says"] == name for row in rows)]
    return alt.Scale(domain=names, range=[COLOURS[name] for name in names])
