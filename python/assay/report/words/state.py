"""Phrases on the state at the start of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.units import bytes_text, percent_text, seconds_text
from assay.record.layout import LOADED

if TYPE_CHECKING:
    from assay.report.documents.host.state import CachedObject, StateSection
    from assay.report.documents.run import RunDocument

CACHED_NAMED = 4


def start_brought_bytes(state: StateSection) -> int | None:
    """Return the bytes of data that the engine read into memory at its start; None if unknown."""
    before, after = state["resident_bytes_before_start"], state["resident_bytes_after_start"]
    return None if before is None or after is None else max(0, after - before)


def state_sentence(document: RunDocument) -> str:
    """Return sentences on cached data at the start; empty if not known."""
    state = document["state"]
    if state is None:
        hot = document["conditions"]["state"] == "hot"
        return "The state was hot: a warm-up ran first, untimed. " if hot else ""
    done = f": {'; '.join(state['how'])}" if state["how"] else ""
    sentences = [f"The state was {state['words']}{done}."]
    if state["asked"] == LOADED:
        sentences += _after_load(state)
    elif state["resident_share"] is not None:
        share, data = percent_text(state["resident_share"]), bytes_text(state["data_bytes"])
        sentences.append(f"Before the engine was started {share} of {data} were in memory.")
        if (brought := start_brought_bytes(state)) is not None and state["asked"] != "hot":
            sentences.append(f"Its start brought {bytes_text(brought)} of them into memory.")
    if state["first_read_bytes"] is not None and state["asked"] != "hot":
        read = bytes_text(state["first_read_bytes"])
        sentences.append(f"{state['first_operation']}, the first query, read {read} from devices.")
    sentences += [f"Left: {phrase}." for phrase in state["left"]]
    return f"{' '.join(sentences)} "


def _after_load(state: StateSection) -> list[str]:
    """Return sentences on the data in memory after loading."""
    sentences = []
    if state["since_load_s"] is not None:
        sentences.append(
            f"The first query came {seconds_text(state['since_load_s'])} after loading."
        )
    if state["resident_share"] is not None:
        share, data = percent_text(state["resident_share"]), bytes_text(state["data_bytes"])
        sentences.append(f"Before it {share} of {data} of data files were in the page cache.")
    cached = state["engine_cache"]
    if cached:
        held = f"The engine's own cache held {bytes_text(state['engine_cached_bytes'])} of them"
        most = ", ".join(
            cached_words(cached_object)
            for cached_object in cached[:CACHED_NAMED]
            if cached_object["name"]
        )
        sentences.append(f"{held}, most of all {most}." if most else f"{held}.")
    return sentences


def cached_words(cached: CachedObject) -> str:
    """Return text on a table or an index with its cached bytes."""
    cached_bytes, whole_bytes = cached["cached_bytes"], cached["bytes"]
    if not whole_bytes:
        return f"{cached['name']} ({bytes_text(cached_bytes)})"
    share = percent_text(min(1.0, cached_bytes / whole_bytes))
    return f"{cached['name']} ({bytes_text(cached_bytes)}, {share} of it)"
