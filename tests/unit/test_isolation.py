"""Plain reads that lock rows because of the isolation level, and reads and locks of other kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from assay.analysis.findings.waiting import deadlocks, lock_wait
from assay.analysis.findings.waiting.isolation import LOWER
from assay.analysis.load.attempts import FailedAttempts
from assay.engines.discovery import find_engine
from assay.model.blocker import Blocker
from tests.cases import case, operation

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding

READ = "select sum(places) from seats where flight = 7"
CHANGE = "update seats set taken = 1 where flight = 7 and place = 3"
LEVEL = {
    "name": "level",
    "effective": "level_in_force",
    "limits": "a plain select locks its rows",
    "cheaper": {"value": "REPEATABLE", "but": "others may change them", "alike": ["COMMITTED"]},
}
STRICT, LOOSE, LOWEST = ({"level": value} for value in ("STRICT", "repeatable", "Committed"))


def seen(waiting: str, holding: str = CHANGE, mode: str = "row") -> tuple[Blocker, ...]:
    words = {"object": "seats", "mode": mode, "statement": holding, "waiting_statement": waiting}
    return tuple(Blocker(pid, True, 10, 0.5, "assay", "active", **words) for pid in (11, 12))


def of(
    blockers: tuple[Blocker, ...],
    settings: dict[str, str] = STRICT,
    text: str | None = None,
    **facts: Any,
) -> Case:
    """A run that waits for locks for half of its time."""
    return case(
        operation(lock=0.5, cpu_user=0.5),
        blockers=blockers,
        settings=settings,
        advice={"settings": {"isolation": LEVEL}},
        statements={} if text is None else {"q1": text},
        **facts,
    )


def finding_of(of_case: Case) -> Finding:
    (finding,) = lock_wait.find(of_case)
    return finding


@pytest.mark.parametrize("settings", [STRICT, {"level_in_force": "STRICT"}])
@pytest.mark.parametrize(
    "statement",
    [READ, f"/* flights */ {READ}", "with a as (select 1) table a", "table seats"],
)
def test_a_plain_read_that_waits_for_a_row_is_due_to_the_level(
    statement: str, settings: dict[str, str]
) -> None:
    finding = finding_of(of(seen(statement), settings))
    assert "locked rows of seats, because at level = STRICT, a plain select" in finding.claim
    assert "level = REPEATABLE: others may change them" in (finding.to_try or "")
    assert "last statement before the commit" not in (finding.to_try or "")
    assert finding.advice is not None
    assert (finding.advice.kind, finding.advice.subject) == ("named-setting", "level")
    assert finding.advice.values == {"value": "REPEATABLE"}
    assert finding.settle is None


def test_a_change_that_waits_for_a_session_that_read_is_suspected() -> None:
    finding = finding_of(of(seen(CHANGE, READ)))
    assert "because at level = STRICT" in finding.claim
    assert finding.settle == LOWER


def test_an_operation_that_only_reads_and_waits_for_locks_is_suspected_without_samples() -> None:
    finding = finding_of(of((), text=f"begin; {READ}; commit;"))
    assert "because at level = STRICT" in finding.claim
    assert finding.settle == LOWER
    assert "statement:q1" in {evidence.at for evidence in finding.evidence}


@pytest.mark.parametrize(
    "twin",
    [
        of(seen(READ), LOOSE),
        of(seen(READ), LOWEST),
        of(seen(READ), {}),
        of(seen(CHANGE)),
        of(seen(f"{READ} for update")),
        of(seen(f"{READ} for share")),
        of(seen(f"{READ} lock in share mode")),
        of(seen("select get_lock('flight', 5)")),
        of(seen(f"insert into total {READ}")),
        # A lock of the table, not of rows.
        of(seen(READ, mode="SHARED_READ")),
        of(seen(READ), text=f"set transaction isolation level repeatable read; {READ}"),
        of((), text=f"begin; {READ}; {CHANGE}; commit;"),
        of((), text=f"begin; {READ} for update; commit;"),
        of((), LOOSE, text=f"begin; {READ}; commit;"),
        of(()),
    ],
)
def test_other_waits_are_not_due_to_the_level(twin: Case) -> None:
    finding = finding_of(twin)
    assert "because at level" not in finding.claim
    assert finding.advice is None


def test_a_deadlock_of_rows_read_first_is_ended_by_a_lock_for_update() -> None:
    attempts = {"q1": {"40001": FailedAttempts(50, 0.3, 0.004, 3)}}
    counters = {"counters": [{"name": "deadlocks", "total": 50}]}
    facts: dict[str, Any] = {"attempts": attempts, "counters": counters}
    (strict,) = deadlocks.find(of(seen(CHANGE), **facts))
    assert deadlocks.AT_ONCE in (strict.to_try or "")
    (loose,) = deadlocks.find(of(seen(CHANGE), LOOSE, **facts))
    assert deadlocks.AT_ONCE not in (loose.to_try or "")


@pytest.mark.parametrize(
    ("engine", "reported"), [("mysql", "transaction_isolation"), ("mariadb", "tx_isolation")]
)
def test_engines_whose_plain_reads_can_lock_declare_the_level(engine: str, reported: str) -> None:
    facts: dict[str, Any] = find_engine(engine).advice()
    strict = case(operation(), advice=facts, settings={reported: "SERIALIZABLE"})
    level = strict.setting("isolation")
    assert level is not None
    assert (level.value, level.cheaper) == ("SERIALIZABLE", "REPEATABLE-READ")
