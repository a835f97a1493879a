"""Memory on a terminal: the run's peaks in one line, and a table of operations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.model.units import bytes_text
from assay.report.wrapping import indented

if TYPE_CHECKING:
    from collections.abc import Iterator

LABEL_WIDTH = 10
TOP_OPERATIONS = 5
# What is told of memory, the engine's own account first: operations are ordered by the first known.
PEAKS = ("engine_memory_bytes", "memory_peak_pss_bytes", "memory_peak_bytes")
COLUMN_WIDTH = 14


def memory_line(document: dict[str, Any], width: int) -> list[str]:
    """The most that the measured part needed; nothing where nothing of it is known."""
    metrics = document["metrics"]
    told = [
        f"{bytes_text(metrics[key])} {words}"
        for key, words in (
            ("memory_peak_bytes", "resident at most"),
            ("memory_peak_pss_bytes", "proportional"),
        )
        if metrics[key] is not None
    ]
    own = metrics["engine_memory_bytes"]
    if own is not None:
        most = _ordered(document)[0]["name"]
        told.append(f"{bytes_text(own)} by {document['engine_title']}'s own account ({most})")
    lead = f"  {'memory':<{LABEL_WIDTH}}"
    return indented(", ".join(told), lead, width) if told else []


def memory_lines(document: dict[str, Any], width: int, *, everything: bool) -> Iterator[str]:
    """A table of operations, those that needed most first; all or the first few."""
    ordered = _ordered(document)
    if not ordered:
        return
    shown = ordered if everything else ordered[:TOP_OPERATIONS]
    name_width = max(len(operation["name"]) for operation in shown)
    yield ""
    yield from indented("Memory, the most that was seen of each operation", "", width)
    headings = ("resident", "proportional", f"{document['engine_title']}'s own")
    room = max(COLUMN_WIDTH, *(len(words) + 2 for words in headings))
    yield f"  {'':<{name_width}}{''.join(f'{words:>{room}}' for words in headings)}"
    for operation in shown:
        cells = [_cell(operation[key]) for key in reversed(PEAKS)]
        yield f"  {operation['name']:<{name_width}}{''.join(f'{cell:>{room}}' for cell in cells)}"
    if left := len(ordered) - len(shown):
        yield f"  ... {left} more (--json)"


def _ordered(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Operations of which something is known, those that needed most first."""
    known = [
        operation
        for operation in document["operations"]
        if any(operation[key] is not None for key in PEAKS)
    ]
    return sorted(known, key=lambda operation: [-(operation[key] or 0) for key in PEAKS])


def _cell(size_bytes: int | None) -> str:
    return "-" if size_bytes is None else bytes_text(size_bytes)
