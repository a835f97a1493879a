"""Chart of query mixes: throughput and bytes read, over the number of mixes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from assay.model.units import amount_text, rate_text
from assay.report.charts.data import inline
from assay.report.charts.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, WIDTH

if TYPE_CHECKING:
    import altair as alt

    from assay.report.documents.load.steady import SteadySection

NAME = "steady"
HEIGHT = 120
AXIS_EXTENT = 40
KIB = 1024.0
# Heading of a panel, its series, the divisor of its values, and its colour.
PANELS = (
    ("Mixes a second", "throughput", 1.0, BLUE),
    ("KiB that the engine asked of files, a mix", "asked", KIB, ORANGE),
    ("KiB that were fetched from storage, a mix", "fetched", KIB, GREEN),
    ("KiB read into the engine's cache by its own count, a mix", "counted", KIB, PURPLE),
)
SCHEMA = {
    "part": pl.String,
    "first_mix": pl.Int64,
    "mixes": pl.Int64,
    "begin_s": pl.Float64,
    "end_s": pl.Float64,
    "throughput": pl.Float64,
    "asked": pl.Float64,
    "fetched": pl.Float64,
    "counted": pl.Float64,
}


def why_empty(steady: SteadySection | None) -> str | None:
    """Return why the chart of query mixes is empty; None if it is not."""
    if steady is None:
        return "No client ran operations in a fixed order."
    return None if steady["batches"] else "Mixes ended faster than the sampling interval."


def data(steady: SteadySection) -> pl.DataFrame:
    """Return batches of query mixes as one table, including the warm-up."""
    warm = steady["warmup_mixes"]
    rows = [
        (
            part,
            before + batch["first"],
            batch["mixes"],
            batch["begin_s"],
            batch["end_s"],
            batch["throughput"],
            batch["asked"],
            batch["fetched"],
            batch["counted"],
        )
        for part, before, batches in (
            ("warmup", 0, steady["warmup"]),
            ("measured", warm, steady["batches"]),
        )
        for batch in batches
    ]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def chart(steady: SteadySection) -> alt.TopLevelMixin:
    """Return a panel per measured series of query mixes, with a mark at the steady start."""
    import altair as alt

    rows = data(steady)
    shown = [panel for panel in PANELS if rows[panel[1]].null_count() < rows.height]
    drawn: list[Any] = [_panel(rows, steady, panel, is_last=panel is shown[-1]) for panel in shown]
    joined: alt.TopLevelMixin = alt.vconcat(*drawn, bounds="full")
    return joined


def _panel(
    rows: pl.DataFrame,
    steady: SteadySection,
    panel: tuple[str, str, float, str],
    *,
    is_last: bool,
) -> alt.TopLevelMixin:
    import altair as alt

    heading, name, step, colour = panel
    text_of = rate_text if name == "throughput" else lambda value: amount_text(value, "bytes")
    values = [
        {
            "mix": row["first_mix"],
            "until": row["first_mix"] + row["mixes"],
            "value": row[name] / step,
            "words": text_of(row[name]),
        }
        for row in rows.drop_nulls(name).iter_rows(named=True)
    ]
    title = alt.TitleParams(heading, anchor="start", fontSize=11)
    x_title = "mixes of all clients, the warm-up's first" if is_last else None
    line = (
        alt.Chart(inline(values), width=WIDTH, height=HEIGHT, title=title)
        .mark_line(interpolate="step-after", strokeWidth=1.6, color=colour)
        .encode(
            x=alt.X("mix:Q", title=x_title, axis=alt.Axis(format="~s", gridOpacity=0.6)),
            y=alt.Y(
                "value:Q",
                title=None,
                scale=alt.Scale(zero=True),
                axis=alt.Axis(tickCount=4, format="~s", minExtent=AXIS_EXTENT),
            ),
            tooltip=[
                alt.Tooltip("mix:Q", title="from mix", format=","),
                alt.Tooltip("until:Q", title="to", format=","),
                alt.Tooltip("words:N", title=name),
            ],
        )
    )
    layered: alt.TopLevelMixin = alt.layer(line, *_rules(steady))
    return layered


def _rules(steady: SteadySection) -> list[alt.Chart]:
    """Return vertical lines at the start of the measured part and of the steady part."""
    import altair as alt

    warm = steady["warmup_mixes"]
    places = [(warm, "measured")] if warm else []
    if steady["steady"] and steady["first_mix"] is not None:
        places.append((warm + steady["first_mix"], "steady"))
    if not places:
        return []
    values = [{"mix": mix, "words": label} for mix, label in places]
    base = alt.Chart(inline(values)).encode(x=alt.X("mix:Q"))
    rule = base.mark_rule(color=GREY, strokeDash=[4, 3], strokeWidth=1.5)
    text = base.mark_text(align="left", dx=4, fontSize=11, baseline="top").encode(
        y=alt.value(2), text=alt.Text("words:N")
    )
    return [rule, text]
