"""Finds time lost to deadlocks: sessions that wait for each other, and repeated transactions.

An engine that looks for deadlocks only after a while leaves the sessions of each one waiting, and
the sessions behind them. An engine that finds them at once rolls one transaction back, which is
then repeated.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.analysis.findings.operation_shares import names_text
from assay.analysis.findings.plans.plan_time import scaled
from assay.analysis.findings.waiting.isolation import locking_level
from assay.analysis.findings.waiting.waits import (
    one_client_advice,
    statement_text,
    waited,
    waiting_evidence,
    waiting_words,
    with_one_client,
)
from assay.model.finding import Evidence
from assay.model.units import count_text, percent_text, seconds_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.analysis.findings.case import Case
    from assay.analysis.load.attempts import FailedAttempts
    from assay.model.finding import Finding

METHOD = "deadlocks"
LOCK = "lock"
EFFECT_MIN = 0.05
# Deadlocks with this share of all lock waits are their cause.
MOST = 0.5
# Fewer samples of waiting sessions do not show what they wait for.
LOOKS_MIN = 3
NAMED_OPERATIONS = STATEMENTS_MAX = 3
# The engine's count of deadlocks.
DEADLOCKS = "deadlocks"
# Role of the setting after whose time the engine looks for deadlocks.
DEADLOCK_TIMEOUT = "deadlock_timeout"
# Classes of errors: a deadlock, and a transaction that was rolled back because of others. Engines
# without the first class report deadlocks by the second.
DEADLOCK, ROLLED_BACK = "40P01", "40001"
ONE_ORDER = (
    "lock the rows in one order in all transactions, such as sorted by their keys: each "
    "transaction changes them in this order, or locks all of them first (`order by` their key "
    "`for update`)"
)
# Two transactions that both lock a row for reading wait for each other to change it.
_SHARED = re.compile(
    r"\bfor\s+(?:key\s+)?share\b|\block\s+in\s+share\s+mode\b", re.IGNORECASE | re.DOTALL
)
AT_ONCE = "lock with `for update` instead of a shared lock what the transaction changes later"
NO_ERRORS = "read the server's log of deadlocks: errors of the sessions were not recorded"


@dataclass(frozen=True)
class Deadlocks:
    """The deadlocks of a run's measured part.

    Attributes:
        count: Number of deadlocks.
        attempts: Attempts of operations that ended in a deadlock, by operation.
        waits: Share of the samples of waiting sessions that waited in a deadlock, or behind one.
    """

    count: int
    attempts: Mapping[str, FailedAttempts]
    waits: float


def find(case: Case) -> list[Finding]:
    """Return a finding of deadlocks that sessions wait in, or that transactions are repeated for.

    Only the longer of both times counts, because a repeated transaction has waited, too.
    """
    deadlocks = deadlocks_of(case)
    if not deadlocks.count:
        return []
    if explain_waits(case):
        waiting = case.with_measured(LOCK)
        fractions = scaled(waited(waiting, LOCK), deadlocks.waits)
        if waiting.of_run(fractions) < EFFECT_MIN:
            return []
        return [_waiting_finding(waiting, deadlocks, fractions)]
    fractions = _shares(deadlocks.attempts)
    if case.of_run(fractions) < EFFECT_MIN:
        return []
    return [_repeated_finding(case, deadlocks, fractions)]


def deadlocks_of(case: Case) -> Deadlocks:
    """Return the deadlocks of a run, as its errors and the engine's counter show them."""
    counted = case.total(DEADLOCKS)
    attempts = _attempts(case, DEADLOCK)
    if not attempts:
        attempts = _attempts(case, ROLLED_BACK)
        failed = sum(failures.count for failures in attempts.values())
        # Transactions are rolled back for other reasons, too, such as serialization failures.
        if (counted or 0) < MOST * failed:
            attempts = {}
    failed = sum(failures.count for failures in attempts.values())
    seen = case.blockers or ()
    enough = sum(blocker.looks for blocker in seen) >= LOOKS_MIN
    waits = sum(blocker.deadlocked for blocker in seen) if enough else 0.0
    return Deadlocks(failed or round(counted or 0), attempts, waits)


def explain_waits(case: Case) -> bool:
    """Return True if sessions waited for locks mostly in deadlocks or behind them."""
    deadlocks = deadlocks_of(case)
    return deadlocks.count > 0 and deadlocks.waits >= MOST and _can_take_so_long(case, deadlocks)


def are_repeated_for(case: Case, share: float) -> bool:
    """Return True if attempts that deadlocks ended took half of a share of the run's time or more.

    Args:
        case: The run.
        share: The share, 0 to 1, such as the waits for locks.
    """
    attempts = deadlocks_of(case).attempts
    return bool(attempts) and case.of_run(_shares(attempts)) >= MOST * share


def _shares(attempts: Mapping[str, FailedAttempts]) -> dict[str, float]:
    return {operation: failures.share for operation, failures in attempts.items()}


def _attempts(case: Case, error: str) -> dict[str, FailedAttempts]:
    return {
        operation: by_class[error]
        for operation, by_class in case.attempts.items()
        if error in by_class
    }


