"""Orders of joins: which there are, that they join what belongs together, and the text of each."""

from __future__ import annotations

import random

import duckdb
import pytest

from assay.workloads.discovery import find_workload
from assay.workloads.join_orders import (
    JoinBlock,
    Order,
    columns_of,
    drawn_left_deep,
    largest_block,
    leaves,
    neighbours,
    order_text,
    ordered,
    swapped,
)

DIALECTS = ("duckdb", "postgresql")
TPCH = find_workload("tpch")
TABLES = TPCH.setup((), 1)
COLUMNS = columns_of(TABLES.values())
JOINED = ("q02", "q03", "q05", "q07", "q08", "q09", "q10", "q11", "q18", "q21")


def text(operation: str) -> str:
    return TPCH.statement(operation, DIALECTS, 1).text.strip().removesuffix(";")


def block(operation: str) -> JoinBlock:
    join_block = largest_block(text(operation), DIALECTS, COLUMNS)
    assert join_block is not None
    return join_block


def joins_what_belongs_together(of: JoinBlock, order: Order) -> bool:
    if isinstance(order, str):
        return True
    tied = of.are_joined(leaves(order[0]), leaves(order[1]))
    return tied and all(joins_what_belongs_together(of, side) for side in order)


def test_columns_that_equal_a_third_one_are_tied_to_each_other() -> None:
    q09 = block("q09")
    assert set(q09.tables) == {"part", "supplier", "lineitem", "partsupp", "orders", "nation"}
    # p_partkey = l_partkey and ps_partkey = l_partkey stand there, p_partkey = ps_partkey does not.
    assert q09.are_joined(["part"], ["partsupp"])
    assert not q09.are_joined(["part"], ["nation"])


@pytest.mark.parametrize("operation", ["q01", "q06", "q12", "q13", "q14"])
def test_of_one_or_two_tables_or_outer_joins_there_is_no_order(operation: str) -> None:
    assert largest_block(text(operation), DIALECTS, COLUMNS) is None


def test_a_text_that_is_no_sql_is_told() -> None:
    with pytest.raises(ValueError, match="join order cannot be parsed:"):
        largest_block("select from where (", DIALECTS, COLUMNS)


@pytest.mark.parametrize("operation", JOINED)
def test_drawn_orders_have_all_tables_and_no_product(operation: str) -> None:
    of = block(operation)
    for seed in range(20):
        order = drawn_left_deep(of, random.Random(seed))
        assert sorted(leaves(order)) == sorted(of.tables)
        assert joins_what_belongs_together(of, order)


@pytest.mark.parametrize("operation", JOINED)
def test_neighbours_are_other_orders_of_the_same_tables(operation: str) -> None:
    of = block(operation)
    order = drawn_left_deep(of, random.Random(1))
    orders = neighbours(of, order)
    assert orders
    assert len({order_text(join_order) for join_order in orders}) == len(orders)
    for name in orders:
        assert sorted(leaves(name)) == sorted(of.tables)
        assert joins_what_belongs_together(of, name)
        # A rotation can be undone by one.
        back = {frozen(back) for back in neighbours(of, name)}
        assert frozen(order) in back


def frozen(order: Order) -> object:
    return order if isinstance(order, str) else frozenset(map(frozen, order))


def test_places_that_are_swapped_keep_the_rest() -> None:
    of = JoinBlock({"a": "a", "b": "b", "c": "c"}, frozenset(map(frozenset, ("ab", "bc"))))
    assert swapped(of, ["a", "b", "c"]) == [(("b", "a"), "c")]


@pytest.mark.parametrize("operation", JOINED)
def test_the_text_of_an_order_asks_for_the_same(operation: str) -> None:
    """Without the search of its own DuckDB joins as the text says; rows are those of the query."""
    of = block(operation)
    with duckdb.connect() as database:
        for script in TABLES.values():
            database.execute(script)
        asked = database.execute(text(operation)).description
        for order in (
            neighbour for n in range(3) for neighbour in neighbours(of, chain(of, n))[:2]
        ):
            rows = database.execute(ordered(text(operation), DIALECTS, order, "cross"))
            assert [column[:2] for column in rows.description] == [c[:2] for c in asked]


def chain(of: JoinBlock, seed: int) -> Order:
    return drawn_left_deep(of, random.Random(seed))


@pytest.mark.parametrize(
    ("dialect", "join", "word"),
    [
        ("postgresql", "cross", "a CROSS JOIN (\n  b\n    CROSS JOIN c\n)"),
        ("mariadb", "straight_join", "STRAIGHT_JOIN"),
    ],
)
def test_the_word_between_tables_is_the_engines(dialect: str, join: str, word: str) -> None:
    sql = "select 1 from a, b, c where a.x = b.x and b.y = c.y and a.z > 1"
    joined_text = ordered(sql, (dialect,), ("a", ("b", "c")), join)
    assert "".join(word.split()) in "".join(joined_text.split())
    assert "a.z > 1" in joined_text
