"""What readers of plans do with statements that a program asks, whichever the engine."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from assay.engines.plan_reading import PlanAnswer, PlanAsked, PlaysPrograms

PUT = "insert into parent values ($1, $2)"
# In the order of asking: what is put in is found afterwards, once.
ASKED = [
    PlanAsked("begin", [], explained=True),
    PlanAsked(PUT, [7001, "y"], explained=True),
    PlanAsked("delete from parent where id = $1", [7001], explained=True),
    PlanAsked(PUT, [7002, "it's"], explained=False),
    PlanAsked("select id, id + 0.50 from parent where id = $1", [7002], explained=True),
    PlanAsked("commit", [], explained=True),
]


def assert_played_and_undone(reader: Any) -> list[PlanAnswer]:
    """Plays `ASKED`; closes the reader. The answers."""
    assert isinstance(reader, PlaysPrograms)
    answers = list(reader.play(ASKED, 5.0))
    begun, put, gone, again, answer, ended = answers
    assert all(plan_answer.error is None for plan_answer in answers), answers
    for steering in (begun, ended):
        assert steering.explained is not None
        assert "transaction" in str(steering.explained.reason)
    assert (put.count, gone.count, again.count, again.explained) == (1, 1, 1, None)
    assert [list(row) for row in answer.rows] == [[7002, Decimal("7002.50")]]
    for explanation in (put.explained, gone.explained, answer.explained):
        assert explanation is not None
        assert explanation.native is not None
    # Nothing of it is left, and what cannot be executed is an error.
    left, wrong = reader.play(
        [
            PlanAsked("select count(*) from parent where id > $1", [7000], explained=False),
            PlanAsked("select nonsense", [], explained=False),
        ],
        5.0,
    )
    assert [list(row) for row in left.rows] == [[0]]
    assert "nonsense" in str(wrong.error)
    reader.close()
    return answers