def _can_take_so_long(case: Case, deadlocks: Deadlocks) -> bool:
    """Return False if all sessions together cannot have waited so long in so few deadlocks.

    A sample of the waiting sessions is not read at one moment, so it can show a circle of sessions
    that was none.
    """
    load = case.load
    if load is None or not deadlocks.attempts:
        return True
    clients, window = load.load.clients or 0, load.window
    longest_s = max(attempts.typical_s for attempts in deadlocks.attempts.values())
    waited_s = case.of_run(case.part(LOCK)) * clients * window.seconds
    return deadlocks.count * longest_s * clients >= MOST * deadlocks.waits * waited_s


def _waiting_finding(case: Case, deadlocks: Deadlocks, fractions: dict[str, float]) -> Finding:
    """Return the finding of sessions that wait in deadlocks until the engine looks for them."""
    on = _objects(case)
    claim = (
        f"Deadlocks: transactions wait for each other's locks{on}; "
        f"{waiting_words(case, fractions)} in {_count(deadlocks)} or behind them"
    )
    evidence = [*waiting_evidence(case, fractions, (LOCK,)), *_evidence(case, deadlocks)]
    sentence = (
        f"{percent_text(deadlocks.waits)} of the waiting sessions in samples waited in a circle of "
        "sessions or behind one"
    )
    evidence.append(Evidence(sentence, "session:deadlocks"))
    evidence += _statements(case)
    made = _made(case, claim, fractions, evidence, deadlocks)
    settle = None if deadlocks.attempts else NO_ERRORS
    return replace(made, settle=settle).of(f"waiting/{LOCK}", saved=(0.0, made.effect_share))


def _repeated_finding(case: Case, deadlocks: Deadlocks, fractions: dict[str, float]) -> Finding:
    """Return the finding of transactions that deadlocks roll back, and sessions repeat."""
    names = names_text(case.largest_first(fractions)[:NAMED_OPERATIONS])
    claim = (
        f"Deadlocks: transactions wait for each other's locks{_objects(case)}, and one is rolled "
        f"back; {percent_text(case.of_run(fractions))} of the time, most in {names}, was spent in "
        f"{_count(deadlocks)} with the attempts that they ended"
    )
    made = _made(case, claim, fractions, _evidence(case, deadlocks), deadlocks)
    return replace(made, saved=(0.0, made.effect_share))


def _made(
    case: Case,
    claim: str,
    fractions: dict[str, float],
    evidence: list[Evidence],
    deadlocks: Deadlocks,
) -> Finding:
    """Return the finding with the advice to lock rows in one order, and its experiment."""
    advice = one_client_advice(case, case.of_run(fractions))
    texts = [case.statements.get(name, "") for name in deadlocks.attempts or fractions]
    shared = any(_SHARED.search(text) for text in texts) or locking_level(case) is not None
    to_try = f"{ONE_ORDER}, and {AT_ONCE}" if shared else ONE_ORDER
    if advice is not None:
        to_try = with_one_client(case, METHOD, fractions, to_try)
    return case.finding(METHOD, claim, fractions, to_try=to_try, evidence=evidence, advice=advice)


def _count(deadlocks: Deadlocks) -> str:
    return f"{count_text(deadlocks.count)} deadlock{'' if deadlocks.count == 1 else 's'}"


def _objects(case: Case) -> str:
    """Return text on the table with most of the waits in deadlocks; empty if not known."""
    shares: dict[str, float] = {}
    for blocker in case.blockers or ():
        if blocker.object is not None and blocker.deadlocked:
            shares[blocker.object] = shares.get(blocker.object, 0.0) + blocker.deadlocked
    return f" on {max(shares, key=lambda name: shares[name])}" if shares else ""


def _evidence(case: Case, deadlocks: Deadlocks) -> list[Evidence]:
    """Return the counted deadlocks, the attempts that they ended, and the time to find them."""
    evidence = []
    if counted := case.total(DEADLOCKS):
        sentence = f"the engine counted {count_text(round(counted))} deadlocks"
        evidence.append(Evidence(sentence, f"counter:{DEADLOCKS}"))
    for name, attempts in list(deadlocks.attempts.items())[:NAMED_OPERATIONS]:
        sentence = (
            f"{count_text(attempts.count)} attempts of {name} ended in a deadlock"
            f"{_at_statement(attempts)}, each after {seconds_text(attempts.typical_s)} (median)"
        )
        evidence.append(Evidence(sentence, f"statements:{name}"))
    timeout = case.setting(DEADLOCK_TIMEOUT)
    if timeout is not None:
        sentence = f"{timeout.text}: {timeout.limits}"
        evidence.append(Evidence(sentence, f"setting:{timeout.name}"))
    return evidence


def _at_statement(attempts: FailedAttempts) -> str:
    return "" if attempts.statement is None else f", most at statement {attempts.statement}"


def _statements(case: Case) -> list[Evidence]:
    """Return the statements that waited for each other in deadlocks."""
    texts = [
        statement
        for blocker in case.blockers or ()
        if blocker.deadlocked
        for statement in (blocker.waiting_statement, blocker.statement)
        if statement
    ]
    return [
        Evidence(f"a statement of the deadlocks: {statement_text(text)}", "session:statement")
        for text in list(dict.fromkeys(texts))[:STATEMENTS_MAX]
    ]
