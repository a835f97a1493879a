"""What is read from plans beyond the size of a cause: victims, columns, sizes that are advised."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from assay.analysis.findings.client import round_trips
from assay.analysis.findings.engine_facts import TableFacts
from assay.analysis.findings.indexes import missing_index
from assay.analysis.findings.indexes.conditions import indexable
from assay.analysis.findings.judging import judged
from assay.analysis.findings.memory import dead_rows, spill
from assay.analysis.findings.plans import (
    columns_read,
    jit,
    misestimate,
    optimiser,
    parallelism,
    stale_statistics,
)
from assay.analysis.findings.plans.plan_time import fraction_of, timed_nodes
from assay.engines.discovery import find_engine
from assay.model.catalogue import Index
from assay.model.finding import Advice, Finding
from assay.model.plan import PlanNode
from tests.cases import ADVICE, case, even, node, operation, passes, plan, plans
from tests.truths import WHOLE_S, counted, looped, planned, serial, spilled

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding
    from assay.model.plan import PlanNode

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


class TestTime:
    def test_threads_of_a_parallel_plan_share_the_time_that_passed(self) -> None:
        both = node("sort", node("scan", seconds=6.0), seconds=2.0)
        run_case = case(operation(), plans=plans(plan(both, execution_s=4.0)))
        assert [timing.fraction for timing in timed_nodes(run_case)] == [0.25, 0.75]

    def test_planning_is_part_of_an_operation_and_of_no_operator(self) -> None:
        run_case = case(operation(), plans=plans(plan(node(seconds=3.0), planning_s=1.0)))
        assert fraction_of(timed_nodes(run_case)) == {"q1": 0.75}

    def test_statements_of_an_operation_share_its_time(self) -> None:
        two = plans(plan(node(seconds=1.0)), plan(node(seconds=3.0)))
        assert [timing.fraction for timing in timed_nodes(case(operation(), plans=two))] == [
            0.25,
            0.75,
        ]

    def test_what_was_not_timed_has_none(self) -> None:
        estimated = plans(plan(node(), timed=False))
        assert [timing.fraction for timing in timed_nodes(case(operation(), plans=estimated))] == [
            None
        ]


class TestSpill:
    def test_a_plan_that_was_captured_once_gives_it_no_interval(self) -> None:
        sort = node("sort", seconds=6.0, spilled_bytes=GIB)
        query_plans = plans(plan(node("aggregate", sort, seconds=4.0)))
        times = passes({"q1": [1.0, 1.2, 0.8], "q2": [1.0, 1.0, 1.0]})
        (finding,) = spill.find(case(*even(2), plans=query_plans, executions=times))
        assert finding.effect_share == pytest.approx(0.3)
        assert finding.interval is None

    @pytest.mark.parametrize(
        ("wrote", "value"),
        [(MIB, 8 * MIB), (100 * MIB, 512 * MIB), (GIB, 2 * GIB), (40 * GIB, 2 * GIB)],
    )
    def test_the_memory_that_is_advised_holds_it_as_far_as_the_host_does(
        self, wrote: int, value: int
    ) -> None:
        (finding,) = spill.find(spilled(0.5, wrote))
        assert finding.advice is not None
        assert finding.advice.values == {"value": str(value)}

    def test_what_is_gained_is_the_copying_where_no_disk_was_waited_for(self) -> None:
        (finding,) = spill.find(spilled(0.5, GIB))
        assert finding.advice is not None
        assert finding.advice.gain_share == pytest.approx(0.2, rel=0.1)

    @pytest.mark.parametrize(
        ("limits", "says"),
        [
            ({"limits": "the whole process"}, "pool 4MB limits the whole process"),
            ({}, "pool 4MB"),
        ],
    )
    def test_the_engine_says_what_its_limit_is_of(self, limits: dict[str, str], says: str) -> None:
        advice = {"settings": {"work_memory": {"name": "pool", "values": "bytes", **limits}}}
        settings = {"pool": "4MB"}
        (finding,) = spill.find(planned(0.5, _spilling(), advice=advice, settings=settings))
        assert says in [evidence.says for evidence in finding.evidence]

    @pytest.mark.parametrize(
        ("wrote", "limits", "is_told"),
        [
            (3 * MIB, "each operator", False),
            (5 * MIB, "each operator", True),
            (3 * MIB, "the whole process", True),
        ],
    )
    def test_an_operator_that_wrote_less_than_its_own_memory_lost_next_to_nothing(
        self, wrote: int, limits: str, *, is_told: bool
    ) -> None:
        memory = {"name": "pool", "values": "bytes", "limits": limits}
        sort = node("sort", seconds=5.0, spilled_bytes=wrote)
        advice = {"settings": {"work_memory": memory}}
        findings = spill.find(planned(0.5, sort, advice=advice, settings={"pool": "4MB"}))
        assert bool(findings) is is_told

    @pytest.mark.parametrize(("disk_write", "certainty"), [(0.0, "suspected"), (0.2, "seen")])
    def test_a_spill_into_the_page_cache_may_cost_nothing(
        self, disk_write: float, certainty: str
    ) -> None:
        """PostgreSQL and SQLite sorted as fast with memory for all rows as with temporary files."""
        sort = node("sort", seconds=0.4 * WHOLE_S, spilled_bytes=GIB)
        query_plans = plans(plan(node("aggregate", sort, seconds=0.6 * WHOLE_S)))
        overrides = {"seconds": WHOLE_S}
        waiting = operation(cpu_user=1 - disk_write, disk_write=disk_write, overrides=overrides)
        run_case = case(waiting, plans=query_plans, counters=counted(temporary_bytes=float(GIB)))
        (finding,) = judged(run_case, spill.find(run_case)).findings
        assert finding.certainty == certainty
        assert (finding.settle is None) is (certainty == "seen")

    @pytest.mark.parametrize(
        ("operator", "wrote", "is_sure"),
        [("hash join", 32 * MIB, True), ("hash join", 31 * MIB, False), ("sort", GIB, False)],
    )
    def test_a_hash_of_many_batches_is_slow_in_the_page_cache_too(
        self, operator: str, wrote: int, *, is_sure: bool
    ) -> None:
        """A hash join took three times as long; a sort of 100 pieces 10 % longer than one."""
        memory = {"name": "pool", "values": "bytes", "limits": "each operator"}
        spilling = node(operator, seconds=5.0, spilled_bytes=wrote)
        facts = {"advice": {"settings": {"work_memory": memory}}, "settings": {"pool": "4MB"}}
        (finding,) = spill.find(planned(0.5, spilling, **facts))
        assert (finding.settle is None) is is_sure

    def test_of_an_engine_without_such_a_setting_nothing_is_advised(self) -> None:
        (finding,) = spill.find(planned(0.5, _spilling(), advice={}))
        assert finding.advice is None
        assert " with " not in finding.claim


def _spilling() -> PlanNode:
    return node("hash join", seconds=5.0, spilled_bytes=GIB)


class TestSpillByCounters:
    """Where no plan was captured: what the engine counted around operations."""

    def findings(self, **wrote: float) -> list[Finding]:
        figure = {"name": spill.SPILLED, "to_try": "more memory", "operations": wrote}
        counters = {"counters": [{**figure, "total": sum(wrote.values())}]}
        return spill.find(case(*even(5, overrides={"seconds": 1.0}), counters=counters))

    def test_it_names_who_spilled_most_first(self) -> None:
        (finding,) = self.findings(q1=100 * MIB, q2=200 * MIB, q3=0.0)
        assert finding.claim == (
            "q2 spilled 200 MiB to temporary files, q1 100 MiB with work_mem 4MB, by the engine's"
            " own count; to write and read this takes about 13 % of the time"
        )
        assert finding.to_try == "more memory"

    def test_the_cost_is_that_of_the_copies_and_all_of_the_time_at_most(self) -> None:
        """SQLite sorted 14 MiB as fast with memory for all rows."""
        (finding,) = self.findings(q1=100 * MIB)
        assert finding.effect_share == pytest.approx(2 * 100 * MIB / 1e9 / 5)
        assert finding.saved == (0.0, pytest.approx(0.2))
        (finding,) = self.findings(q1=4.0 * GIB)
        assert finding.effect_share == pytest.approx(0.2)

    def test_copies_of_less_than_a_hundredth_of_the_time_are_not_told(self) -> None:
        assert self.findings(q1=5.0 * MIB) == []

    def test_many_are_counted(self) -> None:
        (finding,) = self.findings(**{f"q{number}": 20.0 * MIB for number in range(1, 6)})
        assert "and 2 more operations spilled with work_mem 4MB" in finding.claim

    @pytest.mark.parametrize("wrote", [0.0, MIB - 1])
    def test_next_to_nothing_is_not_told(self, wrote: float) -> None:
        assert self.findings(q1=wrote) == []


def _joined(outer: PlanNode, inner: PlanNode, above: str = "nested loop", **facts: Any) -> Case:
    return planned(0.7, node(above, outer, inner, **facts))


class TestMisestimate:
    def test_a_sort_that_spilled_above_it_was_hurt(self) -> None:
        scan = node("scan", object="orders", estimated_rows=10, rows=1e6, seconds=1.0)
        sort = node("sort", scan, estimated_rows=10, rows=1e6, seconds=7.0, spilled_bytes=MIB)
        (finding,) = misestimate.find(case(operation(), plans=plans(plan(sort))))
        assert finding.effect_share == pytest.approx(7 / 8)
        assert "Scan of orders returned 1 M rows where 10 were estimated;" in finding.claim

    def test_one_that_kept_its_rows_in_memory_was_not(self) -> None:
        scan = node("scan", object="orders", estimated_rows=10, rows=1e6, seconds=1.0)
        sort = node("sort", scan, estimated_rows=10, rows=1e6, seconds=7.0, spilled_bytes=0)
        assert misestimate.find(case(operation(), plans=plans(plan(sort)))) == []

    def test_the_inner_side_of_a_loop_says_nothing_of_how_often_it_runs(self) -> None:
        outer = node("scan", estimated_rows=100, rows=100, seconds=0.0)
        inner = node("index scan", estimated_rows=100, rows=1e6, seconds=7.0)
        assert misestimate.find(_joined(outer, inner, seconds=0.0)) == []

    def test_a_hash_join_does_not_mind(self) -> None:
        outer = node("scan", estimated_rows=1, rows=1e5, seconds=0.0)
        inner = node("scan", estimated_rows=100, rows=100, seconds=7.0)
        assert misestimate.find(_joined(outer, inner, "hash join", seconds=0.0)) == []

    def test_the_lowest_of_those_that_are_off_is_the_origin(self) -> None:
        scan = node("scan", object="orders", estimated_rows=1, rows=500, seconds=0.0)
        other = node("index scan", object="shops", seconds=1.0)
        join = node("nested loop", scan, other, estimated_rows=1, rows=1e4, seconds=0.0)
        inner = node("index scan", object="lines", seconds=6.0)
        (finding,) = misestimate.find(_joined(join, inner, seconds=0.0))
        assert "Scan of orders returned 500 rows" in finding.claim
        assert finding.effect_share == pytest.approx(0.7)

    @pytest.mark.parametrize(("changed", "is_fresh"), [(0.0, True), (2e4, False)])
    def test_fresh_statistics_are_not_gathered_again(
        self, changed: float, *, is_fresh: bool
    ) -> None:
        """Columns that depend on each other are estimated too low, however fresh statistics are."""
        facts = TableFacts(rows=1e6, changed_rows=changed, estimated_rows=1e6, analyzed=True)
        rows = {"estimated_rows": 1, "rows": 1e5, "condition": "(make = 7) AND (model = 9)"}
        outer = node("scan", object="cars", seconds=0.0, **rows)
        inner = node("index scan", object="parts", seconds=7.0)
        run_case = _joined(outer, inner, seconds=0.0)
        (finding,) = misestimate.find(dataclasses.replace(run_case, tables={"cars": facts}))
        assert (finding.advice is None) is is_fresh
        assert ("more detailed statistics of cars" in (finding.to_try or "")) is is_fresh

    @pytest.mark.parametrize("able", [True, False])
    def test_a_loop_that_nothing_mends_is_switched_off_as_a_test(self, *, able: bool) -> None:
        scans = (node("scan", rows=1e4, estimated_rows=1e4, seconds=0.0) for _ in range(2))
        join = node("hash join", *scans, estimated_rows=1, rows=1e4, seconds=0.0)
        run_case = _joined(join, node("index scan", seconds=7.0), seconds=0.0)
        advice = {"operators": ["nested loop"]} if able else {}
        (finding,) = misestimate.find(dataclasses.replace(run_case, advice=advice))
        assert (finding.advice == Advice("technique", "nested loop")) is able
        assert ("assay try" in (finding.to_try or "")) is able

    def test_a_sort_that_spilled_is_no_loop(self) -> None:
        scan = node("scan", object="orders", estimated_rows=10, rows=1e6, seconds=1.0)
        sort = node("sort", scan, estimated_rows=10, rows=1e6, seconds=7.0, spilled_bytes=MIB)
        run_case = case(operation(), plans=plans(plan(sort)))
        facts = TableFacts(rows=1e6, changed_rows=0.0, estimated_rows=1e6, analyzed=True)
        advised = dataclasses.replace(
            run_case, advice={"operators": ["nested loop"]}, tables={"orders": facts}
        )
        (finding,) = misestimate.find(advised)
        assert finding.advice is None

    def test_statistics_of_a_join_cannot_be_gathered(self) -> None:
        scans = (node("scan", rows=1e4, estimated_rows=1e4, seconds=0.0) for _ in range(2))
        join = node("hash join", *scans, estimated_rows=1, rows=1e4, seconds=0.0)
        (finding,) = misestimate.find(_joined(join, node("index scan", seconds=7.0), seconds=0.0))
        assert finding.advice is None
        assert finding.to_try == "assay explain a-run --operation q1"

    @pytest.mark.parametrize(
        ("facts", "method"),
        [
            (TableFacts(rows=1e6, changed_rows=0.0, estimated_rows=1e6), misestimate),
            (TableFacts(rows=1e6, changed_rows=6e3, estimated_rows=1e6), stale_statistics),
            (TableFacts(rows=1e6, changed_rows=0.0, estimated_rows=4e5), stale_statistics),
            (TableFacts(rows=1e6, analyzed=False), stale_statistics),
            (TableFacts(), misestimate),
        ],
    )
    def test_one_method_tells_of_it_and_it_is_the_one_that_can_be_mended(
        self, facts: TableFacts, method: Any
    ) -> None:
        run_case = looped(0.5, tables={"orders": facts})
        modules = [module for module in (misestimate, stale_statistics) if module.find(run_case)]
        assert modules == [method]


class TestIndexOfAnExpression:
    """A scan whose condition compares an expression that nothing indexes."""

    def of(self, condition: str, **advice: Any) -> Finding:
        scan = node("scan", object="lines", condition=condition, rows=1.0, removed_rows=1e6)
        scan = dataclasses.replace(scan, seconds=1.0)
        facts = {**ADVICE, "expressions": True, **advice}
        second = operation(overrides={"seconds": 1.0})
        run_case = case(second, plans=plans(plan(scan)), advice=facts)
        (finding,) = missing_index.find(run_case)
        return finding

    @pytest.mark.parametrize(
        ("condition", "expression"),
        [
            ("filter ((lines.flags & 64) = 64)", "(flags & 64)"),
            ("filter (lower(lines.name) = 'x'::text)", "(lower(name))"),
        ],
    )
    def test_it_can_be_tried(self, condition: str, expression: str) -> None:
        finding = self.of(condition)
        assert finding.advice is not None
        assert (finding.advice.kind, finding.advice.values) == ("index", {"expression": expression})
        assert f"makes an index of lines ({expression})" in (finding.to_try or "")

    @pytest.mark.parametrize(
        ("condition", "advice"),
        [
            ("filter ((lines.flags & 64) > 64)", {}),
            ("filter (((lines.flags & 64) = 64) AND ((lines.flags & 1) = 1))", {}),
            ("filter ((lines.flags & 64) = other.flag)", {}),
            ("filter ((lines.flags & 64) = 64)", {"expressions": False}),
        ],
    )
    def test_its_twin_has_no_such_index(self, condition: str, advice: dict[str, Any]) -> None:
        assert self.of(condition, **advice).advice is None


class TestMissingIndexOfOwnStatements:
    """One of two statements of somebody's own, beside one that takes all of the run's time."""

    def of(self, slow_s: float, **fields: Any) -> list[Finding]:
        scan = node("scan", object="lines", condition="(line = 7)", rows=1.0, removed_rows=1e6)
        scan = dataclasses.replace(scan, seconds=slow_s * 0.9)
        other = operation("q2", share=0.98)
        slow = operation(share=0.02, overrides={"seconds": slow_s}, cpu_user=1.0)
        root = node("aggregate", scan, seconds=slow_s * 0.1)
        run_case = case(slow, other, plans=plans(plan(root)), **fields)
        # What is found is judged as well: small causes are left out there.
        return list(judged(run_case, missing_index.find(run_case)).findings)

    def test_it_is_told_though_the_run_has_a_longer_one(self) -> None:
        (finding,) = self.of(0.05, own_tables=True)
        assert finding.fractions == pytest.approx({"q1": 0.9})
        assert finding.effect_share == pytest.approx(0.018)

    def test_of_a_quick_one_and_of_a_workload_s_share_it_is_not(self) -> None:
        assert self.of(0.001, own_tables=True) == []
        assert self.of(0.05) == []
        assert self.of(0.05, own_tables=True, load=object()) == []


class TestIndex:
    @pytest.mark.parametrize(
        ("condition", "columns"),
        [
            ("filter (card = '7'::text)", ("card",)),
            ("((note)::text = 'a or b'::text)", ("note",)),
            ("(day = 7) AND (size >= 3) AND (weight < 4)", ("day", "size")),
            ("((size >= 3) AND (day = 7))", ("day", "size")),
            ("(part = outer_part.part)", ("part",)),
            ("(other.part = part)", ()),
            ("(lines.part = 7)", ("part",)),
            ("l_shipdate<'1995-01-01'::DATE", ("l_shipdate",)),
            ("(day = ANY ('{1,2}'::integer[]))", ("day",)),
            ("(lower((name)::text) = 'x'::text)", ()),
            ("((day = 7) OR (size = 3))", ()),
            ("((name)::text ~~ '%green%'::text)", ()),
            ("(day <> 7)", ()),
            ("(sent < received)", ()),
            ("(lines.sent < lines.received)", ()),
            ("(part = (size + 1))", ()),
            ("(part = $1)", ("part",)),
            ("(part > (InitPlan 1).col1)", ("part",)),
            ("optional: (part IN ('a', 'b'))", ("part",)),
            ("day>='1994-01-01'::DATE AND size<7::BIGINT AND part=3", ("part", "day")),
            ("", ()),
            (None, ()),
        ],
    )
    def test_columns_are_those_that_rows_can_be_found_by(
        self, condition: str | None, columns: tuple[str, ...]
    ) -> None:
        assert indexable(condition, "lines") == columns

    def test_dates_that_are_compared_with_each_other_are_no_range(self) -> None:
        """TPC-H q12 as PostgreSQL prints it: only l_receiptdate is held against literals."""
        condition = (
            "filter ((lineitem.l_shipmode = ANY ('{MAIL,SHIP}'::bpchar[]))"
            " AND (lineitem.l_commitdate < lineitem.l_receiptdate)"
            " AND (lineitem.l_shipdate < lineitem.l_commitdate)"
            " AND (lineitem.l_receiptdate >= '1994-01-01'::date)"
            " AND (lineitem.l_receiptdate < '1995-01-01 00:00:00'::timestamp without time zone))"
        )
        assert indexable(condition, "lineitem") == ("l_shipmode", "l_receiptdate")

    def scan(self, kept: float, **facts: Any) -> Case:
        details = {"condition": "(line = 7)", "rows": 1e6 * kept, "removed_rows": 1e6 * (1 - kept)}
        return planned(0.3, node(object="lines", seconds=7.0, **details | facts))

    @pytest.mark.parametrize(("kept", "count"), [(0.019, 1), (0.021, 0)])
    def test_the_threshold_is_the_border(self, kept: float, count: int) -> None:
        assert len(missing_index.find(self.scan(kept))) == count

    def test_a_store_by_column_reads_on_faster(self) -> None:
        advice = {**ADVICE, "by_column": True}
        few, fewer = (
            dataclasses.replace(self.scan(kept), advice=advice) for kept in (0.01, 0.0001)
        )
        assert missing_index.find(few) == []
        assert missing_index.find(fewer)

    def test_columns_that_a_row_store_tells_make_it_none_by_column(self) -> None:
        assert missing_index.find(self.scan(0.01, columns=("line",)))

    def test_rows_that_others_need_are_not_wasted(self) -> None:
        (finding,) = missing_index.find(self.scan(0.01))
        assert finding.effect_share == pytest.approx(0.99 * 7.0 / (7.0 + 7.0))

    def test_a_condition_that_no_index_serves_is_told_without_advice(self) -> None:
        (finding,) = missing_index.find(self.scan(0.0, condition="(lower(line) = 'x')"))
        assert finding.advice is None
        assert finding.to_try == "create an index of lines for: (lower(line) = 'x')"

    def test_where_a_scan_tells_no_condition_none_is_advised(self) -> None:
        """A join's filter keeps rows out of some scans, and their plan does not say by what."""
        (finding,) = missing_index.find(self.scan(0.0, condition=None))
        assert (finding.advice, finding.to_try) == (None, None)

    def test_two_operations_that_need_the_same_index_are_one_finding(self) -> None:
        scan = node(object="lines", condition="(line = 7)", rows=1, removed_rows=1e6, seconds=1.0)
        query_plans = plans(plan(scan, "q1"), plan(scan, "q2"))
        (finding,) = missing_index.find(case(*even(2), plans=query_plans))
        assert (finding.operations, finding.effect_share) == (("q1", "q2"), pytest.approx(1.0))
        assert finding.claim.startswith(
            "Scans of lines keep 1 of 1 M rows in q1, and the same in q2;"
        )
        assert finding.facts()["fractions"] == pytest.approx({"q1": 1.0, "q2": 1.0})

    def test_an_engine_that_makes_none_is_not_asked_to(self) -> None:
        scan = node(object="lines", condition="(line = 7)", rows=1, removed_rows=1e6, seconds=1.0)
        assert missing_index.find(case(operation(), plans=plans(plan(scan)), advice={})) == []


