"""Terminal output of a load: rate, percentiles, throughput over time, backlog, counters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.model.units import (
    BYTES,
    SECONDS,
    amount_text,
    near_whole_text,
    percent_text,
    rate_text,
    seconds_text,
)
from assay.report.words.engine_tables import brief_name
from assay.report.words.loads.operation import retries_words
from assay.report.words.loads.sequences import specified_figure
from assay.report.words.loads.specified import metric_text
from assay.report.words.observed import observed_figures
from assay.report.words.wrapping import labelled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.report.documents.figures import Percentile
    from assay.report.documents.host.engine_counters import EngineCountersSection
    from assay.report.documents.load.operations import OperationRow
    from assay.report.documents.run import RunDocument

PERCENTILES: tuple[tuple[str, Percentile], ...] = (
    ("p50", "p50"),
    ("p95", "p95"),
    ("p99", "p99"),
    ("p99.9", "p999"),
    ("max", "max"),
)
OF_AN_OPERATION: tuple[tuple[str, Percentile], ...] = (
    ("p50", "p50"),
    ("p99", "p99"),
    ("max", "max"),
)
BLOCKS = "▁▂▃▄▅▆▇█"
LABEL_WIDTH = 10
# A backlog of fewer seconds of load does not fill its line, because every load has a small one.
BACKLOG_DRAWN_S = 0.1

# Keys of the metrics that share a line, by their labels.
LAG = {
    "p50": "driver_lag_seconds_p50",
    "p99": "driver_lag_seconds_p99",
    "max": "driver_lag_seconds_max",
}
WITH_FAILED = {
    "p50": "latency_with_failed_seconds_p50",
    "p95": "latency_with_failed_seconds_p95",
    "p99": "latency_with_failed_seconds_p99",
    "p99.9": "latency_with_failed_seconds_p999",
}


def run_figure(document: RunDocument) -> str:
    """Return a run's main metric as text: a TPC-H metric, throughput, or total time."""
    metrics = document["metrics"]
    if document.get("observed") is not None:
        return " ".join(observed_figures(document)[0])
    # Documents of older versions have no keys for tests and loads.
    if (test := document.get("test")) is not None:
        first = test["metrics"][0]
        return f"{metric_text(first['value'])} {first['label']}"
    if document.get("pace") is not None and (specified := specified_figure(document)) is not None:
        return specified
    if document.get("pace") is not None:
        return rate_text(metrics["throughput_per_s"])
    return seconds_text(metrics["total_seconds"])


def load_figures(document: RunDocument) -> list[str] | None:
    """Return texts of a load's throughput, latency percentiles and CPU time per operation."""
    metrics = document["metrics"]
    if document["pace"] is None:
        return None
    specified = specified_figure(document)
    figures = [specified] if specified else []
    figures.append(rate_text(metrics["throughput_per_s"]))
    for label, seconds in (
        ("p50", metrics["latency_seconds_p50"]),
        ("p95", metrics["latency_seconds_p95"]),
        ("p99", metrics["latency_seconds_p99"]),
        ("p99.9", metrics["latency_seconds_p999"]),
        ("max", metrics["latency_seconds_max"]),
    ):
        figures += [] if seconds is None else [f"{label} {seconds_text(seconds)}"]
    for label, share in (
        ("failed", metrics["failed_share"]),
        ("skipped", metrics["skipped_share"]),
    ):
        figures += [f"{label} {percent_text(share)}"] if share else []
    figures += with_failed(document)
    figures += lag_figures(document)
    if metrics["retries"]:
        figures.append(f"retries {metrics['retries']:,}")
    figures += [
        f"{side} {seconds_text(seconds)} CPU an operation"
        for side, seconds in (
            ("engine", metrics["engine_cpu_seconds_per_operation"]),
            ("driver", metrics["driver_cpu_seconds_per_operation"]),
        )
        if seconds is not None
    ]
    return figures


def lag_figures(document: RunDocument) -> list[str]:
    """Return text with the percentiles of the load driver's delay; empty if not measured."""
    return _figures("driver lag", document, LAG)


def with_failed(document: RunDocument) -> list[str]:
    """Return latency percentiles with failed operations counted at the timeout, as text."""
    return _figures("with those at their time-out", document, WITH_FAILED)


