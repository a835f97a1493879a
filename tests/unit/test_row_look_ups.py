"""Searches that look up many rows in their table, and searches that need not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from assay.analysis.findings.case import Case
from assay.analysis.findings.indexes import row_look_ups
from assay.model.catalogue import Index
from assay.model.plan import PlanNode
from tests.cases import case, node, operation, plan, plans
from tests.truths import counted

EXECUTIONS = 500
TEXT = "select sum(price) from sales where shop = $1 and day between $2 and $3"
PRIMARY = Index("sales", "sales_key", ("shop", "day"), unique=True)


def search(**facts: Any) -> PlanNode:
    found = {"object": "sales", "index": "sales_key", "columns": ("price",)}
    return node("index scan", **found | {"condition": "shop=? AND day>?"} | facts)


def looking(
    root: PlanNode | None = None,
    pages: float = 2000,
    index: Index = PRIMARY,
    text: str = TEXT,
    share: float = 1.0,
) -> Case:
    """An operation that searches an index and asks for so many pages each time."""
    of_plans = plans(plan(root or search(), timed=False, text=text))
    operations = [operation(share=share, overrides={"passes": EXECUTIONS})]
    if share < 1:
        operations.append(operation("q2", share=1 - share))
    counters = counted(buffer_hits=pages * EXECUTIONS, buffer_reads=0)
    return case(
        *operations,
        plans=of_plans,
        counters=counters,
        indexes={"sales": (index,)},
        grammar="sqlite",
    )


def test_an_index_with_the_missing_columns_is_advised() -> None:
    (finding,) = row_look_ups.find(looking())
    assert finding.settle == row_look_ups.TO_SETTLE
    assert finding.effect_share == pytest.approx(1.0)
    assert "index sales_key, which lacks price" in finding.claim
    assert "asks the cache for 2 k pages" in finding.claim
    assert finding.advice is not None
    assert finding.advice.kind == "index"
    assert finding.advice.values["columns"] == "shop,day,price"
    assert "`without rowid`" in (finding.to_try or "")


def test_rows_in_key_order_are_advised_for_unique_keys_only() -> None:
    (finding,) = row_look_ups.find(looking(index=replace(PRIMARY, unique=False)))
    assert "without rowid" not in (finding.to_try or "")


def test_pages_counted_by_operation_are_used() -> None:
    made = looking(share=0.5)
    assert row_look_ups.find(made) == []
    figures = counted(buffer_hits=1.0)
    figures["counters"][0]["operations"] = {"q1": 3000.0, "q2": 9.0}
    (finding,) = row_look_ups.find(replace(made, counters=figures))
    assert "3 k pages" in finding.claim


JOINED = node("join", search(), node("scan", object="shops"))


@pytest.mark.parametrize(
    "quiet",
    [
        # Few rows, or an index with all columns.
        looking(pages=300),
        looking(search(columns=("shop", "day"))),
        looking(index=replace(PRIMARY, columns=("shop", "day", "price"))),
        looking(search(columns=("a", "b", "c", "d", "e"))),
        # The table is stored in the order of its key, or read in full.
        looking(search(index=None)),
        looking(node("scan", object="sales", columns=("price",))),
        # Other reads and changes ask for pages, too.
        looking(JOINED),
        looking(text="update sales set price = 1 where shop = $1"),
        looking(search(condition="ANY(shop) AND day>?")),
        looking(share=0.5),
        # An index that a longer one does not replace.
        looking(index=replace(PRIMARY, predicate="price > 3")),
        looking(index=replace(PRIMARY, directions=("asc", "desc"))),
        looking(index=replace(PRIMARY, collation="nocase")),
        looking(index=replace(PRIMARY, columns=("lower(shop)", "day"))),
        # Plans with rows have other findings.
        looking(search(rows=800.0)),
        replace(looking(), indexes=None),
        replace(looking(), counters=None),
    ],
)
def test_its_twins_are_silent(quiet: Case) -> None:
    assert row_look_ups.find(quiet) == []
