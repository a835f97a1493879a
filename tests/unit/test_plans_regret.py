"""Plan regret: distinct plans are found, what is fastest is not picked for its luck."""

from __future__ import annotations

import random
from typing import Any

import pytest

from assay.analysis.plans.regret import (
    CHOSEN,
    SWITCHES,
    ForcedPlan,
    leave_one_out,
    rank_correlation,
)
from assay.analysis.plans.shape import (
    estimated_join_rows,
    join_order,
    join_rows,
    joined,
    same_shape,
    shape,
)
from assay.analysis.stats.rounds import factor_of
from assay.running.asked.driver_plan import driver_plan
from assay.running.asked.request import RunRequest
from tests.plans import made, made_plan, tpch_plans

TEXTS = {f"q09@{number}": {"sql": "", "kind": CHOSEN, "words": ""} for number in range(3)}


def request(**more: Any) -> RunRequest:
    return RunRequest(workload="tpch", engine="duckdb", scale=1.0, forced=TEXTS, **more)


def scan(table: str, **more: Any) -> Any:
    return made("scan", object=table, **more)


class TestShape:
    def test_is_of_operators_and_tables_not_of_numbers(self) -> None:
        few = made_plan(made("hash join", scan("a", rows=1.0), scan("b")))
        many = made_plan(made("hash join", scan("a", rows=9.0), scan("b")))
        other = made_plan(made("hash join", scan("b"), scan("a")))
        assert same_shape([few], [many])
        assert not same_shape([few], [other])
        assert not same_shape([few], [few, few])

    def test_tells_what_is_joined_with_what(self) -> None:
        inner = made("nested loop", scan("b"), scan("c"), rows=4.0, estimated_rows=2.0)
        plan = made_plan(made("hash join", scan("a"), inner, rows=3.0, estimated_rows=8.0))
        assert joined(plan) == "(a # (b x c))"
        assert join_rows(plan) == 7.0
        assert estimated_join_rows(plan) == 10.0
        assert join_order(plan, {"a": "a", "b": "b", "c": "c"}) == ("a", ("b", "c"))

    def test_a_table_that_is_there_twice_is_told_by_its_alias_or_not_at_all(self) -> None:
        tables = {"one": "t", "two": "t"}
        bare = made_plan(made("hash join", scan("t"), scan("t")))
        scans = [scan("t", details={"Alias": name}) for name in ("two", "one")]
        assert join_order(bare, tables) is None
        assert join_order(made_plan(made("hash join", *scans)), tables) == ("two", "one")

    def test_real_plans_have_one(self) -> None:
        for plan in tpch_plans():
            assert shape(plan)


class TestRounds:
    def test_every_plan_has_its_turn_in_each_round(self) -> None:
        plan = driver_plan(request(rounds=4), ["q09"], {})
        untimed, timed = plan["phases"]
        assert sorted(untimed["operations"]) == [0, 1, 2]
        rounds = [timed["operations"][at : at + 3] for at in range(0, 12, 3)]
        assert all(sorted(plan_round) == [0, 1, 2] for plan_round in rounds)
        assert rounds[1] == rounds[0][::-1]

    def test_none_are_played_but_the_chosen_one_where_there_are_no_rounds(self) -> None:
        plan = driver_plan(request(), ["q09"], {})
        assert plan["operations"] == list(TEXTS)
        assert all(phase["operations"] == [0] for phase in plan["phases"])


class TestRegret:
    def test_of_plans_that_are_alike_none_is_a_regret(self) -> None:
        """The fastest of twenty alike would be 10 % faster; picked by other rounds it is not."""
        drawn = random.Random(3)
        ratios = []
        for _ in range(60):
            plans = [
                ForcedPlan(str(n), SWITCHES, "", tuple(drawn.gauss(1, 0.05) for _ in range(5)))
                for n in range(20)
            ]
            ratios += leave_one_out(plans[0], plans)
        factor = factor_of(ratios)
        assert factor is not None
        assert factor.times == pytest.approx(1.0, abs=0.02)

    def test_a_plan_that_is_twice_as_fast_is_found(self) -> None:
        chosen = ForcedPlan("0", CHOSEN, "", (2.0, 2.2, 2.1))
        best = ForcedPlan("1", SWITCHES, "", (1.0, 1.1, 1.05))
        assert leave_one_out(chosen, [best, chosen]) == pytest.approx([2.0, 2.0, 2.0])


class TestRank:
    def test_of_a_known_example(self) -> None:
        """Hours of television beside intelligence quotients, rho is -29/165."""
        first = [106, 100, 86, 101, 99, 103, 97, 113, 112, 110]
        second = [7, 27, 2, 50, 28, 29, 20, 12, 6, 17]
        rank = rank_correlation(list(zip(first, second, strict=True)))
        assert rank is not None
        assert rank.rho == pytest.approx(-29 / 165)
        assert rank.interval[0] < rank.rho < rank.interval[1]

    def test_ties_share_their_ranks(self) -> None:
        rank = rank_correlation([(1, 1), (2, 2), (3, 3), (3, 3), (4, 4)])
        assert rank is not None
        assert rank.rho == pytest.approx(1.0)

    @pytest.mark.parametrize("pairs", [[], [(1, 1), (2, 2), (3, 3)], [(1, 5)] * 6])
    def test_of_few_or_of_one_value_there_is_none(self, pairs: list[tuple[float, float]]) -> None:
        assert rank_correlation(pairs) is None
