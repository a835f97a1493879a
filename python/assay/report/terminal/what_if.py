"""Terminal output of predicted metrics and operations' weights."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from assay.model.units import grouped_text, seconds_text
from assay.report.terminal.profile import titled
from assay.report.words.loads.specified import UNROUNDED, metric_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.report.documents.prediction import OperationPrediction, PredictionDocument
    from assay.report.documents.run import RunDocument
    from assay.report.documents.what_if import (
        MetricPrediction,
        MetricWeight,
        SensitivityRow,
        SensitivityTime,
        WhatIfMetric,
        WhatIfSection,
        WorthRow,
    )
    from assay.report.results.what_if import WhatIf

TOP_OPERATIONS = 10
FIGURE_WIDTH = 9
TOP_WORTH = 6
LABEL_WIDTH = 16
ENDS = 14
# Metrics with columns in a table of weights.
WEIGHED = (
    "total_seconds",
    "geometric_mean_seconds",
    "composite_per_h",
    "throughput_per_s",
    "test_power_per_h",
    "test_throughput_per_h",
    "test_composite_per_h",
)
COLUMN = 16
# Labels of the three figures in such a column.
WEIGHED_BY = "weight fast slow"
TEN = 9.95
TIME_WORDS: dict[SensitivityTime, str] = {
    "seconds": "time",
    "seconds_min": "fastest",
    "seconds_max": "slowest",
}
TIMES = tuple(TIME_WORDS)
TIME_WIDTH = 7


def what_if_lines(result: WhatIf, width: int, *, all_operations: bool = False) -> Iterator[str]:
    """Yield the lines that `assay whatif` prints; nothing if nothing was measured."""
    shown = {"all_operations": all_operations}
    if result.prediction is not None:
        yield from predicted_lines(result.report, result.prediction, width, **shown)
    elif result.weights is not None:
        yield from weighed_lines(result.report, result.weights, width, **shown)


def predicted_lines(
    document: RunDocument,
    prediction: PredictionDocument,
    width: int,
    *,
    all_operations: bool = False,
) -> Iterator[str]:
    """Yield the lines that `assay whatif` prints for changes: before, after, assumptions."""
    yield titled(document, width)
    yield from textwrap.wrap(
        f"If: {'; '.join(prediction['changes'])}", width, subsequent_indent="    "
    )
    yield ""
    metrics = prediction["metrics"]
    open_ends = any(_open_ends(metric) for metric in metrics)
    figures = [
        _figure(metric[key], metric["unit"]) for metric in metrics for key in ("before", "after")
    ]
    wide = max(FIGURE_WIDTH, *map(len, figures))
    yield _heading(prediction, wide, open_ends=open_ends)
    for metric in metrics:
        yield _metric_line(metric, wide, open_ends=open_ends)
    yield ""
    yield from _operation_lines(prediction["operations"], all_operations=all_operations)
    yield from _sentences("Assumed", prediction["assumptions"], width)
    yield from _sentences("Unknown", prediction["notes"], width)
    columns = _columns(prediction, open_ends=open_ends)
    yield from _sentences("Names", [*_names(metrics), *columns], width)


def weighed_lines(
    document: RunDocument, section: WhatIfSection, width: int, *, all_operations: bool = False
) -> Iterator[str]:
    """Yield the terminal lines of `assay whatif` without changes: operations' weights."""
    yield titled(document, width)
    yield ""
    shown = [metric for metric in section["metrics"] if metric["metric"] in WEIGHED]
    yield from textwrap.wrap(_about(section["sensitivity"]), width)
    yield ""
    name_width = max(len(row["operation"]) for row in section["sensitivity"])
    ordered = sorted(section["sensitivity"], key=_shakes)
    times = _times(section["sensitivity"], width - 2 - name_width - (COLUMN + 1) * len(shown))
    yield from _weight_heading(shown, name_width, times, ordered)
    operations = ordered if all_operations else ordered[:TOP_OPERATIONS]
    for operation in operations:
        yield _weight_line(operation, shown, name_width, times)
    left = len(ordered) - len(operations)
    if left:
        yield f"  ... {left} more, which shake the last column less (--all)"
    yield ""
    yield from _worth_lines(section["worth"], shown, width, all_operations=all_operations)
    yield from _sentences("Names", _names(shown), width)


