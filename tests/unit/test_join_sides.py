"""A table that is the outer side of a join is read in full for few matches, or with reason."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

import pytest

from assay.analysis.findings.indexes import join_index
from assay.engines.sqlite.plans import normalised
from assay.model.catalogue import Index
from tests.cases import ADVICE, case, node, operation, plan, plans

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.model.plan import PlanNode

TEXT = "select sum(o.cents) from customers c join orders o on o.customer = c.id where c.name = 'x'"
ORDERS = 100_000.0
EQUAL = "(o.customer = c.id)"


def scan(kept: float = ORDERS, removed: float = 0.0) -> PlanNode:
    return node("scan", object="orders", rows=kept, removed_rows=removed, seconds=0.4)


def probed(
    matches: float = 30.0,
    few: float = 3.0,
    native: str = "Hash Join",
    orders: PlanNode | None = None,
    estimated: float = 3.0,
) -> PlanNode:
    """A hash join with the large table on its probe side."""
    rows = node("scan", object="customers", rows=few, estimated_rows=estimated, seconds=0.1)
    build = node("hash build", rows, rows=few, estimated_rows=estimated)
    sides = (orders or scan(), build)
    join = node("hash join", *sides, rows=matches, seconds=0.4, condition=EQUAL)
    return dataclasses.replace(join, native=native)


def looked_up(
    removed: float = ORDERS - 30, condition: str = "id = o.customer; filter (c.name = 'x')"
) -> PlanNode:
    """A nested loop that looks up each row of the large table in the small one."""
    matches = ORDERS - removed
    inner = node(
        "index scan",
        object="customers",
        index="PRIMARY",
        condition=condition,
        rows=30.0,
        removed_rows=removed,
        loops=ORDERS,
        seconds=0.5,
    )
    return node("nested loop", scan(), inner, rows=min(matches, 30.0), seconds=0.05)


def of(root: PlanNode, text: str = TEXT, **facts: Any) -> Case:
    known: dict[str, Any] = {"indexes": {"orders": ()}, **facts}
    return case(operation(overrides={"seconds": 1.0}), plans=plans(plan(root, text=text)), **known)


@pytest.mark.parametrize(("root", "share"), [(probed(), 8 / 9), (looked_up(), 1.0)])
def test_the_compared_column_of_the_large_table_has_no_index(root: PlanNode, share: float) -> None:
    (finding,) = join_index.find(of(root))
    assert finding.effect_share == pytest.approx(share)
    assert "reads 100 k rows of orders to find 30 by customer" in finding.claim
    assert finding.advice is not None
    assert (finding.advice.subject, finding.advice.values) == ("orders", {"columns": "customer"})


@pytest.mark.parametrize("root", [probed(), looked_up()])
def test_with_the_index_there_is_none(root: PlanNode) -> None:
    index = Index("orders", "by_customer", ("customer",))
    assert join_index.find(of(root, indexes={"orders": (index,)})) == []


@pytest.mark.parametrize("root", [probed(), looked_up()])
def test_a_column_store_reads_the_table_fast_and_joins_by_no_index(root: PlanNode) -> None:
    assert join_index.find(of(root, advice={**ADVICE, "by_column": True})) == []


@pytest.mark.parametrize(
    "root",
    [
        pytest.param(probed(matches=5_000.0), id="many rows match"),
        pytest.param(probed(few=5_000.0, estimated=5_000.0), id="many rows ask"),
        pytest.param(probed(few=90.0, estimated=3.0), id="more rows ask than were expected"),
        pytest.param(probed(native="Hash Anti Join"), id="rows without a match are wanted"),
        pytest.param(
            probed(orders=scan(kept=1_000.0, removed=ORDERS - 1_000)),
            id="the scan's filter removed the matches",
        ),
        pytest.param(probed(orders=scan(kept=90.0)), id="the table is small"),
    ],
)
def test_the_probe_side_is_read_with_reason(root: PlanNode) -> None:
    assert join_index.find(of(root)) == []


def test_rows_of_the_other_side_without_a_match_are_found_by_an_index() -> None:
    assert join_index.find(of(probed(native="Hash Right Anti Join")))


@pytest.mark.parametrize("removed", [0.0, ORDERS / 2])
def test_look_ups_that_find_rows_or_have_no_filter_are_wanted(removed: float) -> None:
    assert join_index.find(of(looked_up(removed=removed))) == []


def test_without_a_key_in_the_plan_the_statement_names_the_column() -> None:
    rowid = looked_up(condition="rowid=?")
    (finding,) = join_index.find(of(rowid))
    assert finding.advice is not None
    assert finding.advice.values == {"columns": "customer"}
    using = TEXT.replace("on o.customer = c.id", "using (customer)")
    (finding,) = join_index.find(of(rowid, using))
    assert finding.advice is not None
    assert finding.advice.values == {"columns": "customer"}
    assert join_index.find(of(rowid, "select 1")) == []
    two = f"{using} join notes using (day)"
    assert join_index.find(of(rowid, two.replace("(customer)", "(month)"))) == []


FILTER = [
    {"id": 4, "parent": 0, "detail": "SCAN o"},
    {"id": 7, "parent": 0, "detail": "BLOOM FILTER ON c (id=?)"},
    {"id": 15, "parent": 0, "detail": "SEARCH c USING INTEGER PRIMARY KEY (rowid=?)"},
]


def of_sqlite(scans: list[dict[str, Any]], hits: int, misses: int) -> PlanNode:
    document = {
        "plan": FILTER,
        "aliases": {"o": "orders", "c": "customers"},
        "counted": {"vm_step": 500_000, "filter_hit": hits, "filter_miss": misses},
        "execution_s": 0.1,
        "changes": None,
        "scans": scans,
    }
    return normalised(json.dumps(document), "q1", 0, "native").root


def test_sqlites_filter_tells_how_many_rows_match() -> None:
    kept = {"table": "customers", "condition": "(name = ?)", "steps": 3, "joined": False}
    root = of_sqlite([{**kept, "read": 900.0, "kept": 1.0}], 99_970, 30)
    (finding,) = join_index.find(of(root))
    assert "reads 100 k rows of orders to find 30 by customer" in finding.claim
    assert join_index.find(of(of_sqlite([{**kept, "read": 900.0, "kept": 1.0}], 10, 99_990))) == []
    # Rows without a match in a table that has no condition.
    assert join_index.find(of(of_sqlite([], 99_970, 30))) == []
