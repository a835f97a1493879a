"""Statements that search for duplicates that they do not have, or filter after a window."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from assay.analysis.findings.case import Case
from assay.analysis.findings.plans import filter_after_window, union_duplicates
from assay.model.plan import PlanNode
from tests.cases import case, operation, plan, plans

UNION = "select a from recent union select a from old"


def op(operator: str, native: str, *children: PlanNode, **facts: Any) -> PlanNode:
    return PlanNode(operator, native, children=children, **facts)


def run_of(root: PlanNode, text: str = "select 1", **facts: Any) -> Case:
    query_plans = plans(plan(root, text=text))
    return case(operation(overrides={"seconds": 1.0}), plans=query_plans, **facts)


def parts(native: str = "Append", rows: float | None = 4e5) -> PlanNode:
    """Two tables of 200,000 rows."""
    scan = op("scan", "Seq Scan", object="recent", rows=2e5, seconds=0.2)
    return op("set operation", native, scan, replace(scan, object="old"), rows=rows, seconds=0.1)


class TestUnionDuplicates:
    def hashed(self, rows: float = 4e5, below: PlanNode | None = None) -> PlanNode:
        return op("aggregate", "HashAggregate", below or parts(), rows=rows, seconds=0.5)

    def test_a_union_without_duplicates_takes_the_time_of_its_operator(self) -> None:
        (finding,) = union_duplicates.find(run_of(self.hashed(), UNION))
        assert finding.effect_share == pytest.approx(0.5)
        assert finding.saved == (0.0, pytest.approx(0.5))
        assert "looks for duplicates in 400 k rows and removes 0 of them" in finding.claim
        assert finding.settle is not None
        assert finding.advice is not None
        assert (finding.advice.kind, finding.advice.subject) == ("union-all", "q1")

    def test_duckdb_counts_only_the_parts(self) -> None:
        below = op("projection", "PROJECTION", parts("UNION", rows=None), seconds=0.0)
        (finding,) = union_duplicates.find(run_of(self.hashed(3.9e5, below), UNION))
        assert "in 400 k rows and removes 10 k of them" in finding.claim

    def test_parts_that_are_merged_in_order_are_sorted_for_the_union(self) -> None:
        """As PostgreSQL 18.6 planned two tables, of which one has an index in this order."""
        read = op("index scan", "Index Scan", object="recent", index="i", rows=2e5, seconds=1.17)
        ordered = op("sort", "Incremental Sort", read, rows=2e5, seconds=0.4)
        scan = op("scan", "Seq Scan", object="old", rows=2e5, seconds=0.18)
        merged = op(
            "set operation",
            "Merge Append",
            ordered,
            op("sort", "Sort", scan, rows=2e5, seconds=0.63),
            rows=4e5,
            seconds=0.19,
        )
        root = op("aggregate", "Unique", merged, rows=4e5, seconds=0.45)
        (finding,) = union_duplicates.find(run_of(root, UNION))
        whole = 1.17 + 0.4 + 0.18 + 0.63 + 0.19 + 0.45
        assert finding.effect_share == pytest.approx((0.45 + 0.19 + 0.4 + 0.63) / whole)
        assert finding.saved == (0.0, pytest.approx(1 - 0.18 / whole))

    def test_workers_remove_duplicates_first(self) -> None:
        partial = op("aggregate", "Partial HashAggregate", parts(), rows=4e5, seconds=0.3)
        gathered = op("exchange", "Gather", partial, rows=4e5, seconds=0.1)
        root = op("aggregate", "Finalize HashAggregate", gathered, rows=4e5, seconds=0.3)
        (finding,) = union_duplicates.find(run_of(root, UNION))
        assert finding.effect_share == pytest.approx(0.7 / 1.2)

    def test_sqlite_measures_the_statement_with_duplicates(self) -> None:
        scan = op("scan", "SCAN", object="recent")
        root = op("set operation", "COMPOUND QUERY", scan, rows=4e5, removed_rows=0.0, seconds=0.6)
        timed = plan(root, text=UNION, execution_s=1.0, timed=False)
        run_case = case(operation(overrides={"seconds": 1.0}), plans=plans(timed))
        (finding,) = union_duplicates.find(run_case)
        assert finding.effect_share == pytest.approx(0.6)

    @pytest.mark.parametrize(
        ("rows", "text"),
        [
            (3e5, UNION),
            (4e5, "select a from recent union  all select a from old"),
            (4e5, "select 'union' -- union\n, a from t group by a"),
        ],
    )
    def test_many_duplicates_and_other_statements_are_left(self, rows: float, text: str) -> None:
        assert union_duplicates.find(run_of(self.hashed(rows), text)) == []

    def test_groups_of_a_union_are_not_its_duplicates(self) -> None:
        groups = op("aggregate", "HashAggregate", self.hashed(2e5), rows=2e5, seconds=0.5)
        assert union_duplicates.find(run_of(groups, UNION)) == []

    def test_a_short_search_is_left(self) -> None:
        root = replace(self.hashed(), seconds=0.02)
        assert union_duplicates.find(run_of(root, UNION)) == []


class TestFilterAfterWindow:
    COLUMNS = ("account", "at", "id", "kind", "amount")

    def view(
        self, condition: str = "filter (ranked.kind = 3)", removed: float = 390000.0, **facts: Any
    ) -> PlanNode:
        """A window over 400,000 rows, of which the condition keeps some."""
        scan = op(*("scan", "Seq Scan"), object="ev", columns=self.COLUMNS, rows=4e5, seconds=0.2)
        window = op(
            "window",
            "WindowAgg",
            op("sort", "Sort", scan, rows=4e5, seconds=0.5),
            rows=4e5,
            seconds=0.2,
            **facts,
        )
        return op(
            "projection",
            "Subquery Scan",
            window,
            condition=condition,
            rows=4e5 - removed,
            removed_rows=removed,
            seconds=0.1,
        )

    def test_a_condition_on_another_column_is_checked_after_the_window(self) -> None:
        (finding,) = filter_after_window.find(run_of(self.view()))
        assert finding.effect_share == pytest.approx(390 / 400)
        assert "processes 400 k rows" in finding.claim
        assert "the condition ranked.kind = 3 keeps 10 k rows" in finding.claim
        assert finding.settle is not None
        assert finding.saved == (0.0, pytest.approx(390 / 400))

    def test_duckdb_filters_between_projections(self) -> None:
        scan = op("scan", "TABLE_SCAN", object="ev", columns=self.COLUMNS, rows=3e6, seconds=0.4)
        window = op("window", "WINDOW", scan, rows=3e6, seconds=6.4)
        shown = op("projection", "PROJECTION", window, rows=3e6, seconds=0.0)
        root = op(
            *("filter", "FILTER", shown), condition="(account = 77)", rows=60.0,
            removed_rows=3e6 - 60, seconds=0.1,
        )  # fmt: skip
        (finding,) = filter_after_window.find(run_of(root))
        assert finding.effect_share == pytest.approx(1.0, abs=0.01)

    def test_postgresql_checks_the_first_row_in_the_window(self) -> None:
        """As PostgreSQL 18.6 planned `kind = 3 and row_number() = 1` by account."""
        root = self.view(
            "filter ((ranked.kind = 3) AND (ranked.rn = 1))",
            details={"Run Condition": "(row_number() OVER w1 <= 1)"},
        )
        (finding,) = filter_after_window.find(run_of(root))
        assert "the condition ranked.kind = 3 keeps" in finding.claim

    @pytest.mark.parametrize(
        ("condition", "removed"),
        [
            ("filter (ranked.rn = 1)", 390000.0),
            ("filter ((ranked.kind = 3) AND (ranked.rn = 1))", 390000.0),
            ("filter (ranked.kind = ranked.rn)", 390000.0),
            ("filter (ranked.kind = 3)", 200000.0),
        ],
    )
    def test_results_of_the_window_and_wide_conditions_are_left(
        self, condition: str, removed: float
    ) -> None:
        assert filter_after_window.find(run_of(self.view(condition, removed))) == []

    def test_a_condition_below_the_window_is_no_filter_of_it(self) -> None:
        """A condition on a column of `partition by`, which the engine checks in the scan."""
        scan = op(
            *("scan", "Seq Scan"), object="ev", columns=self.COLUMNS, rows=80.0, seconds=0.9,
            condition="filter (ev.account = 77)", removed_rows=4e5,
        )  # fmt: skip
        window = op("window", "WindowAgg", scan, rows=80.0, seconds=0.01)
        root = op("projection", "Subquery Scan", window, rows=80.0, seconds=0.0)
        assert filter_after_window.find(run_of(root)) == []