def _open_ends(metric: MetricPrediction) -> str:
    """Return the range of a predicted change in %; empty if both ends are equal."""
    return _between((metric["change_least"], metric["change_most"]))


def _interval(metric: MetricPrediction) -> str:
    """Return the interval of a predicted change in %; empty without an interval."""
    return "" if metric["interval"] is None else _between(metric["interval"])


def _heading(prediction: PredictionDocument, wide: int, *, open_ends: bool) -> str:
    predicted, measured = prediction["known_operations"], prediction["measured_operations"]
    # Metrics also include the operations that do not change.
    of = f"  {predicted} of {measured} operations" if predicted < measured else ""
    line = f"{of:<{LABEL_WIDTH + wide - 4}} {'before':>6} {'after':>{wide}} {'change':>8}"
    line += f"  {'left open, %':<{ENDS}}" if open_ends else ""
    passes = any(_interval(metric) for metric in prediction["metrics"])
    return (line + (f"  {prediction['passes']} passes, %" if passes else "")).rstrip()


def _metric_line(metric: MetricPrediction, wide: int, *, open_ends: bool) -> str:
    before, after = (_figure(metric[key], metric["unit"]) for key in ("before", "after"))
    change = _change(metric["change"])
    line = f"  {_label(metric):<{LABEL_WIDTH}} {before:>{wide}} {after:>{wide}} {change:>8}"
    if open_ends:
        line += f"  {_open_ends(metric):<{ENDS}}"
    return f"{line}  {_interval(metric)}".rstrip()


def _label(metric: MetricPrediction | WhatIfMetric) -> str:
    """Return the name of a metric, with a star if its title differs."""
    label, title = metric["label"], metric["title"]
    if metric["metric"].endswith(UNROUNDED):
        # The unrounded metric is indented below the rounded one.
        return f"  {label}"
    return str(label) if len(label) <= LABEL_WIDTH and label == title else _starred(label, title)


def _starred(label: str, title: str) -> str:
    starred = label if label == title else f"{label}*"
    return starred if len(starred) <= LABEL_WIDTH else f"{starred[: LABEL_WIDTH - 1]}…"


def _names(metrics: Sequence[MetricPrediction | WhatIfMetric]) -> list[str]:
    """Return explanations of metric names that have a star."""
    rounded = [metric for metric in metrics if not metric["metric"].endswith(UNROUNDED)]
    titles = [metric["title"] for metric in rounded if metric["title"] != metric["label"]]
    return [f"* {titles[-1]}."] if titles else []


def _columns(prediction: PredictionDocument, *, open_ends: bool) -> list[str]:
    """Return explanations of the columns with predicted changes."""
    sentences = (
        [("Undecided: the range is from the minimum to the maximum that the model allows.")]
        if open_ends
        else []
    )
    if any(_interval(metric) for metric in prediction["metrics"]):
        sentence = (
            f"{prediction['passes']} passes: the 95 % interval of the change comes from their "
            "scatter and does not include the model's error."
        )
        sentences.append(sentence)
    return sentences


def _figure(value: float | None, unit: str) -> str:
    if value is None:
        return "no bound"
    if unit == "s":
        return seconds_text(value)
    return metric_text(value) if unit == "/h" else f"{grouped_text(value)}{unit}"


def _change(share: float | None) -> str:
    """Return a predicted change as text in %, with its sign."""
    if share is None:
        return "no bound"
    return "none" if share == 0 else f"{_percent(share)} %"


def _percent(share: float) -> str:
    """Return a share as text in % with a sign, with one decimal below 100."""
    percent = share * 100
    return f"{percent:+,.0f}" if abs(percent) >= 100 else f"{percent:+.1f}"  # noqa: PLR2004


def _between(ends: tuple[float | None, float | None] | list[float]) -> str:
    """Return both ends of a range as text in %; empty if their texts are equal."""
    low, high = ("no bound" if end is None else _percent(end) for end in ends)
    return "" if low == high else f"{low} to {high}"


def _operation_lines(
    operations: list[OperationPrediction], *, all_operations: bool
) -> Iterator[str]:
    # Requested operations come first, and all of them are shown.
    top = max(TOP_OPERATIONS, sum(operation["is_asked"] for operation in operations))
    shown = operations if all_operations else operations[:top]
    name_width = max((len(operation["operation"]) for operation in shown), default=0)
    for operation in shown:
        before, after = seconds_text(operation["before"]), seconds_text(operation["after"])
        line = f"  {operation['operation']:<{name_width}}  {before:>7} -> {after:>7}"
        least, most = seconds_text(operation["least"]), seconds_text(operation["most"])
        if least != most:
            line += f"  ({least} to {most})"
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


