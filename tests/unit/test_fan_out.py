"""Joins that multiply rows which are then grouped, and joins whose rows are needed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from assay.analysis.findings.case import Case
from assay.analysis.findings.engine_facts import TableFacts
from assay.analysis.findings.joins import fan_out
from assay.model.finding import Finding
from assay.model.plan import PlanNode
from tests.cases import case, node, operation, plan, plans

COUNTS = (
    "select c.id, count(distinct o.id), count(distinct t.id) from customers c join orders o "
    "on o.customer = c.id join tickets t on t.customer = c.id group by c.id"
)
SUMS = "select sum(o.cents) from orders o join tickets t on o.customer = t.customer"
ROWS = 60_000.0


def run_of(root: PlanNode, text: str, rows: int = 2_000, **facts: Any) -> Case:
    its = operation(overrides={"seconds": 1.0, "rows": rows})
    return case(its, plans=plans(plan(root, text=text)), **facts)


class TestHashJoin:
    """Each of 2,000 customers has 30 orders and 30 tickets."""

    def of(self, text: str = COUNTS, rows: float = 1.8e6, **facts: Any) -> list[Finding]:
        tables = facts.pop("tables", ("customers", "orders", "tickets"))
        customers = node("scan", object=tables[0], rows=2_000.0, seconds=0.0)
        orders = node("scan", object=tables[1], rows=ROWS, seconds=0.0)
        first = node("hash join", orders, customers, rows=ROWS, condition="customer = id")
        tickets = node("scan", object=tables[2], rows=facts.pop("inner", ROWS), seconds=0.1)
        join = node(
            "hash join",
            first,
            node("hash build", tickets),
            **{"rows": rows, "seconds": 0.3, "condition": "id = customer"} | facts,
        )
        return fan_out.find(run_of(self.above(join), text))

    def above(self, join: PlanNode) -> PlanNode:
        return node("aggregate", node("projection", join, rows=join.rows), rows=2e3, seconds=0.6)

    def test_rows_that_are_multiplied_and_grouped_are_suspected(self) -> None:
        (finding,) = self.of()
        assert finding.claim.startswith(
            "Fan-out: q1 joins 60 k rows of customers, orders with 60 k rows of tickets by "
            "id = customer; an aggregate reduces these 1.8 M rows to 2 k; this took"
        )
        assert finding.effect_share == pytest.approx(0.9 * (1 - 120e3 / 1.8e6))
        assert "aggregate each table by the join's key" in (finding.to_try or "")
        assert finding.settle is not None

    def test_sums_of_multiplied_rows_are_to_be_checked(self) -> None:
        (finding,) = self.of(COUNTS.replace("distinct ", ""))
        assert "check the result" in (finding.to_try or "")
        assert "check the result" not in (self.of()[0].to_try or "")

    def test_a_key_of_two_tables_is_enough_for_sums(self) -> None:
        assert len(self.of(SUMS)) == 1

    @pytest.mark.parametrize(
        "facts",
        [
            {"rows": 60e3},
            {"inner": 1e6},
            {"condition": "id = customer and at <= at"},
            {"condition": None},
            {"condition": "id IS NOT DISTINCT FROM id"},
            {"text": COUNTS.replace("group by c.id", "group by o.shop, t.kind")},
            {"text": COUNTS.replace("count(distinct o.id)", "sum(o.cents - t.cents)")},
            {"text": COUNTS.replace("count(distinct o.id)", "median(o.cents)")},
            {"text": COUNTS.replace("select", "select distinct")},
        ],
        ids=[
            *("fact and dimension", "large input", "range", "no condition", "decorrelated"),
            *("groups of both", "value of both", "median", "distinct"),
        ],
    )
    def test_its_twins_are_silent(self, facts: dict[str, Any]) -> None:
        assert self.of(**facts) == []

    def test_friends_of_friends_cannot_be_counted_before_the_join(self) -> None:
        text = (
            "select a.person, count(distinct b.friend) from knows a join knows b on "
            "a.friend = b.person group by a.person"
        )
        assert self.of(text, tables=("knows", "knows", "knows")) == []


@pytest.mark.parametrize(
    ("operator", "kept"),
    [("aggregate", 1e6), ("limit", 50.0), ("sort", 1.8e6), ("filter", 2e3), ("window", 1.8e6)],
)
def test_rows_that_no_aggregate_reduces_are_wanted(operator: str, kept: float) -> None:
    sides = (node("scan", object=name, rows=ROWS) for name in ("orders", "tickets"))
    join = node("hash join", *sides, rows=1.8e6, condition="customer = customer", seconds=0.5)
    root = node(operator, join, rows=kept, seconds=0.5)
    assert fan_out.find(run_of(root, SUMS, rows=1_800_000)) == []


def test_a_common_table_expression_passes_the_rows_to_each_of_its_aggregates() -> None:
    sides = (node("scan", object=name, rows=ROWS) for name in ("orders", "tickets"))
    join = node("hash join", *sides, rows=1.8e6, condition="customer = customer", seconds=0.2)
    scan = node("cte", object="x", rows=1.8e6)
    counts = [node("aggregate", replace(scan), rows=2e3, seconds=0.3) for _ in range(2)]
    both = node("hash join", *counts, rows=2e3, condition="#0 IS NOT DISTINCT FROM #0")
    (finding,) = fan_out.find(run_of(node("cte", both, join, object="x", seconds=0.2), SUMS))
    assert finding.effect_share == pytest.approx(1 - 120e3 / 1.8e6)
    one = node("hash join", counts[0], scan, rows=1.8e6, condition="#0 = #0", seconds=0.1)
    assert fan_out.find(run_of(node("cte", one, join, object="x"), SUMS, rows=1_800_000)) == []


class TestNestedLoop:
    """Each look-up of tickets counts its rows again."""

    def of(self, text: str = COUNTS, root: str = "aggregate", **facts: Any) -> list[Finding]:
        customers = node("scan", object="customers", rows=facts.pop("parents", 2_000.0), loops=1.0)
        orders = node(
            "index scan", object="orders", rows=ROWS, loops=2e3, condition="customer = customers.id"
        )
        first = node("nested loop", customers, orders, rows=ROWS)
        key = facts.pop("key", "customers.id")
        tickets = node(
            "index scan",
            object="tickets",
            **{"rows": 1.8e6, "loops": ROWS, "seconds": 0.7, "condition": f"customer = {key}"}
            | facts.pop("inner", {}),
        )
        join = node("nested loop", first, tickets, rows=1.8e6)
        kept = None if root == "materialize" else 2e3
        return fan_out.find(run_of(node(root, join, rows=kept, seconds=0.3), text, **facts))

    @pytest.mark.parametrize(
        "facts",
        [
            {},
            {"key": "orders.customer"},
            {"parents": 60e3, "tables": {"tickets": TableFacts(rows=60e3)}},
            # MariaDB groups rows before it sorts them, and the limit of a page hides the groups.
            {"root": "sort"},
            {"root": "top-n"},
            {"root": "materialize"},
        ],
        ids=["first table", "equal column", "counted", "sort", "page", "result"],
    )
    def test_the_inner_rows_count_once(self, facts: dict[str, Any]) -> None:
        (finding,) = self.of(**facts)
        assert "with 60 k rows of tickets by customer = " in finding.claim
        assert finding.effect_share == pytest.approx(1 - 120e3 / 1.8e6)

    @pytest.mark.parametrize(
        "facts",
        [
            {"parents": 60e3},
            {"parents": 60e3, "tables": {"tickets": TableFacts(rows=1.8e6)}},
            {"inner": {"condition": "customer = customers.id; filter tickets.at > orders.at"}},
            {"root": "sort", "text": "select o.*, t.* from customers c, orders o, tickets t"},
        ],
        ids=["not known", "many details", "range", "not grouped"],
    )
    def test_its_twins_are_silent(self, facts: dict[str, Any]) -> None:
        assert self.of(**facts) == []


class TestWithoutCondition:
    FORGOTTEN = "select c.name, sum(o.cents) from customers c, orders o group by c.name"

    def of(self, text: str = FORGOTTEN, few: float = 1e3, rows: float = 1e7) -> list[Finding]:
        customers = node("scan", object="customers", rows=few, loops=1.0)
        orders = node("scan", object="orders", rows=rows, loops=few)
        join = node("nested loop", customers, orders, rows=rows, seconds=0.5)
        return fan_out.find(run_of(node("aggregate", join, rows=few, seconds=0.5), text))

    def test_all_pairs_of_rows_are_suspected(self) -> None:
        (finding,) = self.of()
        assert finding.claim.startswith(
            "Join without a condition: q1 combines 1 k rows of customers with 10 k rows of orders; "
            "an aggregate reduces these 10 M pairs to 1 k rows; this took"
        )
        assert "whether a condition between both inputs" in (finding.settle or "")

    @pytest.mark.parametrize(
        "twin",
        [
            {"text": FORGOTTEN.replace(", orders", " cross join orders")},
            {"text": FORGOTTEN.replace("o.cents", "o.cents * c.share")},
            {"few": 12.0},
        ],
        ids=["cross join", "value of both", "few parameters"],
    )
    def test_pairs_that_are_wanted_are_silent(self, twin: dict[str, Any]) -> None:
        assert self.of(**twin) == []
