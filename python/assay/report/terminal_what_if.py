"""Predictions on a terminal: each metric before and after, and what each operation weighs."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from assay.model.units import grouped_text, seconds_text
from assay.report.terminal_profile import titled

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

TOP_OPERATIONS = 10
TOP_WORTH = 6
LABEL_WIDTH = 16
ENDS = 14
# Columns of a table of weights: the figures in between have the same form.
WEIGHED = ("total_seconds", "geometric_mean_seconds", "composite_per_h", "throughput_per_s")
COLUMN = 16
TIME_WORDS = {"seconds": "time", "seconds_min": "fastest", "seconds_max": "slowest"}
TIMES = tuple(TIME_WORDS)
TIME_WIDTH = 7


def predicted_lines(
    document: dict[str, Any], told: dict[str, Any], width: int, *, all_operations: bool = False
) -> Iterator[str]:
    """What `assay whatif` prints of some changes: before, after, what is assumed."""
    yield titled(document, width)
    yield from textwrap.wrap(f"If: {'; '.join(told['changes'])}", width, subsequent_indent="    ")
    yield ""
    metrics = told["metrics"]
    open_ends = any(_is_open(metric) for metric in metrics)
    yield _heading(told["passes"], open_ends=open_ends)
    for metric in metrics:
        yield _metric_line(metric, open_ends=open_ends)
    yield ""
    yield from _operation_lines(told["operations"], all_operations=all_operations)
    yield from _sentences("Assumed", told["assumptions"], width)
    yield from _sentences("Unknown", told["notes"], width)
    columns = _columns(told, open_ends=open_ends)
    yield from _sentences("Names", [*_names(metrics), *columns], width)


def weighed_lines(
    document: dict[str, Any], told: dict[str, Any], width: int, *, all_operations: bool = False
) -> Iterator[str]:
    """What `assay whatif` prints without a change: what each operation weighs in each metric."""
    yield titled(document, width)
    yield ""
    shown = [one for one in told["metrics"] if one["metric"] in WEIGHED]
    yield from textwrap.wrap(_about(told["sensitivity"]), width)
    yield ""
    words = max(len(one["operation"]) for one in told["sensitivity"])
    times = _times(told["sensitivity"], width - 2 - words - (COLUMN + 1) * len(shown))
    yield _weight_heading(shown, words, times)
    ordered = sorted(told["sensitivity"], key=_shakes)
    operations = ordered if all_operations else ordered[:TOP_OPERATIONS]
    for one in operations:
        yield _weight_line(one, shown, words, times)
    left = len(ordered) - len(operations)
    if left:
        yield f"  ... {left} more, which shake the last column less (--all)"
    yield ""
    yield from _worth_lines(told["worth"], shown, width, all_operations=all_operations)
    yield from _sentences("Names", _names(shown), width)


def _is_open(metric: dict[str, Any]) -> bool:
    ends = metric["change_least"], metric["change_most"]
    return any(end != metric["change"] for end in ends)


def _heading(passes: int, *, open_ends: bool) -> str:
    line = f"  {'':<{LABEL_WIDTH}} {'before':>9} {'after':>9} {'change':>8}"
    line += f"  {'left open, %':<{ENDS}}" if open_ends else ""
    return (line + (f"  {passes} passes, %" if passes else "")).rstrip()


def _metric_line(metric: dict[str, Any], *, open_ends: bool) -> str:
    before, after = (_figure(metric[key], metric["unit"]) for key in ("before", "after"))
    line = (
        f"  {_label(metric):<{LABEL_WIDTH}} {before:>9} {after:>9} {_change(metric['change']):>8}"
    )
    if open_ends:
        ends = _between((metric["change_least"], metric["change_most"]))
        line += f"  {ends:<{ENDS}}"
    if metric["interval"] is not None:
        line += f"  {_between(metric['interval'])}"
    return line.rstrip()


def _label(metric: dict[str, Any]) -> str:
    """The column's name; a star where it is not the title."""
    label, title = metric["label"], metric["title"]
    return str(label) if len(label) <= LABEL_WIDTH and label == title else _starred(label, title)


def _starred(label: str, title: str) -> str:
    starred = label if label == title else f"{label}*"
    return starred if len(starred) <= LABEL_WIDTH else f"{starred[: LABEL_WIDTH - 1]}…"


def _names(metrics: list[dict[str, Any]]) -> list[str]:
    """What a star means."""
    titles = [one["title"] for one in metrics if one["title"] != one["label"]]
    return [f"* {titles[-1]}."] if titles else []


def _columns(told: dict[str, Any], *, open_ends: bool) -> list[str]:
    """What the columns behind the change are."""
    found = ["Left open: from the least to the most that the model allows."] if open_ends else []
    if told["passes"]:
        words = (
            f"{told['passes']} passes: the change's 95 % interval by their scatter; how far the"
            " model is off is not in it."
        )
        found.append(words)
    return found


def _figure(value: float | None, unit: str) -> str:
    if value is None:
        return "no bound"
    return seconds_text(value) if unit == "s" else f"{grouped_text(value)}{unit}"


