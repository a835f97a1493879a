"""Reasons why an index that exists is not used, and causes that only some engines count."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pymysql
import pytest

from assay.analysis.findings.case import Case
from assay.analysis.findings.client import large_result
from assay.analysis.findings.indexes import index_filter, missing_index, row_order, unused_index
from assay.analysis.findings.indexes.conditions import overlap_columns
from assay.analysis.findings.memory import temporary_tables
from assay.analysis.findings.plans import planner_setting
from assay.analysis.findings.programs import function_per_row, triggers
from assay.analysis.server.beside import other_clients_cpu
from assay.engines.mariadb.plans import normalised
from assay.engines.mysql_family.alternatives import PlanAsker, alternatives, single_settings
from assay.engines.mysql_family.configuration import read_configuration, write_configuration
from assay.model.catalogue import Alternative, ChangedSetting, ForeignKey, Index
from assay.model.finding import UNSEEN, Advice, Finding
from assay.model.plan import Trigger
from assay.study.experiments.discovery import experiments
from tests.cases import case, node, operation, plan, plans
from tests.truths import counted, scanned

ONE_SECOND = {"seconds": 1.0}
SWITCH = ChangedSetting("optimizer_switch", "index_merge=off", "index_merge=on")


def scan_of(condition: str, index: Index) -> Case:
    scan = node("scan", object="lines", condition=condition, rows=10.0, removed_rows=1e6)
    query_plans = plans(plan(_timed(scan)))
    return case(operation(overrides=ONE_SECOND), plans=query_plans, indexes={"lines": (index,)})


def _timed(root: Any, seconds: float = 1.0) -> Any:
    return replace(root, seconds=seconds)


class TestReasons:
    @pytest.mark.parametrize(
        ("condition", "types", "why"),
        [
            ("(lines.badge = 8025)", ("varchar",), "badge is text and is compared with a number"),
            (
                "(title = ('a' || $1) COLLATE nocase)",
                ("text",),
                "compares title in collation nocase,",
            ),
            ("(lower(lines.badge) = 'x')", ("text",), "calls a function of badge"),
        ],
    )
    def test_what_hides_the_column_is_said(
        self, condition: str, types: tuple[str, ...], why: str
    ) -> None:
        column = "title" if "title" in condition else "badge"
        index = Index("lines", "lines_badge", (column,), types=types)
        (finding,) = unused_index.find(scan_of(condition, index))
        assert why in finding.claim
        assert missing_index.find(scan_of(condition, index)) == []
        kind = None if finding.advice is None else finding.advice.kind
        assert (kind == "text-values") is ("with a number" in why)

    @pytest.mark.parametrize(
        ("condition", "types"),
        [("(lines.badge = 8025)", ("int",)), ("(lines.badge = '8025')", ("varchar",))],
    )
    def test_a_comparison_of_its_own_type_hides_nothing(
        self, condition: str, types: tuple[str, ...]
    ) -> None:
        index = Index("lines", "lines_badge", ("badge",), types=types)
        assert unused_index.find(scan_of(condition, index)) == []

    @pytest.mark.parametrize(
        "condition",
        [
            "(lower(lines.badge) ~~ '%80%'::text)",
            "lower(badge) like '%80%'",
            "(lower(lines.badge) <> 'x')",
            "not (lower(badge) = 'x')",
            "contains(badge, '80')",
        ],
    )
    def test_a_comparison_that_needs_every_row_is_no_index_s_trouble(self, condition: str) -> None:
        index = Index("lines", "lines_badge", ("badge",))
        assert unused_index.find(scan_of(condition, index)) == []
        (finding,) = missing_index.find(scan_of(condition, index))
        assert finding.advice is None
        assert finding.settle is not None

    @pytest.mark.parametrize(
        ("condition", "is_sure"),
        [
            ("(lower(lines.badge) = 'x')", True),
            ("lower(badge) between 'a' and 'b'", True),
            ("(lower(badge) like 'x%')", True),
            ("((lines.kind = 3) AND (lower(lines.badge) >= 'x'))", False),
            ("((lower(badge) = 'x') OR (kind = 3))", False),
        ],
    )
    def test_rows_may_be_removed_by_another_comparison(
        self, condition: str, *, is_sure: bool
    ) -> None:
        """A function of an indexed column beside the comparison that really finds the rows."""
        run_case = scan_of(condition, Index("lines", "lines_badge", ("badge",)))
        (finding,) = unused_index.find(run_case)
        assert (finding.settle is None) is is_sure
        assert bool(missing_index.find(run_case)) is not is_sure

    def test_what_the_other_comparison_needs_is_told_too(self) -> None:
        condition = "((lines.kind = 3) AND (lower(lines.badge) >= 'x'))"
        (finding,) = missing_index.find(scan_of(condition, Index("lines", "b", ("badge",))))
        assert finding.advice is not None
        assert finding.advice.values == {"columns": "kind"}
        assert finding.settle is not None

    def test_a_hidden_index_has_the_statement_that_shows_it(self) -> None:
        hidden = {"valid": False, "state": "invisible", "mend": "alter table lines ..."}
        index = Index("lines", "lines_badge", ("badge",), **hidden)
        (finding,) = unused_index.find(scan_of("(lines.badge = 7)", index))
        assert "it is invisible" in finding.claim
        assert "alter table lines ..." in (finding.to_try or "")

    @pytest.mark.parametrize(
        ("seconds", "with_it_s", "share"),
        [(1.0, 0.4, 0.6), (1.0, 0.001, 0.99), (0.0006, 0.0001, 0.99)],
    )
    def test_an_index_saves_no_more_than_its_trial_showed(
        self, seconds: float, with_it_s: float, share: float
    ) -> None:
        """An index that reads two thirds of its entries saves less than the scan's removed rows."""
        condition = "((lines.since <= 9) AND (lines.until >= 9))"
        run_case = scan_of(condition, Index("lines", "spans", ("since",)))
        tried = Alternative("q1", 0, "rewrite", "scans", "off", 9.0, 9.0, True, ("spans",))
        tried = replace(tried, seconds=seconds, seconds_changed=with_it_s)
        (finding,) = unused_index.find(replace(run_case, alternatives={"q1": (tried,)}))
        assert finding.effect_share == pytest.approx(share, abs=0.01)
        assert finding.saved == (0.0, finding.effect_share)
        assert "an index of the spans from since to until" in (finding.to_try or "")

    @pytest.mark.parametrize(
        "condition",
        [
            "((lines.since <= 9) AND (lines.until <= 9))",
            "((lines.since <= 9) AND (lines.since >= 3))",
            "((lines.since <= 9) AND (lines.until >= 9) AND (lines.kind = 3))",
            "((lines.since <= 9) OR (lines.until >= 9))",
        ],
    )
    def test_other_conditions_ask_for_no_spans(self, condition: str) -> None:
        assert overlap_columns(condition, "lines") == ()

    def joined(self, condition: str) -> Case:
        outer = node("scan", object="orders", rows=400.0, seconds=0.01)
        inner = node("index scan", object="towns", rows=1_500.0, removed_rows=0.0, seconds=0.01)
        join = node("nested loop", outer, inner, condition=condition, rows=387.0, seconds=0.9)
        index = Index("towns", "towns_town", ("town",))
        query_plans = plans(plan(join, text="select 1"))
        return case(operation(overrides=ONE_SECOND), plans=query_plans, indexes={"towns": (index,)})

    def test_what_hides_an_index_at_a_join_is_said(self) -> None:
        run_case = self.joined("convert(towns.town using utf8mb4) = orders.town")
        (finding,) = unused_index.find(run_case)
        assert "towns_town of towns (town) is not used for a join of q1:" in finding.claim
        assert "character set of town: convert(towns.town using utf8mb4)" in finding.claim
        assert (finding.to_try or "").startswith("give town the character set of orders.town")
        assert finding.effect_share == pytest.approx(1.0, abs=0.02)

    def test_another_function_at_a_join_needs_an_index_of_the_expression(self) -> None:
        (finding,) = unused_index.find(self.joined("lower(towns.town) = orders.town"))
        assert "calls a function of town: lower(towns.town)" in finding.claim
        assert "for the expression lower(towns.town)" in (finding.to_try or "")

    def test_a_plain_comparison_hides_nothing_at_a_join(self) -> None:
        assert unused_index.find(self.joined("towns.town = orders.town")) == []


