"""Makes the phrases of findings on waiting: how long, where, and in which operations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.causes import TITLES
from assay.analysis.findings.operation_shares import at_least, names_text
from assay.model.finding import Evidence
from assay.model.units import percent_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.analysis.findings.case import Case

# Operations that waited for a smaller share of their own time are not named.
NAMED_SHARE = 0.02
NAMED_OPERATIONS = 3
LOCKS, LOG, QUEUE = ("lock", "latch"), ("log", "disk_write"), "run_queue"
# If sessions that do not wait for a lock or a CPU wait for the log for this share of their time,
# locks are held while a commit waits for the disk.
HELD_BY_LOG_MIN = 0.5
# Counters of bytes that were written to the log and to temporary files.
LOG_BYTES, TEMPORARY_BYTES = "wal_bytes", "temporary_bytes"


def waited(case: Case, *names: str) -> dict[str, float]:
    """Return the share of each operation's time that it spent in the named waits, if large."""
    return at_least(case.part(*names), NAMED_SHARE)


def waiting_words(case: Case, fractions: dict[str, float]) -> str:
    """Return the begin of a claim: the share of the run's time spent waiting, and where most."""
    names = names_text(case.largest_first(fractions))
    return f"{percent_text(case.of_run(fractions))} of the time, most in {names}, was spent waiting"


def waiting_evidence(
    case: Case, fractions: Mapping[str, float], names: Sequence[str]
) -> list[Evidence]:
    """Return evidence of the operations that waited most: each cause's share of their time."""
    of_each = {op.name: op.where for op in case.operations}
    evidence = []
    for operation in case.largest_first(fractions)[:NAMED_OPERATIONS]:
        parts = [(TITLES[name], of_each[operation].get(name)) for name in names]
        texts = [f"{percent_text(share)} of its time {title}" for title, share in parts if share]
        evidence.append(Evidence(f"{operation}: {', '.join(texts)}", f"where:{operation}"))
    return evidence


def locks_wait_for_log(case: Case) -> bool:
    """Return True if sessions that hold locks spend most of their time waiting for the log.

    Such a lock is held until the commit is on the disk, so a faster commit shortens the wait for
    the lock, too.
    """
    locked = case.of_run(case.part(*LOCKS))
    running = 1.0 - locked - case.of_run(case.part(QUEUE))
    logging = case.of_run(case.part(*LOG))
    return min(locked, logging) > 0 and logging >= HELD_BY_LOG_MIN * running


def log_parts(case: Case) -> tuple[tuple[str, ...], str]:
    """Return the causes that are waits for the log, and the node of the time tree above them.

    If the engine does not separate log writes, all write waits count as log waits, unless temporary
    files received more bytes.
    """
    logged, temporary = case.total(LOG_BYTES) or 0.0, case.total(TEMPORARY_BYTES) or 0.0
    if case.of_run(case.part("log")) or temporary > logged:
        return ("log",), "log"
    return ("log", "disk_write"), "waiting/disk_write"
