"""Chart of each execution of a run as a dot around its operation's median."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.units import seconds_text
from assay.report.charts.data import inline
from assay.report.charts.palette import BLUE, GREY, SKY, WIDTH

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

ROW_HEIGHT = 19
FROM_MEDIAN_LABEL = "datum.value == 0 ? 'median' : format(datum.value, '+~%')"


def chart(executions: pl.DataFrame) -> alt.TopLevelMixin:
    """Return a chart of each execution as a dot around its operation's median.

    Args:
        executions: Rows of `Timeline.passes`, at least one.
    """
    import altair as alt
    import polars as pl

    rows = executions.with_columns(
        pl.col("seconds").map_elements(seconds_text, return_dtype=pl.String).alias("time"),
        pl.col("median_seconds").map_elements(seconds_text, return_dtype=pl.String).alias("median"),
        (pl.col("pass") + 1).alias("pass"),
    )
    order = executions["operation"].unique(maintain_order=True).to_list()
    base = alt.Chart(inline(rows), width=WIDTH, height=ROW_HEIGHT * len(order))
    y = alt.Y("operation:N", title=None, sort=order, axis=alt.Axis(grid=True, gridOpacity=0.35))
    dots = base.mark_circle(size=46, opacity=0.8).encode(
        x=alt.X(
            "from_median_share:Q",
            title="distance from the operation's median",
            axis=alt.Axis(labelExpr=FROM_MEDIAN_LABEL, tickCount=8, gridOpacity=0.6),
        ),
        y=y,
        color=alt.Color(
            "pass:Q",
            scale=alt.Scale(range=[SKY, BLUE, "#023858"], interpolate="rgb"),
            legend=alt.Legend(
                title="pass", titleOrient="left", format="d", tickMinStep=1, gradientLength=120
            ),
        ),
        tooltip=[
            alt.Tooltip("operation:N"),
            alt.Tooltip("pass:Q"),
            alt.Tooltip("time:N"),
            alt.Tooltip("median:N"),
            alt.Tooltip("from_median_share:Q", format="+.1%", title="from the median"),
        ],
    )
    middle = base.mark_rule(color=GREY, strokeDash=[3, 3]).encode(x=alt.XDatum(0))
    return alt.layer(middle, dots)