class TestRowOrder:
    def of(self, kept: float = 11_000.0, read: float = 4e6, *, by_column: bool = True) -> Case:
        scan = node("scan", object="journeys", rows=kept, removed_rows=read - kept, seconds=1.0)
        scan = replace(scan, condition="((day >= 700) AND (day <= 703))")
        advice = {"by_column": by_column, "statements": {"index": "..."}}
        return case(operation(overrides=ONE_SECOND), plans=plans(plan(scan)), advice=advice)

    def test_the_column_is_named(self) -> None:
        (finding,) = row_order.find(self.of())
        assert "Rows of journeys are not sorted by day," in finding.claim
        assert finding.effect_share == pytest.approx(1.0)

    @pytest.mark.parametrize(
        "other",
        [{"by_column": False}, {"kept": 1e6}, {"read": 120_000.0}, {"kept": 100.0}],
    )
    def test_its_twins_are_silent(self, other: dict[str, Any]) -> None:
        assert row_order.find(self.of(**other)) == []


class TestHints:
    INDEX = Index("lines", "lines_badge", ("badge",))

    def of(self, hint: str) -> list[Any]:
        plan_known = scan_of("(lines.badge = 7)", self.INDEX)
        (its,) = plan_known.plans["q1"]
        text = " ".join(["select 1 from lines", hint, "where badge = 7"])
        return unused_index.find(replace(plan_known, plans=plans(replace(its, text=text))))

    @pytest.mark.parametrize(
        "hint",
        [
            "ignore index (lines_badge)",
            "IGNORE KEY FOR JOIN (`lines_badge`, other)",
            "use index (other)",
            "not indexed",
            "/*+ no_index(lines lines_badge) */",
        ],
    )
    def test_a_hint_against_the_index_is_the_reason(self, hint: str) -> None:
        (finding,) = self.of(hint)
        assert "a hint in the statement prevents it: " in finding.claim
        assert finding.advice == Advice("hint", "q1", {}, pytest.approx(finding.effect_share))

    @pytest.mark.parametrize("hint", ["", "ignore index (other)", "use index (lines_badge)"])
    def test_other_hints_are_none(self, hint: str) -> None:
        assert self.of(hint) == []


