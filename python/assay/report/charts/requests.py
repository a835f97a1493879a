"""Chart of disk read contiguity: distances between reads, and lengths of sequential runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from assay.analysis.host.contiguity import DISTANCES_BYTES, NEAR_BYTES
from assay.model.units import bytes_text
from assay.report.charts.data import inline
from assay.report.charts.palette import BLUE, GREEN, GREY, SKY, WIDTH

if TYPE_CHECKING:
    import altair as alt

    from assay.report.documents.host.storage import RequestsSection, StorageSection

NAME = "contiguity"
HEIGHT = 110
SEQUENTIAL = "0"
KINDS = {"sequential": GREEN, "near": SKY, "random": GREY}
SCHEMA = {"distribution": pl.String, "at_most": pl.Int64, "forward": pl.Boolean, "reads": pl.Int64}


def why_empty(storage: StorageSection | None) -> str | None:
    """Return why the chart of disk read contiguity is empty; None if it is not."""
    if storage is None:
        return "No block device was observed that holds the data."
    if storage["requests"] is None:
        reason = str(storage["requests_reason"])
        return f"Not measured: {reason}."
    return None if storage["requests"]["distances"] else "Fewer than two reads were traced."


def data(requests: RequestsSection) -> pl.DataFrame:
    """Return disk reads by distance from the previous read, and by run length, as one table."""
    rows: list[tuple[str, int | None, bool | None, int]] = [
        ("distance", distance["at_most_bytes"], distance["forward"], distance["reads"])
        for distance in requests["distances"]
    ]
    rows += [
        ("run", length["at_most_reads"], None, length["reads"])
        for length in requests["run_lengths"]
    ]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def chart(requests: RequestsSection) -> alt.TopLevelMixin:
    """Return bar charts of disk reads by distance, and by the length of sequential runs."""
    import altair as alt

    rows = alt.vconcat(_distances(requests), _runs(requests), bounds="full")
    joined: alt.TopLevelMixin = rows.resolve_scale(color="independent")
    return joined


def _distances(requests: RequestsSection) -> alt.Chart:
    import altair as alt

    reads_by_class = {
        (distance["forward"], distance["at_most_bytes"]): distance["reads"]
        for distance in requests["distances"]
    }
    all_reads = sum(reads_by_class.values())
    rows = [
        {
            "class": label,
            "kind": _kind(bound),
            "share": reads_by_class.get((forward, bound), 0) / all_reads,
            "reads": reads_by_class.get((forward, bound), 0),
        }
        for label, forward, bound in _classes()
    ]
    heading = "Reads by their distance from the end of the one before"
    return _bars(rows, heading, "bytes backwards, and forwards").encode(
        color=alt.Color(
            "kind:N",
            scale=alt.Scale(domain=list(KINDS), range=list(KINDS.values())),
            legend=alt.Legend(title=None),
        )
    )


def _runs(requests: RequestsSection) -> alt.Chart:
    import altair as alt

    all_reads = sum(length["reads"] for length in requests["run_lengths"])
    rows = [
        {
            "class": f"{length['at_most_reads']:,}",
            "share": length["reads"] / all_reads,
            "reads": length["reads"],
        }
        for length in requests["run_lengths"]
    ]
    heading = "Reads by the length of the sequential run that they are in"
    return _bars(rows, heading, "reads in a run, at most").encode(color=alt.ColorValue(BLUE))


def _bars(rows: list[dict[str, Any]], heading: str, x_title: str) -> alt.Chart:
    import altair as alt

    title = alt.TitleParams(heading, anchor="start", fontSize=11)
    drawn: alt.Chart = (
        alt.Chart(inline(rows), width=WIDTH, height=HEIGHT, title=title)
        .mark_bar()
        .encode(
            x=alt.X("class:N", sort=None, title=x_title, axis=alt.Axis(labelAngle=0)),
            y=alt.Y("share:Q", title=None, axis=alt.Axis(format="%", tickCount=4)),
            tooltip=[
                alt.Tooltip("class:N", title="at most"),
                alt.Tooltip("reads:Q", format=","),
                alt.Tooltip("share:Q", format=".1%"),
            ],
        )
    )
    return drawn


def _classes() -> list[tuple[str, bool, int | None]]:
    """Return distance classes of disk reads: label, direction, upper bound."""
    bounds = [bound for bound in DISTANCES_BYTES if bound]
    more = f">{_short(bounds[-1])}"
    back = [(f"-{_short(bound)}", False, bound) for bound in reversed(bounds)]
    ahead = [(_short(bound), True, bound) for bound in bounds]
    ends = (f"<-{_short(bounds[-1])}", False, None), (more, True, None)
    return [ends[0], *back, (SEQUENTIAL, True, 0), *ahead, ends[1]]


def _short(bound: int) -> str:
    return bytes_text(bound).replace("iB", "").replace(" ", "")


def _kind(bound: int | None) -> str:
    if bound == 0:
        return "sequential"
    return "near" if bound is not None and bound <= NEAR_BYTES else "random"
