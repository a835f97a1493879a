"""Whether the run began in the state that was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.state import StartingState, starting_state
from assay.checks.thresholds import COLD_RESIDENT_SHARE_MAX, WARM_RESIDENT_SHARE_MIN
from assay.model.units import bytes_text, percent_text
from assay.model.verdict import CheckResult, Verdict

if TYPE_CHECKING:
    from assay.record.reader import Run

NAME = "state"


def check(run: Run) -> CheckResult:
    """Unknown if data that were to be on disk were in memory, or the other way round."""
    state = starting_state(run)
    if state is None:
        return CheckResult(NAME, Verdict.VALID, "the state of caches is not in the record")
    if state.asked == "hot":
        return CheckResult(NAME, Verdict.VALID, f"hot: {', '.join(state.how) or 'no pass first'}")
    request = run.facts["request"]
    if request.get("allow_host_changes") and not state.host_changes:
        return _not_reached(state, "; ".join(state.left) or "no cache of the host was dropped")
    return _judged(state)


def _judged(state: StartingState) -> CheckResult:
    if state.data_bytes == 0:
        return _not_reached(state, "there are no data files")
    share = state.resident_share
    if share is None:
        left = "; ".join(state.left) or "what was in memory was not recorded"
        return _not_reached(state, left)
    seen = (
        f"{percent_text(share)} of {bytes_text(state.data_bytes)} of data files in memory before"
        " the start"
    )
    if state.asked == "os-warm":
        if share < WARM_RESIDENT_SHARE_MIN:
            return _not_reached(state, f"{seen}: there is not enough of it", share)
        return CheckResult(NAME, Verdict.VALID, f"os-warm: {seen}", value=share)
    if share > COLD_RESIDENT_SHARE_MAX:
        why = "the file system, or who holds the files open, keeps them there"
        return _not_reached(state, f"{seen}: {why}", share)
    return _by_reads(state, seen, share)


def _by_reads(state: StartingState, seen: str, share: float) -> CheckResult:
    """A cold engine's first query has to read, unless its start did, or its plan names no table."""
    if state.first_read_bytes is None:
        reads = "device reads of the first query not measured"
    elif not (state.first_read_bytes or state.start_read_bytes) and state.first_scans is not False:
        reason = f"{seen}, and yet {state.first_operation}, the first query, read from no device"
        return _not_reached(state, reason, share)
    else:
        before = ""
        if state.start_read_bytes:
            before = f", the engine's start {bytes_text(state.start_read_bytes)}"
        read = bytes_text(state.first_read_bytes)
        reads = f"{state.first_operation}, the first query, read {read} from devices{before}"
    return CheckResult(
        NAME,
        Verdict.VALID,
        f"cold: {seen}, {reads}",
        value=share,
        threshold=COLD_RESIDENT_SHARE_MAX,
    )


def _not_reached(state: StartingState, why: str, share: float | None = None) -> CheckResult:
    thresholds = {"cold": COLD_RESIDENT_SHARE_MAX, "os-warm": WARM_RESIDENT_SHARE_MIN}
    return CheckResult(
        NAME,
        Verdict.UNKNOWN,
        f"state {state.asked} not reached: {why}",
        value=share,
        threshold=None if share is None else thresholds[state.asked],
    )