class TestOrderedScans:
    def of(self, condition: str, **facts: Any) -> Case:
        scan = node("index scan", object="lines", index="lines_pkey", rows=5.0, **facts)
        scan = replace(scan, condition=condition, removed_rows=25_000.0, seconds=1.0)
        index = {"lines": (Index("lines", "lines_pkey", ("id",)),)}
        advice = {"statements": {"index": "..."}}
        return case(
            operation(overrides=ONE_SECOND), plans=plans(plan(scan)), indexes=index, advice=advice
        )

    def test_an_index_that_only_orders_rows_finds_none(self) -> None:
        run_case = self.of("filter (lines.keeper = 3)")
        (finding,) = missing_index.find(run_case)
        assert "lines" in finding.claim
        assert index_filter.find(run_case) == []

    def test_one_that_finds_rows_is_filtered(self) -> None:
        run_case = self.of("(lines.id > 7); filter (lines.keeper = 3)")
        assert missing_index.find(run_case) == []
        assert len(index_filter.find(run_case)) == 1

    @pytest.mark.parametrize(("loops", "findings"), [(1.0, 1), (25_005.0, 0)])
    def test_look_ups_of_one_row_each_are_no_fewer_with_more_columns(
        self, loops: float, findings: int
    ) -> None:
        run_case = self.of("lines.id = other.id; filter (lines.keeper = 3)", loops=loops)
        assert len(index_filter.find(run_case)) == findings

    def test_one_that_stops_early_is_no_full_scan(self) -> None:
        assert missing_index.find(self.of("filter (lines.keeper = 3)", cut_short=True)) == []


