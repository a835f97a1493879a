"""Charts that compare two systems: ratios with intervals, and steps of a time difference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.quantities import SECONDS, SHARE, TIMES, text
from assay.report.charts.axes import logarithmic
from assay.report.charts.palette import BLUE, GREY, VERMILION, WIDTH
from assay.report.study.tables import number_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import altair as alt

    from assay.analysis.figures.contract import Cell
    from assay.report.study.chart_rows import RatioRow, StepRow

ROW, LABEL = 20, 230
PLOT = WIDTH - LABEL + 120
# More rows make a chart unreadable. The table has all statements.
RATIOS_MAX, STEPS_MAX = 24, 10
OTHERS, TOTAL = "all others", "all of it"
LESS, MORE, NOISE = "less", "more", "may be noise"
COLOURS = {LESS: BLUE, MORE: VERMILION, NOISE: GREY}


def compare_rows(
    kind: str, rows: Sequence[Mapping[str, Cell]]
) -> Sequence[RatioRow] | Sequence[StepRow]:
    """Return the rows for a chart of ratios or for a waterfall chart."""
    return list(_forest_rows(rows)) if kind == "forest" else list(_steps(rows))


def _forest_rows(rows: Sequence[Mapping[str, Cell]]) -> Iterator[RatioRow]:
    for row in rows[:RATIOS_MAX]:
        ratio = number_in(row["ratio"])
        has_interval = row["at least"] is not None
        says = NOISE if row["differs"] != "yes" else (MORE if ratio > 1 else LESS)
        yield {
            "name": f"{row['of']}, {row['quantity']}",
            "ratio": ratio,
            "low": number_in(row["at least"]) if has_interval else ratio,
            "high": number_in(row["at most"]) if has_interval else ratio,
            "says": says,
            "label": text(ratio, TIMES),
        }


def forest(title: str, rows: Sequence[RatioRow]) -> alt.TopLevelMixin:
    """Return a chart of one ratio per row on a logarithmic axis, with a line at 1."""
    import altair as alt

    names = [row["name"] for row in rows]
    base = alt.Chart(alt.InlineData(values=rows), width=PLOT, height=ROW * len(rows))
    scale = logarithmic([1.0, *(end for row in rows for end in (row["low"], row["high"]))])
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
        base.mark_rule(strokeWidth=1.6).encode(
            x=alt.X("low:Q"), x2=alt.X2("high:Q"), y=y, color=colour
        ),
        base.mark_point(size=55, filled=True, opacity=1).encode(
            x=x, y=y, color=colour, tooltip=tips
        ),
    )


def _steps(rows: Sequence[Mapping[str, Cell]]) -> Iterator[StepRow]:
    """Yield waterfall steps from zero to the whole time difference, small ones merged."""
    parts = [row for row in rows if row["cause"] != TOTAL]
    shown, others = parts[:STEPS_MAX], parts[STEPS_MAX:]
    reached = 0.0
    for row in shown:
        seconds = number_in(row["seconds"])
        yield _step(str(row["cause"]), reached, seconds, _share(row), noise=row["differs"] == "no")
        reached += seconds
    if others:
        rest = sum(number_in(row["seconds"]) for row in others)
        shares = [share for row in others if (share := _share(row)) is not None]
        share = sum(shares) if len(shares) == len(others) else None
        yield _step(f"{OTHERS} ({len(others)})", reached, rest, share, noise=True)
        reached += rest
    whole = rows[-1]
    yield _step(TOTAL, 0.0, reached, _share(whole), noise=whole["differs"] == "no")


def _share(row: Mapping[str, Cell]) -> float | None:
    return None if row["share"] is None else number_in(row["share"])


def _step(name: str, begin: float, seconds: float, share: float | None, *, noise: bool) -> StepRow:
    return {
        "name": name,
        "begin": begin * 1e3,
        "end": (begin + seconds) * 1e3,
        "says": NOISE if noise else (MORE if seconds > 0 else LESS),
        "label": f"{text(seconds, SECONDS)}"
        + ("" if share is None else f" ({text(share, SHARE)})"),
    }


def waterfall(title: str, rows: Sequence[StepRow]) -> alt.TopLevelMixin:
    """Return a waterfall chart of a time difference with a step per cause."""
    import altair as alt

    names = [row["name"] for row in rows]
    ends = [end for row in rows for end in (row["begin"], row["end"])]
    room = 0.25 * ((max(ends) - min(ends)) or 1.0)
    domain = [min(0.0, *ends), max(0.0, *ends) + room]
    placed = [{**row, "tip": max(row["begin"], row["end"])} for row in rows]
    base = alt.Chart(alt.InlineData(values=placed), width=PLOT, height=ROW * len(rows))
    y = alt.Y("name:N", title=None, sort=names, axis=alt.Axis(labelLimit=LABEL))
    scale = alt.Scale(domain=domain, nice=False)
    x = alt.X("begin:Q", title=f"{title}, ms", scale=scale, axis=alt.Axis(tickCount=6))
    colour = alt.Color("says:N", title=None, scale=_colours(rows))
    bars = base.mark_bar(height=ROW - 6).encode(
        x=x,
        x2=alt.X2("end:Q"),
        y=y,
        color=colour,
        tooltip=[alt.Tooltip("name:N"), alt.Tooltip("label:N"), alt.Tooltip("says:N")],
    )
    labels = base.mark_text(align="left", dx=4, fontSize=10).encode(
        x=alt.X("tip:Q", scale=scale), y=y, text=alt.Text("label:N")
    )
    return alt.layer(bars, labels)


def _colours(rows: Sequence[RatioRow] | Sequence[StepRow]) -> alt.Scale:
    import altair as alt

    names = [name for name in COLOURS if any(row["says"] == name for row in rows)]
    return alt.Scale(domain=names, range=[COLOURS[name] for name in names])