def _shakes(operation: SensitivityRow) -> float:
    """Return a sort key: how much an operation's varying time changes the last metric."""
    last = operation["weights"][-1]
    if last["at_min"] is None or last["at_max"] is None:
        return -abs(float(last["elasticity"]))
    return -abs(float(last["at_max"] - last["at_min"]))


def _about(weighed: list[SensitivityRow]) -> str:
    """Return the heading of the table of operations' weights."""
    text = "Sensitivity of the metrics in per cent: the weight of each operation"
    if all(operation["seconds_min"] is None for operation in weighed):
        return f"{text}."
    return f"{text}, and the change if all its passes were as its fastest (fast) or slowest (slow)."


def _times(weighed: list[SensitivityRow], room: int) -> Sequence[SensitivityTime]:
    """Return the time columns of the table of weights that fit on the line."""
    varied = any(operation["seconds_min"] is not None for operation in weighed)
    return TIMES if varied and (TIME_WIDTH + 1) * len(TIMES) <= room else TIMES[:1]


def _weight_heading(
    metrics: list[WhatIfMetric],
    name_width: int,
    times: Sequence[SensitivityTime],
    weighed: list[SensitivityRow],
) -> Iterator[str]:
    columns = "".join(f" {TIME_WORDS[key]:>{TIME_WIDTH}}" for key in times)
    lead = f"  {'':<{name_width}}{columns}"
    yield lead + "".join(f" {_label(metric):>{COLUMN}}" for metric in metrics)
    if any(
        weight["at_min"] is not None for operation in weighed for weight in operation["weights"]
    ):
        yield " " * len(lead) + f" {WEIGHED_BY:>{COLUMN}}" * len(metrics)


def _weight_line(
    operation: SensitivityRow,
    metrics: list[WhatIfMetric],
    name_width: int,
    times: Sequence[SensitivityTime],
) -> str:
    columns = "".join(f" {_time(operation[key]):>{TIME_WIDTH}}" for key in times)
    weights = {weight["metric"]: weight for weight in operation["weights"]}
    cells = "".join(f" {_weight(weights[metric['metric']]):>{COLUMN}}" for metric in metrics)
    return f"  {operation['operation']:<{name_width}}{columns}{cells}"


def _time(seconds: float | None) -> str:
    return "-" if seconds is None else seconds_text(seconds)


def _weight(weight: MetricWeight) -> str:
    """Return text of an operation's weight, and the metric's change over its times."""
    text = f"{abs(weight['elasticity']) * 100:.1f}"
    if weight["at_min"] is None or weight["at_max"] is None:
        return text
    return f"{text:>6} {_short(weight['at_min']):>4} {_short(weight['at_max']):>4}"


def _short(share: float) -> str:
    """Return a share as text in % with a sign, in four characters if possible."""
    percent = share * 100
    return f"{percent:+.1f}" if abs(percent) < TEN else f"{percent:+,.0f}"


def _worth_lines(
    causes: list[WorthRow],
    metrics: list[WhatIfMetric],
    width: int,
    *,
    all_operations: bool,
) -> Iterator[str]:
    if not causes:
        return
    yield "Upper limit of the gain: the metrics if this part took no time, by a model"
    shown = causes if all_operations else causes[:TOP_WORTH]
    title_width = max(len(cause["title"]) for cause in shown)
    names = [metric["metric"] for metric in metrics]
    yield f"  {'':<{title_width}}" + "".join(f"  {_label(metric):>{COLUMN}}" for metric in metrics)
    for cause in shown:
        changes = {metric["metric"]: metric["change"] for metric in cause["metrics"]}
        cells = "".join(f"  {_change(changes[name]):>{COLUMN}}" for name in names)
        yield f"  {cause['title']:<{title_width}}{cells}"
    left = len(causes) - len(shown)
    if left:
        yield f"  ... {left} more (--all)"
    yield ""
    yield from _sentences(
        "Assumed", list(dict.fromkeys(cause["assumption"] for cause in shown)), width
    )
