"""Chart of time by cause: one bar per operation, one piece per cause.

Pieces have fixed positions. So switching CPU time between modes and kinds of work does not move
other pieces. Unaccounted time always ends the bar.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from assay.analysis.causes import CAUSES, UNCOVERED
from assay.model.units import bytes_text, count_text, percent_text, seconds_text
from assay.report.charts.data import inline
from assay.report.charts.palette import (
    CAUSE_COLOURS,
    LARGEST_WORK_COLOURS,
    OTHER_WORK_COLOUR,
    WIDTH,
)
from assay.report.words.causes import shares_by_cause
from assay.report.words.loads.operation import operation_time

if TYPE_CHECKING:
    from collections.abc import Iterator

    import altair as alt

    from assay.report.documents.load.operations import OperationRow
    from assay.report.documents.run import RunDocument

NAME = "operations"
ROW_HEIGHT = 19
BAR_HEIGHT = 14
COVERAGE_ROOM = 112
# Offset of the legend, which leaves space for the heading of the coverage column.
LEGEND_OFFSET = 20
# A part that is smaller in every operation is invisible in a bar and has no legend entry.
NAMED_SHARE_MIN = 0.0005
NOT_SPLIT = ("not split", "#bbbbbb")
OTHER_WORK = "other work"
STRIPED = "{} (striped)"
UNCLASSIFIED = "unclassified"
BY_MODE, BY_WORK, ALWAYS = "user and kernel", "kind of work", "always"
SECONDS, SHARES = "time", "share"
SECONDS_LABEL = (
    "datum.value == 0 ? '0' : replace(format(datum.value, '~s'), regexp('([0-9.]+)(.*)'), '$1 $2s')"
)
NOTHING_MEASURED = "No operation was measured: the record holds no events of the measured part."
NO_LOAD_SPLIT = (
    "Where the service time of this load's operations went was not measured: counters are not"
    " read around operations of a load, and the engine's threads were not sampled (probe waits)."
)


class Piece(NamedTuple):
    """A piece of a bar in the chart of causes: its cause, begin and end as time shares."""

    part: str
    view: str
    begin: float
    end: float


def why_empty(document: RunDocument) -> str | None:
    """Return why the chart of causes is empty; None if it is not."""
    operations = document["operations"]
    if not operations:
        return NOTHING_MEASURED
    if all(operation["seconds"] is None for operation in operations):
        return "No operation succeeded, so there is no time to draw."
    if document["conditions"]["clients"] is not None and not _is_split(operations):
        return NO_LOAD_SPLIT
    return None


def pieces(operation: OperationRow, works: dict[str, float] | None) -> Iterator[Piece]:
    """Return the pieces of an operation's bar in stacking order.

    Args:
        operation: One of the document's operations.
        works: Shares of the operation's CPU time by kind of work; None if not known.
    """
    where = shares_by_cause(operation["where"])
    shares = ((cause, where.get(cause.name)) for cause in CAUSES)
    measured = [(cause, share) for cause, share in shares if share]
    if not measured:
        yield Piece(NOT_SPLIT[0], ALWAYS, 0.0, 1.0)
        return
    at = 0.0
    for cause, share in measured:
        view = BY_MODE if cause.on_cpu and works is not None else ALWAYS
        yield Piece(part_title(cause.name), view, at, at + share)
        at += share
    if works is not None:
        yield from _worked(works, sum(share for cause, share in measured if cause.on_cpu))


def _worked(works: dict[str, float], on_cpu: float) -> Iterator[Piece]:
    at = 0.0
    for work, share in works.items():
        if on_cpu * share > 0:
            yield Piece(work, BY_WORK, at, at + on_cpu * share)
        at += on_cpu * share


def part_title(cause: str) -> str:
    """Return the name of a cause of time in the chart's legend."""
    title = next(candidate.title for candidate in CAUSES if candidate.name == cause)
    return STRIPED.format(title) if cause == UNCOVERED else title


def named_works(document: RunDocument) -> tuple[str, ...]:
    """Return the kinds of work with the most CPU time, which get colours of their own."""
    if document["profile"] is None:
        return ()
    ordered = sorted(document["profile"]["work"], key=lambda row: -row["seconds"])
    works = [row["work"] for row in ordered if row["work"] != UNCLASSIFIED]
    return tuple(works[: len(LARGEST_WORK_COLOURS)])


