"""Sessions of the run wait for each other: which change ends it depends on what they lock."""

from __future__ import annotations

import pytest

from assay.analysis.findings.waiting import lock_wait
from assay.model.blocker import Blocker
from tests.cases import case, operation

HEAD = (
    "update jobs set taken = 1 where id = (select id from jobs where taken = 0 order by id limit 1"
)


def tried(statement: str, thing: str | None = "jobs", mode: str | None = "row") -> str:
    waiter = {"object": thing, "mode": mode, "waiting_statement": statement}
    own = tuple(Blocker(pid, True, 10, 0.5, "assay", "active", **waiter) for pid in (11, 12))
    (finding,) = lock_wait.find(case(operation(lock=0.5, cpu_user=0.5), blockers=own))
    return finding.to_try or ""


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (f"{HEAD} for update)", "for update skip locked"),
        (f"{HEAD} for no key update)", "for update skip locked"),
        (f"{HEAD} for update skip locked)", "make this the last statement before the commit"),
        # Later statements need the result of these, so they cannot come last.
        ("select id from jobs where id = 7 for update", "lock the row later"),
        ("update jobs set taken = 1 where id = 7 returning id", "lock the row later"),
        ("update jobs set id = last_insert_id(id + 1)", "take the ids from jobs in another way"),
        ("update jobs set n = n + 1 returning n", "take the ids from jobs in another way"),
        (
            "update counters set n = n + 1 where id = 7",
            "make this the last statement before the commit",
        ),
    ],
)
def test_who_takes_any_free_row_can_pass_over_locked_ones(statement: str, words: str) -> None:
    assert words in tried(statement)


@pytest.mark.parametrize(
    "statement", ["select pg_advisory_xact_lock(42)", "select get_lock('booking', 10)"]
)
def test_a_lock_by_number_or_name_belongs_to_no_row(statement: str) -> None:
    words = tried(statement, thing=None, mode="ExclusiveLock")
    assert "one lock for each thing" in words
    assert "rows" not in words
