"""Phrases and rows on query mixes, in the terms of their benchmark specification."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from assay.model.units import percent_text, seconds_text
from assay.report.words.loads.transactions import rate_figure
from assay.report.words.wrapping import indented

if TYPE_CHECKING:
    from assay.report.documents.load.sequence import SequenceMetric, SequenceQuery, SequenceSection
    from assay.report.documents.run import RunDocument

NAME_WIDTH = 6
CELL = 10


class Row(NamedTuple):
    """A table row for a query of a mix: its name, title, then cells with values."""

    name: str
    title: str
    cells: tuple[tuple[str, float | None], ...]


def specified_figure(document: RunDocument) -> str | None:
    """Return a query mix's specified metric, such as `QMpH 16,400`; None without one."""
    sequence = document.get("sequence")
    if sequence is None or not sequence["metrics"]:
        return rate_figure(document)
    return _figure(sequence["metrics"][0])


def metric_words(document: RunDocument) -> list[str]:
    """Return texts of a query mix's metrics with their conditions: size and clients."""
    sequence = document.get("sequence")
    if sequence is None:
        return []
    of, mixes = _size_words(sequence), sequence["mixes"]
    played = f"{mixes:,} mix{'es' * (mixes != 1)}"
    return [
        f"{metric['name']}({of}) {_number(metric['value'])}: {metric['about']}; {played}"
        for metric in sequence["metrics"]
    ]


def heads(document: RunDocument) -> tuple[tuple[str, str], ...]:
    """Return column names and their descriptions for the table of a query mix's metrics."""
    sequence = document.get("sequence")
    name = (None if sequence is None else sequence["query_time"]) or "mean"
    return (
        ("count", "executions in completed mixes"),
        (name, "arithmetic mean of the execution times"),
        ("geometric", "geometric mean of the execution times"),
        ("least", "the shortest"),
        ("most", "the longest"),
        ("share", "of the time of all operations"),
        ("cut off", "executions that were stopped at the time limit and count with it"),
    )


def rows(document: RunDocument) -> list[Row]:
    """Return a table row for each query, in the order of the query mix."""
    sequence = document.get("sequence")
    queries = [] if sequence is None else sequence["queries"]
    return [Row(query["name"], query["title"], _cells(query)) for query in queries]


def sequence_lines(document: RunDocument, width: int) -> list[str]:
    """Return terminal lines of a query mix's metrics, then its queries in columns."""
    sentences = metric_words(document)
    if not sentences:
        return []
    lines = ["", *(line for sentence in sentences for line in indented(sentence, "  ", width))]
    names, shown_rows = heads(document), rows(document)
    # Empty columns are left out.
    shown = [place for place in range(len(names)) if any(row.cells[place][0] for row in shown_rows)]
    lines.append(f"  {'':<{NAME_WIDTH}}{''.join(f'{names[place][0]:>{CELL}}' for place in shown)}")
    lines += [
        f"  {row.name:<{NAME_WIDTH}}{''.join(f'{row.cells[place][0]:>{CELL}}' for place in shown)}"
        for row in shown_rows
    ]
    return lines


def _cells(query: SequenceQuery) -> tuple[tuple[str, float | None], ...]:
    times = (query["mean_s"], query["geometric_mean_s"], query["min_s"], query["max_s"])
    cut_off = query["cut_off"]
    return (
        (f"{query['executions']:,}", query["executions"]),
        *((seconds_text(seconds), seconds) for seconds in times),
        (percent_text(query["share"]), query["share"]),
        (f"{cut_off:,}" if cut_off else "", cut_off or None),
    )


def _size_words(sequence: SequenceSection) -> str:
    clients = sequence["clients"]
    return (
        f"{sequence['size']:,.0f} {sequence['size_name']}, {clients} client{'s' * (clients != 1)}"
    )


def _figure(metric: SequenceMetric) -> str:
    return f"{metric['name']} {_number(metric['value'])}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"  # noqa: PLR2004 - digits