def works_of(document: RunDocument, named: tuple[str, ...]) -> dict[str, dict[str, float]]:
    """Return each operation's time shares by named kind of work, and of all others together."""
    profile = document["profile"]
    if profile is None or not named:
        return {}
    by_operation = {}
    for operation in profile["operations"]:
        shares = {row["work"]: row["share"] for row in operation["work"]}
        if shares:
            kept = {work: shares[work] for work in named if work in shares}
            by_operation[operation["operation"]] = kept | {
                OTHER_WORK: max(0.0, 1 - sum(kept.values()))
            }
    return by_operation


def rows(document: RunDocument) -> list[dict[str, Any]]:
    """Return one row for each piece of the chart's bars, with its tooltip."""
    works = works_of(document, named_works(document))
    made = []
    for place, operation in enumerate(document["operations"]):
        texts = _operation_texts(operation) | {"place": place}
        for piece in pieces(operation, works.get(operation["name"])):
            share = piece.end - piece.begin
            made.append(
                texts
                | {
                    "part": piece.part,
                    "view": piece.view,
                    "begin": round(piece.begin, 6),
                    "end": round(piece.end, 6),
                    "part_time": seconds_text(share * texts["seconds"]),
                    "part_share": percent_text(share),
                }
            )
    return made


def chart(document: RunDocument) -> alt.TopLevelMixin:
    """Return the chart of causes as bars of time or of shares."""
    import altair as alt

    data = rows(document)
    base = (
        alt.Chart(inline(data), width=WIDTH, height=_height(document))
        .transform_filter(f"datum.view == '{ALWAYS}' || datum.view == on_cpu")
        .transform_calculate(
            rank="sorted == 'as run' ? datum.place : -datum.seconds",
            x0=f"datum.begin * (shown == '{SHARES}' ? 1 : datum.seconds)",
            x1=f"datum.end * (shown == '{SHARES}' ? 1 : datum.seconds)",
            whole=f"shown == '{SHARES}' ? 1 : datum.seconds",
        )
        .encode(
            y=alt.Y(
                "operation:N",
                title=None,
                sort=alt.EncodingSortField(field="rank", op="min", order="ascending"),
            )
        )
    )
    layers = [
        _mark_of_pointed(base),
        *_bars(base, data, _colours(document, data)),
        *_texts(base, data),
    ]
    return alt.layer(*layers).add_params(*_controls(document))


def _is_split(operations: list[OperationRow]) -> bool:
    return any(share for operation in operations for share in operation["where"].values())


def _height(document: RunDocument) -> int:
    return ROW_HEIGHT * len(document["operations"])


def _operation_texts(operation: OperationRow) -> dict[str, Any]:
    cores = operation["parallelism"]
    return {
        "operation": operation["name"],
        "title": operation["title"],
        "seconds": operation["seconds"] or 0.0,
        "time": operation_time(operation),
        "fastest": seconds_text(operation["seconds_min"]),
        "slowest": seconds_text(operation["seconds_max"]),
        "of_total": percent_text(operation["share"]),
        "accounted": operation["coverage"],
        "coverage": percent_text(operation["coverage"]),
        "coverage_text": ""
        if operation["coverage"] is None
        else percent_text(operation["coverage"]),
        "parallelism": "not measured" if cores is None else f"{cores:.2f} cores",
        "memory": bytes_text(operation["memory_peak_bytes"]),
        "rows": count_text(operation["rows"]),
    }


def _controls(document: RunDocument) -> list[alt.Parameter]:
    import altair as alt

    has_work = bool(works_of(document, named_works(document)))
    views = [BY_WORK, BY_MODE]
    on_cpu = alt.binding_radio(options=views, name="On a CPU ") if has_work else alt.Undefined
    return [
        alt.param(
            name="shown",
            value=SECONDS,
            bind=alt.binding_radio(options=[SECONDS, SHARES], name="Bars of "),
        ),
        alt.param(name="on_cpu", value=views[0] if has_work else BY_MODE, bind=on_cpu),
        alt.param(
            name="sorted",
            value="longest first",
            bind=alt.binding_radio(options=["longest first", "as run"], name="Sorted "),
        ),
        alt.param(name="pointed", value=""),
    ]


