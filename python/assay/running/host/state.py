"""Sets the cache state before a run: which data are in memory before the first query.

The state is set while no process of the engine runs, then measured and recorded, with everything
that could not be done. A check judges whether it was reached. For `loaded` nothing is set: it is
the state that loading left.
"""

from __future__ import annotations

import logging
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.model.limit import MEMORY
from assay.model.units import bytes_text
from assay.running.asked.parsing import STATE_COLD, STATE_LOADED, STATE_OS_WARM
from assay.running.data import page_cache

if TYPE_CHECKING:
    from assay.running.asked.request import RunRequest

log = logging.getLogger(__name__)

DROP_CACHES = Path("/proc/sys/vm/drop_caches")
# Value for dropping the page cache, and directory entries with inodes; see proc_sys_vm(5).
ALL_CACHES = "3"


@dataclass
class State:
    """The requested and measured cache state at the start of a run.

    Attributes:
        asked: Requested state, one of `assay.running.asked.request.STATES`.
        passes: Number of untimed passes before the timed ones; None means a mix.
        how: Steps that were taken to reach the state.
        left: Steps that were not taken or had no effect.
        host_changes: Changes that affect other users of the host.
        data_bytes: Size of the data files, or of the queried file; None for a user's server.
        resident_bytes_before_start: Bytes of these files in memory before the engine's start; None
            if it was not restarted after loading.
        resident_bytes_after_start: Bytes of these files in memory after the start, before the first
            query; None if not measured.
        engine_cache: Content of the engine's own cache after loading: `name`, `cached_bytes`,
            `bytes` of each table and index; None if it was not read.
        page_cache: Whether the engine declares that it reads data through the page cache.
    """

    asked: str
    passes: int | None
    how: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    host_changes: list[str] = field(default_factory=list)
    data_bytes: int | None = None
    resident_bytes_before_start: int | None = None
    resident_bytes_after_start: int | None = None
    engine_cache: list[dict[str, Any]] | None = None
    page_cache: bool = True

    def facts(self) -> dict[str, Any]:
        """Return the cache state as run.json stores it."""
        return asdict(self)


def state_of(request: RunRequest) -> State:
    """Return the requested cache state, without setting it."""
    passes = request.state_passes if request.clients is None else None
    state = State(request.state, passes)
    if passes:
        state.how.append(f"{passes} untimed pass{'es' if passes > 1 else ''} first")
    elif passes is None and request.warmup_s > 0:
        state.how.append(f"an untimed warm-up of {request.warmup_s:g} s first")
    return state


def set_state(request: RunRequest, data: Path, drop_caches: Path = DROP_CACHES) -> State:
    """Bring a stopped engine's data files into the requested cache state.

    Args:
        request: The request of the run.
        data: The instance's data files.
        drop_caches: The kernel's file that drops caches of the whole host, if dropping is allowed.
    """
    state = state_of(request)
    if request.state == STATE_LOADED:
        # The state is not changed, whether the engine runs already or not yet.
        state.how.append(
            "loaded by the very process that was then measured, with its settings; nothing was"
            " restarted, dropped or asked in between"
        )
        return state
    if request.state == STATE_COLD:
        _evict(state, data)
        if request.allow_host_changes:
            _drop_caches(state, drop_caches)
        else:
            state.left.append(
                "the engine's programs, directory entries and inodes were left as they were:"
                " --allow-host-changes drops them, too, for the whole host"
            )
    elif request.state == STATE_OS_WARM:
        _read_in(state, data)
    elif MEMORY in request.limits:
        # The kernel charges pages to the process that reads them, so the engine itself must read
        # them for its limit to apply.
        _evict(state, data)
    _look(state, data)
    return state


def look_after_start(state: State, data: Path) -> None:
    """Record how much of the data files the engine's start or loading read into memory."""
    try:
        if state.data_bytes is None:
            state.data_bytes = page_cache.size_bytes(data)
        state.resident_bytes_after_start = page_cache.resident_bytes(data)
    except OSError as error:
        state.left.append(f"what is in memory could not be seen: {_error_text(error)}")


def _evict(state: State, data: Path) -> None:
    try:
        page_cache.evict(data)
        state.how.append("data files written back and their pages evicted")
    except OSError as error:
        state.left.append(f"pages of the data files were not evicted: {_error_text(error)}")


def _read_in(state: State, data: Path) -> None:
    try:
        page_cache.read_in(data)
        state.how.append("all data files read into the page cache")
    except OSError as error:
        state.left.append(f"data files were not read into the page cache: {_error_text(error)}")


def _drop_caches(state: State, drop_caches: Path) -> None:
    os.sync()
    try:
        drop_caches.write_text(ALL_CACHES, encoding="ascii")
    except OSError as error:
        state.left.append(f"caches of the host were not dropped: {_error_text(error)}")
    else:
        state.how.append("page cache, directory entries and inodes of the whole host dropped")
        state.host_changes.append(f"{drop_caches}: {ALL_CACHES}")


def _look(state: State, data: Path) -> None:
    """Record how much data is in the page cache."""
    state.data_bytes = page_cache.size_bytes(data)
    try:
        state.resident_bytes_before_start = page_cache.resident_bytes(data)
    except OSError as error:
        state.left.append(f"what is in memory could not be seen: {_error_text(error)}")
        return
    resident = state.resident_bytes_before_start
    if state.asked == STATE_COLD and resident:
        whole = bytes_text(state.data_bytes)
        state.left.append(f"{bytes_text(resident)} of {whole} stay in memory")
    for line in state.left:
        log.info("state %s: %s", state.asked, line)


def _error_text(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{error.strerror or error}"
