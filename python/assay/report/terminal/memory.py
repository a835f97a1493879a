"""Memory on a terminal: what of the data was in it at the start, the run's peaks, operations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.units import bytes_text, percent_text
from assay.record.layout import LOADED
from assay.report.words.state import cached_words, start_brought_bytes
from assay.report.words.wrapping import indented

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.report.documents.operations import OperationRow, PeakKey
    from assay.report.documents.run import RunDocument

LABEL_WIDTH = 10
TOP_OPERATIONS = 5
# What is told of memory, the engine's own account first: operations are ordered by the first known.
PEAKS: tuple[PeakKey, ...] = (
    "engine_memory_bytes",
    "memory_peak_pss_bytes",
    "memory_peak_bytes",
)
COLUMN_WIDTH = 10


def state_line(document: RunDocument, width: int) -> list[str]:
    """What was in memory before a start that is not hot, in a line; nothing else."""
    words = state_words(document)
    return indented(words, f"  {'state':<{LABEL_WIDTH}}", width) if words else []


def memory_line(document: RunDocument, width: int) -> list[str]:
    """The most that the measured part needed, in a line; nothing where nothing is known."""
    words = memory_words(document)
    return indented(words, f"  {'memory':<{LABEL_WIDTH}}", width) if words else []


def state_words(document: RunDocument) -> str:
    """What was in memory before a start that is not hot, and what was read then; else empty."""
    state = document["state"]
    if state is None or state["asked"] == "hot" or state["resident_share"] is None:
        return ""
    share, data = percent_text(state["resident_share"]), bytes_text(state["data_bytes"])
    loaded = state["asked"] == LOADED
    when = "after loading" if loaded else "before the start"
    told = [f"{share} of {data} of data files in memory {when}"]
    if loaded and state["engine_cache"]:
        most = [cached_words(one) for one in state["engine_cache"][:1] if one["name"]]
        named = f", {most[0]} most of all" if most else ""
        told.append(f"{bytes_text(state['engine_cached_bytes'])} in the engine's own cache{named}")
    if (brought := start_brought_bytes(state)) and state["asked"] == "cold":
        told.append(f"the start brought {bytes_text(brought)} into memory")
    if state["first_read_bytes"] is not None:
        read = bytes_text(state["first_read_bytes"]) if state["first_read_bytes"] else "nothing"
        told.append(f"{state['first_operation']}, the first query, read {read} from devices")
    return "; ".join(told)


def memory_words(document: RunDocument) -> str:
    """The most that the measured part needed; empty where nothing of it is known."""
    metrics = document["metrics"]
    told = [
        f"{bytes_text(size)} {words}"
        for size, words in (
            (metrics["memory_peak_bytes"], "resident at most"),
            (metrics["memory_peak_pss_bytes"], "proportional"),
        )
        if size is not None
    ]
    own = metrics["engine_memory_bytes"]
    if own is not None:
        most = "".join(f" ({operation['name']})" for operation in _ordered(document)[:1])
        told.append(f"{bytes_text(own)} by {document['engine_title']}'s own account{most}")
    return ", ".join(told)


def memory_lines(document: RunDocument, width: int, *, everything: bool) -> Iterator[str]:
    """A table of operations, those that needed most first; all or the first few."""
    ordered = _ordered(document)
    if not ordered:
        return
    shown = ordered if everything else ordered[:TOP_OPERATIONS]
    name_width = max(len(operation["name"]) for operation in shown)
    yield ""
    yield from indented("Memory, the most that was seen of each operation", "", width)
    columns = _columns(document, everything=everything)
    rooms = {key: max(COLUMN_WIDTH, len(words) + 2) for key, words in columns.items()}
    heads = "".join(f"{words:>{rooms[key]}}" for key, words in columns.items())
    yield f"  {'':<{name_width}}{heads}"
    for operation in shown:
        cells = "".join(f"{_cell(operation[key]):>{rooms[key]}}" for key in columns)
        yield f"  {operation['name']:<{name_width}}{cells}"
    if left := len(ordered) - len(shown):
        yield f"  ... {left} more (--json)"


def _columns(document: RunDocument, *, everything: bool) -> dict[PeakKey, str]:
    """What is told of operations, by its key the heading; growth beside the level."""
    columns: dict[PeakKey, str] = {"memory_peak_bytes": "resident"}
    if everything:
        columns["memory_growth_bytes"] = "grown by"
    columns["memory_peak_pss_bytes"] = "proportional"
    columns["engine_memory_bytes"] = f"{document['engine_title']}'s own"
    return columns


def _ordered(document: RunDocument) -> list[OperationRow]:
    """Operations of which something is known, those that needed most first."""
    known = [
        operation
        for operation in document["operations"]
        if any(operation[key] is not None for key in PEAKS)
    ]
    return sorted(known, key=lambda operation: [-(operation[key] or 0) for key in PEAKS])


def _cell(size_bytes: float | None) -> str:
    return "-" if size_bytes is None else bytes_text(size_bytes)
