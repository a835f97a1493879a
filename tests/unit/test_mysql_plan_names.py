"""Plans of MySQL's family name tables without schema and quotes; the schema stands beside."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from assay.engines.mysql_family.plan_names import with_schemas
from tests.cases import node

if TYPE_CHECKING:
    from assay.model.plan import PlanNode


def test_a_schema_is_taken_out_of_conditions_and_kept() -> None:
    condition = "filter `sales`.o.`day` < '`x`.y.z' and sales.o.a = 1.5"
    scan = node("scan", object="o", condition=condition)
    named = with_schemas(scan, "shop")
    assert named.condition == "filter o.day < '`x`.y.z' and o.a = 1.5"
    assert named.schema == "sales"


def test_a_table_without_a_schema_is_in_the_database_of_the_session() -> None:
    scan = node("scan", object="orders", condition="orders.customer_id = 7")
    assert with_schemas(scan, "shop").schema == "shop"
    assert with_schemas(scan).schema is None


def test_a_name_of_two_schemas_is_told_by_the_filter_of_each_scan() -> None:
    scans = [
        node("scan", object="orders", condition=f"{schema}.orders.a = 1")
        for schema in ("sales", "archive")
    ]
    made = with_schemas(node("nested loop", *scans))
    assert [child.schema for child in made.children] == ["sales", "archive"]
    assert [child.condition for child in made.children] == ["orders.a = 1", "orders.a = 1"]


@pytest.mark.parametrize(
    "second",
    [
        node("scan", object="orders", condition="archive.orders.a = sales.orders.b"),
        node("scan", object="orders", condition="trigcond(sales.orders.b = 7)"),
        node("index scan", object="orders", condition="order_id = sales.orders.order_id"),
        node("scan", object="orders"),
    ],
)
def test_a_scan_whose_filter_does_not_tell_has_none(second: PlanNode) -> None:
    first = node("scan", object="orders", condition="sales.orders.a = archive.orders.a")
    made = with_schemas(node("nested loop", first, second))
    assert [child.schema for child in made.children] == [None, None]


def test_a_table_that_no_condition_names_has_no_schema() -> None:
    assert with_schemas(node("scan", object="orders"), "shop").schema is None
