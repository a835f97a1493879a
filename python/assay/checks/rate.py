"""Checks that the engine kept up with an open load: otherwise latency only shows the backlog."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.load.summary import LATE_START_S, open_schedule
from assay.analysis.load_plan import OPEN, load_of
from assay.checks.thresholds import (
    BACKLOG_SECONDS_MAX,
    BACKLOG_TREND_CHANCE_MAX,
    ON_TIME_SHARE_MIN,
)
from assay.model.units import percent_text, rate_text
from assay.model.verdict import CheckResult, Verdict

if TYPE_CHECKING:
    from assay.analysis.load.backlog import Schedule
    from assay.analysis.load_plan import Load
    from assay.record.reader import Run

NAME = "rate_held"


def check(run: Run) -> CheckResult:
    """Return invalid if operations started late, or if the queue of waiting operations grew."""
    load = load_of(run.facts)
    if load is None or load.shape != OPEN:
        return CheckResult(
            NAME, Verdict.VALID, "not an open load: operations had no scheduled start"
        )
    went = open_schedule(run, load)
    if went is None:
        reason = "rate not checked: no operation ended"
        return CheckResult(NAME, Verdict.UNKNOWN, reason, measured=False)
    if grew(went, load):
        reason = _not_held(went, "latency grows during the whole run", load)
        limit = backlog_limit(went, load)
        return CheckResult(
            NAME, Verdict.INVALID, reason, value=float(went.waiting_end), threshold=limit
        )
    share = went.on_time_share
    if share is not None and share < ON_TIME_SHARE_MIN:
        late = f"{percent_text(1 - share)} of all operations were {LATE_START_S:g} s late or more"
        return CheckResult(
            NAME,
            Verdict.INVALID,
            _not_held(went, late, load),
            value=share,
            threshold=ON_TIME_SHARE_MIN,
        )
    seen = (
        f"the rate of {rate_text(went.rate_per_s)} was held: {rate_text(went.done_per_s)} were "
        "completed"
    )
    on_time = (
        f"{percent_text(share)} of the operations started in time"
        if share is not None
        else "none started late"
    )
    return CheckResult(
        NAME, Verdict.VALID, f"{seen}, {on_time}", value=share, threshold=ON_TIME_SHARE_MIN
    )


def grew(went: Schedule, load: Load) -> bool:
    """Return True if the backlog grew steadily, and by more than a short time's operations."""
    steadily = went.chance < BACKLOG_TREND_CHANCE_MAX
    return steadily and went.waiting_end > backlog_limit(went, load)


def backlog_limit(went: Schedule, load: Load) -> float:
    """Return the number of operations that may wait at the end of an open load."""
    return max(went.rate_per_s * BACKLOG_SECONDS_MAX, float(load.clients))


def _not_held(went: Schedule, why: str, load: Load) -> str:
    slower = "--rate" if load.speed is None else "--speed"
    return (
        f"the engine did not hold the rate of {rate_text(went.rate_per_s)}: "
        f"{rate_text(went.done_per_s)} were completed, {went.waiting_end:,} operations waited "
        f"at the end, and {why}; use a lower {slower}, or more --clients"
    )