def _mark_of_pointed(base: alt.Chart) -> alt.Chart:
    """Return a frame around the chart row that a link points to."""
    import altair as alt

    framed: alt.Chart = (
        base.transform_filter("datum.begin == 0 && datum.operation == pointed")
        .mark_bar(filled=False, strokeWidth=2, stroke="#d55e00", clip=False)
        .encode(x=alt.value(0), x2=alt.value("width"))
    )
    return framed


def _bars(base: alt.Chart, data: list[dict[str, Any]], colours: dict[str, str]) -> list[alt.Chart]:
    import altair as alt

    label = f"shown == '{SHARES}' ? format(datum.value, '.0%') : {SECONDS_LABEL}"
    axis = alt.Axis(title=None, labelExpr=label, tickCount=6, gridOpacity=0.6)
    x = alt.X("x0:Q", axis=axis, scale=alt.Scale(zero=True, nice=False))
    bars = base.mark_bar(height=BAR_HEIGHT).encode(
        x=x,
        x2=alt.X2("x1:Q"),
        color=alt.Color(
            "part:N",
            scale=alt.Scale(domain=list(colours), range=list(colours.values())),
            legend=alt.Legend(values=_legend_values(data, colours), offset=LEGEND_OFFSET),
        ),
        tooltip=_tooltip(),
    )
    # Thick dashed lines look like stripes, and every renderer draws them.
    stripes = (
        base.transform_filter(f"datum.part == '{part_title(UNCOVERED)}'")
        .mark_rule(strokeWidth=BAR_HEIGHT, strokeDash=[1.5, 3], stroke="#5b6573", opacity=0.75)
        .encode(x=x, x2=alt.X2("x1:Q"), tooltip=_tooltip())
    )
    return [bars, stripes]


def _texts(base: alt.Chart, data: list[dict[str, Any]]) -> list[alt.Chart]:
    """Return chart texts: each bar's time, and the accounted share of the time."""
    import altair as alt

    first = base.transform_filter("datum.begin == 0")
    ends = first.mark_text(align="left", dx=5, fontSize=11).encode(
        x=alt.X("whole:Q"), text=alt.Text("time:N")
    )
    if all(row["accounted"] is None for row in data):
        return [ends]
    at_right: dict[str, Any] = {"align": "right", "dx": COVERAGE_ROOM, "fontSize": 11}
    coverage = first.mark_text(**at_right).encode(
        x=alt.value("width"), text=alt.Text("coverage_text:N")
    )
    heading = (
        alt.Chart(inline([{"words": "accounted for"}]))
        .mark_text(**at_right, opacity=0.8)
        .encode(x=alt.value("width"), y=alt.value(-8), text=alt.Text("words:N"))
    )
    return [ends, coverage, heading]


def _colours(document: RunDocument, data: list[dict[str, Any]]) -> dict[str, str]:
    """Return the colour of each cause or kind of work that occurs in the chart."""
    colours = dict(zip(named_works(document), LARGEST_WORK_COLOURS, strict=False))
    colours |= {OTHER_WORK: OTHER_WORK_COLOUR}
    colours |= {part_title(cause.name): CAUSE_COLOURS[cause.name] for cause in CAUSES}
    colours |= [NOT_SPLIT]
    drawn = {row["part"] for row in data}
    return {part: colour for part, colour in colours.items() if part in drawn}


def _legend_values(data: list[dict[str, Any]], colours: dict[str, str]) -> dict[str, str]:
    """Return the causes and kinds of work in the chart's legend, for each view."""
    parts = {}
    for view in (BY_MODE, BY_WORK):
        seen = {
            row["part"]
            for row in data
            if row["view"] in {view, ALWAYS} and row["end"] - row["begin"] >= NAMED_SHARE_MIN
        }
        parts[view] = json.dumps([part for part in colours if part in seen])
    return {"expr": f"on_cpu == '{BY_WORK}' ? {parts[BY_WORK]} : {parts[BY_MODE]}"}


def _tooltip() -> list[alt.Tooltip]:
    import altair as alt

    titles = {
        "operation": "operation",
        "title": "asks for",
        "time": "median time",
        "fastest": "fastest pass",
        "slowest": "slowest pass",
        "of_total": "of all time",
        "part": "this part",
        "part_time": "its time",
        "part_share": "its share",
        "parallelism": "CPU at work",
        "coverage": "accounted for",
        "memory": "peak memory",
        "rows": "rows returned",
    }
    return [alt.Tooltip(f"{field}:N", title=title) for field, title in titles.items()]
