"""Findings of the same time as a cause have its key, and no advice of their own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from assay.analysis.findings.case import Case
from assay.analysis.findings.same_time import related
from assay.analysis.time.statement_times import OperationStatements, Tail
from assay.model.blocker import Blocker
from assay.model.finding import Advice, Finding
from tests.cases import RUN, case, operation

LOGGED = case(operation(log=0.5, cpu_user=0.5))


def finding(method: str, share: float = 0.45, part: str = "log", **facts: Any) -> Finding:
    made = Finding("It waits", share, None, (RUN,), method, to_try="a faster disk", part=part)
    advice = Advice("durability", "relaxed")
    facts = {"operations": ("q1",), "fractions": {"q1": share}, "advice": advice} | facts
    return replace(made, **facts)


@pytest.mark.parametrize("tells", ["cause", "shape"])
def test_waits_for_a_full_log_have_the_advice_of_the_full_log(tells: str) -> None:
    full = finding("log-full", shares_with=("stalls:q1",))
    log_full, stalls = related(LOGGED, [full, finding("stalls", tells=tells)])
    assert (log_full.shares_with, log_full.to_try) == ((), "a faster disk")
    assert stalls.shares_with == ("log-full:q1",)
    assert (stalls.to_try, stalls.advice) == (None, None)


def test_latches_of_sessions_that_write_pages_are_the_full_log() -> None:
    full = finding("log-full", part="waiting")
    latches = finding("lock-wait", part="waiting/latch")
    (_, lock_wait) = related(case(operation(latch=0.5, cpu_user=0.5)), [full, latches])
    assert lock_wait.shares_with == ("log-full:q1",)


@pytest.mark.parametrize(
    "others",
    [
        # Without a full log, with one of another operation, or with one that explains little.
        [],
        [finding("log-full", fractions={"q2": 0.5}, operations=("q2",))],
        [finding("log-full", 0.1)],
        # Rows are locked, and the log is another part of the time.
        [finding("log-full", part="waiting/paused")],
    ],
)
def test_other_waits_keep_their_advice(others: list[Finding]) -> None:
    (*_, stalls) = related(LOGGED, [*others, finding("stalls")])
    assert (stalls.shares_with, stalls.to_try) == ((), "a faster disk")


def locked(statement: str = "2 update ids", waiting: str | None = "update ids set n = 1") -> Case:
    tail = Tail(statement, 0.8, 0.01, 9, 0.02, 0.001, 0.04, 0.03)
    blocker = Blocker(7, True, 9, 1.0, "assay", "active", waiting_statement=waiting)
    times = {"q1": OperationStatements((), tail)}
    return case(operation(lock=0.6, cpu_user=0.4), statement_times=times, blockers=(blocker,))


@pytest.mark.parametrize(
    ("run_case", "count"),
    [
        (locked(), 1),
        (locked("2 commit"), 0),
        (locked("2 update orders"), 0),
        (locked(waiting=None), 0),
        (replace(locked(), statement_times={}), 0),
    ],
)
def test_the_tail_of_the_waiting_statement_is_the_lock(run_case: Case, count: int) -> None:
    wait = finding("lock-wait", part="waiting/lock")
    (_, tail) = related(run_case, [wait, finding("tail", tells="shape", part=None, share=0.03)])
    assert tail.shares_with == ("lock-wait:q1",) * count
    assert (tail.to_try is None) == bool(count)
