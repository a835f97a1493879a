"""Finds time that operations waited for locks and latches, and the sessions holding them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.findings.memory.page_waits import waits_for_pages
from assay.analysis.findings.plans.plan_time import scaled
from assay.analysis.findings.waiting.deadlocks import (
    ONE_ORDER,
    are_repeated_for,
    explain_waits,
)
from assay.analysis.findings.waiting.file_lock import (
    LOCK_TIMEOUT,
    counted_file_lock,
    file_lock_finding,
)
from assay.analysis.findings.waiting.hot_row import hot_row_advice
from assay.analysis.findings.waiting.isolation import (
    LOWER,
    are_seen_waiting,
    isolation_advice,
    isolation_evidence,
    isolation_words,
    locking_level,
    reads_wait,
    waiting_readers,
)
from assay.analysis.findings.waiting.notifications import QUEUE, notifications_finding
from assay.analysis.findings.waiting.transactions import is_plain_read
from assay.analysis.findings.waiting.waits import (
    locks_wait_for_log,
    one_client_advice,
    statement_text,
    waited,
    waiting_evidence,
    waiting_words,
    with_one_client,
)
from assay.model.finding import Evidence
from assay.model.units import percent_text, seconds_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.analysis.findings.case import Case
    from assay.analysis.findings.engine_facts import Setting
    from assay.model.blocker import Blocker
    from assay.model.finding import Finding

METHOD = "lock-wait"
LOCK, LATCH = "lock", "latch"
EFFECT_MIN = 0.05
# Fewer samples of waiting sessions do not show who holds a lock most.
LOOKS_MIN = 3
# A session or an object with this share of all lock waits is named as their cause.
NAMED_SHARE = 0.5
SESSIONS_MAX = 3
_ANY_CASE = re.IGNORECASE | re.DOTALL
ROW = "row"
# Counter of the seconds that sessions waited for locks of rows.
ROW_LOCK_SECONDS = "row_lock_seconds"
HELD_BY_LOG = (
    "measure with commits that do not wait for the disk (--durability relaxed): the sessions that "
    "hold the locks spend most of their time waiting for the log"
)
# A statement that locks the first rows in an order: any unlocked row would do, as in a queue.
_FIRST_FREE = re.compile(
    r"\b(?:limit|fetch\s+first)\b.*\bfor\s+(?:no\s+key\s+)?update\b", _ANY_CASE
)
_SKIPS = re.compile(r"\bskip\s+locked\b", re.IGNORECASE)
_FOR_UPDATE = re.compile(r"\bfor\s+(?:no\s+key\s+)?update\b", _ANY_CASE)
# A statement that changes no row itself, after remarks.
_READS = re.compile(r"(?:\s|--[^\n]*\n|/\*.*?\*/)*select\b", _ANY_CASE)
# Functions that take a lock by its number or name, which belongs to no row.
_NAMED_LOCK = re.compile(r"\bpg_(?:try_)?advisory_\w*lock\w*\s*\(|\bget_lock\s*\(", re.IGNORECASE)


def find(case: Case) -> list[Finding]:
    """Return a finding of lock or latch waits, with the session that holds the lock."""
    whole, case = case, case.with_measured(LOCK, LATCH)
    if not case.operations:
        return counted_file_lock(whole, EFFECT_MIN, METHOD)
    fractions = {name: waited(case, name) for name in (LOCK, LATCH)}
    name = max(fractions, key=lambda part: case.of_run(fractions[part]))
    if counts_row_locks(case) and case.of_run(fractions[LOCK]) >= EFFECT_MIN:
        name = LOCK
    if case.of_run(fractions[name]) < EFFECT_MIN or (name == LATCH and waits_for_pages(case)):
        return []
    if name == LOCK and explain_waits(case):
        return []
    finding = _holder_finding(case, name, fractions[name])
    return [finding.of(f"waiting/{name}", saved=(0.0, finding.effect_share))]


def _holder_finding(case: Case, name: str, fractions: dict[str, float]) -> Finding:
    """Return the finding of a lock wait by its holder: another client, the run, or unknown."""
    # If hardly any wait is classified as a lock wait, waits for row locks may look like latch
    # waits, unless the engine counts the time of row locks.
    few_locks = case.of_run(case.part(LOCK)) < EFFECT_MIN and not counts_row_locks(case)
    is_lock = name == LOCK or few_locks
    seen = _seen(case) if is_lock else ()
    others = [blocker for blocker in seen if not blocker.own]
    of_others = sum(blocker.share for blocker in others)
    if others and of_others >= NAMED_SHARE:
        return _others_finding(case, name, scaled(fractions, of_others), others)
    own = [blocker for blocker in seen if blocker.own]
    if own and _waits_for_queue(own):
        theirs = [_seen_words(blocker) for blocker in _first(own)]
        return notifications_finding(case, METHOD, scaled(fractions, 1 - of_others), theirs)
    if name == LOCK and (level := locking_level(case)) is not None:
        readers = waiting_readers(case, fractions)
        if reads_wait(own) >= NAMED_SHARE or (readers and not own):
            return _reads_finding(case, scaled(fractions, 1 - of_others), own, level)
    if seen:
        finding = _own_finding(case, name, scaled(fractions, 1 - of_others), own)
    else:
        finding = _unknown_holder_finding(case, name, fractions)
    return replace(finding, settle=HELD_BY_LOG if locks_wait_for_log(case) else finding.settle)


def _waits_for_queue(own: Sequence[Blocker]) -> bool:
    """Return True if most waits of the run's sessions are for the queue of notifications."""
    thing, share = _most(own, "object")
    return thing == QUEUE and share >= NAMED_SHARE