class TestExpressions:
    def of(self, text: str, operator: str = "projection", condition: str | None = None) -> Case:
        root = replace(node(operator, rows=900_000.0, seconds=1.0), condition=condition)
        return case(
            operation(overrides=ONE_SECOND), plans=plans(plan(root)), statements={"q1": text}
        )

    def test_functions_and_conversions_of_the_statement_are_named(self) -> None:
        text = "-- How much (in all)?\nselect sum(cast(price as decimal(12, 2))) from sales"
        (finding,) = function_per_row.find(self.of(text))
        assert finding.claim.startswith("q1 computes cast(price as decimal(12, 2)) for 900 k rows")
        (finding,) = function_per_row.find(self.of("", "scan", "regexp_matches(line, '^a(b|c)')"))
        assert "regexp_matches(line, '^a(b|c)')" in finding.claim

    @pytest.mark.parametrize(
        ("condition", "count"),
        [
            ("((customer = 4711) AND (date_trunc('day', made) >= '2000-01-01'))", 0),
            ("((date_trunc('day', made) >= '2000-01-01') AND (customer = 4711))", 1),
            ("((made > '2000-01-01') AND (date_trunc('day', made) < '2020-01-01'))", 1),
        ],
    )
    def test_a_function_behind_a_comparison_is_called_for_few_rows(
        self, condition: str, count: int
    ) -> None:
        assert len(function_per_row.find(self.of("", "scan", condition))) == count

    def test_a_function_of_a_trigger_is_the_trigger_s(self) -> None:
        change = plan(node("modify", seconds=1.0))
        fired = replace(change, triggers=(Trigger("audited", "orders", 0.7, 5_000),))
        facts = {"functions": {"audit": (5_000, 0.7)}, "statements": {"q1": "update orders"}}
        timed = operation(overrides=ONE_SECOND)
        assert function_per_row.find(case(timed, plans=plans(fired), **facts)) == []
        assert len(function_per_row.find(case(timed, plans=plans(change), **facts))) == 1

    def test_arithmetic_and_aggregates_are_none(self) -> None:
        text = "select sum(price * (1 - discount)), count(*) from sales where id in (1, 2)"
        assert function_per_row.find(self.of(text)) == []


