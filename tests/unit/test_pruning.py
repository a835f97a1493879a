"""Which columns a statement reads, and which of those nobody needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.analysis.plans.pruning import columns_of_plan, named_columns, table_columns, width_bytes
from assay.model.plan import Plan, PlanNode
from assay.record.reader import Run
from assay.workloads.discovery import find_workload
from tests.plans import made_plan, with_plans
from tests.records import write_run

TABLES = {
    "customer": {"c_id": "int", "c_w_id": "int", "c_last": "varchar(16)", "c_data": "varchar(500)"},
    "warehouse": {"w_id": "int", "w_tax": "decimal(4, 4)"},
    "note": {"c_id": "int", "body": "text"},
}


def planned(text: str, *nodes: PlanNode, name: str | None = None) -> Plan:
    return made_plan(PlanNode("nested loop", "join", children=nodes), text=text, name=name)


def scan(table: str, *columns: str, operator: str = "scan") -> PlanNode:
    return PlanNode(operator, operator, object=table, columns=columns or None)


JOIN = "select c_last, w_tax from customer as c join warehouse on w_id = c.c_w_id where c.c_id = $1"


def test_what_is_read_and_not_named_is_for_nobody() -> None:
    plan = planned(JOIN, scan("customer", *TABLES["customer"]), scan("warehouse", "w_id", "w_tax"))
    customer, warehouse = columns_of_plan(plan, TABLES, "postgres")
    assert customer.needed == ("c_id", "c_w_id", "c_last")
    assert (customer.unneeded, customer.unneeded_bytes) == (("c_data",), 500)
    assert (warehouse.unneeded, warehouse.unneeded_bytes) == ((), 0)


def test_a_plan_may_call_a_table_by_its_alias() -> None:
    plan = planned(JOIN, scan("c", "c_id", "c_data", operator="index scan"))
    customer, warehouse = columns_of_plan(plan, TABLES, "mysql")
    assert customer.read == ("c_id", "c_data")
    # Nothing is told of it: that is not the same as nothing being read.
    assert (warehouse.read, warehouse.unneeded) == (None, ())


def test_scans_of_one_table_are_taken_together() -> None:
    plan = planned(JOIN, scan("customer", "c_id"), scan("customer"), scan("customer", "c_data"))
    customer, _ = columns_of_plan(plan, TABLES, None)
    assert customer.read == ("c_id", "c_data")


def test_a_column_without_declared_width_has_no_bytes() -> None:
    plan = planned("select c_id from note", scan("note", "c_id", "body"))
    (note,) = columns_of_plan(plan, TABLES, None)
    assert (note.unneeded, note.unneeded_bytes) == (("body",), None)


@pytest.mark.parametrize(
    ("text", "needed"),
    [
        ("select * from warehouse", {"warehouse": ("w_id", "w_tax")}),
        ("select c.* from customer c", {"customer": tuple(TABLES["customer"])}),
        ("select count(*) from warehouse", {"warehouse": ()}),
        ("select 'c_data' from customer where c_last = '$1'", {"customer": ("c_last",)}),
        ("insert into warehouse (w_id, w_tax) values ($1, $2)", {"warehouse": ()}),
        ("update warehouse set w_tax = w_tax + $1", {"warehouse": ("w_tax",)}),
        ("select c_id from customer, note", {"customer": ("c_id",), "note": ("c_id",)}),
        (
            "select x.c_id from (select * from customer) as x join warehouse on true",
            {"customer": tuple(TABLES["customer"]), "warehouse": ()},
        ),
        (
            "with paid (d_id) as (values ($1), ($2)) update warehouse set w_tax = 0 from paid",
            {"warehouse": ("w_tax",)},
        ),
    ],
)
def test_what_a_statement_names(text: str, needed: dict[str, tuple[str, ...]]) -> None:
    names = named_columns(text, TABLES, None)
    assert names is not None
    assert names[0] == needed


def test_what_is_not_understood_is_not_told() -> None:
    assert named_columns("select from where (", TABLES, "postgres") is None
    assert columns_of_plan(planned("vacuum everything now"), TABLES, "postgres") == ()
    assert columns_of_plan(made_plan(scan("customer", "c_id")), TABLES, "postgres") == ()


@pytest.mark.parametrize("dialects", [("postgresql",), ("mysql",), ("dolt", "mysql"), ("sqlite",)])
def test_every_statement_of_tpcc_is_understood(dialects: tuple[str, ...]) -> None:
    workload = find_workload("tpcc")
    tables = workload.column_types((), 1.0)
    assert tables["customer"]["c_data"] == "varchar(500)"
    grammar = {"postgresql": "postgres"}.get(dialects[-1], dialects[-1])
    for operation in workload.script(dialects, 1.0, 1).operations[:5]:
        for statement in operation.statements:
            if statement.name in ("begin", "commit", "rollback"):
                continue
            names = named_columns(statement.text, tables, grammar)
            assert names is not None, statement.text
            assert names[0], statement.text


@pytest.mark.parametrize(
    ("declared", "width"),
    [("varchar(500)", 500), ("DECIMAL(12, 2)", 6), ("int", 4), ("text", None), ("", None)],
)
def test_widths(declared: str, width: int | None) -> None:
    assert width_bytes(declared) == width


def test_a_record_that_has_no_schema_tells_nothing(tmp_path: Path) -> None:
    directory = with_plans(write_run(tmp_path), [planned(JOIN, scan("customer", "c_id"))])
    assert table_columns(Run(directory)) == ()
