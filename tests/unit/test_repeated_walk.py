"""Recursive queries that visit rows once for each path, and those that need each visit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from assay.analysis.findings.plans import repeated_walk
from assay.model.finding import Finding
from assay.model.plan import PlanNode
from tests.cases import case, node, operation, plan, plans

REACHED = (
    "with recursive reached(node) as (select child from links where parent = 1 union all "
    "select l.child from reached r join links l on l.parent = r.node) "
    "select distinct node from reached order by node"
)
ROWS = 50e3


def found(root: PlanNode, text: str = REACHED) -> list[Finding]:
    its = operation(overrides={"seconds": 1.0})
    return repeated_walk.find(case(its, plans=plans(plan(root, text=text))))


def step(object_name: str = "reached") -> PlanNode:
    again = replace(node("cte", object=object_name, rows=ROWS), native="WorkTable Scan")
    links = node("scan", object="links", rows=800.0)
    return node("hash join", again, links, rows=ROWS, seconds=0.5)


def computed_apart(kept: float = 120.0, rows: float = ROWS, **facts: Any) -> PlanNode:
    """PostgreSQL computes the recursion beside the scan that reads it."""
    walked = node("set operation", node("scan", object="links", rows=6.0), step(), rows=rows)
    walked = replace(walked, native="Recursive Union", seconds=0.2)
    scan = replace(node("cte", object="reached", rows=rows, seconds=0.1), native="CTE Scan")
    above = node(facts.get("operator", "aggregate"), scan, rows=kept, seconds=0.2)
    return node("sort", above, node("cte", walked, object="reached"), rows=kept, seconds=0.0)


def in_place(native: str) -> PlanNode:
    """DuckDB and MySQL compute the recursion where it is read."""
    walked = replace(node("cte", node("scan"), step(), rows=ROWS, seconds=0.2), native=native)
    between = node("projection", walked, rows=ROWS, seconds=0.1)
    return node("aggregate", between, rows=120.0, seconds=0.2)


def derived() -> PlanNode:
    """MariaDB reads a derived table whose union reads the same table."""
    union = node("set operation", node("scan"), step("<derived2>"))
    walked = node("scan", node("materialize", union), object="<derived2>", rows=ROWS, seconds=0.3)
    return node("sort", node("materialize", walked, seconds=0.2), rows=120.0)


@pytest.mark.parametrize(
    "root",
    [
        computed_apart(),
        in_place("RECURSIVE_CTE"),
        in_place("Materialize recursive CTE reached"),
        derived(),
    ],
    ids=["PostgreSQL", "DuckDB", "MySQL", "MariaDB"],
)
def test_a_walk_along_every_path_is_suspected(root: PlanNode) -> None:
    (finding,) = found(root)
    assert "the recursive part of q1 returns 50 k rows, of which 120 are distinct" in finding.claim
    assert finding.effect_share == pytest.approx(1 - 120 / ROWS)
    assert "`union` instead of `union all`" in (finding.to_try or "")
    assert finding.settle is not None


def test_columns_have_the_names_of_the_first_select() -> None:
    text = REACHED.replace("(node)", "").replace("select child from", "select l.child as node from")
    assert len(found(computed_apart(), text)) == 1
    assert found(computed_apart(), text.replace("as node", "as node, 1 as depth")) == []


@pytest.mark.parametrize(
    "text",
    [
        REACHED.replace("union all", "union"),
        REACHED.replace("select distinct node", "select node, count(*)"),
        REACHED.replace("(node)", "(node, depth)"),
        REACHED.replace("recursive", ""),
    ],
    ids=["union", "each visit counts", "depth", "not recursive"],
)
def test_statements_that_need_each_visit_are_silent(text: str) -> None:
    assert found(computed_apart(), text) == []


@pytest.mark.parametrize(
    "facts",
    [{"kept": 20e3}, {"rows": 900.0, "kept": 9.0}, {"operator": "filter"}, {"operator": "limit"}],
    ids=["distinct rows", "few rows", "filter", "limit"],
)
def test_walks_without_many_repetitions_are_silent(facts: dict[str, Any]) -> None:
    assert found(computed_apart(**facts)) == []


def test_a_recursion_without_duplicates_is_silent() -> None:
    assert found(in_place("Materialize recursive CTE reached with deduplication")) == []