def counts_row_locks(case: Case) -> bool:
    """Return True if the engine counted the time of waits for row locks in the measured part."""
    return case.total(ROW_LOCK_SECONDS) is not None


def _seen(case: Case) -> tuple[Blocker, ...]:
    blockers = case.blockers or ()
    enough = sum(blocker.looks for blocker in blockers) >= LOOKS_MIN
    # A wait for another client's session counts even if few samples show it.
    return blockers if enough else tuple(blocker for blocker in blockers if not blocker.own)


def _others_finding(
    case: Case, name: str, fractions: dict[str, float], others: Sequence[Blocker]
) -> Finding:
    """Return the finding of locks that sessions outside of the run hold."""
    first = others[0]
    what = f" on {first.object}" if first.object else ""
    more = f" and {len(others) - 1} other sessions" if len(others) > 1 else ""
    claim = (
        f"{waiting_words(case, fractions)} for a lock{what} held by another session: "
        f"{_holder_words(first)}{more}"
    )
    to_try = f"commit, roll back or end the transaction of session {first.session}"
    if first.application:
        to_try += f" in {first.application}"
    if _is_idle(first):
        to_try += ", and do not leave transactions open while the client does other work"
    evidence = [
        *_where(case, fractions, name),
        *(_seen_words(blocker) for blocker in _first(others)),
    ]
    return case.finding(METHOD, claim, fractions, to_try=to_try, evidence=evidence)


def _own_finding(
    case: Case, name: str, fractions: dict[str, float], own: Sequence[Blocker]
) -> Finding:
    """Return the finding of sessions of the run that wait for locks of each other."""
    thing, share = _most(own, "object")
    mode, _ = _most(own, "mode")
    statement, _ = _most(own, "waiting_statement")
    is_hot = thing is not None and share >= NAMED_SHARE
    what = f"a lock on {thing}" if is_hot else "locks"
    if is_hot and mode == ROW:
        what = f"locked rows of {thing}"
    by = f"; the waiting statement is: {statement_text(statement)}" if statement else ""
    holders = "other such sessions" if case.is_observed else "sessions of the run itself"
    claim = f"{waiting_words(case, fractions)} for {what} that {holders} hold{by}"
    fewer = "fewer sessions at once" if case.is_observed else "fewer --clients"
    to_try = f"{fewer}, or {_less_locked(mode)}"
    if statement and _FIRST_FREE.search(statement) and not _SKIPS.search(statement):
        to_try = "let sessions pass over rows that others have locked: `for update skip locked`"
    elif statement and _NAMED_LOCK.search(statement):
        to_try = f"{fewer}, or one lock for each thing that is protected instead of one for all"
    elif is_hot and mode == ROW and statement and _only_reads(case, statement, str(thing)):
        to_try = (
            f"lock with `for share` what is only read: no statement of the run changes {thing}, "
            f"and the waiting one locks it for changes"
        )
    elif are_repeated_for(case, case.of_run(fractions)):
        to_try = f"{ONE_ORDER}: the waits are those before deadlocks"
    elif is_hot and mode == ROW and statement:
        to_try = hot_row_advice(statement, str(thing))
    evidence = [*_where(case, fractions, name), *(_seen_words(blocker) for blocker in _first(own))]
    return _between_clients(case, claim, fractions, to_try, evidence)