class TestSettings:
    def faster(self, seconds_changed: float) -> Case:
        other = Alternative(
            *("q1", 0, "setting", SWITCH.name, SWITCH.default, None, None, True, ()),
            summary="index_merge",
            seconds=1.0,
            seconds_changed=seconds_changed,
        )
        other_settings = {"q1": (other,)}
        return scanned(0.9, changed_settings=(SWITCH,), alternatives=other_settings)

    def test_no_index_is_advised_where_a_setting_is_in_the_way(self) -> None:
        assert missing_index.find(self.faster(0.01)) == []
        (finding,) = planner_setting.find(self.faster(0.01))
        assert "optimizer_switch = index_merge=off" in finding.claim
        assert missing_index.find(self.faster(0.99)) != []

    def test_flags_of_the_switch_are_asked_one_by_one(self) -> None:
        two = ChangedSetting("optimizer_switch", "a=off,b=on", "a=on,b=off")
        other = ChangedSetting("join_cache_level", "0", "2")
        assert [
            (changed_setting.value, changed_setting.default)
            for changed_setting in single_settings([two, other])
        ] == [
            ("a=off", "a=on"),
            ("b=on", "b=off"),
            ("0", "2"),
        ]

    def test_a_plan_of_another_shape_is_executed_with_and_without(self) -> None:
        in_force = ["off"]

        def planned(_: str) -> Any:
            of_index = {"operator": "index scan", "index": "k"}
            root = node(object="t") if in_force[-1] == "off" else node(object="t", **of_index)
            return plan(_timed(root, 2.0 if in_force[-1] == "off" else 0.1))

        def carry_out(text: str) -> None:
            in_force.append("on" if "=on" in text else "off")

        asker = PlanAsker(planned, planned, carry_out)
        (alternative,) = alternatives(("q1", 0), "-- Who?\nselect 1", [SWITCH], asker)
        assert (alternative.seconds, alternative.seconds_changed, alternative.indexes) == (
            2.0,
            0.1,
            ("k",),
        )
        assert in_force[-1] == "off"
        assert alternatives(("q1", 0), "delete from t", [SWITCH], asker) == []

    def test_a_plan_that_is_cancelled_takes_longer_than_the_limit(self) -> None:
        in_force = ["off"]

        def planned(_: str) -> Any:
            index = {} if in_force[-1] == "off" else {"operator": "index scan", "index": "k"}
            return plan(_timed(node(object="t", **index), 0.1))

        def executed(text: str) -> Any:
            if in_force[-1] == "off":
                raise pymysql.OperationalError(1969, "max_statement_time exceeded")
            return planned(text)

        def carry_out(text: str) -> None:
            in_force.append("on" if "=on" in text else "off")

        asker = PlanAsker(planned, executed, carry_out, limit_s=2.0)
        (alternative,) = alternatives(("q1", 0), "select 1", [SWITCH], asker)
        assert alternative.cancelled
        assert (alternative.seconds, alternative.seconds_changed) == (2.0, 0.1)

    def test_a_plan_that_is_slow_with_the_default_too_tells_nothing(self) -> None:
        def executed(_: str) -> Any:
            raise pymysql.OperationalError(1969, "max_statement_time exceeded")

        kinds = iter(("scan", "index scan"))
        asker = PlanAsker(
            lambda _: plan(node(next(kinds), object="t")), executed, lambda _: None, limit_s=2.0
        )
        assert alternatives(("q1", 0), "select 1", [SWITCH], asker) == []


class TestForeignKeys:
    """A slow check of a foreign key advises an index where there is none, and names it."""

    KEY = ForeignKey("tiles_fk", "tiles", ("kiln",), "kilns", "public")
    BY_KILN = Index("tiles", "by_kiln", ("kiln", "glaze"), schema="public")

    def found(self, table: str = "kilns", **fields: Any) -> Finding:
        check = Trigger("RI_ConstraintTrigger_a_1", table, 0.9, 3, "tiles_fk")
        change = replace(plan(node("modify", seconds=0.1), execution_s=1.0), triggers=(check,))
        whole = operation(cpu_user=1.0, overrides=ONE_SECOND)
        (finding,) = triggers.find(case(whole, plans=plans(change), **fields))
        return finding

    def test_the_missing_index_is_advised(self) -> None:
        finding = self.found(foreign_keys=(self.KEY,), indexes={})
        assert finding.advice is not None
        assert (finding.advice.kind, finding.advice.subject) == ("index", "tiles")
        assert finding.advice.values == {"columns": "kiln", "schema": "public", **UNSEEN}
        # A check is in no plan: that plans stay as they were refutes nothing.
        assert not experiments()["index"].by_plan(finding.advice)
        assert "index of tiles (kiln)" in (finding.to_try or "")

    @pytest.mark.parametrize(
        ("table", "fields", "says"),
        [
            ("kilns", {"indexes": {"tiles": (BY_KILN,)}}, "have an index"),
            ("tiles", {"indexes": {}}, "is looked up in the other table"),
        ],
    )
    def test_no_index_is_advised_where_none_would_help(
        self, table: str, fields: dict[str, Any], says: str
    ) -> None:
        finding = self.found(table, foreign_keys=(self.KEY,), **fields)
        assert finding.advice is None
        assert says in (finding.to_try or "")

    def test_where_keys_are_not_known_the_columns_are_not_named(self) -> None:
        finding = self.found()
        assert finding.advice is None
        assert "columns of the foreign key tiles_fk, so" in (finding.to_try or "")


