"""Windows that rank whole tables, such as all versions of each row, of which few are used."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from assay.analysis.findings.plans import filter_after_window, ranked_rows
from assay.model.finding import Finding
from assay.model.plan import PlanNode
from tests.cases import case, operation, plan, plans

NEWEST = (
    "select * from (select *, row_number() over (partition by id order by version desc) as rn "
    "from versions) k join customers c on c.id = k.customer where k.rn = 1 and c.region = 7"
)
RANK = {"Projections": "row_number() OVER (PARTITION BY id ORDER BY version DESC)"}


def op(operator: str, native: str, *children: PlanNode, **facts: Any) -> PlanNode:
    return PlanNode(operator, native, children=children, **facts)


def window(rows: float = 3e5, **facts: Any) -> PlanNode:
    scan = op("scan", "TABLE_SCAN", object="versions", rows=rows, seconds=0.1)
    return op("window", "WINDOW", scan, **{"rows": rows, "seconds": 0.8, "details": RANK} | facts)


def first_rows(below: PlanNode, rows: float, condition: str = "(#5 = 1)") -> PlanNode:
    return op("filter", "FILTER", below, condition=condition, rows=rows, seconds=0.05)


def joined(first: PlanNode, rows: float, join_type: str = "INNER") -> PlanNode:
    customers = op("scan", "TABLE_SCAN", object="customers", rows=100.0, seconds=0.0)
    return op(
        *("hash join", "HASH_JOIN", first, customers),
        condition="customer = id", rows=rows, seconds=0.05, details={"Join Type": join_type},
    )  # fmt: skip


def found(root: PlanNode, text: str = NEWEST) -> list[Finding]:
    run = case(operation(overrides={"seconds": 1.0}), plans=plans(plan(root, text=text)))
    return ranked_rows.find(run)


def test_a_join_keeps_few_of_the_newest_rows() -> None:
    (finding,) = found(joined(first_rows(window(), 1e5), 300.0))
    assert finding.effect_share == pytest.approx(0.95 * (1 - 300 / 3e5))
    assert finding.saved == (0.0, pytest.approx(finding.effect_share))
    assert "ranks 300 k rows of versions" in finding.claim
    assert "uses at most 300 of them" in finding.claim
    assert "HASH_JOIN above it returned 300 rows" in finding.evidence[0].says
    assert finding.settle is not None


def test_a_view_whose_query_is_not_known_ranks_by_its_plan() -> None:
    assert found(joined(first_rows(window(), 1e5), 300.0), "select * from v where region = 7")


def test_mysql_looks_up_few_rows_of_a_derived_table() -> None:
    """A plan of MySQL 9.7: the key of the look-up includes the rank."""
    ranks = "row_number() OVER (PARTITION BY e.id ORDER BY e.version desc)"
    derived = op("materialize", "Materialize", window(condition=ranks, details={}), seconds=2.0)
    looked_up = op(
        *("index scan", "Index lookup", derived), object="r", index="<auto_key0>",
        condition="id = s.id, rn = 1", rows=200.0, loops=200.0, seconds=0.0,
    )  # fmt: skip
    shipments = op("index scan", "Index lookup", object="s", rows=200.0, seconds=0.0)
    root = op("nested loop", "Nested loop inner join", shipments, looked_up, rows=200.0)
    (finding,) = found(root, "select * from v_current where tenant = 42")
    assert finding.effect_share == pytest.approx(1.0, abs=0.001)


def test_operations_with_the_same_tables_have_one_finding() -> None:
    root = joined(first_rows(window(), 1e5), 300.0)
    both = plans(plan(root, text=NEWEST), plan(root, "q2", text=NEWEST))
    two = case(
        operation(overrides={"seconds": 1.0, "share": 0.5}),
        operation("q2", overrides={"seconds": 1.0, "share": 0.5}),
        plans=both,
    )
    (finding,) = ranked_rows.find(two)
    assert finding.operations == ("q1", "q2")
    assert "Each execution of q1, q2 ranks 300 k rows" in finding.claim


@pytest.mark.parametrize(
    ("root", "text"),
    [
        pytest.param(first_rows(window(), 1e5), NEWEST, id="all newest rows are used"),
        pytest.param(joined(first_rows(window(), 1e5), 5e4), NEWEST, id="half of them are used"),
        pytest.param(joined(first_rows(window(300), 100), 3), NEWEST, id="a small table"),
        pytest.param(
            op("aggregate", "AGGREGATE", joined(first_rows(window(), 1e5), 1e5), rows=1.0),
            NEWEST,
            id="all are counted",
        ),
        pytest.param(joined(first_rows(window(), 1e5), 3.0, "SEMI"), NEWEST, id="another side"),
        pytest.param(joined(first_rows(window(loops=1e3), 1e5), 300), NEWEST, id="for each row"),
        pytest.param(
            joined(replace(first_rows(window(), 300), cut_short=True), 300.0), NEWEST, id="limit"
        ),
        pytest.param(
            joined(first_rows(window(details={}), 1e5, "(#5 > 100)"), 300.0),
            "select sum(amount) over (partition by id) as total from versions",
            id="no rank",
        ),
        pytest.param(
            joined(first_rows(window(), 1e5), 300.0),
            "select * from customers c, lateral (select * from versions order by 1 limit 1) v",
            id="an engine's own window for a limit",
        ),
    ],
)
def test_windows_that_are_needed_are_left(root: PlanNode, text: str) -> None:
    assert found(root, text) == []


def test_a_condition_on_columns_has_one_finding() -> None:
    """A plan of PostgreSQL 18 for `region = 7 and row_number() = 1`."""
    scan = op("scan", "Seq Scan", object="ev", columns=("id", "region"), rows=4e5, seconds=0.5)
    ranked = op(
        *("window", "WindowAgg", scan), rows=1e5, seconds=0.5,
        details={"Run Condition": "(row_number() OVER w1 <= 1)"},
    )  # fmt: skip
    root = op(
        *("projection", "Subquery Scan", ranked), condition="filter (v.region = 7)",
        rows=1e3, removed_rows=99e3, seconds=0.1,
    )  # fmt: skip
    run = case(operation(overrides={"seconds": 1.0}), plans=plans(plan(root, text=NEWEST)))
    (finding,) = filter_after_window.find(run)
    assert "keep the first row of each group" in (finding.to_try or "")
    assert ranked_rows.find(run) == []


@pytest.mark.parametrize(
    ("text", "is_tried"),
    [("select * from newest where region = 7", True), (NEWEST, False), (None, False)],
)
def test_views_can_be_tried_as_tables(text: str | None, *, is_tried: bool) -> None:
    run = case(
        operation(overrides={"seconds": 1.0}),
        plans=plans(plan(joined(first_rows(window(), 1e5), 300.0), text=NEWEST)),
        statements={} if text is None else {"q1": text},
    )
    (finding,) = ranked_rows.find(run)
    advised = None if finding.advice is None else (finding.advice.kind, finding.advice.subject)
    assert advised == (("stored-views", "q1") if is_tried else None)
    assert ("assay try" in str(finding.to_try)) is is_tried
