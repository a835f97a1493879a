"""Heat map of CPU samples: a row per kind of work, a column per operation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from assay.model.units import seconds_text
from assay.report.charts.data import inline
from assay.report.charts.palette import BLUE, SKY, WIDTH
from assay.report.words.profile import TOGETHER

if TYPE_CHECKING:
    import altair as alt

    from assay.report.documents.profile.profile import ProfileSection

NAME = "work"
ROW_HEIGHT = 22
# Every colour is visible on light and dark pages, and so is the text on it.
COLOURS = ("#dceaf5", SKY, BLUE, "#003f63")
LIGHT_TEXT_FROM = 0.45
# Shares from this value on are written into their cells; tooltips show all shares.
TOLD_MIN = 0.005
SCHEMA = {
    "operation": pl.String,
    "work": pl.String,
    "samples": pl.Int64,
    "share": pl.Float64,
    "seconds": pl.Float64,
}


def why_empty(profile: ProfileSection | None) -> str | None:
    """Return why the chart of CPU samples is empty; None if it is not."""
    if profile is None:
        return "The run has no CPU samples."
    if not profile["sampling"]["told_apart"]:
        return f"The CPU samples are {TOGETHER}."
    return None if profile["operations"] else "No CPU sample fell into an operation."


def data(profile: ProfileSection) -> pl.DataFrame:
    """Return rows of CPU samples by operation and kind of work."""
    rows = [
        {"operation": operation["operation"]} | row
        for operation in profile["operations"]
        for row in operation["work"]
    ]
    return pl.DataFrame(rows, schema=SCHEMA)


def chart(profile: ProfileSection) -> alt.TopLevelMixin:
    """Return a heat map of CPU samples by kind of work (rows) and operation (columns)."""
    import altair as alt

    works = [row["work"] for row in profile["work"]]
    operations = sorted(operation["operation"] for operation in profile["operations"])
    base = alt.Chart(inline(_cells(profile)), width=WIDTH, height=ROW_HEIGHT * len(works)).encode(
        x=alt.X(
            "operation:N",
            sort=operations,
            axis=alt.Axis(title=None, orient="top", labelAngle=0, ticks=False, labelOverlap=True),
        ),
        y=alt.Y("work:N", sort=works, axis=alt.Axis(title=None)),
    )
    cells = base.mark_rect(cornerRadius=2).encode(
        color=alt.Color(
            "share:Q",
            scale=alt.Scale(domain=[0, 0.33, 0.66, 1], range=list(COLOURS), interpolate="rgb"),
            legend=alt.Legend(
                title=None,
                symbolType="square",
                format=".0%",
                gradientLength=160,
                values=[0, 0.25, 0.5, 0.75, 1],
            ),
        ),
        tooltip=[
            alt.Tooltip("operation:N"),
            alt.Tooltip("work:N"),
            alt.Tooltip("share:Q", format=".1%"),
            alt.Tooltip("samples:Q", format=","),
            alt.Tooltip("time:N", title="CPU time"),
        ],
    )
    # In narrow columns, a cell shows no figure, only its colour and a tooltip.
    figures = (
        base.transform_filter(f"datum.share >= {TOLD_MIN}")
        .transform_calculate(words="width < 30 * datum.columns ? '' : datum.figure")
        .mark_text(fontSize=10)
        .encode(
            text=alt.Text("words:N"),
            color=alt.condition(
                f"datum.share > {LIGHT_TEXT_FROM}", alt.value("#ffffff"), alt.value("#10151b")
            ),
        )
    )
    layered: alt.TopLevelMixin = alt.layer(cells, figures)
    return layered


def _cells(profile: ProfileSection) -> list[dict[str, object]]:
    columns = len(profile["operations"])
    return [
        row
        | {
            "share": round(row["share"], 5),
            "figure": f"{row['share'] * 100:.0f}",
            "time": seconds_text(row["seconds"]),
            "columns": columns,
        }
        for row in data(profile).to_dicts()
    ]
