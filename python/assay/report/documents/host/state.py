"""Types of a run's document on the cache state at the start of the timed part."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from assay.report.documents.figures import MeasuredValue


class CachedObject(TypedDict):
    """A table or an index in the engine's own cache."""

    name: str
    """Name of the table or index in the engine; empty for the sum of all."""
    cached_bytes: int
    bytes: int | None
    """Total size of the cached table or index in bytes; null if not reported."""


class StateSection(TypedDict):
    """The data in the caches when the timed part began."""

    asked: Literal["hot", "cold", "os-warm", "loaded"]
    passes: int | None
    """Number of untimed passes before the timed passes; null for a mix."""
    words: str
    """Name of the starting state for headings."""
    reached: bool
    """Whether the run reached the requested starting state."""
    how: list[str]
    """Steps that were taken to reach the starting state."""
    left: list[str]
    """Steps toward the starting state that were not taken or had no effect."""
    host_changes: list[str]
    """Changes made to reach the state that affect other users of the host."""
    data_bytes: int | None
    """Size of the data files in bytes; null for a running server."""
    resident_bytes_before_start: int | None
    """Bytes of the data files in the page cache before the engine's start; null if it was not
    restarted after loading."""
    resident_share: MeasuredValue
    """Share of the data in the page cache before the start, or after loading; null without data
    files."""
    resident_bytes_after_start: int | None
    """Bytes of the data files in the page cache after the start, before the first query; null if
    not measured."""
    engine_cache: list[CachedObject] | None
    """Content of the engine's own cache at the end of loading, largest first; null if not requested
    or not reported."""
    engine_cached_bytes: int | None
    """Total bytes in the engine's own cache; null if not known."""
    since_load_s: MeasuredValue
    """Seconds from the end of loading to the first timed operation; null unless the state is
    `loaded`."""
    first_operation: str | None
    """The first timed query whose plan reads tables, or else the first timed query. Refresh
    functions do not count."""
    first_read_bytes: int | None
    """Bytes that the first timed query read from devices; null if not known."""