class TestColumns:
    SCAN = node("scan", object="lines", columns=("a", "b", "c"), rows=9, seconds=1.0)

    def findings(
        self, text: str | None, result: tuple[str, ...] | None, scan: PlanNode = SCAN
    ) -> list[Finding]:
        fields: dict[str, Any] = {
            "statements": {} if text is None else {"q1": text},
            "results": {} if result is None else {"q1": result},
        }
        return columns_read.find(case(operation(), plans=plans(plan(scan)), **fields))

    def test_what_is_neither_named_nor_returned_is_not_needed(self) -> None:
        (finding,) = self.findings("SELECT count(*) FROM Lines WHERE B > 7", ("count",))
        assert [evidence.says for evidence in finding.evidence] == ["unused columns of lines: a, c"]
        assert finding.effect_share == pytest.approx(2 / 3)

    @pytest.mark.parametrize(
        ("text", "result"),
        [
            ("select * from lines", ("A", "b", "c")),
            ("select a + b + c as x from lines", ("x",)),
            ("select x from a_view_of_them", ("x",)),
            ("select x from lines", None),
            (None, ("x",)),
        ],
    )
    def test_what_is_needed_or_not_known_is_no_claim(
        self, text: str | None, result: tuple[str, ...] | None
    ) -> None:
        assert self.findings(text, result) == []

    def test_the_primary_key_of_innodb_is_read_with_every_row(self) -> None:
        made, text = plans(plan(self.SCAN)), "select b, c from lines"
        statements = {"statements": {"q1": text}, "results": {"q1": ("b", "c")}}
        for name, count in (("by_a", 1), ("PRIMARY", 0)):
            indexes = {"lines": (Index("lines", name, ("a",)),)}
            known = case(operation(), plans=made, indexes=indexes, **statements)
            assert len(columns_read.find(known)) == count

    def test_a_store_of_rows_reads_them_whole(self) -> None:
        rows = node("scan", object="lines", rows=9, seconds=1.0)
        assert self.findings("select count(*) from lines", ("count",), rows) == []


