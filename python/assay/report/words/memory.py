"""Phrases on memory: cached data at the start, and memory peaks of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.units import bytes_text, percent_text
from assay.record.layout import LOADED
from assay.report.words.state import cached_words, start_brought_bytes

if TYPE_CHECKING:
    from assay.report.documents.load.operations import OperationRow, PeakKey
    from assay.report.documents.run import RunDocument


# Kinds of memory peaks, the engine's own figure first. Operations are sorted by the first known.
PEAKS: tuple[PeakKey, ...] = (
    "engine_memory_bytes",
    "memory_peak_pss_bytes",
    "memory_peak_bytes",
)


def state_words(document: RunDocument) -> str:
    """Return text on the cached data at the start, unless the start was hot."""
    state = document["state"]
    if state is None or state["asked"] == "hot" or state["resident_share"] is None:
        return ""
    share, data = percent_text(state["resident_share"]), bytes_text(state["data_bytes"])
    loaded = state["asked"] == LOADED
    when = "after loading" if loaded else "before the start"
    sentences = [f"{share} of {data} of data files in memory {when}"]
    if loaded and state["engine_cache"]:
        most = [cached_words(cached) for cached in state["engine_cache"][:1] if cached["name"]]
        named = f", {most[0]} most of all" if most else ""
        sentences.append(
            f"{bytes_text(state['engine_cached_bytes'])} in the engine's own cache{named}"
        )
    if (brought := start_brought_bytes(state)) and state["asked"] == "cold":
        sentences.append(f"the start brought {bytes_text(brought)} into memory")
    if state["first_read_bytes"] is not None:
        read = bytes_text(state["first_read_bytes"]) if state["first_read_bytes"] else "nothing"
        sentences.append(f"{state['first_operation']}, the first query, read {read} from devices")
    return "; ".join(sentences)


def memory_words(document: RunDocument) -> str:
    """Return the peak memory of the measured part; empty if not known."""
    metrics = document["metrics"]
    sizes = [
        f"{bytes_text(size)} {label}"
        for size, label in (
            (metrics["memory_peak_bytes"], "resident at most"),
            (metrics["memory_peak_pss_bytes"], "proportional"),
        )
        if size is not None
    ]
    own = metrics["engine_memory_bytes"]
    if own is not None:
        most = "".join(f" ({operation['name']})" for operation in _ordered(document)[:1])
        sizes.append(f"{bytes_text(own)} by {document['engine_title']}'s own account{most}")
    return ", ".join(sizes)


def _ordered(document: RunDocument) -> list[OperationRow]:
    """Return the operations with a known memory peak, largest first."""
    measured = [
        operation
        for operation in document["operations"]
        if any(operation[key] is not None for key in PEAKS)
    ]
    return sorted(measured, key=lambda operation: [-(operation[key] or 0) for key in PEAKS])
