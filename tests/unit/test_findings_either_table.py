"""Joins that keep rows by alternatives of several tables, and their counterparts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from assay.analysis.findings.indexes import either_table
from assay.model.catalogue import Index
from tests.cases import case, node, operation, plan, plans

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case

KEY = "(o.customer_id = c.id)"
EITHER = "((o.number = 'R7'::text) OR (c.email = 'a@b'::text))"
INDEXES = {
    "orders": (Index("orders", "orders_number", ("number",)),),
    "customers": (Index("customers", "customers_email", ("email",)),),
}


def joined(condition: str, indexes: Any = INDEXES, **rows: float) -> Case:
    """Two tables that are read in 0.6 s and joined in 0.4 s."""
    facts = {"rows": 4.0, "removed_rows": 2e5} | rows
    scans = [node("scan", object=name, seconds=0.3) for name in ("orders", "customers")]
    root = node("hash join", *scans, condition=condition, seconds=0.4, **facts)
    text = "select * from orders o join customers c on ..."
    query_plans = plans(plan(root, text=text))
    return case(operation(overrides={"seconds": 1.0}), plans=query_plans, indexes=indexes)


@pytest.mark.parametrize(
    "condition",
    [
        f"{KEY}; filter {EITHER}",
        "(o.number = $1) OR (c.email = $1)",
        "((o.number in (7,8)) or (c.email = 'a or b') or (c.email = 'x'))",
        "((shop.o.number = 'R7') or (`c`.`email` = 'a@b'))".replace("`c`.`email`", "c.`email`"),
    ],
)
def test_alternatives_of_two_tables_are_named(condition: str) -> None:
    (finding,) = either_table.find(joined(condition))
    assert finding.effect_share > 0.95
    assert "c.email" in finding.claim
    assert "o.number" in finding.claim
    assert "union" in (finding.to_try or "")
    assert finding.settle is None


def test_without_an_index_of_a_column_it_is_suspected() -> None:
    indexes = {"orders": INDEXES["orders"]}
    (finding,) = either_table.find(joined(EITHER, indexes))
    assert "create an index of c.email" in (finding.settle or "")


@pytest.mark.parametrize(
    "condition",
    [
        # Alternatives of one table: an index of each column finds the rows before the join.
        "((o.number = 'R7') OR (o.code = 'a@b'))",
        # Alternatives between columns are joined, not looked up.
        "((o.number = c.number) OR (c.email = 'a@b'))",
        # Another comparison may remove the rows.
        f"({EITHER} AND (o.state = 'open'))",
        "((o.number ~~ '%7') OR (c.email = 'a@b'))",
        "((o.number <> 'R7') OR (c.email = 'a@b'))",
        KEY,
    ],
)
def test_other_conditions_are_not_named(condition: str) -> None:
    assert either_table.find(joined(condition)) == []


@pytest.mark.parametrize("rows", [{"rows": 1e5}, {"removed_rows": 500.0}])
def test_a_filter_that_keeps_much_or_reads_little_is_not_named(rows: dict[str, float]) -> None:
    assert either_table.find(joined(EITHER, **rows)) == []