@pytest.mark.parametrize(
    ("median_s", "took", "is_scaled"), [(0.25, "200 ms", True), (2.0, "800 ms", False)]
)
def test_times_of_a_plan_that_was_slower_are_those_of_an_execution(
    median_s: float, took: str, *, is_scaled: bool
) -> None:
    fired = replace(
        plan(node("modify", object="orders", seconds=0.2), execution_s=1.0),
        triggers=(Trigger("recount", "orders", 0.8, 1),),
    )
    run_case = case(operation(overrides={"seconds": median_s}), plans=plans(fired))
    (finding,) = triggers.find(run_case)
    assert finding.effect_share == pytest.approx(0.8)
    assert f"{took} for 1 call in q1" in finding.claim
    assert ("scaled to that of a median execution" in finding.evidence[0].says) is is_scaled


class TestCounted:
    def test_a_trigger_that_the_server_counts_is_named(self) -> None:
        text = {"q1": "update samples set grams = 1 where id = 7"}
        run_case = case(
            operation(overrides=ONE_SECOND), statements=text, triggers={"stamp": (3.0, 0.6)}
        )
        (finding,) = triggers.find(run_case)
        assert finding.effect_share == pytest.approx(0.6)
        assert "trigger stamp, which is called 3 times per execution" in finding.claim
        assert finding.advice == Advice("trigger", "stamp", {}, pytest.approx(0.6))
        quick = case(
            operation(overrides=ONE_SECOND), statements=text, triggers={"stamp": (3.0, 0.01)}
        )
        assert triggers.find(quick) == []

    @pytest.mark.parametrize(
        ("calls", "says"), [(81, "called once per"), (40, "called 0.5 times per")]
    )
    def test_calls_are_per_execution_of_operations_that_change_rows(
        self, calls: float, says: str
    ) -> None:
        """A load of two operations, of which the one that reads fires no trigger."""
        of_load = [
            operation(name, overrides={"seconds": 0.01, "share": 0.5, "passes": passes})
            for name, passes in (("write", 80), ("read", 120))
        ]
        text = {"write": "insert into posts values (1)", "read": "select * from posts"}
        run_case = case(*of_load, statements=text, triggers={"stamp": (calls, 1.0)})
        (finding,) = triggers.find(run_case)
        assert f"{says} execution of write" in finding.claim

    def test_rows_that_fit_into_memory_are_in_no_table_on_disk(self) -> None:
        root = replace(node("aggregate", seconds=1.0), native="temporary table")
        fields = {"settings": {"temporary": "1MB"}, "plans": plans(plan(root))}
        advice = {"settings": {"temporary_memory": {"name": "temporary"}}}

        def of(rows: float) -> Case:
            counters = counted(temporary_disk_tables=3, rows_temporary=rows)
            return case(operation(overrides=ONE_SECOND), advice=advice, counters=counters, **fields)

        assert temporary_tables.find(of(1e6)) != []
        assert temporary_tables.find(of(100)) == []

    @pytest.mark.parametrize(
        ("sent", "read", "kernel", "count"),
        [(1e9, 0.0, 0.4, 1), (1e5, 0.0, 0.4, 0), (1e9, 1e9, 0.4, 0), (1e9, 0.0, 0.02, 0)],
    )
    def test_large_results_are_the_kernels_work(
        self, sent: float, read: float, kernel: float, count: int
    ) -> None:
        counters = counted(sent_bytes=sent, buffer_read_bytes=read)
        measured_operation = operation(overrides=ONE_SECOND, cpu_user=1 - kernel, cpu_system=kernel)
        findings = large_result.find(case(measured_operation, counters=counters))
        assert len(findings) == count
        assert all(finding.effect_share == pytest.approx(kernel) for finding in findings)

    @pytest.mark.parametrize(
        ("seconds", "spilled", "count"), [(0.05, 0.0, 1), (1.0, 0.0, 0), (0.05, 1e8, 0)]
    )
    def test_a_result_of_a_megabyte_is_sent_soon(
        self, seconds: float, spilled: float, count: int
    ) -> None:
        """The kernel works for other things: temporary files, memory, pages."""
        counters = counted(sent_bytes=1e6, temporary_bytes=spilled)
        sending = operation(overrides={"seconds": seconds}, cpu_user=0.6, cpu_system=0.4)
        findings = large_result.find(case(sending, counters=counters))
        assert [finding.effect_share for finding in findings] == [pytest.approx(0.1)] * count