class TestSettings:
    def test_jit_names_only_operations_that_are_too_short_for_it(self) -> None:
        query_plans = plans(
            plan(node(seconds=1.0), "q1", compiling_s=0.5),
            plan(node(seconds=1.0), "q2", compiling_s=0.01),
        )
        (finding,) = jit.find(case(*even(2), plans=query_plans))
        assert finding.operations == ("q1",)
        assert finding.effect_share == pytest.approx(0.25)

    def test_an_operation_of_milliseconds_gains_nothing_from_workers(self) -> None:
        settings = {"max_parallel_workers_per_gather": "0"}
        short = operation(overrides={"seconds": parallelism.SECONDS_MIN / 2}, cpu_user=1.0)
        assert parallelism.find(case(short, settings=settings)) == []

    def test_an_engine_that_chose_one_core_is_told_as_a_shape(self) -> None:
        run_case = case(operation(overrides={"seconds": 1.0}, cpu_user=1.0))
        (finding,) = parallelism.find(run_case)
        assert (finding.tells, finding.advice) == ("shape", None)

    @pytest.mark.parametrize(("planning_s", "is_told"), [(0.0, True), (0.3, True), (0.9, False)])
    def test_planning_has_one_thread_anyway(self, planning_s: float, *, is_told: bool) -> None:
        measured_operation = operation(overrides={"seconds": 1.0}, cpu_user=1.0)
        query_plans = plans(plan(node(seconds=1 - planning_s), planning_s=planning_s))
        findings = parallelism.find(case(measured_operation, plans=query_plans))
        assert bool(findings) is is_told
        for finding in findings:
            assert finding.effect_share == pytest.approx((1 - 1 / 4) * (1 - planning_s))

    def test_an_engine_with_one_thread_a_statement_has_no_cores_to_use(self) -> None:
        run_case = case(operation(overrides={"seconds": 1.0}, cpu_user=1.0))
        without = {"without": {"parallel_workers": "one thread carries out a query"}}
        assert parallelism.find(dataclasses.replace(run_case, advice=without)) == []

    def test_a_statement_that_changes_rows_may_have_one_thread_anyway(self) -> None:
        """PostgreSQL starts no workers for an update, however many are allowed."""
        run_case = serial(0.5)
        (finding,) = parallelism.find(run_case)
        assert finding.settle is None
        run_case = dataclasses.replace(run_case, statements={"q1": "update items set left = 1"})
        (finding,) = parallelism.find(run_case)
        assert finding.settle is not None

    @pytest.mark.parametrize(
        ("text", "is_told"),
        [
            ("update items set left = 1", False),
            ("INSERT  INTO totals select kind, sum(n) from items group by kind", False),
            ("with gone as (delete from items returning n) select sum(n) from gone", False),
            ("select n from items where kind = 3 for no key update", False),
            ("select n from items where kind = 3 for share", False),
            ("select replace(name, 'update', ''), sum(n) from items group by 1", True),
            ("select n, last_update from items -- for update", True),
        ],
    )
    @pytest.mark.parametrize("workers", ["0", "2"])
    def test_a_statement_that_never_has_workers_is_not_told(
        self, text: str, workers: str, *, is_told: bool
    ) -> None:
        facts = find_engine("postgresql").advising().model_dump(mode="json")
        run_case = dataclasses.replace(serial(0.5, workers), statements={"q1": text}, advice=facts)
        assert bool(parallelism.find(run_case)) is is_told
        slow = plan(node(seconds=3.0), text=text)
        quick = plan(node(seconds=0.1), text="select 1" if not is_told else "delete from items")
        run_case = dataclasses.replace(run_case, plans=plans(quick, slow))
        assert bool(parallelism.find(run_case)) is is_told

    @pytest.mark.parametrize("pinned", [{"engine": 1}, {"engine": 1, "client": 3}])
    def test_a_pinned_engine_has_no_more_cores_than_it_is_pinned_to(
        self, pinned: dict[str, int]
    ) -> None:
        measured_operation = operation(overrides={"seconds": 1.0}, cpu_user=1.0)
        assert parallelism.find(case(measured_operation, pinned=pinned)) == []


