"""Tests of a specification: which pieces are played in which phases, and what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from assay.model.errors import UsageError
from assay.running.asked.driver_plan import plan_sessions, steps
from assay.running.asked.request import RunRequest
from assay.running.asked.specified import (
    PieceTexts,
    PlannedTest,
    SpecifiedTest,
    specified,
    streams_max,
)
from assay.workloads.discovery import find_workload
from assay.workloads.streams import stream_order

if TYPE_CHECKING:
    from assay.workloads.contract import Workload

QUERIES = 22


@pytest.fixture(scope="module")
def tpch() -> Workload:
    return find_workload("tpch")


def asked(**more: object) -> RunRequest:
    plain = RunRequest(workload="tpch", engine="duckdb", scale=0.01, parameters="drawn")
    return plain.changed(**{"test": "full", "state_passes": 0, **more})


def planned(tpch: Workload, **more: object) -> tuple[SpecifiedTest, PlannedTest]:
    request = asked(**more)
    test = specified(request, tpch)
    assert test is not None
    return test, PlannedTest(test, tpch, request.state_passes)


def played(plan: PlannedTest, phase: str, session: int = 0) -> list[tuple[str, int]]:
    phase_facts = next(row for row in plan.phases if row["name"] == phase)
    order = phase_facts["orders"][session] if "orders" in phase_facts else phase_facts["operations"]
    return [plan.pieces[index] for index in order]


def test_a_full_test_is_two_runs_of_power_and_throughput(tpch: Workload) -> None:
    test, plan = planned(tpch)
    assert [phase["name"] for phase in plan.phases] == [
        "power-1",
        "throughput-1",
        "power-2",
        "throughput-2",
        "after",
    ]
    assert (test.streams, test.streams_minimum, test.scale_standard) == (2, 2, False)
    assert plan_sessions({"phases": plan.phases}) == 3


def test_a_power_test_is_the_first_order_between_the_refresh_functions(tpch: Workload) -> None:
    _, plan = planned(tpch, test="power")
    first, *queries, last = played(plan, "power-1")
    assert (first, last) == (("rf1", 1), ("rf2", 1))
    assert [name for name, _ in queries] == list(stream_order(tpch, 0))
    assert {variant for _, variant in queries} == {0}
    assert queries[0] == ("q14", 0)


def test_streams_play_their_own_orders_beside_the_refresh_stream(tpch: Workload) -> None:
    _, plan = planned(tpch, streams=3)
    for session in range(3):
        stream = session + 1
        wanted = [(name, stream) for name in stream_order(tpch, stream)]
        assert played(plan, "throughput-1", session) == wanted
    pairs = [(name, number) for number in (2, 3, 4) for name in ("rf1", "rf2")]
    assert played(plan, "throughput-1", 3) == pairs


@pytest.mark.parametrize("kind", ["throughput", "full"])
@pytest.mark.parametrize("sets", [8, 9])
def test_as_many_streams_as_sets_are_enough_for(tpch: Workload, kind: str, sets: int) -> None:
    most = streams_max(kind, sets)
    used = [planned(tpch, test=kind, streams=streams)[0].refresh for streams in (most, most + 1)]
    few, many = (refresh.sets for refresh in used if refresh is not None)
    assert few <= sets < many


def test_sets_are_used_in_sequence_over_both_runs(tpch: Workload) -> None:
    test, plan = planned(tpch)
    used = [
        variant
        for phase in plan.phases
        for order in phase.get("orders", [phase.get("operations", [])])
        for name, variant in (plan.pieces[index] for index in order)
        if name == "rf1"
    ]
    assert used == [1, 2, 3, 4, 5, 6]
    assert test.refresh is not None
    assert test.refresh.sets == 6


def test_what_the_last_refresh_left_is_looked_at(tpch: Workload) -> None:
    _, plan = planned(tpch)
    assert len(played(plan, "after")) == QUERIES
    _, without = planned(tpch, refresh=False)
    assert [phase["name"] for phase in without.phases][-1] == "throughput-2"
    # With a transaction an order nobody can tell which state a stream saw: it is asked again.
    _, many = planned(tpch, refresh_batches=0)
    assert len(played(many, "after")) == 3 * QUERIES


def test_with_default_parameters_all_streams_ask_the_same(tpch: Workload) -> None:
    _, plan = planned(tpch, parameters="default", refresh=False)
    assert set(plan.pieces) == {(name, 0) for name in stream_order(tpch, 0)}


def test_steady_repeats_queries_until_passes_are_alike(tpch: Workload) -> None:
    test, plan = planned(tpch, test="steady", state_passes=2)
    warmup, power = plan.phases
    assert (warmup["name"], warmup["passes_min"]) == ("warmup", 2)
    assert power["steady"] == {"passes": 3, "within": 0.05, "passes_max": 30}
    assert test.refresh is None


def test_queries_of_the_power_test_are_the_first_pieces(tpch: Workload) -> None:
    for kind in ("power", "throughput", "full", "steady"):
        _, plan = planned(tpch, test=kind)
        assert plan.pieces[:QUERIES] == plan.power_queries, kind


def test_progress_is_told_by_operations(tpch: Workload) -> None:
    _, plan = planned(tpch, state_passes=1)
    phase_steps = steps({"phases": plan.phases})
    assert phase_steps["warmup"] == (0, QUERIES)
    assert phase_steps["power-1"] == (QUERIES, QUERIES + 2)
    assert phase_steps["throughput-1"] == (2 * QUERIES + 2, 2 * QUERIES + 4)
    _, steady = planned(tpch, test="steady")
    assert steps({"phases": steady.phases})["power-1"] == (0, None)


def test_texts_are_those_of_the_variant(tpch: Workload) -> None:
    test, plan = planned(tpch, refresh_batches=3)
    texts = PieceTexts(test, tpch, ("duckdb", "postgresql"), 0.01)
    script = texts.script(plan.pieces)
    by_piece = dict(zip(plan.pieces, script.operations, strict=True))
    assert by_piece["q06", 1].statements != by_piece["q06", 2].statements
    begins = [
        statement for statement in by_piece["rf1", 4].statements if statement.text.endswith("begin")
    ]
    assert len(begins) == 3, "one a batch"
    inserted = " ".join(statement.text for statement in by_piece["rf1", 4].statements)
    assert "set_number = 4" in inserted
    assert "between 11 and 15" in inserted, "the last batch of 15 orders"
    recorded = texts.recorded(plan.pieces)
    assert recorded["q06"]["variant"] == 0
    assert recorded["q06-2"]["variant"] == 2
    assert len(recorded) == 3 * QUERIES + 2


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"test": "power", "streams": 2}, "--streams applies to the throughput test"),
        ({"refresh": False, "refresh_batches": 4}, "--refresh-batches"),
        ({"test": "steady", "refresh_batches": 0}, "--refresh-batches"),
    ],
)
def test_what_cannot_be_is_refused(tpch: Workload, more: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        planned(tpch, **more)


def test_a_mix_is_put_to_no_test() -> None:
    with pytest.raises(UsageError, match="is a mix"):
        specified(asked(), find_workload("tpcb"))


def test_no_test_is_asked_for(tpch: Workload) -> None:
    assert specified(asked(test=None), tpch) is None
