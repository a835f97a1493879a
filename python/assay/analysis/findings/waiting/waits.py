"""Makes the phrases of findings on waiting: how long, where, and in which operations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.causes import TITLES
from assay.analysis.findings.operation_shares import at_least, names_text
from assay.analysis.load_plan import CLOSED
from assay.model.finding import Advice, Evidence
from assay.model.units import percent_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.analysis.findings.case import Case

# Operations that waited for a smaller share of their own time are not named.
NAMED_SHARE = 0.02
NAMED_OPERATIONS = 3
STATEMENT_MAX = 100
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


def one_client_advice(case: Case, effect: float) -> Advice | None:
    """Return the advice to run one client alone, which waits for no lock of another client.

    If clients wait for a CPU for half as long as for the lock, or longer, one client alone is
    faster for that reason, too, so that it would show nothing of the lock.

    Args:
        case: The run.
        effect: Share of the run's time that clients wait for a lock.

    Returns:
        The advice; None without a closed load of several clients, or if they wait for CPUs.
    """
    load = None if case.load is None or case.is_observed else case.load.load
    if load is None or load.shape != CLOSED or load.clients == 1:
        return None
    if case.of_run(case.part(QUEUE)) >= effect / 2:
        return None
    return Advice("one-client", "clients", {}, effect)


def with_one_client(case: Case, method: str, fractions: Mapping[str, float], to_try: str) -> str:
    """Return advice in words, followed by the command that tries `one_client_advice`."""
    command = case.try_words(
        method, fractions, "runs one client alone, which shows what the waits cost"
    )
    return f"{to_try}; {command}"


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


def statement_text(statement: str | None) -> str:
    """Return a statement in one line, cut to `STATEMENT_MAX` characters."""
    text = " ".join((statement or "").split())
    return text if len(text) <= STATEMENT_MAX else f"{text[: STATEMENT_MAX - 1]}…"