class TestOptimiser:
    def test_a_small_scale_has_the_share_and_a_large_one_has_not(self) -> None:
        """As at the two scales of BSBM: 14.3 %, and 6.5 times less."""
        small = plans(plan(node(seconds=0.857), planning_s=0.143))
        large = plans(plan(node(seconds=0.978), planning_s=0.022))
        (finding,) = optimiser.find(case(operation(), plans=small))
        assert finding.effect_share == pytest.approx(0.143)
        assert finding.tells == "shape"
        assert optimiser.find(case(operation(), plans=large)) == []

    def test_one_look_at_each_plan_has_no_interval(self) -> None:
        """Of one operation that share is the same of every pass: that says nothing of it."""
        query_plans = plans(plan(node(seconds=0.6), planning_s=0.4))
        times = passes({"q1": [1.0, 1.2, 0.8]})
        (finding,) = optimiser.find(case(operation(), plans=query_plans, executions=times))
        assert finding.interval is None

    def test_prepared_statements_are_not_planned_again(self) -> None:
        query_plans = plans(plan(node(seconds=0.5), planning_s=0.5))
        assert optimiser.find(case(operation(), plans=query_plans, prepared=True)) == []

    def test_a_statement_that_the_engine_plans_each_time_is(self) -> None:
        query_plans = plans(plan(node(seconds=0.5), planning_s=0.5, planned_each_time=True))
        (finding,) = optimiser.find(case(operation(), plans=query_plans, prepared=True))
        assert finding.effect_share == pytest.approx(0.5)

    @pytest.mark.parametrize(
        ("mode", "settings", "advised"),
        [
            ("custom", {"plan_reuse": {"name": "plan_cache_mode"}}, "plan_reuse"),
            ("generic", {"plan_reuse": {"name": "plan_cache_mode"}}, None),
            ("custom", {}, None),
        ],
    )
    def test_an_engine_that_can_use_one_plan_is_told_to(
        self, mode: str, settings: dict[str, Any], advised: str | None
    ) -> None:
        anew = plan(node(seconds=0.5), planning_s=0.5, planned_each_time=True, mode=mode)
        known = {"plans": plans(anew), "prepared": True, "advice": {"settings": settings}}
        (finding,) = optimiser.find(case(operation(), **known))
        assert (finding.advice and finding.advice.subject) == advised

    def test_an_engine_that_plans_prepared_statements_anew_is_not_told_to_prepare(self) -> None:
        query_plans = plans(plan(node(seconds=0.5), planning_s=0.5))
        (finding,) = optimiser.find(case(operation(), plans=query_plans, replans=True))
        assert finding.advice is None
        assert "prepared or not" in str(finding.to_try)

    @pytest.mark.parametrize(
        ("roots", "words"),
        [
            (["index scan"], None),
            (["index scan", "modify"], "fewer statements, each for more rows"),
            (["scan"], "statements of fewer tables"),
            (["nested loop"], "statements of fewer tables"),
        ],
    )
    def test_look_ups_in_one_table_cannot_be_simpler(
        self, roots: list[str], words: str | None
    ) -> None:
        sides = [node("index scan", object=name, rows=1.0, seconds=0.1) for name in ("a", "b")]
        nodes = {
            "index scan": sides[0],
            "modify": node("modify", object="b", seconds=0.1),
            "scan": node("scan", object="a", rows=1.0, seconds=0.1),
            "nested loop": node("nested loop", *sides, seconds=0.1),
        }
        query_plans = plans(*(plan(nodes[root], planning_s=0.1) for root in roots))
        (finding,) = optimiser.find(case(operation(), plans=query_plans, replans=True))
        assert (finding.to_try or "").partition(":")[0].startswith(words or "")
        assert (finding.to_try is None) == (words is None)

    def test_planning_takes_no_time_of_locks(self) -> None:
        query_plans = plans(plan(node(seconds=0.5), planning_s=0.5))
        (finding,) = optimiser.find(case(operation(cpu_user=0.2, lock=0.8), plans=query_plans))
        assert finding.effect_share == pytest.approx(0.1)

    def test_a_timed_median_that_executing_explains_contradicts_it(self) -> None:
        query_plans = plans(plan(node(seconds=1.0), planning_s=0.5))
        (finding,) = optimiser.find(case(operation(overrides={"seconds": 1.0}), plans=query_plans))
        assert [evidence.at for evidence in finding.contradictions] == ["clock:q1"]


