"""However refresh functions and queries lie in time, a query's states are those of its time."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from assay.analysis.answers.states import Refresh
from tests.unit.test_states import executions, frame, function, query

# Milliseconds; commits are looked for at every half of them.
LENGTHS = st.integers(1, 6)
GAPS = st.integers(0, 4)


@st.composite
def histories(draw: st.DrawFn) -> tuple[int, list[dict[str, Any]]]:
    """Refresh functions one after another, all of which succeeded."""
    batches, now, events = draw(st.integers(1, 4)), draw(GAPS), []
    for number in range(draw(st.integers(0, 6))):
        took = draw(LENGTHS)
        events.append(function(("in", "out")[number % 2], 1 + number // 2, now, now + took))
        now += took + draw(GAPS)
    return batches, events


def current(events: list[dict[str, Any]], batches: int, at_ms: float) -> set[int]:
    """States that may be current at a moment that is no event's."""
    at_ns = at_ms * 1e6
    over = sum(event["finished_ns"] < at_ns for event in events)
    under_way = any(event["started_ns"] < at_ns < event["finished_ns"] for event in events)
    least = over * batches
    return set(range(least, least + (batches if under_way else 0) + 1))


@settings(max_examples=200, deadline=None)
@given(histories(), st.lists(st.tuples(st.integers(0, 60), LENGTHS), min_size=1, max_size=8))
def test_they_are_all_that_were_current_at_some_moment(
    history: tuple[int, list[dict[str, Any]]], asked: list[tuple[int, int]]
) -> None:
    batches, events = history
    queries = [query(begun, begun + took) for begun, took in asked]
    refresh = Refresh("in", "out", batches, many=False)
    execution_frame = executions(frame(*events, *queries), refresh)
    for row in execution_frame.iter_rows(named=True):
        first_ms, last_ms = row["started_ns"] // 10**6, row["finished_ns"] // 10**6
        moments = [half / 2 for half in range(2 * first_ms + 1, 2 * last_ms, 2)]
        expected = set().union(*(current(events, batches, moment) for moment in moments))
        assert set(range(row["state_first"], row["state_last"] + 1)) == expected
        assert row["state_likely"] in expected


@settings(max_examples=100, deadline=None)
@given(histories(), st.integers(0, 5), st.tuples(st.integers(0, 60), LENGTHS))
def test_a_failure_never_narrows_them(
    history: tuple[int, list[dict[str, Any]]], broken: int, asked: tuple[int, int]
) -> None:
    batches, events = history
    refresh = Refresh("in", "out", batches, many=False)
    query_facts = query(asked[0], sum(asked))
    if broken >= len(events):
        return
    before = executions(frame(*events, query_facts), refresh).row(0, named=True)
    events = [*events[:broken], events[broken] | {"outcome": "failed"}, *events[broken + 1 :]]
    after = executions(frame(*events, query_facts), refresh).row(0, named=True)
    if after["state_first"] is not None:
        assert after["state_first"] <= before["state_first"]
        assert after["state_last"] >= before["state_last"]