def _figures(title: str, document: RunDocument, keys: Mapping[str, str]) -> list[str]:
    """Return the available metrics of a load in one line of text; empty without any."""
    # Documents of older versions do not have these metrics.
    metrics: Mapping[str, Any] = document["metrics"]
    figures = [
        f"{label} {seconds_text(metrics[key])}"
        for label, key in keys.items()
        if metrics.get(key) is not None
    ]
    return [f"{title} {', '.join(figures)}"] if figures else []


def load_operation(operation: OperationRow, name_width: int) -> tuple[str, list[str]]:
    """Return an operation's name and rate, and texts on its latency and errors."""
    latency = operation["latency"]
    parts = [
        f"{label} {seconds_text(latency[name]):>7}"
        for label, name in OF_AN_OPERATION
        if latency is not None and latency[name] is not None
    ]
    if operation["failed"]:
        parts.append(
            f"{operation['failed']:,} failed: {operation['error'] or 'no reason was recorded'}"
        )
    if operation["skipped"]:
        parts.append(f"{operation['skipped']:,} skipped")
    if operation["retries"]:
        parts.append(retries_words(operation, " retries"))
    rate = rate_text(operation["throughput_per_s"])
    share = percent_text(operation["share"]) if operation["share"] is not None else ""
    return f"  {operation['name']:<{name_width}}  {rate:>9}  {share:>5}  ", parts


def pace_lines(document: RunDocument, width: int) -> list[str]:
    """Return terminal lines of throughput over time as blocks, and an open load's backlog."""
    pace = document["pace"]
    if pace is None or not pace["throughput_per_s"]:
        return []
    rates = pace["throughput_per_s"]
    every = f"every {pace['interval_s']:g} s"
    seen = f"{rate_text(min(rates))} to {rate_text(max(rates))}, {every}"
    lines = ["", *_series("over time", rates, seen, width)]
    waiting = pace["waiting"]
    if waiting is not None:
        at_end = document["metrics"]["waiting_end"]
        backlog_text = f"{max(waiting):,} operations at most, {at_end:,} at the end"
        moment = (document["conditions"]["rate_per_s"] or 0.0) * BACKLOG_DRAWN_S
        lines += _series("backlog", waiting, backlog_text, width, moment)
    return lines


def engine_lines(document: RunDocument, width: int) -> list[str]:
    """Return a terminal line of the engine's counters that fit on it.

    Bytes and seconds come before counts, which only experts of the engine can interpret.
    """
    counted = document["engine_counters"]
    if counted is None:
        return []
    figures = [
        f"{brief_name(share['name'])} {near_whole_text(share['share'])}"
        for share in counted["shares"]
        if share["share"] is not None
    ]
    grown = [figure for figure in counted["counters"] if figure["total"]]
    figures += [
        f"{brief_name(figure['name'])} {amount_text(figure['total'], figure['unit'])}"
        for figure in sorted(grown, key=lambda figure: figure["unit"] not in (BYTES, SECONDS))
    ]
    line = f"  {'engine':<{LABEL_WIDTH - 2}}"
    for word in figures:
        if len(line) + 2 + len(word) > width:
            break
        line += f"  {word}"
    before = [] if document["pace"] is not None else [""]
    return [*before, line, *_activity(counted, width)] if figures else []


def _activity(counted: EngineCountersSection, width: int) -> list[str]:
    """Return the engine's activity line, wrapped to the terminal's width."""
    activity = counted["activity"]
    if activity is None or activity["line"] is None:
        return []
    line = " ".join(activity["line"].split())
    return list(labelled("  activity", line, width, LABEL_WIDTH + 2))


def _series(
    label: str, values: Sequence[float], caption: str, width: int, full: float = 0.0
) -> list[str]:
    """Return a time series as block characters with its caption, on one line if they fit."""
    drawn = sparkline(values, width - LABEL_WIDTH - 2, full)
    line = f"  {label:<{LABEL_WIDTH}}{drawn}"
    if len(line) + 2 + len(caption) <= width:
        return [f"{line}  {caption}"]
    return [line, " " * (LABEL_WIDTH + 2) + caption]


def sparkline(values: Sequence[float], width: int, full: float = 0.0) -> str:
    """Return one block character per value, scaled to the largest value.

    If there are more values than columns, each block shows the largest of several values.
    """
    step = -(-len(values) // width) if values else 1
    shown = [max(values[place : place + step]) for place in range(0, len(values), step)]
    largest = max([*shown, full], default=0.0)
    if largest <= 0:
        return BLOCKS[0] * len(shown)
    return "".join(BLOCKS[round(value / largest * (len(BLOCKS) - 1))] for value in shown)