def sent(*texts: str, each_s: float = 50e-6) -> Case:
    """An operation of statements that take so long each, half of it at the server."""
    its = plans(
        *(
            dataclasses.replace(plan(node(seconds=each_s / 2)), statement=number, text=text)
            for number, text in enumerate(texts)
        )
    )
    overrides = {"seconds": each_s * len(texts)}
    return case(operation(cpu_user=0.5, client=0.5, overrides=overrides), plans=its)


class TestRoundTrips:
    ALIKE = tuple(
        "select name from items where id = $1 + ?".replace("?", digit) for digit in "0123456789"
    )

    def test_statements_that_differ_in_their_values_only_are_one_repeated(self) -> None:
        (finding,) = round_trips.find(sent(*self.ALIKE))
        assert "sends 10 of its 10 statements" in finding.claim
        assert finding.effect_share == pytest.approx(0.45)
        assert finding.saved == (pytest.approx(0.45), pytest.approx(0.9))

    def test_a_transaction_of_other_statements_as_well_is_none(self) -> None:
        others = ("update stock? set left = 1".replace("?", name) for name in "abcdef")
        assert round_trips.find(sent(*self.ALIKE, *others)) == []

    def test_statements_that_work_for_long_are_none(self) -> None:
        assert round_trips.find(sent(*self.ALIKE, each_s=0.01)) == []

    def test_work_of_the_statements_is_no_round_trip(self) -> None:
        """Each statement scans a small table: an index saves more than one statement for all."""
        (quick,) = round_trips.find(sent(*self.ALIKE, each_s=90e-6))
        assert quick.part == "computing"
        (slow,) = round_trips.find(sent(*self.ALIKE, each_s=900e-6))
        assert slow.part == "network"
        work_share = 0.5 * (1 - 50 / 450)
        assert slow.saved == (pytest.approx(0.45), pytest.approx(0.9 * (1 - work_share)))
        alone = operation(cpu_user=1.0, overrides={"seconds": 9e-3})
        run_case = sent(*self.ALIKE, each_s=900e-6)
        assert round_trips.find(dataclasses.replace(run_case, operations=(alone,))) == []

    def test_two_are_not_many(self) -> None:
        assert round_trips.find(sent(*self.ALIKE[:2])) == []

    def unsplit(self, each_s: float, *, timed: bool = True) -> Case:
        """Ten statements whose plans take half of their time, and nothing says where it went."""
        run_case = sent(*self.ALIKE, each_s=each_s)
        (its,) = run_case.operations
        (alike,) = run_case.plans.values()
        spent_s = each_s / 2 if timed else None
        timings = [dataclasses.replace(plan, execution_s=spent_s) for plan in alike]
        where = dict.fromkeys(its.where)
        operations = (dataclasses.replace(its, where=where),)
        return dataclasses.replace(run_case, operations=operations, plans={"q1": timings})

    def test_without_a_split_of_the_time_the_rest_of_the_plans_is_suspected(self) -> None:
        (finding,) = round_trips.find(self.unsplit(80e-6))
        assert finding.saved == (0.0, pytest.approx(0.9 / 2))
        assert "take up to 45 % of the time" in finding.claim
        assert "was not measured" in (finding.settle or "")
        assert [evidence.at for evidence in finding.evidence] == ["statements:q1", "plan:q1"]

    def test_without_a_split_and_without_times_of_plans_nothing_is_said(self) -> None:
        assert round_trips.find(self.unsplit(80e-6, timed=False)) == []
        assert round_trips.find(self.unsplit(0.01)) == []

    @pytest.mark.parametrize("able", [True, False])
    def test_pipelining_is_tried_where_the_session_can(self, *, able: bool) -> None:
        run_case = dataclasses.replace(sent(*self.ALIKE), can_pipeline=able)
        (finding,) = round_trips.find(run_case)
        assert (finding.advice == Advice("pipeline", "statements")) is able
        assert ("assay try" in (finding.to_try or "")) is able


