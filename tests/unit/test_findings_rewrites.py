"""Causes that another form of the statement, or a vacuum, ends."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import pytest

from assay.analysis.findings.case import Case
from assay.analysis.findings.engine_facts import TableFacts
from assay.analysis.findings.indexes import (
    extra_indexes,
    heap_visits,
    hinted_index,
    paging_condition,
)
from assay.analysis.findings.joins import distinct_join
from assay.analysis.findings.plans import partitions_read, subquery_per_row
from assay.model.catalogue import ForeignKey, Index
from assay.model.finding import Finding
from assay.model.plan import PlanNode
from tests.cases import case, node, operation, plan, plans

ONE_SECOND = {"seconds": 1.0}


def run_of(root: PlanNode, text: str = "select 1", **facts: Any) -> Case:
    query_plans = plans(plan(root, text=text))
    return case(operation(overrides=ONE_SECOND), plans=query_plans, **facts)


class TestSubqueryPerRow:
    NOT_IN = "select id from orders where id > 9 and id not in (select order_no from refunds)"
    UPDATE = "update orders set a = 1 where customer in (select id from customers where region = 7)"

    def select(
        self, condition: str = "(NOT (ANY (orders.id = (SubPlan 1).col1)))", **facts: Any
    ) -> PlanNode:
        """Fifteen rows that are each compared with 300,000 rows of a subquery."""
        rows = node("materialize", rows=4.5e6, seconds=0.5)
        subquery = PlanNode("subquery", "SubPlan 1", children=(rows,))
        scan = node("index scan", subquery, object="orders", condition=condition, seconds=0.4)
        return replace(scan, **{"rows": 15.0, "removed_rows": 0.0} | facts)

    def update(self) -> PlanNode:
        condition = "filter <in_optimizer>(orders.customer,<exists>(subquery#2))"
        scan = node("index scan", object="orders", condition=condition, seconds=0.2)
        scan = replace(scan, rows=120.0, removed_rows=6e4)
        rows = node("index scan", object="customers", seconds=0.8)
        return node("modify", scan, PlanNode("subquery", "subquery", children=(rows,)))

    def test_its_rows_are_searched_for_each_row(self) -> None:
        (finding,) = subquery_per_row.find(run_of(self.select(), self.NOT_IN))
        assert finding.effect_share == pytest.approx(0.9 / 0.9, abs=0.02)
        assert "15 times, once for each row of orders" in finding.claim
        assert "`not exists` instead of `not in`" in (finding.to_try or "")
        assert finding.settle is None
        assert {"plan", "setting"} == set(finding.witnesses)

    def test_its_loops_count_the_searches(self) -> None:
        root = self.select(removed_rows=4e4)
        searched = replace(root, children=(replace(root.children[0], loops=8387.0),))
        (finding,) = subquery_per_row.find(run_of(searched, self.NOT_IN))
        assert "8.39 k times" in finding.claim

    def test_a_union_is_joined_as_a_table(self) -> None:
        union = (
            "select id from orders where id in (select order_no from refunds where f(a) union "
            "select order_no from claims)"
        )
        (finding,) = subquery_per_row.find(run_of(self.select(), union))
        assert "join (select ... union select ...)" in (finding.to_try or "")
        apart = " ".join((self.NOT_IN, "union select id from claims"))
        (finding,) = subquery_per_row.find(run_of(self.select(), apart))
        assert "`not exists` instead of `not in`" in (finding.to_try or "")

    @pytest.mark.parametrize(("column", "is_sure"), [("customer", True), ("a", False)])
    def test_a_change_needs_the_index_of_the_compared_column(
        self, column: str, *, is_sure: bool
    ) -> None:
        indexes = {"orders": (Index("orders", "orders_index", (column,)),)}
        run_case = run_of(self.update(), self.UPDATE, indexes=indexes)
        (finding,) = subquery_per_row.find(run_case)
        assert (finding.settle is None) is is_sure
        assert "join the subquery's tables" in (finding.to_try or "")

    @pytest.mark.parametrize(
        "condition",
        [
            "(NOT (ANY (orders.id = (hashed SubPlan 1).col1)))",
            "(NOT (hashed SubPlan 1))",
            "(EXISTS(SubPlan 1) OR (orders.id = 3))",
            "(orders.id = 3)",
        ],
    )
    def test_a_hash_table_or_an_exists_is_searched_at_once(self, condition: str) -> None:
        assert subquery_per_row.find(run_of(self.select(condition), self.NOT_IN)) == []

    def test_few_searches_are_no_cause(self) -> None:
        assert subquery_per_row.find(run_of(self.select(rows=9.0), self.NOT_IN)) == []

    def test_a_subquery_that_computes_a_value_is_not_searched(self) -> None:
        text = "select id from orders where id = (select max(order_no) from refunds where o = id)"
        run_case = run_of(self.select("(orders.id = (SubPlan 1))"), text)
        assert subquery_per_row.find(run_case) == []


class TestPartitionsRead:
    def of(self, parts: int = 60, found: int = 1, condition: str | None = "(e.n = $1)") -> Case:
        scans = [
            replace(
                node("index scan", object=f"e_{at}", condition=condition, seconds=1 / parts),
                rows=float(at < found),
                loops=1.0,
            )
            for at in range(parts)
        ]
        return run_of(PlanNode("set operation", "Append", children=tuple(scans)))

    def test_partitions_without_rows_are_counted(self) -> None:
        (finding,) = partitions_read.find(self.of())
        assert "searches 60 partitions (e_0, e_1, ...) and finds no row in 59" in finding.claim
        assert finding.effect_share == pytest.approx(59 / 60, abs=0.01)
        assert finding.settle is not None

    @pytest.mark.parametrize(
        "facts",
        [{"parts": 7}, {"found": 30}, {"condition": None}],
        ids=["few", "half with rows", "all rows wanted"],
    )
    def test_what_a_partition_key_would_not_save_is_no_cause(self, facts: dict[str, Any]) -> None:
        assert partitions_read.find(self.of(**facts)) == []

    def test_partitions_that_are_skipped_cost_nothing(self) -> None:
        (root,) = (plan.root for plan in self.of().plans["q1"])
        skipped = (root.children[0], *(replace(part, loops=0.0) for part in root.children[1:]))
        assert partitions_read.find(run_of(replace(root, children=skipped))) == []


class TestPartitionsJoined:
    """Readings of a year are joined with the days of a month."""

    KEYS: ClassVar = {"readings": ("day",)}

    def of(
        self, kept: float = 31e3, condition: str | None = "(readings.day = c.day)", **facts: Any
    ) -> list[Finding]:
        scans = [
            replace(
                node("scan", object=f"{facts.get('parts', 'r')}_{at}", rows=30e3, seconds=0.06),
                loops=1.0,
            )
            for at in range(facts.get("count", 12))
        ]
        append = PlanNode(
            "set operation", "Append", rows=30e3 * len(scans), seconds=0.0, children=tuple(scans)
        )
        days = node("scan", object="c", rows=31.0, condition="filter (c.month = 5)")
        between = node(facts.get("between", "exchange"), append, rows=append.rows)
        native = facts.get("native", "Hash Join")
        join = replace(
            node("hash join", between, node("hash build", days), rows=kept, seconds=0.18),
            condition=condition,
            native=native,
        )
        root = node("aggregate", join, rows=7.0, seconds=0.1)
        return partitions_read.find(run_of(root, partition_keys=facts.get("keys", self.KEYS)))

    def test_a_join_by_the_key_skips_no_partition(self) -> None:
        (finding,) = self.of()
        assert "360 k rows of 12 partitions of readings, and the join by day keeps 31 k" in (
            finding.claim
        )
        assert finding.effect_share == pytest.approx(0.9 * (1 - 31 / 360))
        assert "`readings.day >= ... and readings.day < ...`" in (finding.to_try or "")
        assert "is the partition key" not in (finding.settle or "")
        assert "catalogue:readings" in {evidence.at for evidence in finding.evidence}

    def test_an_unknown_key_is_to_be_found_out(self) -> None:
        (finding,) = self.of(keys=None)
        assert "whether readings.day is the partition key" in (finding.settle or "")

    def test_a_nested_loop_compares_the_key_in_its_look_up(self) -> None:
        look_up = node("index scan", object="c", condition="day = readings.day", seconds=0.0)
        scans = tuple(
            replace(node("scan", object=f"r_{at}", rows=30e3, seconds=0.08), loops=1.0)
            for at in range(12)
        )
        append = PlanNode("set operation", "Append", rows=360e3, seconds=0.0, children=scans)
        loop = node("nested loop", append, look_up, rows=31e3, seconds=0.04)
        assert len(partitions_read.find(run_of(loop, partition_keys=self.KEYS))) == 1

    @pytest.mark.parametrize(
        "facts",
        [
            {"kept": 300e3},
            {"count": 4},
            {"keys": {"readings": ("meter",)}},
            {"keys": {}},
            {"keys": None, "condition": "(readings.day = c.day) AND (readings.meter = c.meter)"},
            {"condition": "(r_0.day = c.day)"},
            {"condition": "(readings.day > c.day)"},
            {"condition": None},
            {"native": "Hash Anti Join"},
            {"between": "filter"},
        ],
        ids=[
            *("most rows kept", "few", "other key", "no partitions", "two columns"),
            *("union by hand", "range", "no condition", "anti join", "filter"),
        ],
    )
    def test_its_twins_are_silent(self, facts: dict[str, Any]) -> None:
        assert self.of(**facts) == []


class TestPagingCondition:
    PAGE = "filter ((e.at > 30000) OR ((e.at = 30000) AND (e.id > 300005)))"

    def of(self, condition: str = PAGE, removed: float = 3e5, columns: Any = ("at", "id")) -> Case:
        scan = node("index scan", object="e", index="e_at", condition=condition, seconds=1.0)
        scan = replace(scan, rows=20.0, removed_rows=removed, cut_short=True)
        indexes = {"e": (Index("e", "e_at", columns), Index("e", "e_pkey", ("id",)))}
        return run_of(node("limit", scan, rows=20.0), indexes=indexes)

    @pytest.mark.parametrize(
        ("condition", "row"),
        [
            (PAGE, "(at, id) > (..., ...)"),
            ("filter ((e.at < $1) OR ((e.at = $1) AND (e.id < $2)))", "(at, id) < (..., ...)"),
        ],
    )
    def test_a_comparison_of_rows_is_proposed(self, condition: str, row: str) -> None:
        (finding,) = paging_condition.find(self.of(condition))
        assert row in (finding.to_try or "")
        assert finding.effect_share == pytest.approx(1.0, abs=0.02)
        assert finding.settle is None

    @pytest.mark.parametrize(
        ("condition", "first"),
        [
            ("tenant = 3; filter ((e.at,e.id) > ('2025-09-01 00:00',209000))", "at >= ..."),
            ("tenant = 3; filter ((e.`at`,e.id) < ('2025',7))", "at <= ..."),
            ("(e.tenant = 3); filter ((e.at > 1) OR ((e.at = 1) AND (e.id > 5)))", "at >= ..."),
        ],
    )
    def test_a_page_behind_equal_columns_needs_a_begin_of_its_own(
        self, condition: str, first: str
    ) -> None:
        (finding,) = paging_condition.find(self.of(condition, columns=("tenant", "at", "id")))
        assert f"`where {first} and (...)`" in (finding.to_try or "")
        assert finding.effect_share == pytest.approx(1.0, abs=0.02)

    @pytest.mark.parametrize(
        "case_facts",
        [
            {"removed": 20.0},
            {"columns": ("at", "kind", "id")},
            {"condition": "tenant = 3; filter ((e.at,e.id) > ('2025',7))"},
            {"condition": "filter ((e.at,e.kind) > ('2025',7))"},
            {"condition": "filter ((e.at,e.id) = ('2025',7))"},
            {
                "condition": "tenant > 3; filter ((e.at,e.id) > (1,2))",
                "columns": ("tenant", "at", "id"),
            },
            {"condition": "filter ((e.at > 3) OR ((e.at = 3) AND (e.id < 5)))"},
            {"condition": "filter ((e.at > 3) OR (e.kind = 5))"},
            {"condition": "filter ((e.at > 3) AND (e.id > 5))"},
            {"condition": "filter ((e.at > 3) OR ((e.at = 3) AND (abs(e.id) > 5)))"},
            {"condition": "(e.at >= 3); filter ((e.at > 3) OR (e.id > 5))"},
        ],
    )
    def test_other_conditions_are_no_next_page(self, case_facts: dict[str, Any]) -> None:
        assert paging_condition.find(self.of(**case_facts)) == []


class TestHeapVisits:
    def of(self, visible: float | None, operator: str = "bitmap scan", **index: Any) -> Case:
        search = node("bitmap scan", index="moves_crane", seconds=0.2)
        scan = node(operator, search, object="moves", rows=2e4, seconds=0.8)
        scan = replace(scan, columns=("tons", "crane"))
        columns = {"columns": ("crane", "tons")} | index
        indexes = {"moves": (Index("moves", "moves_crane", **columns),)}
        return run_of(scan, indexes=indexes, tables={"moves": TableFacts(visible_share=visible)})

    @pytest.mark.parametrize(
        ("operator", "is_sure"), [("bitmap scan", True), ("index scan", False)]
    )
    def test_a_vacuum_would_let_the_index_serve_alone(
        self, operator: str, *, is_sure: bool
    ) -> None:
        (finding,) = heap_visits.find(self.of(0.0, operator))
        assert finding.effect_share == pytest.approx(0.8, abs=0.02)
        assert (finding.settle is None) is is_sure
        assert finding.to_try == "vacuum moves (without `full`), and let autovacuum work on it"

    @pytest.mark.parametrize(
        ("visible", "index"),
        [(0.9, {}), (None, {}), (0.0, {"columns": ("crane",)}), (0.0, {"method": "gin"})],
        ids=["vacuumed", "not known", "lacks a column", "has no values"],
    )
    def test_without_these_facts_it_is_silent(
        self, visible: float | None, index: dict[str, Any]
    ) -> None:
        assert heap_visits.find(self.of(visible, **index)) == []


class TestHintedIndex:
    FORCED = "select sum(amount) from payments force index (payments_state) where state = 0"

    def of(self, text: str = FORCED, rows: float = 84e3, columns: Any = ("state",)) -> Case:
        scan = node("index scan", object="payments", index="payments_state", seconds=1.0)
        scan = replace(scan, rows=rows, condition="state = 0", columns=("state", "amount"))
        return run_of(scan, text, indexes={"payments": (Index("payments", scan.index, columns),)})

    @pytest.mark.parametrize(
        "text",
        [
            FORCED,
            "select 1 from payments use key for join (payments_id, `payments_state`)",
            "select 1 from payments indexed by payments_state where state = 0",
        ],
    )
    def test_the_statement_can_be_tried_without_its_hint(self, text: str) -> None:
        (finding,) = hinted_index.find(self.of(text))
        assert finding.effect_share == pytest.approx(1.0, abs=0.02)
        assert finding.advice is not None
        assert (finding.advice.kind, finding.advice.subject) == ("hint", "q1")
        assert finding.settle is not None

    @pytest.mark.parametrize(
        "facts",
        [
            {"text": FORCED.replace("force", "ignore")},
            {"text": FORCED.replace("payments_state", "payments_id")},
            {"text": "select sum(amount) from payments where state = 0"},
            {"rows": 900.0},
            {"columns": ("state", "amount")},
        ],
        ids=["forbidden", "another index", "no hint", "few rows", "all columns"],
    )
    def test_a_hint_that_demands_no_slow_reading_is_no_cause(self, facts: dict[str, Any]) -> None:
        assert hinted_index.find(self.of(**facts)) == []


class TestDistinctJoin:
    BUYERS = "-- Buyers.\nselect distinct c.id, c.name from customers c join orders o on true"

    def of(
        self, text: str = BUYERS, keys: str = "c.id, c.name", kept: float = 390.0, **facts: Any
    ) -> Case:
        orders = node("scan", object="orders", rows=3e5, seconds=0.2)
        customers = node("scan", object="customers", rows=400.0)
        join = node("hash join", orders, node("hash build", customers), rows=3e5, seconds=0.4)
        groups = node("aggregate", replace(join, **facts), rows=2 * kept, seconds=0.4)
        sort = node("sort", replace(groups, condition=keys), rows=2 * kept)
        return run_of(node("aggregate", sort, rows=kept), text)

    def test_exists_is_proposed(self) -> None:
        (finding,) = distinct_join.find(self.of())
        assert "joins 300 k rows, and `distinct` keeps 390 of them" in finding.claim
        assert finding.advice is not None
        assert (finding.advice.kind, finding.advice.subject) == ("exists", "q1")
        assert "`assay try a-run distinct-join:q1` measures it" in (finding.to_try or "")
        assert finding.effect_share == pytest.approx(1.0, abs=0.02)
        assert finding.settle is not None

    @pytest.mark.parametrize(
        "facts",
        [
            {"text": "select c.id, count(*) from customers c join orders o on true group by 1"},
            {"text": "select distinct on (c.id) c.id, o.at from customers c join orders o on true"},
            {"keys": "c.id, o.kind"},
            {"keys": "id"},
            {"kept": 1e5},
            {"rows": 900.0, "kept": 9.0},
        ],
        ids=["groups", "distinct on", "both sides", "not known", "few duplicates", "few rows"],
    )
    def test_what_needs_all_matches_is_no_cause(self, facts: dict[str, Any]) -> None:
        assert distinct_join.find(self.of(**facts)) == []


class TestExtraIndexes:
    NAMES = tuple("abcdefgh")

    def of(
        self, *read: str, native: str = "Insert", names: tuple[str, ...] = NAMES, **facts: Any
    ) -> Case:
        """Inserts that take all of the time, into a table with a key and eight indexes."""
        scans = [node("index scan", object="readings", index=f"r_{name}") for name in read]
        insert = PlanNode("modify", native, object="readings", children=tuple(scans), seconds=1.0)
        key = Index("readings", "r_pkey", ("id",), unique=True)
        indexes = (key, *(Index("readings", f"r_{name}", (name,)) for name in names))
        return run_of(insert, **{"indexes": {"readings": indexes}} | facts)

    def test_indexes_that_no_plan_reads_are_counted(self) -> None:
        (finding,) = extra_indexes.find(self.of())
        assert "9 indexes, and no plan of this run reads 8 of them" in finding.claim
        assert finding.effect_share == pytest.approx(8 / 10, abs=0.02)
        assert finding.settle is not None
        assert finding.advice is None

    def test_an_engine_that_can_drop_them_is_tried_without_them(self) -> None:
        statements = {"statements": {"dropped-index": "conf/advice/dropped_index.sql"}}
        (finding,) = extra_indexes.find(self.of(advice=statements))
        assert finding.advice is not None
        assert (finding.advice.kind, finding.advice.subject) == ("dropped-index", "readings")
        assert finding.advice.values == {"indexes": "r_a,r_b,r_c,r_d,r_e,r_f,r_g,r_h"}
        assert "measures it without all of them" in (finding.to_try or "")

    @pytest.mark.parametrize(
        ("read", "facts"),
        [
            ("", {"names": ("a", "b", "c")}),
            ("abcdefg", {}),
            ("", {"native": "Delete"}),
            ("", {"foreign_keys": tuple(ForeignKey(c, "readings", (c,), "t") for c in "abcde")}),
        ],
        ids=["few", "read", "deletes", "foreign keys"],
    )
    def test_indexes_with_a_use_are_not_extra(self, read: str, facts: dict[str, Any]) -> None:
        assert extra_indexes.find(self.of(*read, **facts)) == []

    def untimed(self, *children: PlanNode, plan_s: float = 1.0) -> Case:
        """Return inserts, with another statement, on an engine that only times whole statements."""
        run_case = self.of()
        insert = PlanNode("modify", "INSERT", object="readings", children=children)
        timed = plan(node("scan", object="sites"), execution_s=1.0)
        captured = plans(plan(insert, execution_s=plan_s, timed=False), replace(timed, statement=1))
        return replace(run_case, plans=captured)

    def test_an_insert_that_the_engine_does_not_time_has_its_statement_s_time(self) -> None:
        (finding,) = extra_indexes.find(self.untimed(node("values")))
        assert finding.effect_share == pytest.approx(0.5 * 8 / 10, abs=0.02)

    def test_an_untimed_insert_that_reads_a_table_has_no_time_of_its_own(self) -> None:
        assert extra_indexes.find(self.untimed(node("scan", object="readings"))) == []
        assert extra_indexes.find(self.untimed(plan_s=0.0)) == []

    @pytest.mark.parametrize(
        ("source", "select_s", "effect"),
        [
            ("seq_1_to_300", 1.0, 8 / 10),
            ("sites", 0.25, 0.75 * 8 / 10),
            ("sites", 1.0, None),
            ("sites", None, None),
        ],
        ids=["rows", "table", "slow select", "no times"],
    )
    def test_a_plan_of_an_insert_may_show_its_select_only(
        self, source: str, select_s: float | None, effect: float | None
    ) -> None:
        rows = replace(node("index scan", object=source), seconds=select_s)
        text = "-- A batch.\ninsert ignore into shop.readings (a) select seq from numbers"
        indexes = self.of().indexes | {"sites": ()}
        found = extra_indexes.find(run_of(rows, text, indexes=indexes))
        assert [finding.effect_share for finding in found] == (
            [] if effect is None else [pytest.approx(effect, abs=0.02)]
        )

    def test_an_operation_without_a_plan_may_read_them(self) -> None:
        run_case = self.of()
        more = (*run_case.operations, operation("q2", share=0.1))
        assert extra_indexes.find(replace(run_case, operations=more)) == []

    def test_statements_that_make_the_tables_take_no_time_and_need_no_plan(self) -> None:
        run_case = self.of()
        more = (*run_case.operations, operation("tables", share=0.0))
        assert len(extra_indexes.find(replace(run_case, operations=more))) == 1
