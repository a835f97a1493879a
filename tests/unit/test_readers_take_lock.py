"""Transactions that only read, but take the lock for writing when they begin."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from assay.analysis.findings.waiting import lock_wait
from assay.analysis.time.statement_times import OperationStatements, StatementTimes
from tests.cases import case, operation
from tests.unit.test_one_client import load

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding

TIMEOUT = {"name": "busy_timeout", "limits": "the write lock of the file"}
SCOPE = {
    "name": "journal_mode",
    "limits": "the lock that commits and readers take",
    "cheaper": {"value": "wal", "but": "readers do not wait"},
}
READ, WRITE = "select total from days where day = 3", "insert into days values (3, 10)"


def times(begin_share: float) -> OperationStatements:
    empty = load().all_operations.service
    parts = (("1 begin", begin_share), ("2 select days", 1 - begin_share))
    return OperationStatements(
        tuple(StatementTimes(name, 9, 1.0, share, 1.0, empty) for name, share in parts), None
    )


def of(show: str, enter: str = f"begin immediate; {WRITE}; commit", **facts: Any) -> Case:
    """Clients that wait for the file's lock for half of the time; most operations are `show`."""
    waits = {"lock": 0.5, "cpu_user": 0.5}
    given = {
        "advice": {"settings": {"lock_timeout": TIMEOUT, "lock_scope": SCOPE}},
        "settings": {"busy_timeout": "5000", "journal_mode": "wal"},
        "statements": {"show": show, "enter": enter},
        "load": load(),
    }
    both = (operation("show", 0.7, **waits), operation("enter", 0.3, **waits))
    return case(*both, **given | facts)


def finding_of(of_case: Case) -> Finding:
    (finding,) = lock_wait.find(of_case)
    return finding


@pytest.mark.parametrize("begin", ["begin immediate", "BEGIN EXCLUSIVE TRANSACTION"])
@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_readers_that_take_the_write_lock_are_named(begin: str, journal: str) -> None:
    settings = {"busy_timeout": "5000", "journal_mode": journal}
    finding = finding_of(
        of(f"{begin}; {READ}; commit", settings=settings, statement_times={"show": times(0.5)})
    )
    words = " ".join(begin.lower().split()[:2])
    assert f"transactions of show take it by `{words}`, but change nothing" in finding.claim
    assert f"`begin` instead of `{words}` in show" in (finding.to_try or "")
    assert finding.advice is not None
    assert finding.advice.kind == "one-client"
    says = [evidence.says for evidence in finding.evidence]
    assert "50 % of the time of show is in its `begin`" in says


IMMEDIATE = f"begin immediate; {READ}; commit"


@pytest.mark.parametrize(
    "twin",
    [
        of(f"begin; {READ}; commit"),
        of(f"begin deferred; {READ}; commit"),
        of(READ),
        # It reads first what it changes then, so it needs the lock.
        of(f"begin immediate; {READ}; {WRITE}; commit"),
        of("begin immediate; delete from days returning day; commit"),
        # Its statements are not known.
        of(IMMEDIATE, statements={}),
        # It waits for the lock for nearly all of its time, and others hold it.
        of(IMMEDIATE, statement_times={"show": times(0.9)}),
        replace(of(IMMEDIATE), load=load(clients=1)),
    ],
)
def test_transactions_that_write_and_plain_readers_are_not(twin: Case) -> None:
    finding = finding_of(twin)
    assert "change nothing" not in finding.claim
    assert "`begin` instead of" not in (finding.to_try or "")
