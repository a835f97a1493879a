"""Time in which operations waited for locks and latches, and the sessions that held them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.findings.case import names_text
from assay.analysis.findings.plans.plan_time import scaled
from assay.analysis.findings.waiting.waits import waited, waiting_evidence
from assay.model.finding import Evidence
from assay.model.units import count_text, percent_text, seconds_text

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
STATEMENT_MAX = 100
ROW = "row"
LOCK_TIMEOUT = "lock_timeout"
LOCK_SECONDS, LOCK_WAITS = "lock_wait_seconds", "lock_waits"


def find(case: Case) -> list[Finding]:
    """Return the larger of lock waits and latch waits, with the session that holds the lock."""
    case = case.with_measured(LOCK, LATCH)
    fractions = {name: waited(case, name) for name in (LOCK, LATCH)}
    name = max(fractions, key=lambda part: case.of_run(fractions[part]))
    if case.of_run(fractions[name]) < EFFECT_MIN:
        return []
    finding = _holder_finding(case, name, fractions[name])
    return [finding.of(f"waiting/{name}", saved=(0.0, finding.effect_share))]


def _holder_finding(case: Case, name: str, fractions: dict[str, float]) -> Finding:
    """Return the finding by the lock's holder: another client, the run itself, or unknown."""
    # If hardly any wait is classified as a lock wait, waits for row locks may look like latch
    # waits.
    is_lock = name == LOCK or case.of_run(case.part(LOCK)) < EFFECT_MIN
    seen = _seen(case) if is_lock else ()
    others = [blocker for blocker in seen if not blocker.own]
    of_others = sum(blocker.share for blocker in others)
    if others and of_others >= NAMED_SHARE:
        return _others_finding(case, name, scaled(fractions, of_others), others)
    if seen:
        own = [blocker for blocker in seen if blocker.own]
        return _own_finding(case, name, scaled(fractions, 1 - of_others), own)
    return _unknown_holder_finding(case, name, fractions)


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
        f"{_waiting_words(case, fractions)} for a lock{what} that another session holds:"
        f" {_holder_words(first)}{more}"
    )
    to_try = f"commit, roll back or end the transaction of session {first.session}"
    if first.application:
        to_try += f" in {first.application}"
    if _is_idle(first):
        to_try += ", and let no transaction stay open while its client does something else"
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
        what = f"a hot row of {thing}"
    by = f"; what waits is: {_short(statement)}" if statement else ""
    holders = "other such sessions" if case.is_observed else "sessions of the run itself"
    claim = f"{_waiting_words(case, fractions)} for {what} that {holders} hold{by}"
    fewer = "fewer sessions at once" if case.is_observed else "fewer --clients"
    to_try = f"{fewer}, or rows that fewer sessions share"
    if is_hot and mode == ROW and statement:
        to_try = (
            f"spread what is written to {thing} over several rows, or make this the last statement"
            f" before the commit: {_short(statement)}"
        )
    evidence = [*_where(case, fractions, name), *(_seen_words(blocker) for blocker in _first(own))]
    return case.finding(METHOD, claim, fractions, to_try=to_try, evidence=evidence)


def _unknown_holder_finding(case: Case, name: str, fractions: dict[str, float]) -> Finding:
    """Return the finding of locks whose holding session no sample showed."""
    timeout = case.setting(LOCK_TIMEOUT) if name == LOCK else None
    if timeout is not None and timeout.limits is not None:
        return _one_writer_finding(case, fractions, timeout)
    what = "latches" if name == LATCH else "locks"
    claim = f"{_waiting_words(case, fractions)} for {what} that others held"
    to_try = (
        "fewer sessions at once, or rows that fewer sessions share"
        if case.is_observed
        else "fewer --clients, or rows that fewer sessions share"
        if case.load is not None
        else "look for other sessions: operations of this run were asked one after another"
    )
    evidence = _where(case, fractions, name)
    return case.finding(METHOD, claim, fractions, to_try=to_try, evidence=evidence)


def _one_writer_finding(case: Case, fractions: dict[str, float], timeout: Setting) -> Finding:
    """Return the finding of writers that all wait for the database's only write lock."""
    alone = case.load is not None and case.load.load.clients == 1
    holder = "another process or connection" if alone else "another connection"
    claim = f"{_waiting_words(case, fractions)} for {timeout.limits}: {holder} held it"
    waited_s, waits = case.total(LOCK_SECONDS), case.total(LOCK_WAITS)
    evidence = _where(case, fractions, LOCK)
    if waited_s and waits:
        sentence = f"{count_text(waits)} waits for the lock, {seconds_text(waited_s)} in all"
        evidence.append(Evidence(sentence, f"counter:{LOCK_SECONDS}"))
    if timeout.value is not None:
        sentence = f"{timeout.text}: a connection that finds the lock held retries for that long"
        evidence.append(Evidence(sentence, f"setting:{timeout.name}"))
    to_try = "shorter transactions that write, and fewer connections that write"
    if alone:
        to_try = (
            "end or shorten the transactions of the other process that writes: this run has one"
            " session"
        )
    return case.finding(METHOD, claim, fractions, to_try=to_try, evidence=evidence)


def _waiting_words(case: Case, fractions: dict[str, float]) -> str:
    names = names_text(case.largest_first(fractions))
    return f"{percent_text(case.of_run(fractions))} of the time, most in {names}, was waiting"


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
    """Return a session in words: client, state, age and statement, if known."""
    age_s = blocker.transaction_s
    facts = [
        blocker.application,
        blocker.state,
        None if age_s is None else f"its transaction open for {seconds_text(age_s)}",
        None
        if blocker.statement is None
        else f"{'last ' if _is_idle(blocker) else ''}statement: {_short(blocker.statement)}",
    ]
    stated = [fact for fact in facts if fact]
    return f"session {blocker.session}" + (f" ({', '.join(stated)})" if stated else "")


def _seen_words(blocker: Blocker) -> Evidence:
    on = f" on {blocker.object}" if blocker.object else ""
    says = (
        f"{_holder_words(blocker)} was waited for in {blocker.looks} samples,"
        f" {percent_text(blocker.share)} of the waiting{on}"
    )
    return Evidence(says, f"session:{blocker.session}")


def _short(statement: str | None) -> str:
    text = " ".join((statement or "").split())
    return text if len(text) <= STATEMENT_MAX else f"{text[: STATEMENT_MAX - 1]}…"
