"""Checks that the run began in the requested cache state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.host.state import StartingState, starting_state
from assay.checks.thresholds import (
    COLD_RESIDENT_SHARE_MAX,
    PROGRAMS_READ_BYTES_MAX,
    WARM_RESIDENT_SHARE_MIN,
)
from assay.model.units import bytes_text, percent_text, seconds_text
from assay.model.verdict import CheckResult, Verdict
from assay.record.layout import LOADED

if TYPE_CHECKING:
    from assay.record.reader import Run

NAME = "state"


def check(run: Run) -> CheckResult:
    """Return unknown if data were in memory that should be on disk only, or the reverse."""
    state = starting_state(run)
    if state is None:
        return CheckResult(NAME, Verdict.VALID, "the state of caches is not in the record")
    if state.asked == "hot":
        return CheckResult(NAME, Verdict.VALID, f"hot: {', '.join(state.how) or 'no pass first'}")
    if state.asked == LOADED:
        return _by_load(state, died=bool(run.facts.get("crashes")))
    was_allowed = run.facts["request"].get("allow_host_changes")
    if state.asked == "cold" and was_allowed and not state.host_changes:
        return _not_reached(state, "; ".join(state.left) or "Assay dropped no cache of the host")
    return _judged(state)


def _by_load(state: StartingState, *, died: bool) -> CheckResult:
    """Return the verdict for cache state `loaded`: the loading process must still run."""
    if died:
        return _not_reached(state, "the process that loaded the data crashed and was restarted")
    if not state.loaded_by_measured:
        return _not_reached(state, "the data were loaded by another process than the measured one")
    if state.data_bytes == 0:
        return _not_reached(state, "the engine has no data files")
    share, cached = state.resident_share, state.engine_cached_bytes
    if share is None:
        left = "; ".join(state.left) or "the amount of data in memory was not recorded"
        return _not_reached(state, left)
    parts = [f"{percent_text(share)} of {bytes_text(state.data_bytes)} of data files in memory"]
    if cached is not None:
        parts.append(f"{bytes_text(cached)} in the engine's own cache")
    if state.since_load_s is not None:
        parts.append(f"{seconds_text(state.since_load_s)} after loading")
    if state.first_read_bytes is not None:
        parts.append(_first_read(state))
    return CheckResult(NAME, Verdict.VALID, f"loaded: {', '.join(parts)}", value=share)


def _judged(state: StartingState) -> CheckResult:
    if state.data_bytes == 0:
        return _not_reached(state, "the engine has no data files")
    share = state.resident_share
    if share is None:
        left = "; ".join(state.left) or "the amount of data in memory was not recorded"
        return _not_reached(state, left)
    seen = (
        f"{percent_text(share)} of {bytes_text(state.data_bytes)} of data files in memory before"
        " the start"
    )
    if state.asked == "os-warm":
        if share < WARM_RESIDENT_SHARE_MIN:
            return _not_reached(state, f"{seen}, less than --state os-warm needs", share)
        return _past_the_cache(state, seen, share)
    if share > COLD_RESIDENT_SHARE_MAX:
        why = "the file system, or a process that has the files open, keeps them in memory"
        return _not_reached(state, f"{seen}: {why}", share)
    return _by_reads(state, seen, share)


def _past_the_cache(state: StartingState, seen: str, share: float) -> CheckResult:
    """Return the verdict for an engine that may read files without the page cache.

    Small reads may be of programs, and reads larger than the data include other files, so neither
    shows where the data were.
    """
    read, data = state.first_read_bytes or 0, state.data_bytes or 0
    if not state.page_cache:
        return _not_reached(state, f"{seen}, but the engine bypasses the page cache", share)
    first_read = "" if state.first_read_bytes is None else f", {_first_read(state)}"
    least = max((1 - WARM_RESIDENT_SHARE_MIN) * data, PROGRAMS_READ_BYTES_MAX)
    if least < read <= data:
        why = "this exceeds the size of its programs, so the engine may bypass the page cache"
        return _not_reached(state, f"{seen}, but{first_read[1:]}: {why}", share)
    return CheckResult(
        NAME,
        Verdict.VALID,
        f"os-warm: {seen}{first_read}",
        value=share,
        threshold=WARM_RESIDENT_SHARE_MIN,
    )


def _by_reads(state: StartingState, seen: str, share: float) -> CheckResult:
    """Return the verdict from the first query's reads, which show the cache state.

    A cold engine's first query need not read if the engine's start or refresh functions read the
    data, or if the plan names no table.
    """
    brought = state.start_brought_bytes
    if state.first_read_bytes is None:
        reads = "device reads of the first query were not measured"
    else:
        reads = _first_read(state)
        before = state.earlier_read_bytes or brought
        if not (state.first_read_bytes or before) and state.first_scans is not False:
            return _not_reached(state, f"{seen}, but {reads}", share)
    if brought:
        reads += (
            f"; the engine's start had read {bytes_text(brought)} of the data files into memory"
        )
    return CheckResult(
        NAME,
        Verdict.VALID,
        f"cold: {seen}, {reads}",
        value=share,
        threshold=COLD_RESIDENT_SHARE_MAX,
    )


def _first_read(state: StartingState) -> str:
    read = bytes_text(state.first_read_bytes) if state.first_read_bytes else "nothing"
    return f"{state.first_operation}, the first query, read {read} from devices"


def _not_reached(state: StartingState, why: str, share: float | None = None) -> CheckResult:
    thresholds = {"cold": COLD_RESIDENT_SHARE_MAX, "os-warm": WARM_RESIDENT_SHARE_MIN}
    return CheckResult(
        NAME,
        Verdict.UNKNOWN,
        f"the state {state.asked} was not reached: {why}",
        value=share,
        threshold=None if share is None else thresholds[state.asked],
    )
