"""Which states of the data an execution can have seen, by the times of the refresh functions."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from assay.analysis.answers.states import Refresh, distinct, executions
from tests.conftest import MS, an_event, stream_table

TEST = {"refresh": {"insert": "in", "delete": "out", "batches": 1, "sets": 2}}


def refresh(batches: int = 1) -> Refresh:
    test_refresh = Refresh.of({"refresh": TEST["refresh"] | {"batches": batches}})
    assert test_refresh is not None
    return test_refresh


def frame(*events: dict[str, Any]) -> pl.DataFrame:
    numbered = [event | {"sequence": number} for number, event in enumerate(events)]
    event_frame = pl.from_arrow(stream_table("events", numbered))
    assert isinstance(event_frame, pl.DataFrame)
    return event_frame


def function(name: str, set_number: int, begun: int, ended: int, **other: Any) -> dict[str, Any]:
    """A refresh function from one millisecond to another."""
    about = {"variant": set_number, "session": 2, "digest": None, "rows": None}
    return an_event(0, name, begun * MS, ended - begun, **about) | other


def query(begun: int, ended: int, **other: Any) -> dict[str, Any]:
    return an_event(0, "q", begun * MS, ended - begun, session=1) | other


def seen(*events: dict[str, Any], batches: int = 1) -> list[tuple[int | None, int | None]]:
    execution_frame = executions(frame(*events), refresh(batches))
    return list(execution_frame.select("state_first", "state_last").iter_rows())


SET_1 = [function("in", 1, 10, 20), function("out", 1, 30, 40)]


class TestOneBatchAFunction:
    @pytest.mark.parametrize(
        ("begun", "ended", "states"),
        [
            (0, 9, (0, 0)),
            (0, 10, (0, 0)),
            (0, 11, (0, 1)),
            (12, 13, (0, 1)),
            (19, 25, (0, 1)),
            (20, 30, (1, 1)),
            (20, 31, (1, 2)),
            (15, 35, (0, 2)),
            (0, 99, (0, 2)),
            (40, 50, (2, 2)),
        ],
    )
    def test_states_are_those_that_were_current_in_its_time(
        self, begun: int, ended: int, states: tuple[int, int]
    ) -> None:
        assert seen(*SET_1, query(begun, ended)) == [states]

    def test_sets_follow_each_other(self) -> None:
        events = [*SET_1, function("in", 2, 50, 60), function("out", 2, 60, 70)]
        assert seen(*events, query(45, 46), query(60, 61), query(75, 76)) == [
            (2, 2),
            (3, 4),
            (4, 4),
        ]

    def test_functions_themselves_are_no_answers(self) -> None:
        assert seen(*SET_1) == []

    def test_what_failed_gave_no_answer(self) -> None:
        assert seen(*SET_1, query(0, 1, outcome="failed", digest=None)) == []


class TestSeveralBatches:
    def test_a_function_under_way_is_in_any_of_its_states(self) -> None:
        assert seen(*SET_1, query(12, 13), query(32, 33), batches=4) == [(0, 4), (4, 8)]

    def test_one_that_is_over_is_in_its_last(self) -> None:
        assert seen(*SET_1, query(22, 23), query(41, 42), batches=4) == [(4, 4), (8, 8)]

    def test_the_likely_state_goes_with_the_time(self) -> None:
        events = [function("in", 1, 0, 100), *(query(at, at + 1) for at in (0, 30, 60, 99))]
        execution_frame = executions(frame(*events), refresh(4))
        assert execution_frame["state_likely"].to_list() == [0, 1, 3, 4]


class TestWhenAFunctionFails:
    FAILED = function("in", 1, 10, 20, outcome="failed", error="x")

    def test_how_far_it_got_stays_open(self) -> None:
        assert seen(self.FAILED, query(12, 13), query(25, 26), batches=3) == [(0, 3), (0, 3)]

    def test_what_the_next_one_makes_of_it_nobody_knows(self) -> None:
        events = [self.FAILED, function("out", 1, 30, 40)]
        asked = [query(0, 5), query(25, 26), query(29, 31), query(45, 46)]
        nobody = (None, None)
        assert seen(*events, *asked) == [(0, 0), (0, 1), nobody, nobody]

    def test_one_that_was_left_out_changes_nothing_until_the_next(self) -> None:
        skipped = function("in", 1, 10, 20, outcome="skipped")
        events = [skipped, function("out", 1, 30, 40), query(25, 26), query(45, 46)]
        assert seen(*events) == [(0, 0), (None, None)]

    def test_one_that_never_ended_stays_open(self) -> None:
        cut = function("in", 1, 10, 20, outcome="failed", error="cancelled", finished_ns=None)
        assert seen(cut, query(50, 60)) == [(0, 1)]

    def test_batches_that_were_tried_again_may_be_there_twice(self) -> None:
        again = function("in", 1, 10, 20, retries=1)
        assert seen(again, query(25, 26), batches=2) == [(None, None)]
        assert seen(again, query(25, 26), batches=1) == [(1, 1)]

    def test_two_at_once_are_not_foreseen(self) -> None:
        events = [function("in", 1, 10, 20), function("out", 1, 15, 25), query(30, 31)]
        assert seen(*events) == [(None, None)]


class TestWithoutRefreshes:
    def test_all_is_of_the_data_as_loaded(self) -> None:
        execution_frame = executions(frame(query(0, 1)), None)
        assert execution_frame.select("state_first", "state_last").rows() == [(0, 0)]

    def test_records_of_before_have_no_variants(self) -> None:
        events = frame(query(0, 1))
        older = events.drop("variant") if "variant" in events.columns else events
        assert executions(older, None)["variant"].to_list() == [0]

    def test_a_test_may_have_none(self) -> None:
        assert Refresh.of(None) is None
        assert Refresh.of({"refresh": None}) is None


class TestMany:
    def test_each_order_its_own_transaction_counts_as_one_batch(self) -> None:
        test_refresh = Refresh.of({"refresh": TEST["refresh"] | {"batches": 0}})
        assert test_refresh is not None
        assert (test_refresh.batches, test_refresh.many) == (1, True)

    def test_orders_of_one_that_was_tried_again_may_be_there_twice(self) -> None:
        again = function("in", 1, 10, 20, retries=1)
        assert seen(again, query(25, 26), batches=0) == [(None, None)]


class TestDistinct:
    def test_the_same_rows_in_the_same_states_are_one(self) -> None:
        events = [*SET_1, query(0, 1), query(2, 3), query(22, 23), query(24, 25, digest=9)]
        table_frame = distinct(executions(frame(*events), refresh()))
        assert table_frame.select("digest", "state_first", "answers").rows() == [
            (1, 0, 2),
            (1, 1, 1),
            (9, 1, 1),
        ]
