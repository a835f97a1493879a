"""Columns of a query that an index could serve."""

from __future__ import annotations

import pytest

from assay.model.declared import DeclaredColumns
from assay.model.errors import UsageError
from assay.workloads.rewriting import indexes_for

TABLES = {
    "orders": DeclaredColumns(dict.fromkeys(("id", "customer", "day", "state", "total"), "int")),
    "items": DeclaredColumns(dict.fromkeys(("id", "order_id", "product", "amount"), "int")),
}


def wanted(text: str) -> list[tuple[str, ...]]:
    """Table and columns of each index."""
    return [(index.table, *index.columns) for index in indexes_for(text, ("postgresql",), TABLES)]


# Of the table's many columns, so that no index has all that the query reads.
ALL = "id, customer, day, state, total"


@pytest.mark.parametrize(
    ("condition", "columns"),
    [
        ("customer = 7", ["customer"]),
        ("customer = 7 and state = 'x'", ["customer", "state"]),
        ("day > date '2026-01-01' and customer = 7", ["customer", "day"]),
        ("customer in (1, 2) and day between 1 and 2", ["customer", "day"]),
        ("state is null", ["state"]),
        ("day > 1 and total > 5", ["day"]),
    ],
)
def test_equal_columns_come_before_one_range(condition: str, columns: list[str]) -> None:
    text = f"select {ALL} from orders where {condition}"  # noqa: S608 - nothing is executed
    assert wanted(text) == [("orders", *columns)]


def test_each_alternative_needs_its_own() -> None:
    text = f"select {ALL} from orders where customer = 7 or state = 'x'"  # noqa: S608
    assert wanted(text) == [("orders", "customer"), ("orders", "state")]


def test_both_sides_of_a_join_are_searched() -> None:
    text = "select o.day from orders o join items i on i.order_id = o.id where i.product = 3"
    assert wanted(text) == [
        ("orders", "id", "day"),
        ("items", "product", "order_id"),
        ("items", "order_id", "product"),
    ]


def test_a_subquery_searches_by_the_columns_of_the_query_around_it() -> None:
    text = (
        "select day from orders o "
        "where exists (select 1 from items i where i.order_id = o.id and i.amount > 3)"
    )
    assert ("items", "order_id", "amount") in wanted(text)


def test_an_index_has_rows_in_order() -> None:
    text = f"select {ALL} from orders where customer = 7 order by day desc limit 5"  # noqa: S608
    assert wanted(text) == [("orders", "customer"), ("orders", "customer", "day")]


def test_groups_of_one_table_are_in_order_too() -> None:
    """The index suffices if it has all columns that the query reads."""
    assert wanted("select customer, max(day) from orders group by customer") == [
        ("orders", "customer", "day")
    ]


@pytest.mark.parametrize(
    "text",
    [
        "select sum(total) from orders",
        "select total from orders where upper(state) = 'X'",
        "select total from others where customer = 7",
        "select total from orders order by total + 1",
        "select o.day from orders o, items i group by o.day, i.product",
    ],
)
def test_what_no_index_serves_has_none(text: str) -> None:
    assert wanted(text) == []


def test_a_change_of_rows_is_no_query() -> None:
    with pytest.raises(UsageError):
        wanted("delete from orders where customer = 7")