def test_rows_of_a_temporary_table_have_their_time() -> None:
    table = {"table_name": "calls", "access_type": "ALL", "r_loops": 1, "rows": 10, "r_rows": 10}
    table |= {"r_table_time_ms": 30.0, "r_other_time_ms": 600.0, "filtered": 100, "r_filtered": 100}

    def nodes(**more: Any) -> list[Any]:
        block = {"temporary_table": {"nested_loop": [{"table": table | more}]}}
        plan_document = {
            "query_block": {"select_id": 1, "r_loops": 1, "r_total_time_ms": 650.0} | block
        }
        return list(normalised(json.dumps(plan_document), "q", 0, "q.json").root.walk())

    collecting, scan = nodes()
    assert (collecting.seconds, collecting.work, scan.seconds) == (0.6, "aggregate", 0.03)
    # A condition may have taken it.
    collecting, scan = nodes(attached_condition="calls.cell > 7")
    assert (collecting.seconds, scan.seconds) == (None, 0.63)


def test_a_setting_that_is_given_several_times_has_a_line_each(tmp_path: Path) -> None:
    file = tmp_path / "run.cnf"
    file.write_text("[mysqld]\na = 1\ninstrument = x=ON\ninstrument = y=ON\n")
    settings = read_configuration(file)
    assert settings == {"a": "1", "instrument": "x=ON\ny=ON"}
    write_configuration(tmp_path / "written.cnf", settings)
    lines = (tmp_path / "written.cnf").read_text().splitlines()
    assert lines[1:] == ['a = "1"', 'instrument = "x=ON"', 'instrument = "y=ON"']


class Record:
    """The streams of a run, as far as they are asked for."""

    def __init__(self, **tables: pl.DataFrame) -> None:
        self._tables = tables

    def has(self, name: str) -> bool:
        return name in self._tables

    def table(self, name: str) -> pl.DataFrame:
        return self._tables[name]


def test_threads_of_other_clients_have_their_cpu_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.analysis.server.beside.window_of", lambda _: (0, 10**9))
    activity = pl.DataFrame(
        {
            "tid": [1, 2, 3, 4],
            "application": ["assay", "report", "app", None],
            "connection": [11, 12, 13, None],
        }
    )
    tids = [1, 2, 3, 4]
    waits = pl.DataFrame(
        {
            "time_ns": [0] * 4 + [10**9] * 4,
            "tid": tids * 2,
            "on_cpu_ns": [0] * 4 + [9 * 10**8, 5 * 10**8, 7 * 10**8, 10**8],
        }
    )
    served = pl.DataFrame({"connection": [13]})
    run: Any = Record(events=pl.DataFrame(), activity=activity, waits=waits, connections=served)
    assert other_clients_cpu(run) == {"report": 0.5}
