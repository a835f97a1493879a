"""The state at the start of the timed part, in the document of a run."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from assay.report.documents.figures import MeasuredValue


class CachedObject(TypedDict):
    """A table or an index in the engine's own cache."""

    name: str
    """Table or index, in the engine's words; empty: all together."""
    cached_bytes: int
    bytes: int | None
    """Its whole size; null: not told."""


class StateSection(TypedDict):
    """Contents of caches when the timed part began."""

    asked: Literal["hot", "cold", "os-warm", "loaded"]
    passes: int | None
    """Untimed passes before the timed ones; null of a mix."""
    words: str
    """As a heading names it."""
    reached: bool
    """Whether the check of it was passed."""
    how: list[str]
    """What was done for it."""
    left: list[str]
    """What was not done, or was of no effect."""
    host_changes: list[str]
    """What was changed that others on the host notice."""
    data_bytes: int | None
    """Size of the data files; null where they are a running server's."""
    resident_bytes_before_start: int | None
    """How much of them was in the page cache before the engine was started; null where it went on
    after loading."""
    resident_share: MeasuredValue
    """What was in the page cache before the start, or after loading, as a share of the data; null
    where there are none."""
    resident_bytes_after_start: int | None
    """The same when the engine was up and nothing had been asked of it; null: not looked at."""
    engine_cache: list[CachedObject] | None
    """What the engine's own cache held when loading had ended, the most first; null: not asked for,
    or not told."""
    engine_cached_bytes: int | None
    """The sum of that; null: not known."""
    since_load_s: MeasuredValue
    """From the end of loading to the first timed operation; null but for `loaded`."""
    first_operation: str | None
    """The first timed query, of those whose plans read tables if any does; no refresh function."""
    first_read_bytes: int | None
    """What it read from devices."""
