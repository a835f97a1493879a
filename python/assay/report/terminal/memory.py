"""Terminal output on memory: data in cache at the start, and peaks per operation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.units import bytes_text
from assay.report.words.memory import _ordered, memory_words, state_words
from assay.report.words.wrapping import indented

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.report.documents.load.operations import PeakKey
    from assay.report.documents.run import RunDocument

LABEL_WIDTH = 10
TOP_OPERATIONS = 5
COLUMN_WIDTH = 10


def state_line(document: RunDocument, width: int) -> list[str]:
    """Return a terminal line on the cached data at the start, unless the start was hot."""
    sentence = state_words(document)
    return indented(sentence, f"  {'state':<{LABEL_WIDTH}}", width) if sentence else []


def memory_line(document: RunDocument, width: int) -> list[str]:
    """Return a line on the peak memory of the measured part; empty if not known."""
    sentence = memory_words(document)
    return indented(sentence, f"  {'memory':<{LABEL_WIDTH}}", width) if sentence else []


def memory_lines(document: RunDocument, width: int, *, everything: bool) -> Iterator[str]:
    """Yield terminal lines of operations by peak memory, largest first."""
    ordered = _ordered(document)
    if not ordered:
        return
    shown = ordered if everything else ordered[:TOP_OPERATIONS]
    name_width = max(len(operation["name"]) for operation in shown)
    yield ""
    yield from indented("Memory, the most that was seen of each operation", "", width)
    columns = _columns(document, everything=everything)
    rooms = {key: max(COLUMN_WIDTH, len(head) + 2) for key, head in columns.items()}
    heads = "".join(f"{head:>{rooms[key]}}" for key, head in columns.items())
    yield f"  {'':<{name_width}}{heads}"
    for operation in shown:
        cells = "".join(f"{_cell(operation[key]):>{rooms[key]}}" for key in columns)
        yield f"  {operation['name']:<{name_width}}{cells}"
    if left := len(ordered) - len(shown):
        yield f"  ... {left} more (--json)"


def _columns(document: RunDocument, *, everything: bool) -> dict[PeakKey, str]:
    """Return the columns of the table of memory peaks, by key."""
    columns: dict[PeakKey, str] = {"memory_peak_bytes": "resident"}
    if everything:
        columns["memory_growth_bytes"] = "grown by"
    columns["memory_peak_pss_bytes"] = "proportional"
    columns["engine_memory_bytes"] = f"{document['engine_title']}'s own"
    return columns


def _cell(size_bytes: float | None) -> str:
    return "-" if size_bytes is None else bytes_text(size_bytes)