class TestTablesOfOtherSchemas:
    """Facts of a table that sessions do not find by its bare name are told under both names."""

    NEVER: ClassVar = {"sales.orders": TableFacts(rows=1e6, analyzed=False)}
    CAN: ClassVar = {"statements": {"statistics": "s.sql", "vacuum": "v.sql"}}

    def of(self, schema: str) -> Case:
        outer = node("scan", object="orders", schema=schema, estimated_rows=1, rows=10_000)
        inner = node("index scan", object="lines", seconds=WHOLE_S / 2)
        joined = node("nested loop", outer, inner, rows=10_000, seconds=0.0)
        return planned(0.5, joined, tables=self.NEVER, advice=self.CAN)

    def test_missing_statistics_are_told_and_the_statement_has_the_schema(self) -> None:
        (finding,) = stale_statistics.find(self.of("sales"))
        assert finding.claim.startswith("Table sales.orders has no statistics")
        assert finding.advice is not None
        assert (finding.advice.subject, finding.advice.values) == ("orders", {"schema": "sales"})

    def test_a_table_of_the_same_name_elsewhere_is_another_one(self) -> None:
        assert stale_statistics.find(self.of("archive")) == []

    def test_dead_rows_of_them_are_told(self) -> None:
        scan = node(object="orders", schema="sales", seconds=1.0)
        tables = {"sales.orders": TableFacts(rows=1.0, dead_rows=1.0)}
        (finding,) = dead_rows.find(
            case(operation(), plans=plans(plan(scan)), tables=tables, advice=self.CAN)
        )
        assert finding.advice is not None
        assert (finding.advice.subject, finding.advice.values) == ("orders", {"schema": "sales"})


