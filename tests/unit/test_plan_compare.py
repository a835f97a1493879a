"""What changed between two plans of one statement."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from assay.analysis.plans.recorded import PlanComparison, compare_plans
from assay.model.plan import PlanNode
from tests.plans import made, made_plan, plan_of


def scan(table: str, seconds: float = 1.0, **more: Any) -> PlanNode:
    return made("scan", object=table, seconds=seconds, **more)


def join(left: PlanNode, right: PlanNode, how: str = "hash join", **more: Any) -> PlanNode:
    return made(how, left, right, **{"seconds": 1.0} | more)


def compared(before: PlanNode, after: PlanNode, **more: Any) -> PlanComparison:
    return compare_plans(made_plan(before, **more), made_plan(after))


def kinds(comparison: PlanComparison) -> list[str]:
    return [change.kind for change in comparison.changes]


THREE = join(join(scan("a"), scan("b")), scan("c"))


def growth_s(part: Any) -> float | None:
    """The seconds by which a part of a plan takes longer; None unless both times are known."""
    times = (part.before_s, part.after_s)
    return None if None in times else part.after_s - part.before_s


def test_a_plan_is_not_different_from_itself() -> None:
    for plan in (plan_of("postgresql", "tpch-q18-16"), plan_of("duckdb", "tpch-q22")):
        comparison = compare_plans(plan, plan)
        assert (comparison.changes, comparison.changed) == ((), False)
        assert len(comparison.pairs) == len(list(plan.root.walk()))
        assert all(pair.before is pair.after for pair in comparison.pairs)
        assert all(pair.before_s == pair.after_s for pair in comparison.pairs)


def test_another_time_is_no_other_plan() -> None:
    slower = join(join(scan("a", 5.0), scan("b")), scan("c"))
    comparison = compared(THREE, slower)
    assert not comparison.changed
    assert [grown for pair in comparison.pairs if (grown := growth_s(pair))] == [4.0, 4.0, 4.0]


def test_another_method_of_the_same_join() -> None:
    other = join(join(scan("a"), scan("b"), "nested loop", seconds=7.0), scan("c"))
    comparison = compared(THREE, other)
    assert kinds(comparison) == ["join method"]
    (change,) = comparison.changes
    assert change.says == "a x b: nested loop, not hash join"
    assert (change.before_s, change.after_s) == (1.0, 7.0)


def test_another_order_of_joins_says_what_is_joined_first() -> None:
    other = join(join(scan("b"), scan("c"), seconds=4.0), scan("a"))
    comparison = compared(THREE, other)
    assert kinds(comparison) == ["join order"]
    (change,) = comparison.changes
    assert change.says == "b x c joined; no longer a x b joined"
    assert (change.before_s, change.after_s) == (3.0, 6.0)


def test_swapped_sides_are_told() -> None:
    comparison = compared(THREE, join(join(scan("b"), scan("a")), scan("c")))
    assert [change.says for change in comparison.changes] == [
        "a x b: the sides are swapped, a is the inner one"
    ]


def test_a_hash_between_the_sides_does_not_hide_that_they_are_the_same() -> None:
    left, right = scan("a"), made("hash build", scan("b"))
    comparison = compared(join(left, right), join(left, right, "nested loop"))
    assert kinds(comparison) == ["join method"]


def test_another_way_to_a_table() -> None:
    other = join(join(scan("a"), scan("b")), made("index scan", object="c", index="i"))
    comparison = compared(THREE, other)
    assert [(change.kind, change.says) for change in comparison.changes] == [
        ("access path", "c is read by index scan of i, not by scan")
    ]


def test_another_index() -> None:
    comparison = compared(
        made("index scan", object="c", index="i"), made("index scan", object="c", index="k")
    )
    assert [(change.kind, change.says) for change in comparison.changes] == [
        ("index", "c is read by index scan of k, not by index scan of i")
    ]


def test_the_same_table_twice_is_matched_by_its_condition() -> None:
    first, second = scan("t", 1.0, condition="x"), scan("t", 2.0, condition="y")
    comparison = compared(join(first, second), join(second, first))
    sides = [
        (p.before_s, p.after_s) for p in comparison.pairs if p.after and p.after.operator == "scan"
    ]
    assert sides == [(2.0, 2.0), (1.0, 1.0)]


def test_a_step_more_and_a_step_less() -> None:
    comparison = compared(
        made("sort", scan("a"), seconds=1.0), made("window", scan("a"), seconds=2.0)
    )
    assert {(change.kind, change.says) for change in comparison.changes} == {
        ("operator", "window of a is new"),
        ("operator", "sort of a is gone"),
    }
    assert [growth_s(change) for change in comparison.changes] == [None, None]


def test_workers() -> None:
    def gathered(workers: int) -> PlanNode:
        return made("exchange", scan("a"), workers=workers)

    comparison = compared(gathered(2), gathered(4))
    assert [change.says for change in comparison.changes] == ["4 workers, not 2"]
    comparison = compared(scan("a"), gathered(2))
    assert [(change.kind, change.says) for change in comparison.changes] == [
        ("parallelism", "it is executed by 2 workers more than one")
    ]
    assert compared(gathered(2), scan("a")).changed


def test_what_is_spilled_no_more() -> None:
    before, after = (made("sort", scan("a"), spilled_bytes=n) for n in (8 << 20, 0))
    comparison = compared(before, after)
    assert kinds(comparison) == ["spill"]
    assert comparison.changes[0].says == "sort spills 0 B, not 8 MiB"
    assert not comparison.changed


def test_what_is_spilled_is_told_of_the_whole_where_it_is_known_of_that_only() -> None:
    before, after = (made_plan(scan("a"), spilled_bytes=n) for n in (0, 8 << 20))
    comparison = compare_plans(before, after)
    assert [change.says for change in comparison.changes] == ["it spills 8 MiB, not 0 B"]


def test_estimates_that_became_better() -> None:
    def expecting(rows: float) -> PlanNode:
        return scan("a", estimated_rows=rows, rows=1_000.0)

    comparison = compared(expecting(1.0), expecting(900.0))
    assert kinds(comparison) == ["estimate"]
    assert comparison.changes[0].says == "rows of scan a are off by 1.11x, not by 1,000x"
    assert kinds(compared(expecting(500.0), expecting(900.0))) == []


def test_code_that_is_generated_no_more() -> None:
    comparison = compared(scan("a"), scan("a"), compiling_s=0.5)
    assert [(change.kind, change.says) for change in comparison.changes] == [
        ("compiling", "no code is generated for it, which took 500 ms")
    ]


def test_what_is_done_otherwise_comes_first_and_then_what_cost_most() -> None:
    before = join(scan("a", spilled_bytes=1 << 30), scan("b"))
    after = join(
        made("index scan", object="a", index="i", seconds=9.0, spilled_bytes=0),
        made("index scan", object="b", index="k", seconds=2.0),
    )
    comparison = compared(before, after)
    assert [change.kind for change in comparison.changes] == ["access path", "access path", "spill"]
    assert [growth_s(change) for change in comparison.changes[:2]] == [8.0, 1.0]


def test_a_common_table_is_not_what_its_neighbour_works_on() -> None:
    read = made("cte", object="c", seconds=0.0)
    body = made("cte", scan("t"), object="c", seconds=None)
    before = made("sort", join(read, scan("a")), body)
    after = join(read, scan("a"))
    comparison = compared(before, replace(after, children=(*after.children, body)))
    assert [change.says for change in comparison.changes] == ["sort of a x c is gone"]


@pytest.mark.parametrize("name", ["tpch-q15", "tpch-q18"])
def test_two_versions_of_a_server(name: str) -> None:
    old, new = (plan_of("postgresql", f"{name}-{version}") for version in ("16", "18"))
    comparison = compare_plans(old, new)
    assert comparison.changed
    afters = [pair.after for pair in comparison.pairs if pair.after is not None]
    befores = [pair.before for pair in comparison.pairs if pair.before is not None]
    assert {id(node) for node in afters} == {id(node) for node in new.root.walk()}
    assert {id(node) for node in befores} == {id(node) for node in old.root.walk()}


def test_what_is_below_is_charged_to_its_own_change_only() -> None:
    def sorted_join(how: str, way: str, **more: Any) -> PlanNode:
        left = made(way, object="a", seconds=9.0, estimated_rows=more["rows"], rows=1e4)
        return made("sort", join(left, scan("b"), how), seconds=0.5, spilled_bytes=more["spilled"])

    comparison = compared(
        sorted_join("hash join", "scan", rows=1.0, spilled=0),
        sorted_join("nested loop", "index scan", rows=1e4, spilled=1 << 30),
    )
    charged = {change.kind: (change.before_s, change.after_s) for change in comparison.changes}
    assert charged == {
        "access path": (9.0, 9.0),
        "join method": (1.0, 1.0),
        "spill": (0.5, 0.5),
        "estimate": (None, None),
    }


def test_a_hash_table_is_part_of_the_join_that_it_is_built_for() -> None:
    hashed = join(scan("a"), made("hash build", scan("b", 5.0), seconds=2.0))
    (change,) = compared(hashed, join(scan("a"), scan("b", 5.0), "nested loop")).changes
    assert (change.before_s, change.after_s) == (3.0, 1.0)


def test_a_step_that_is_gone_stands_where_its_time_puts_it() -> None:
    before = made("window", join(scan("a"), scan("b"), seconds=2.0), seconds=7.0)
    after = join(scan("a"), scan("b"), "nested loop", seconds=3.0)
    assert kinds(compared(before, after)) == ["operator", "join method"]


def test_two_engines_can_be_compared() -> None:
    comparison = compare_plans(
        plan_of("duckdb", "tpch-q18"), plan_of("postgresql", "tpch-q18-18"), same_engine=False
    )
    assert {"join order", "access path"} & set(kinds(comparison))


def test_words_of_two_engines_are_no_change() -> None:
    before, after = (
        PlanNode("sort", native, children=(PlanNode("aggregate", other, children=(scan("a"),)),))
        for native, other in (("ORDER_BY", "HASH_GROUP_BY"), ("Sort", "HashAggregate"))
    )
    plans = made_plan(before), made_plan(after)
    assert kinds(compare_plans(*plans)) == ["method", "method"]
    assert compare_plans(*plans, same_engine=False).changes == ()
    top = made_plan(replace(after, operator="top-n", native="Limit"))
    (change,) = compare_plans(plans[0], top, same_engine=False).changes
    assert change.says == "a: top-n, not sort"
