"""Transactions that notify wait for each other to commit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from assay.analysis.findings.judging import judged
from assay.analysis.findings.programs import triggers
from assay.analysis.findings.waiting import lock_wait
from assay.analysis.findings.waiting.notifications import QUEUE
from assay.engines.discovery import find_engine
from assay.model.blocker import Blocker
from assay.model.catalogue import Notifier
from assay.model.plan import Trigger
from tests.cases import case, node, operation, plan, plans

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding

TEXT = "insert into messages (room, body) values ($1, $2)"
TOLD = Notifier("tell_room", "messages", "told")


def waiting(
    text: str = TEXT, thing: str | None = QUEUE, fired: str = "told", **fields: Any
) -> Case:
    session = {"object": thing, "mode": "AccessExclusiveLock", "waiting_statement": text}
    own = tuple(Blocker(pid, True, 5, 0.5, "assay", "active", **session) for pid in (11, 12))
    change = plan(node("modify", object="messages", seconds=0.1), text=text)
    change = replace(change, triggers=(Trigger(fired, "messages", 0.05, 1.0),))
    # Commits, which hold the lock, wait for the log.
    split = operation(overrides={"seconds": 1.0}, lock=0.7, log=0.2, cpu_user=0.1)
    known = {"blockers": own, "plans": plans(change), "statements": {"q1": text}}
    return case(split, **known | fields)


def found(*arguments: Any, **fields: Any) -> Finding:
    run_case = waiting(*arguments, **fields)
    (finding,) = judged(run_case, lock_wait.find(run_case)).findings
    return finding


def test_the_lock_is_seen_even_if_commits_wait_for_the_log() -> None:
    finding = found()
    assert finding.certainty == "seen"
    assert "the lock of the queue of notifications" in finding.claim
    assert finding.claim.endswith("such transactions commit one after another")
    assert (finding.to_try or "").startswith("notify in fewer transactions")
    assert "weaker lock" not in (finding.to_try or "")
    assert finding.advice is None


def test_the_trigger_that_notifies_is_named_and_switched_off() -> None:
    finding = found(notifiers=(TOLD, Notifier("tell_all")))
    assert finding.claim.endswith("; trigger told on messages notifies")
    assert "catalogue" in finding.witnesses
    assert finding.advice is not None
    assert (finding.advice.kind, finding.advice.subject) == ("trigger", "told")
    assert finding.advice.values == {"table": "messages"}
    assert "switches the trigger off" in (finding.to_try or "")


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("select pg_notify('rooms', $1)", "; a statement of q1 notifies"),
        ("NOTIFY rooms, 'open'", "; a statement of q1 notifies"),
        ("select tell_room($1)", "; q1 calls tell_room, which notifies"),
        ("-- pg_notify('rooms')\nselect told($1)", "commit one after another"),
    ],
)
def test_a_statement_that_notifies_is_named(text: str, ends: str) -> None:
    finding = found(text, notifiers=(Notifier("tell_room"),))
    assert finding.claim.endswith(ends)
    assert finding.advice is None


def test_a_trigger_that_does_not_notify_is_not_named() -> None:
    finding = found(fired="stamped", notifiers=(TOLD,))
    assert "trigger" not in finding.claim
    assert finding.advice is None


@pytest.mark.parametrize("thing", ["messages", None])
def test_a_wait_for_another_lock_is_not_for_notifications(thing: str | None) -> None:
    finding = found(thing=thing, notifiers=(TOLD,))
    assert "notif" not in finding.claim + (finding.to_try or "")
    assert finding.certainty == "suspected"


def test_the_engine_names_the_queue_as_the_finding_does() -> None:
    folder = find_engine("postgresql").folder
    assert f"'{QUEUE}'" in (folder / "conf/activity.sql").read_text(encoding="utf-8")


@pytest.mark.parametrize(("calls", "words"), [(1.0, "for 1 call in"), (3.0, "for 3 calls in")])
def test_one_call_is_no_plural(calls: float, words: str) -> None:
    change = plan(node("modify", seconds=0.1))
    fired = replace(change, triggers=(Trigger("told", "messages", 0.05, calls),))
    (finding,) = triggers.find(case(operation(), plans=plans(fired)))
    assert words in finding.claim