def _reads_finding(
    case: Case, fractions: dict[str, float], own: Sequence[Blocker], level: Setting
) -> Finding:
    """Return the finding of plain reads that lock rows because of the isolation level."""
    waiting = [blocker for blocker in own if is_plain_read(blocker.waiting_statement)]
    thing, share = _most(own, "object") if own else (None, 0.0)
    statement, _ = _most(waiting, "waiting_statement") if waiting else (None, 0.0)
    on = f" of {thing}" if thing is not None and share >= NAMED_SHARE else ""
    by = f"; the waiting statement is: {statement_text(statement)}" if statement else ""
    claim = (
        f"{waiting_words(case, fractions)} for locked rows{on}, because "
        f"{isolation_words(level)}{by}"
    )
    advice, to_try = isolation_advice(case, METHOD, fractions, level)
    evidence = [
        *_where(case, fractions, LOCK),
        *isolation_evidence(own, level, waiting_readers(case, fractions)),
        *(_seen_words(blocker) for blocker in _first(own)),
    ]
    finding = case.finding(
        METHOD, claim, fractions, to_try=to_try, evidence=evidence, advice=advice
    )
    return replace(finding, settle=None if are_seen_waiting(own) else LOWER)


def _between_clients(
    case: Case, claim: str, fractions: dict[str, float], to_try: str, evidence: list[Evidence]
) -> Finding:
    """Return the finding of clients that wait for each other, with an experiment if possible."""
    advice = one_client_advice(case, case.of_run(fractions))
    if advice is not None:
        to_try = with_one_client(case, METHOD, fractions, to_try)
    return case.finding(METHOD, claim, fractions, to_try=to_try, evidence=evidence, advice=advice)


def _only_reads(case: Case, statement: str, table: str) -> bool:
    """Return True if a statement locks rows of a table for changes that no statement makes.

    The texts of all statements have to be known, so that none of them can change the table.
    """
    if not _FOR_UPDATE.search(statement):
        return False
    texts = [
        plan.text for operation in case.operations for plan in case.plans.get(operation.name, ())
    ]
    if not texts or None in texts:
        return False
    changes = re.compile(
        rf"\b(?:update|into|from)\s+(?:only\s+)?[\w.`\"]*\b{re.escape(table)}\b", _ANY_CASE
    )
    return not any(
        changes.search(text) for text in texts if text is not None and not _READS.match(text)
    )


def _less_locked(mode: str | None) -> str:
    """Return the advice for a lock of a mode: rows are locked one by one, other things whole."""
    if mode in (None, ROW):
        return "rows that fewer sessions share"
    return "a weaker lock, taken later in the transaction"


def _unknown_holder_finding(case: Case, name: str, fractions: dict[str, float]) -> Finding:
    """Return the finding of locks whose holding session no sample showed."""
    timeout = case.setting(LOCK_TIMEOUT) if name == LOCK else None
    if timeout is not None and timeout.limits is not None:
        return file_lock_finding(case, fractions, timeout, METHOD)
    held = (
        "latches that other threads of the server" if name == LATCH else "locks that other sessions"
    )
    claim = f"{waiting_words(case, fractions)} for {held} held"
    to_try = (
        "use fewer concurrent sessions, or rows that fewer sessions share"
        if case.is_observed
        else "use fewer --clients, or rows that fewer sessions share"
        if case.load is not None
        else "look for other sessions: the operations of this run ran one after another"
    )
    return _between_clients(case, claim, fractions, to_try, _where(case, fractions, name))


def _where(case: Case, fractions: dict[str, float], name: str) -> list[Evidence]:
    return waiting_evidence(case, fractions, (name,))


def _most(blockers: Sequence[Blocker], name: str) -> tuple[str | None, float]:
    """Return an attribute's most frequent value among lock waits, and its share of the waits."""
    shares: dict[str | None, float] = {}
    for blocker in blockers:
        word = getattr(blocker, name)
        shares[word] = shares.get(word, 0.0) + blocker.share
    whole = sum(shares.values())
    word = max(shares, key=lambda key: shares[key])
    return word, shares[word] / whole if whole else 0.0


def _first(blockers: Sequence[Blocker]) -> Sequence[Blocker]:
    return blockers[:SESSIONS_MAX]


def _is_idle(blocker: Blocker) -> bool:
    """Return True if the blocking client holds a transaction open but executes nothing."""
    return "idle" in (blocker.state or "").lower() or "sleep" in (blocker.state or "").lower()


def _holder_words(blocker: Blocker) -> str:
    """Return text on the session that holds a lock: client, state, age and statement."""
    age_s = blocker.transaction_s
    last = "last " if _is_idle(blocker) else ""
    facts = [
        blocker.application,
        blocker.state,
        None if age_s is None else f"its transaction open for {seconds_text(age_s)}",
        None
        if blocker.statement is None
        else f"{last}statement: {statement_text(blocker.statement)}",
    ]
    stated = [fact for fact in facts if fact]
    return f"session {blocker.session}" + (f" ({', '.join(stated)})" if stated else "")


def _seen_words(blocker: Blocker) -> Evidence:
    on = f" on {blocker.object}" if blocker.object else ""
    says = (
        f"{blocker.looks} samples waited for {_holder_words(blocker)}, "
        f"{percent_text(blocker.share)} of the waiting time{on}"
    )
    return Evidence(says, f"session:{blocker.session}")