class TestDeadRows:
    def test_it_says_what_cleaning_does_beside(self) -> None:
        tables = {"bills": TableFacts(rows=1.0, dead_rows=1.0)}
        query_plans = plans(plan(node(object="bills", seconds=1.0)))
        advice = {
            "statements": {"vacuum": "vacuum.sql"},
            "beside": {"vacuum": "locks the table and writes it anew"},
        }
        (finding,) = dead_rows.find(
            case(operation(), plans=query_plans, tables=tables, advice=advice)
        )
        assert finding.to_try is not None
        assert finding.to_try.endswith("dead rows, which locks the table and writes it anew")

    @pytest.mark.parametrize(
        ("seconds", "share", "is_sure"), [(0.02, 2 / 3, True), (0.107, 0.26, False), (10.0, 0.0, 0)]
    )
    def test_a_filter_is_evaluated_for_live_rows_only(
        self, seconds: float, share: float, *, is_sure: bool
    ) -> None:
        """A vacuum saved 7 % of a scan with a regular expression; two of three rows were dead."""
        tables = {"letters": TableFacts(rows=60e3, dead_rows=120e3, bytes=47.6e6)}
        filtered = {"rows": 0.0, "removed_rows": 60e3, "condition": "(body ~ '(ab)+'::text)"}
        scan = node(object="letters", seconds=seconds, **filtered)
        timed = operation(overrides={"seconds": seconds})
        findings = dead_rows.find(case(timed, plans=plans(plan(scan)), tables=tables))
        assert [finding.settle is None for finding in findings] == [is_sure] * bool(share)
        for finding in findings:
            assert finding.effect_share == pytest.approx(share, abs=0.01)

    def test_a_table_that_nobody_scanned_is_nobodys_trouble(self) -> None:
        tables = {"bills": TableFacts(rows=1.0, dead_rows=1e6)}
        query_plans = plans(plan(node(object="other", seconds=1.0)))
        assert dead_rows.find(case(operation(), plans=query_plans, tables=tables)) == []

    @pytest.mark.parametrize(
        ("facts", "share"),
        [
            (TableFacts(rows=1.0, dead_rows=3.0), 0.75),
            (TableFacts(rows=0.0, dead_rows=0.0), None),
            # The counts of before it was written anew: a megabyte has no room for a million rows.
            (TableFacts(rows=0.0, dead_rows=1e6, bytes=1e6), None),
            (TableFacts(rows=0.0, dead_rows=1e6, bytes=3e7), 1.0),
            (TableFacts(rows=1.0), None),
        ],
    )
    def test_the_share_of_the_dead(self, facts: TableFacts, share: float | None) -> None:
        assert dead_rows.dead_share(facts) == share


def test_counters_that_tell_nothing_are_no_claim() -> None:
    assert spill.find(case(operation(), counters=counted(wal_bytes=1.0))) == []
