"""Who was waited for: the session at the root of waiting, with its part of all of it."""

from __future__ import annotations

from typing import Any

import pytest

from assay.analysis.server.blockers import blockers
from assay.model.blocker import Blocked


def row(time_ns: int, waiting: int, blocker: int, **facts: Any) -> dict[str, Any]:
    return {"time_ns": time_ns, **Blocked(waiting, blocker, **facts).facts()}


def test_what_a_waiting_session_blocks_is_put_down_to_whom_it_waits_for() -> None:
    rows = [row(1, 11, 99, state="idle in transaction"), row(1, 12, 11), row(1, 13, 12)]
    (only,) = blockers(rows, {11, 12, 13})
    assert (only.session, only.own, only.looks, only.share) == (99, False, 1, 1.0)
    assert only.state == "idle in transaction"


def test_each_waiting_session_of_a_look_counts_once() -> None:
    rows = [row(1, 11, 99), row(1, 12, 99), row(2, 11, 12), row(3, 11, 98), row(3, 11, 99)]
    first, *others = blockers(rows, {11, 12})
    assert (first.session, first.looks, first.share) == (99, 2, 2.5 / 4)
    assert {other.session: (other.own, other.share) for other in others} == {
        12: (True, 0.25),
        98: (False, 0.125),
    }


def test_the_greatest_age_and_the_words_that_were_seen_most_are_kept() -> None:
    rows = [
        row(1, 11, 99, transaction_s=1.0, object="accounts", mode="row"),
        row(2, 11, 99, transaction_s=2.5, object="accounts", mode="row"),
        row(3, 11, 99, transaction_s=0.5, object="tellers"),
    ]
    (only,) = blockers(rows, set())
    assert only.transaction_s == pytest.approx(2.5)
    assert (only.object, only.mode, only.statement) == ("accounts", "row", None)


def test_a_deadlock_has_no_root_and_is_told_by_its_members() -> None:
    deadlocked = blockers([row(1, 11, 12), row(1, 12, 11)], {11, 12})
    assert {(blocker.session, blocker.share) for blocker in deadlocked} == {(11, 0.5), (12, 0.5)}
    assert [blocker.deadlocked for blocker in deadlocked] == [0.5, 0.5]


def test_what_waits_behind_a_deadlock_waits_for_it_and_other_waits_do_not() -> None:
    behind = [row(1, 11, 12), row(1, 12, 11), row(1, 13, 11), row(1, 14, 13)]
    found = blockers([*behind, row(2, 11, 99), row(2, 12, 11)], {11, 12, 13, 14})
    assert sum(blocker.deadlocked for blocker in found) == pytest.approx(4 / 6)
    assert {blocker.session: blocker.deadlocked for blocker in found}[99] == 0


def test_nobody_was_waited_for() -> None:
    assert blockers([], {1}) == ()
