"""Terminal output of an observed server: statements, method, and suggested commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.units import percent_text, rate_text, seconds_text
from assay.report.words.observed import (
    basis_text,
    counts_text,
    not_seen_words,
    observed_words,
)
from assay.report.words.wrapping import indented, labelled

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from assay.report.documents.load.operations import OperationRow
    from assay.report.documents.run import RunDocument

SHOWN_MAX = 8
NAME_WIDTH_MAX = 32


def statement_table(
    document: RunDocument,
    where: Mapping[str, Sequence[str]],
    width: int,
    *,
    everything: bool,
) -> Iterator[str]:
    """Yield a terminal line per observed statement: time share, rate, and causes.

    Args:
        document: Document of an observation.
        where: Causes of each operation's time, in words.
        width: Maximum width of a line.
        everything: Whether to list all statements, each with its text and counts.
    """
    operations = document["operations"]
    shown = operations if everything else operations[:SHOWN_MAX]
    names = min(NAME_WIDTH_MAX, max(len(operation["name"]) for operation in shown))
    rows = {
        row["operation"]: row for row in (document["observed"] or {"statements": []})["statements"]
    }
    yield f"  {'':<{names}}  {'time':>6}  {'calls':>9}  {'mean':>7}"
    for operation in shown:
        lead = f"  {operation['name']:<{names}}  {_figures(operation)}"
        for part in where[operation["name"]]:
            if len(lead) + 2 + len(part) > width:
                break
            lead += f"  {part}"
        yield lead
        if not everything:
            continue
        row = rows[operation["name"]]
        for text in (operation["title"], counts_text(row), basis_text(row)):
            yield from indented(text, "      ", width)
    left = len(operations) - len(shown)
    if left:
        yield f"  ... {left} more (--all)"


def _figures(operation: OperationRow) -> str:
    share, rate, seconds = (operation[key] for key in ("share", "throughput_per_s", "seconds"))
    often = "-" if rate is None else rate_text(rate)
    mean = "-" if seconds is None else seconds_text(seconds)
    return f"{percent_text(share):>6}  {often:>9}  {mean:>7}"


def looked_lines(document: RunDocument, width: int) -> Iterator[str]:
    """Yield how a server was observed and what was not measured, as terminal lines."""
    for sentence in (*observed_words(document), *not_seen_words(document)):
        yield from labelled("Looked", sentence, width)


def next_lines(document: RunDocument) -> list[str]:
    """Return suggested commands for an observed server; empty for other runs."""
    if document["observed"] is None or not document["operations"]:
        return []
    planned = [name for name in document["plans"] if name]
    first = planned[0] if planned else document["operations"][0]["name"]
    return [
        f"assay explain {document['run']}",
        f"assay explain {document['run']} --operation {first}",
    ]
