"""Finds a circular log so small that changed pages must be written before it is overwritten.

A page that is changed often is then written for nearly each change, and the session that changes it
waits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.findings.operation_shares import at_least
from assay.model.finding import Advice, Evidence
from assay.model.units import bytes_text, percent_text, seconds_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.analysis.findings.engine_facts import Setting
    from assay.model.finding import Finding

METHOD = "log-full"
# Names of counters that the engine declares.
RELEASED, AGE = "checkpoint_bytes", "checkpoint_age_bytes"
LOG_BYTES, WRITTEN, ROW_LOCKS = "wal_bytes", "written_bytes", "row_lock_waits"
LOG_SIZE = "log_size"
# A log that holds more seconds of changes than this is large enough.
HELD_MAX_S = 30.0
# Minimum number of times that the whole log was reused in the measured part. With fewer, the reused
# part may be from before the load.
TURNS_MIN = 1.0
# Engines write pages faster when this share of the log is in use.
AGE_SHARE_MIN = 0.5
EFFECT_MIN = 0.05
NAMED_SHARE = 0.02
LARGER = 16
# A session that waits for log space sleeps briefly and checks again.
PARTS = ("log", "waiting/disk_write", "waiting/disk", "waiting/paused")
# On some engines such a session looks like one that waits for a lock.
WAITING = ("log", "waiting")


def find(case: Case) -> list[Finding]:
    """Return a finding of the share of time that waits for log space took."""
    size, logged = case.setting(LOG_SIZE), case.total(LOG_BYTES)
    capacity = size.bytes if size is not None else None
    window_s = (case.counters or {}).get("window_s")
    if size is None or not capacity or not logged or not window_s:
        return []
    age, turns = max(case.readings(AGE), default=None), (case.total(RELEASED) or 0.0) / capacity
    held_s = capacity * window_s / logged
    if age is None or turns < TURNS_MIN or held_s > HELD_MAX_S:
        return []
    if age < AGE_SHARE_MIN * capacity:
        return []
    pages = _share_of_pages(case, logged)
    part = max(_parts(case), key=lambda path: case.of_run(case.node(path)))
    fractions = at_least({name: own * pages for name, own in case.node(part).items()}, NAMED_SHARE)
    if case.of_run(fractions) < EFFECT_MIN:
        return []
    claim = (
        f"The log is too small for the changes: {size.text} holds changes of "
        f"{seconds_text(held_s)}. The log wrapped around {turns:.2g} times, and changed pages "
        "had to be written first"
    )
    evidence = [
        Evidence(
            f"{percent_text(age / capacity)} of the log was in use at most; the engine does not "
            "fill it: from a threshold below the size on, it writes changed pages first",
            f"counter:{AGE}",
        ),
        Evidence(
            f"{percent_text(pages)} of the {bytes_text(case.total(WRITTEN) or logged)} written "
            f"were pages, in addition to {bytes_text(logged)} of log",
            f"counter:{WRITTEN}",
        ),
        Evidence(size.text, f"setting:{size.name}"),
        *(
            Evidence(f"{name}: {percent_text(share)} of its time in {part}", f"where:{name}")
            for name, share in case.node(part).items()
            if name in fractions
        ),
    ]
    return [_advised(case, size, capacity, fractions, (claim, part), evidence)]


def _advised(
    case: Case,
    size: Setting,
    capacity: int,
    fractions: dict[str, float],
    said: tuple[str, str],
    evidence: list[Evidence],
) -> Finding:
    claim, part = said
    effect = case.of_run(fractions)
    advice = Advice("setting", LOG_SIZE, {"value": str(LARGER * capacity)}, effect)
    does = f"sets {size.name} to {bytes_text(LARGER * capacity)}"
    finding = case.finding(
        METHOD,
        claim,
        fractions,
        to_try=case.try_words(METHOD, fractions, does),
        evidence=evidence,
        advice=advice,
    )
    induced = sum(case.of_run(case.node(path)) for path in (*_parts(case), "computing/queue"))
    return finding.of(part, saved=(effect, min(1.0, max(effect, induced))))


def _parts(case: Case) -> tuple[str, ...]:
    """Return the causes of time that may contain log waits; all waiting if no row was locked."""
    return PARTS if case.total(ROW_LOCKS) or case.blockers else WAITING


def _share_of_pages(case: Case, logged: float) -> float:
    """Return the share of written bytes that are data pages; 1 if writes are not counted."""
    written = case.total(WRITTEN)
    return 1.0 if not written else max(0.0, 1 - logged / max(written, logged))
