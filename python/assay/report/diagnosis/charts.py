"""Charts of a diagnosis: a waterfall of the time after each change, and the gain by cause."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from assay.model.units import SECONDS
from assay.report.charts.counters import step_of
from assay.report.charts.palette import BLUE, GREEN, GREY, VERMILION, WIDTH
from assay.report.charts.run import styled

if TYPE_CHECKING:
    import altair as alt

    from assay.report.documents.diagnose import DiagnoseDocument

ROW_HEIGHT = 34
COLOURS = {"confirmed": GREEN, "refuted": GREY, "undecided": VERMILION}


def charts_of(document: DiagnoseDocument) -> dict[str, alt.TopLevelMixin]:
    """Return the charts of a diagnosis that have data, by name."""
    drawn = {"way": _waterfall(document), "gains": _gains(document)}
    return {name: styled(chart) for name, chart in drawn.items() if chart is not None}


def _waterfall(document: DiagnoseDocument) -> alt.TopLevelMixin | None:
    """Return a waterfall chart of the time that each adopted change saved."""
    import altair as alt

    points = document["way"]
    if not points:
        return None
    step, unit = step_of(SECONDS, max(point["seconds"] for point in points))
    times = [point["seconds"] / step for point in points]
    rows = [_bar("as it is", 0.0, times[0], "time")]
    for point, (before, after) in zip(points[1:], pairwise(times), strict=True):
        rows.append(_bar(str(point["change"]), after, before, "saved"))
    rows.append(_bar("with all of it", 0.0, times[-1], "time"))
    order = [str(row["name"]) for row in rows]
    scale = alt.Scale(domain=["time", "saved"], range=[BLUE, GREEN])
    chart: alt.Chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar()
        .encode(
            x=alt.X("low:Q", title=f"time of {document['of']}, {unit}"),
            x2=alt.X2("high:Q"),
            y=alt.Y("name:N", sort=order, title=None, axis=alt.Axis(labelLimit=320)),
            color=alt.Color("kind:N", scale=scale, title=None),
            tooltip=[alt.Tooltip("name:N"), alt.Tooltip("time:Q", format=".3g", title=unit)],
        )
        .properties(width=WIDTH, height=ROW_HEIGHT * len(rows))
    )
    return chart


def _bar(name: str, low: float, high: float, kind: str) -> dict[str, object]:
    return {"name": name, "low": low, "high": high, "time": high - low, "kind": kind}


def _gains(document: DiagnoseDocument) -> alt.TopLevelMixin | None:
    """Return a chart of the time saved by removing each cause, coloured by verdict."""
    import altair as alt

    rows = []
    for number, step in enumerate(document["steps"], 1):
        for tried in step["tried"]:
            gain = tried["gain"]
            if gain is None or tried["dependence"] is not None:
                continue
            low, high = gain["interval"] or (None, None)
            rows.append(
                {
                    "name": f"{number}: {tried['key']} ({tried['change']})",
                    "share": gain["share"],
                    # With few rounds, the interval is wider than the chart.
                    "low": None if low is None else max(-1.0, low),
                    "high": None if high is None else min(1.0, high),
                    "verdict": tried["verdict"],
                }
            )
    if not rows:
        return None
    scale = alt.Scale(domain=list(COLOURS), range=list(COLOURS.values()))
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        y=alt.Y(
            "name:N",
            sort=[str(row["name"]) for row in rows],
            title=None,
            axis=alt.Axis(labelLimit=380),
        ),
        color=alt.Color("verdict:N", scale=scale, title=None),
    )
    share = alt.Axis(format="%")
    lines = base.mark_rule(strokeWidth=3).encode(
        x=alt.X("low:Q", axis=share, title="time that is saved"), x2=alt.X2("high:Q")
    )
    dots = base.mark_point(filled=True, size=90, opacity=1).encode(
        x=alt.X("share:Q", axis=share, title="time that is saved"),
        tooltip=[alt.Tooltip("name:N"), alt.Tooltip("share:Q", format=".1%")],
    )
    zero = (
        alt.Chart(alt.InlineData(values=[{"zero": 0}]))
        .mark_rule(strokeDash=[4, 4])
        .encode(x=alt.X("zero:Q"))
    )
    chart: alt.LayerChart = (zero + lines + dots).properties(
        width=WIDTH, height=ROW_HEIGHT * len(rows)
    )
    return chart
