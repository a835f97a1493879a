"""Plans of MySQL's family name tables without schema and quotes; the schema stands beside."""

from __future__ import annotations

from assay.engines.mysql_family.plan_names import with_schemas
from tests.cases import node


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


def test_a_name_of_two_schemas_has_none() -> None:
    scans = [
        node("scan", object="orders", condition=f"{schema}.orders.a = 1")
        for schema in ("sales", "archive")
    ]
    made = with_schemas(node("nested loop", *scans))
    assert [child.schema for child in made.children] == [None, None]


def test_a_table_that_no_condition_names_has_no_schema() -> None:
    assert with_schemas(node("scan", object="orders"), "shop").schema is None