def _change(share: float | None) -> str:
    """A change in per cent with its sign."""
    if share is None:
        return "no bound"
    return "none" if share == 0 else f"{_percent(share)} %"


def _percent(share: float) -> str:
    """Per cent with a sign, and a decimal below a hundred."""
    percent = share * 100
    return f"{percent:+,.0f}" if abs(percent) >= 100 else f"{percent:+.1f}"  # noqa: PLR2004


def _between(ends: tuple[float | None, float | None] | list[float]) -> str:
    low, high = ("no bound" if end is None else _percent(end) for end in ends)
    return f"{low} to {high}"


def _operation_lines(operations: list[dict[str, Any]], *, all_operations: bool) -> Iterator[str]:
    shown = operations if all_operations else operations[:TOP_OPERATIONS]
    words = max((len(one["operation"]) for one in shown), default=0)
    for one in shown:
        before, after = seconds_text(one["before"]), seconds_text(one["after"])
        line = f"  {one['operation']:<{words}}  {before:>7} -> {after:>7}"
        if (one["least"], one["most"]) != (one["after"], one["after"]):
            line += f"  ({seconds_text(one['least'])} to {seconds_text(one['most'])})"
        yield line
    if len(operations) > len(shown):
        yield f"  ... {len(operations) - len(shown)} more (--all)"
    if operations:
        yield ""


def _sentences(label: str, sentences: list[str], width: int) -> Iterator[str]:
    for number, sentence in enumerate(sentences):
        lead = f"{label if number == 0 else '':<9}"
        yield from textwrap.wrap(
            sentence, width, initial_indent=lead, subsequent_indent=" " * len(lead)
        )


def _shakes(one: dict[str, Any]) -> float:
    """By how much an operation's own spread moves the last metric; most comes first."""
    last = one["weights"][-1]
    if last["at_min"] is None or last["at_max"] is None:
        return -abs(float(last["elasticity"]))
    return -abs(float(last["at_max"] - last["at_min"]))


def _about(weighed: list[dict[str, Any]]) -> str:
    """What the figures of the table of weights are."""
    words = "What the metrics depend on, in per cent: the weight of each operation"
    if all(one["seconds_min"] is None for one in weighed):
        return f"{words}."
    return f"{words}, and the change if all its passes were as its fastest and as its slowest."


def _times(weighed: list[dict[str, Any]], room: int) -> Sequence[str]:
    """Which times there is something to tell of, and room for."""
    varied = any(one["seconds_min"] is not None for one in weighed)
    return TIMES if varied and (TIME_WIDTH + 1) * len(TIMES) <= room else TIMES[:1]


def _weight_heading(metrics: list[dict[str, Any]], words: int, times: Sequence[str]) -> str:
    columns = "".join(f" {TIME_WORDS[key]:>{TIME_WIDTH}}" for key in times)
    return f"  {'':<{words}}{columns}" + "".join(f" {_label(one):>{COLUMN}}" for one in metrics)


def _weight_line(
    one: dict[str, Any], metrics: list[dict[str, Any]], words: int, times: Sequence[str]
) -> str:
    columns = "".join(f" {_time(one[key]):>{TIME_WIDTH}}" for key in times)
    weights = {weight["metric"]: weight for weight in one["weights"]}
    told = "".join(f" {_weight(weights[metric['metric']]):>{COLUMN}}" for metric in metrics)
    return f"  {one['operation']:<{words}}{columns}{told}"


def _time(seconds: float | None) -> str:
    return "-" if seconds is None else seconds_text(seconds)


def _weight(weight: dict[str, Any]) -> str:
    """Weight, and what the fastest and the slowest pass would do; its sign is the metric's."""
    words = f"{abs(weight['elasticity']) * 100:.1f}"
    if weight["at_min"] is None or weight["at_max"] is None:
        return words
    return f"{words} {_percent(weight['at_min']):>5} {_percent(weight['at_max']):>5}"


def _worth_lines(
    found: list[dict[str, Any]],
    metrics: list[dict[str, Any]],
    width: int,
    *,
    all_operations: bool,
) -> Iterator[str]:
    if not found:
        return
    yield "Worth at most: what would be if it took no time, by a model"
    shown = found if all_operations else found[:TOP_WORTH]
    words = max(len(one["title"]) for one in shown)
    names = [metric["metric"] for metric in metrics]
    yield f"  {'':<{words}}" + "".join(f"  {_label(one):>{COLUMN}}" for one in metrics)
    for one in shown:
        changes = {metric["metric"]: metric["change"] for metric in one["metrics"]}
        told = "".join(f"  {_change(changes[name]):>{COLUMN}}" for name in names)
        yield f"  {one['title']:<{words}}{told}"
    left = len(found) - len(shown)
    if left:
        yield f"  ... {left} more (--all)"
    yield ""
    yield from _sentences("Assumed", list(dict.fromkeys(one["assumption"] for one in shown)), width)
