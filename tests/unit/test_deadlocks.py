"""Deadlocks: sessions that wait for each other, and transactions that are repeated for them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from assay.analysis.findings.waiting import deadlocks, lock_wait
from assay.analysis.load.attempts import FailedAttempts
from assay.analysis.load.latency import Window
from assay.model.blocker import Blocker
from tests.cases import case, operation
from tests.unit.test_one_client import load

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case

PAY = "update accounts set amount = amount + 1 where id = 7"
SECOND_NS = 1_000_000_000


def counted(count: float) -> dict[str, Any]:
    return {"counters": [{"name": "deadlocks", "total": count}]}


def sessions(circular: float) -> tuple[Blocker, ...]:
    """Two sessions of the run that were waited for, so much of it in circles."""
    words = {"object": "accounts", "mode": "row", "statement": PAY, "waiting_statement": PAY}
    return tuple(Blocker(pid, True, 20, 0.5, deadlocked=circular / 2, **words) for pid in (11, 12))


def waiting(circular: float = 0.9, count: int = 8, **facts: Any) -> Case:
    """Eight clients that wait for locks for 80 % of ten seconds; deadlocks last a second."""
    attempts = {"q1": {"40P01": FailedAttempts(count, 0.1, 1.0, 3)}} if count else {}
    clients = replace(load(clients=8), window=Window(0, 10 * SECOND_NS))
    given = {"attempts": attempts, "blockers": sessions(circular), "load": clients}
    return case(operation(lock=0.8, cpu_user=0.2), **given | facts)


def repeated(error: str, share: float, *, counter: float | None, lock: float = 0.1) -> Case:
    """Attempts that failed at once with an error, and took a share of the operation's time."""
    return case(
        operation(lock=lock, cpu_user=1 - lock),
        attempts={"q1": {error: FailedAttempts(900, share, 0.004, 2)}},
        blockers=sessions(0.0),
        **({} if counter is None else {"counters": counted(counter)}),
    )


def test_sessions_wait_in_deadlocks_until_the_engine_looks_for_them() -> None:
    (finding,) = deadlocks.find(waiting(counters=counted(8)))
    assert finding.effect_share == pytest.approx(0.72)
    assert "wait for each other's locks on accounts" in finding.claim
    assert "8 deadlocks" in finding.claim
    assert "in one order" in (finding.to_try or "")
    says = " ".join(evidence.says for evidence in finding.evidence)
    assert "8 attempts of q1 ended in a deadlock, most at statement 3, each after 1.00 s" in says
    assert PAY in says
    assert finding.settle is None
    assert finding.advice is not None
    assert finding.advice.kind == "one-client"
    assert lock_wait.find(waiting()) == []


def test_the_setting_of_the_time_to_find_one_is_evidence() -> None:
    setting = {"name": "patience", "limits": "the server looks for deadlocks after it"}
    facts = {"advice": {"settings": {"deadlock_timeout": setting}}, "settings": {"patience": "1s"}}
    (finding,) = deadlocks.find(waiting(**facts))
    assert "patience 1s: the server looks for deadlocks after it" in [
        evidence.says for evidence in finding.evidence
    ]


def test_a_count_alone_is_suspected() -> None:
    (finding,) = deadlocks.find(waiting(count=0, counters=counted(8), load=None))
    assert finding.settle == deadlocks.NO_ERRORS


@pytest.mark.parametrize(
    "twin",
    [
        waiting(circular=0.0),
        waiting(circular=0.3),
        # Samples that show circles, although nothing ended in a deadlock.
        waiting(count=0),
        waiting(count=0, counters=counted(0)),
        # One deadlock cannot keep eight sessions waiting for most of ten seconds.
        waiting(count=1),
    ],
    ids=["a hot row", "few in circles", "no deadlock", "none counted", "too few"],
)
def test_other_waits_for_locks_are_no_deadlocks(twin: Case) -> None:
    found = deadlocks.find(twin)
    assert all("attempts that they ended" in finding.claim for finding in found)
    (finding,) = lock_wait.find(twin)
    assert "make this the last statement before the commit" in (finding.to_try or "")


@pytest.mark.parametrize(("error", "counter"), [("40P01", None), ("40001", 900), ("40001", 700)])
def test_transactions_that_deadlocks_ended_are_repeated(error: str, counter: float | None) -> None:
    (finding,) = deadlocks.find(repeated(error, 0.4, counter=counter))
    assert finding.effect_share == pytest.approx(0.4)
    assert "900 deadlocks with the attempts that they ended" in finding.claim
    assert "in one order" in (finding.to_try or "")
    (wait,) = lock_wait.find(repeated(error, 0.4, counter=counter))
    assert "in one order" in (wait.to_try or "")


@pytest.mark.parametrize(
    "twin",
    [
        repeated("40001", 0.4, counter=0),
        repeated("40001", 0.4, counter=3),
        repeated("40001", 0.4, counter=None),
        repeated("HY000", 0.4, counter=0),
        repeated("40P01", 0.02, counter=900),
    ],
    ids=["serialization", "few of them", "not counted", "time-out", "short attempts"],
)
def test_other_failures_and_few_deadlocks_are_silent(twin: Case) -> None:
    assert deadlocks.find(twin) == []
    (wait,) = lock_wait.find(twin)
    assert "make this the last statement before the commit" in (wait.to_try or "")


def test_shared_locks_that_become_exclusive_are_taken_for_update() -> None:
    read = "begin; select amount from accounts where id = 7 for share; update accounts set n = 1"
    (finding,) = deadlocks.find(waiting(statements={"q1": read}))
    assert deadlocks.AT_ONCE in (finding.to_try or "")
    (finding,) = deadlocks.find(waiting(statements={"q1": PAY}))
    assert deadlocks.AT_ONCE not in (finding.to_try or "")
