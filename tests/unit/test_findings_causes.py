"""Causes that need more than a plan's scan: each with its twin without the cause."""

from __future__ import annotations

import dataclasses
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from assay.analysis.findings.engine_facts import TableFacts
from assay.analysis.findings.indexes import join_index, order_limit, sort_order
from assay.analysis.findings.memory import garbage_collection, temporary_tables
from assay.analysis.findings.plans import large_values, overestimate, plan_changed, planner_setting
from assay.analysis.findings.programs import function_per_row
from assay.analysis.findings.waiting import checkpoints, costly_setting, log_full, other_sessions
from assay.analysis.host.accounts import Accounts
from assay.model.catalogue import Alternative, ChangedSetting, Index
from assay.model.finding import Advice
from tests.cases import ADVICE, CORES, SETTINGS, case, node, operation, plan, plans
from tests.truths import counted, generic

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding

ONE_SECOND = {"seconds": 1.0}


class TestPlannerSetting:
    def of(self, seconds_changed: float | None, **facts: Any) -> Case:
        other = Alternative("q1", 0, "setting", "enable_indexscan", "on", 9.0, 1.0, differs=True)
        other = dataclasses.replace(
            other, seconds=1.0, seconds_changed=seconds_changed, summary="Index Scan", **facts
        )
        return case(
            operation(overrides=ONE_SECOND),
            plans=plans(plan(node(seconds=1.0))),
            alternatives={"q1": (other,)},
            changed_settings=(ChangedSetting("enable_indexscan", "off", "on"),),
        )

    def test_what_the_default_saves_is_the_effect(self) -> None:
        (finding,) = planner_setting.find(self.of(0.2))
        assert finding.effect_share == pytest.approx(0.8)
        assert finding.claim.startswith("enable_indexscan = off makes the optimiser choose slower")
        assert {"setting", "clock", "plan"} <= set(finding.witnesses)

    @pytest.mark.parametrize("seconds", [None, 0.9, 1.5])
    def test_a_default_that_is_no_faster_is_none(self, seconds: float | None) -> None:
        assert planner_setting.find(self.of(seconds)) == []

    def test_another_sort_of_change_is_none(self) -> None:
        assert planner_setting.find(self.of(0.2, kind="rewrite")) == []


class TestPlanChanged:
    def test_a_setting_that_keeps_one_plan_is_a_witness(self) -> None:
        forced = ChangedSetting("plan_mode", "generic", "auto")
        run_case = dataclasses.replace(generic(0.7), changed_settings=(forced,))
        (finding,) = plan_changed.find(run_case)
        assert "setting" in finding.witnesses
        assert finding.to_try is not None
        assert finding.to_try.startswith("reset plan_mode to its default auto,")


class TestCostlySetting:
    DECLARED: ClassVar = {
        "setting": "commit_delay",
        "values": [],
        "above": 0,
        "part": "log",
        "says": "each commit waits",
        "default": "0",
    }

    def of(self, value: str, log: float = 0.6) -> Case:
        return case(
            operation(log=log, cpu_user=1 - log),
            advice={**ADVICE, "costly": [self.DECLARED]},
            settings={**SETTINGS, "commit_delay": value},
        )

    def test_it_is_named_with_its_value_and_its_node(self) -> None:
        (finding,) = costly_setting.find(self.of("5000"))
        assert finding.effect_share == pytest.approx(0.6)
        assert finding.part == "log"
        assert "commit_delay = 5000: each commit waits; commit and log is 60 %" in finding.claim
        assert finding.to_try == "set commit_delay to 0"

    @pytest.mark.parametrize(("value", "effect"), [("10", 0.0), ("100", 0.1), ("5000", 0.6)])
    def test_a_delay_costs_no_more_than_its_length(self, value: str, effect: float) -> None:
        """A commit of a millisecond waits for the disk, whatever a delay of some microseconds."""
        declared = {**self.DECLARED, "seconds": 1e-6}
        commit = operation(log=0.6, cpu_user=0.4, overrides={"seconds": 0.001})
        settings = {**SETTINGS, "commit_delay": value}
        run_case = case(commit, advice={**ADVICE, "costly": [declared]}, settings=settings)
        effects = [finding.effect_share for finding in costly_setting.find(run_case)]
        assert effects == ([pytest.approx(effect)] if effect else [])

    @pytest.mark.parametrize(
        ("text", "count"), [("select name from items", 0), ("update items set name = 'x'", 1)]
    )
    def test_a_log_of_changes_costs_readers_nothing(self, text: str, count: int) -> None:
        declared = {"setting": "log_statement", "values": ["mod"], "part": "computing/kernel"}
        declared |= {"says": "each change is logged", "default": "none", "changes": True}
        facts = {"advice": {**ADVICE, "costly": [declared]}, "settings": {"log_statement": "mod"}}
        short = operation(cpu_system=0.5, cpu_user=0.5)
        assert len(costly_setting.find(case(short, statements={"q1": text}, **facts))) == count

    def tried(self, seconds_changed: float | None, *, differs: bool = False) -> Case:
        other = Alternative("q1", 0, "setting", "join_memory", "256k", 9.0, 9.0, differs=differs)
        other = dataclasses.replace(other, seconds=1.0, seconds_changed=seconds_changed)
        return case(
            operation(overrides=ONE_SECOND),
            plans=plans(plan(node(seconds=1.0))),
            alternatives={"q1": (other,)},
            changed_settings=(ChangedSetting("join_memory", "256", "256k"),),
        )

    def test_memory_that_slows_the_same_plan_costs_what_its_default_saves(self) -> None:
        (finding,) = costly_setting.find(self.tried(0.4))
        assert finding.effect_share == pytest.approx(0.6)
        assert finding.claim.startswith(
            "join_memory = 256 slows the same plan: q1 took 1.00 s with this value"
        )
        assert planner_setting.find(self.tried(0.4)) == []

    def test_a_cancelled_plan_took_more_than_its_limit(self) -> None:
        tried = self.tried(0.4, differs=True)
        (other,) = tried.alternatives["q1"]
        cut = {"q1": (dataclasses.replace(other, cancelled=True),)}
        (finding,) = planner_setting.find(dataclasses.replace(tried, alternatives=cut))
        assert (
            "q1 took more than 1.00 s with this value and 400 ms with the default" in finding.claim
        )

    def test_memory_that_costs_nothing_is_none(self) -> None:
        assert costly_setting.find(self.tried(0.9)) == []
        assert costly_setting.find(self.tried(None)) == []
        assert costly_setting.find(self.tried(0.4, differs=True)) == []

    @pytest.mark.parametrize(("value", "log"), [("0", 0.6), ("5000", 0.01), ("off", 0.6)])
    def test_its_twin_is_silent(self, value: str, log: float) -> None:
        assert costly_setting.find(self.of(value, log)) == []


class TestCheckpoints:
    def of(self, requested: float, images: float = 1e5) -> Case:
        counters = counted(
            wal_full_page_images=images,
            wal_full_page_bytes=8192 * images,
            wal_bytes=1e9,
            checkpoints_requested=requested,
        )
        advice = {**ADVICE, "settings": {"log_size": {"name": "max_wal_size"}}}
        settings = {**SETTINGS, "max_wal_size": "32MB"}
        measured_operation = operation(log=0.5, cpu_user=0.5)
        return case(measured_operation, counters=counters, advice=advice, settings=settings)

    def test_whole_pages_have_their_part_of_the_log(self) -> None:
        (finding,) = checkpoints.find(self.of(9))
        assert finding.effect_share == pytest.approx(0.5 * 0.8192)
        assert "with max_wal_size 32MB" in finding.claim

    @pytest.mark.parametrize(("image_bytes", "count"), [(5e6, 0), (1e9, 1)])
    def test_kernel_time_of_a_chatty_client_is_not_the_log_s(
        self, image_bytes: float, count: int
    ) -> None:
        """Ten seconds of short statements, most of which the kernel spends on the network."""
        counters = counted(
            wal_full_page_images=image_bytes / 8192,
            wal_full_page_bytes=image_bytes,
            wal_bytes=1.25 * image_bytes,
            checkpoints_requested=3,
        )
        chatty = operation(cpu_system=0.6, cpu_user=0.4, overrides={"seconds": 1e-3, "passes": 1e4})
        assert len(checkpoints.find(case(chatty, counters=counters))) == count

    @pytest.mark.parametrize(("requested", "images"), [(1, 1e5), (9, 1e3), (0, 0)])
    def test_its_twin_is_silent(self, requested: float, images: float) -> None:
        assert checkpoints.find(self.of(requested, images)) == []


class TestLogFull:
    """A log of 4 MB, written with 20 MB in 4 s, while locks are waited for half of the time."""

    def of(
        self,
        size: str = "4MB",
        age: float = 3e6,
        released: float = 2e7,
        wait: str = "lock",
        **totals: float,
    ) -> Case:
        counter_values = {
            "wal_bytes": 2e7,
            "written_bytes": 2e8,
            "checkpoint_bytes": released,
        } | totals
        series = [{"name": "checkpoint_age_bytes", "time_s": [0.0, 1.0], "values": [None, age]}]
        counters = counted(**counter_values) | {"series": series, "window_s": 4.0}
        advice = {**ADVICE, "settings": {"log_size": {"name": "redo_size"}}}
        where: Any = {wait: 0.5, "cpu_user": 0.5}
        settings = {**SETTINGS, "redo_size": size}
        return case(operation(**where), counters=counters, advice=advice, settings=settings)

    @pytest.mark.parametrize("wait", ["lock", "latch", "log", "paused", "disk_write"])
    def test_pages_have_their_part_of_the_largest_wait(self, wait: str) -> None:
        (finding,) = log_full.find(self.of(wait=wait))
        assert finding.effect_share == pytest.approx(0.5 * 0.9)
        assert finding.part == ("log" if wait == "log" else "waiting")
        assert "redo_size 4MB holds changes of 839 ms. The" in finding.claim
        assert {"counter", "setting", "wait"} <= set(finding.witnesses)
        assert finding.advice is not None
        assert finding.advice.values == {"value": str(64 << 20)}

    def test_where_rows_were_locked_short_sleeps_are_of_the_log(self) -> None:
        (finding,) = log_full.find(self.of(wait="paused", row_lock_waits=5.0))
        assert finding.part == "waiting/paused"

    @pytest.mark.parametrize(
        "facts",
        [
            {"size": "1GB"},
            {"age": 1e6},
            {"released": 1e6},
            {"wait": "client"},
            {"wal_bytes": 0.0},
            {"row_lock_waits": 5.0},
        ],
    )
    def test_its_twin_is_silent(self, facts: dict[str, Any]) -> None:
        assert log_full.find(self.of(**facts)) == []


class TestOverestimate:
    """A join that is made for 4,000 rows of which 5 come, and takes 1 s."""

    def of(
        self,
        seconds_changed: float | None = 0.1,
        rows: float = 5.0,
        kind: Any = "rewrite",
        condition: str = "(hall = 3)",
        **facts: Any,
    ) -> Case:
        few = node("scan", object="sold", condition=condition, estimated_rows=4e3, rows=rows)
        many = node("scan", object="seat", estimated_rows=1e5, rows=1e5, seconds=0.8)
        join = node("hash join", many, few, estimated_rows=4e3, rows=rows, seconds=0.2)
        other = Alternative("q1", 0, kind, "joins", "off", 9.0, 10.0, differs=True)
        other = dataclasses.replace(other, seconds=1.0, seconds_changed=seconds_changed)
        return case(
            operation(overrides=ONE_SECOND),
            plans=plans(plan(join)),
            alternatives={"q1": (other,)},
            **facts,
        )

    def test_what_the_plan_for_few_saves_is_the_effect(self) -> None:
        (finding,) = overestimate.find(self.of())
        assert finding.effect_share == pytest.approx(0.9)
        assert "4 k rows of Scan of sold for (hall = 3) were estimated and 5 came." in finding.claim
        assert "sold" in finding.claim
        assert {"plan", "clock"} <= set(finding.witnesses)
        assert finding.advice is None

    def test_changes_since_the_statistics_explain_it(self) -> None:
        changed = {"sold": TableFacts(rows=1e4, changed_rows=3e4)}
        (finding,) = overestimate.find(self.of(tables=changed))
        assert finding.advice is not None
        assert (finding.advice.kind, finding.advice.subject) == ("statistics", "sold")

    @pytest.mark.parametrize(("dead", "count"), [(3e3, 0), (10.0, 1)])
    def test_dead_rows_that_are_counted_are_dead_rows_trouble(
        self, dead: float, count: int
    ) -> None:
        """Statistics of a table that is mostly dead rows expect the dead ones, too."""
        facts = TableFacts(rows=100.0, dead_rows=dead)
        findings = overestimate.find(self.of(tables={"sold": facts}))
        assert len(findings) == count

    @pytest.mark.parametrize(
        ("condition", "values"),
        [
            ("((hall = 3) AND (state = 'open'::text))", {"columns": "hall, state"}),
            ("((flags & 64) = 64)", {"expression": "(flags & 64)"}),
            ("((flags & 4) = 4) AND (hall = 3)", {"expression": '"hall", (flags & 4)'}),
        ],
    )
    def test_several_columns_or_an_expression_need_statistics_of_their_own(
        self, condition: str, values: dict[str, str]
    ) -> None:
        advice = {**ADVICE, "statements": {"extended-statistics": "x.sql"}}
        (finding,) = overestimate.find(self.of(condition=condition, advice=advice))
        assert finding.advice is not None
        assert (finding.advice.kind, finding.advice.subject) == ("extended-statistics", "sold")
        assert finding.advice.values == values
        (finding,) = overestimate.find(self.of(condition=condition))
        assert finding.advice is None
        (finding,) = overestimate.find(self.of(advice=advice))
        assert finding.advice is None
        ranges = "((opens <= 5) AND (closes >= 5))"
        (finding,) = overestimate.find(self.of(condition=ranges, advice=advice))
        assert finding.advice is None

    @pytest.mark.parametrize(
        ("condition", "begins_with", "columns"),
        [
            ("(state = 'open')", "hall", "state"),
            ("id = sales.lot; filter (sold.state = 'open')", "id", "state"),
            ("(state = 'open')", "state", None),
            ("(state = 'open') and (hall = 3)", "id", None),
            ("(lower(state) = 'open')", "id", None),
        ],
    )
    def test_one_column_without_an_index_needs_a_histogram(
        self, condition: str, begins_with: str, columns: str | None
    ) -> None:
        facts = {
            "condition": condition,
            "advice": {**ADVICE, "statements": {"histogram": "x.sql"}},
            "indexes": {"sold": (Index("sold", "i", (begins_with, "day")),)},
        }
        (finding,) = overestimate.find(self.of(**facts))
        named = None if finding.advice is None else finding.advice.values["columns"]
        assert named == columns
        (finding,) = overestimate.find(self.of(**facts | {"indexes": None}))
        assert finding.advice is None

    @pytest.mark.parametrize(
        "facts",
        [{"seconds_changed": None}, {"seconds_changed": 0.9}, {"rows": 3e3}, {"kind": "custom"}],
    )
    def test_its_twin_is_silent(self, facts: dict[str, Any]) -> None:
        assert overestimate.find(self.of(**facts)) == []


class TestGarbageCollection:
    def of(self, paused_s: float, used: float = 80e6) -> Case:
        counters = counted(collections=40.0, collecting_seconds=paused_s)
        gauges = {"heap_after_collection": used, "heap_size": 96e6}
        counters["counters"] += [{"name": name, "last": value} for name, value in gauges.items()]
        heap = {"settings": {"heap": {"name": "heap"}}}
        return case(
            operation(cpu_user=0.8),
            counters=counters,
            advice={**ADVICE, **heap},
            settings={"heap": "96m"},
            accounts=Accounts(10.0, CORES, {"engine": 20.0}, 20.0, 20.0, None),
        )

    def test_pauses_have_their_share_of_the_time(self) -> None:
        (finding,) = garbage_collection.find(self.of(2.0))
        assert finding.effect_share == pytest.approx(0.2)
        assert "stopped the server 40 times" in finding.claim
        assert {evidence.witness for evidence in finding.evidence} == {"counter", "setting"}

    def test_a_heap_with_room_is_no_second_witness(self) -> None:
        (finding,) = garbage_collection.find(self.of(2.0, used=10e6))
        assert {evidence.witness for evidence in finding.evidence} == {"counter"}

    def test_its_twin_is_silent(self) -> None:
        assert garbage_collection.find(self.of(0.1)) == []


class TestOrderLimit:
    def of(self, limit: float = 10.0, **facts: Any) -> Case:
        scan = node("scan", object="orders", rows=1e5, seconds=0.6)
        sort = node("top-n", scan, condition="orders.created DESC", rows=limit, seconds=0.3)
        top = node("limit", sort, rows=limit, seconds=0.1)
        measured_operation = operation(overrides=ONE_SECOND)
        return case(
            measured_operation, plans=plans(plan(top)), **{"indexes": {"orders": ()}, **facts}
        )

    def test_an_index_in_that_order_is_advised(self) -> None:
        (finding,) = order_limit.find(self.of())
        assert finding.effect_share == pytest.approx(0.9)
        assert finding.advice is not None
        assert (finding.advice.subject, finding.advice.values) == ("orders", {"columns": "created"})

    def test_rows_that_an_index_finds_are_sorted_too(self) -> None:
        scan = node("index scan", object="orders", condition="clerk = 9", rows=2e3, seconds=0.9)
        sort = node("top-n", scan, condition="orders.created", rows=5.0, seconds=0.1)
        by_clerk = Index("orders", "by_clerk", ("clerk",))
        run_case = case(operation(overrides=ONE_SECOND), plans=plans(plan(sort)))
        run_case = dataclasses.replace(run_case, indexes={"orders": (by_clerk,)})
        (finding,) = order_limit.find(run_case)
        assert finding.advice is not None
        assert finding.advice.values == {"columns": "clerk,created"}
        both = Index("orders", "by_both", ("clerk", "created"))
        run_case = dataclasses.replace(run_case, indexes={"orders": (by_clerk, both)})
        assert order_limit.find(run_case) == []

    def test_what_the_scan_compares_with_a_value_comes_first(self) -> None:
        condition = "(orders.clerk = 9) and (orders.day > 7)"
        scan = node("scan", object="orders", condition=condition, rows=2e3, seconds=0.9)
        sort = node("top-n", scan, condition="orders.created", rows=5.0, seconds=0.1)
        run_case = case(
            operation(overrides=ONE_SECOND), plans=plans(plan(sort)), indexes={"orders": ()}
        )
        (finding,) = order_limit.find(run_case)
        assert finding.advice is not None
        assert finding.advice.values == {"columns": "clerk,created"}

    def rare(self, condition: str, kept: float) -> list[Finding]:
        """A scan whose condition keeps few of 100,000 rows, of which five are wanted."""
        rows = {"rows": kept, "removed_rows": 1e5 - kept}
        scan = node("scan", object="orders", condition=condition, seconds=0.9, **rows)
        sort = node("top-n", scan, condition="orders.total", rows=5.0, seconds=0.1)
        query_plans = plans(plan(sort))
        return order_limit.find(
            case(operation(overrides=ONE_SECOND), plans=query_plans, indexes={"orders": ()})
        )

    @pytest.mark.parametrize(("kept", "count"), [(8.0, 0), (5e4, 1)])
    def test_an_index_in_order_meets_rare_rows_late(self, kept: float, count: int) -> None:
        """PostgreSQL took three times as long with this index, SQLite nineteen times."""
        assert len(self.rare("filter (orders.note ~~ '%needle%'::text)", kept)) == count

    @pytest.mark.parametrize(
        ("condition", "is_sure"),
        [
            ("(orders.clerk = 9)", True),
            ("((orders.clerk = 9) AND (orders.note ~~ '%needle%'::text))", False),
        ],
    )
    def test_an_index_that_finds_the_rare_rows_is_another_matter(
        self, condition: str, *, is_sure: bool
    ) -> None:
        (finding,) = self.rare(condition, 8.0)
        assert (finding.settle is None) is is_sure

    def test_some_hundred_rows_are_sorted_for_three(self) -> None:
        plan_node = node("bitmap scan", condition="(waves.buoy = $1)", rows=600.0, seconds=0.1)
        scan = node("bitmap scan", plan_node, object="waves", rows=600.0, seconds=0.7)
        sort = node("top-n", scan, condition="waves.rolled DESC", rows=3.0, seconds=0.2)
        run_case = case(
            operation(overrides=ONE_SECOND), plans=plans(plan(sort)), indexes={"waves": ()}
        )
        (finding,) = order_limit.find(run_case)
        assert finding.advice is not None
        assert finding.advice.values == {"columns": "buoy,rolled"}

    def test_a_window_and_a_group_above_need_all_rows(self) -> None:
        scan = node("scan", object="orders", rows=1e5, seconds=0.6)
        sort = node("sort", scan, condition="orders.created", rows=1e5, seconds=0.3)
        window = node("window", sort, rows=1e5, seconds=0.05)
        top = node("aggregate", window, rows=10.0, seconds=0.05)
        made = plans(plan(top))
        run_case = case(operation(overrides=ONE_SECOND), plans=made, indexes={"orders": ()})
        assert order_limit.find(run_case) == []

    def test_many_rows_are_wanted_in_its_twin(self) -> None:
        assert order_limit.find(self.of(limit=5e4)) == []

    def test_rows_that_an_offset_passes_over_are_wanted_too(self) -> None:
        scan = node("scan", object="orders", rows=1e5, seconds=0.6)
        sort = node("sort", scan, condition="orders.created", rows=5e4, seconds=0.4)
        top = node("limit", sort, rows=1.0)
        measured_operation = operation(overrides=ONE_SECOND)
        assert (
            order_limit.find(
                case(measured_operation, plans=plans(plan(top)), indexes={"orders": ()})
            )
            == []
        )

    def test_an_index_of_a_column_store_returns_no_rows_in_order(self) -> None:
        """DuckDB was as fast, and read as many rows, with the index that was advised."""
        assert order_limit.find(self.of(advice={**ADVICE, "by_column": True})) == []

    def test_an_index_that_has_the_order_is_another_matter(self) -> None:
        index = Index("orders", "by_created", ("created",))
        assert order_limit.find(self.of(indexes={"orders": (index,)})) == []

    MIXED: ClassVar[dict[str, Any]] = {**ADVICE, "index_order": {"since": "10.8"}}

    def mixed(
        self,
        *indexes: Index,
        key: str = "orders.urgency DESC, orders.created",
        version: str = "10.11.2",
        **facts: Any,
    ) -> list[Finding]:
        """A sort of 100,000 rows for ten of them, by columns in both directions."""
        scan = node("scan", object="orders", rows=1e5, seconds=0.6)
        sort = node("top-n", scan, condition=key, rows=10.0, seconds=0.4)
        environment = {"engine": {"version": version}}
        run_case = case(operation(overrides=ONE_SECOND), plans=plans(plan(sort)))
        known = {"indexes": {"orders": indexes}, "advice": self.MIXED, "environment": environment}
        return order_limit.find(dataclasses.replace(run_case, **{**known, **facts}))

    @pytest.mark.parametrize("directions", [("asc", "asc"), ("desc", "desc"), ()])
    def test_an_index_in_other_directions_does_not_return_the_order(
        self, directions: tuple[str, ...]
    ) -> None:
        index = Index("orders", "by_both", ("urgency", "created"), directions=directions)
        (finding,) = self.mixed(index)
        assert "by urgency desc, created to return 10" in finding.claim
        assert finding.advice is not None
        assert finding.advice.values == {"columns": "urgency desc,created"}
        # Without recorded directions, the index may have the order.
        assert (finding.settle is None) is bool(directions)

    @pytest.mark.parametrize("directions", [("desc", "asc"), ("asc", "desc")])
    def test_an_index_is_read_in_both_directions(self, directions: tuple[str, ...]) -> None:
        index = Index("orders", "by_both", ("urgency", "created"), directions=directions)
        assert self.mixed(index) == []

    @pytest.mark.parametrize("key", ["urgency, created", "urgency DESC, created DESC"])
    def test_one_direction_needs_no_descending_column(self, key: str) -> None:
        index = Index("orders", "by_both", ("urgency", "created"))
        assert self.mixed(index, key=key) == []
        (finding,) = self.mixed(key=key)
        assert finding.advice is not None
        assert finding.advice.values == {"columns": "urgency,created"}

    def test_an_engine_without_descending_columns_has_no_such_index(self) -> None:
        assert self.mixed(version="10.6.20") == []
        no = {**ADVICE, "index_order": {"descending": False}}
        assert self.mixed(advice=no) == []
        (finding,) = self.mixed(advice=ADVICE)
        assert finding.settle is not None

    @pytest.mark.parametrize(
        ("nulls", "columns"), [(True, "created desc nulls last"), (False, "created")]
    )
    def test_the_order_of_nulls_is_part_of_an_index_that_can_have_one(
        self, columns: str, *, nulls: bool
    ) -> None:
        facts = {**ADVICE, "index_order": {"nulls": nulls}}
        index = Index("orders", "by_created", ("created",), directions=("asc",))
        key = "created DESC NULLS LAST"
        (finding,) = self.mixed(key=key, advice=facts)
        assert finding.advice is not None
        assert finding.advice.values == {"columns": columns}
        assert len(self.mixed(index, key=key, advice=facts)) == nulls

    @pytest.mark.parametrize(("read", "count"), [(3e4, 1), (40.0, 0)])
    def test_groups_that_an_index_has_in_order_are_sorted_one_after_another(
        self, read: float, count: int
    ) -> None:
        """PostgreSQL sorts the first group of rows only, which is slow if the group is large."""
        scan = node("index scan", object="orders", rows=read, seconds=0.7, cut_short=True)
        key = "orders.urgency DESC, orders.created; presorted orders.urgency"
        sort = node("sort", scan, condition=key, rows=10.0, seconds=0.3)
        index = Index("orders", "by_both", ("urgency", "created"), directions=("asc", "asc"))
        run_case = case(operation(overrides=ONE_SECOND), plans=plans(plan(sort)))
        run_case = dataclasses.replace(
            run_case, indexes={"orders": (index,)}, advice={**ADVICE, "index_order": {}}
        )
        assert len(order_limit.find(run_case)) == count

    def test_columns_bound_by_equality_come_first_in_any_direction(self) -> None:
        condition = "(orders.clerk = 9)"
        scan = node("scan", object="orders", condition=condition, rows=2e3, seconds=0.9)
        key = "orders.clerk DESC, orders.created"
        sort = node("top-n", scan, condition=key, rows=5.0, seconds=0.1)
        run_case = case(operation(overrides=ONE_SECOND), plans=plans(plan(sort)))
        index = Index("orders", "by_both", ("clerk", "created"), directions=("asc", "desc"))
        assert order_limit.find(dataclasses.replace(run_case, indexes={"orders": (index,)})) == []
        (finding,) = order_limit.find(dataclasses.replace(run_case, indexes={"orders": ()}))
        assert finding.advice is not None
        assert finding.advice.values == {"columns": "clerk,created"}

    @pytest.mark.parametrize(
        ("key", "columns"),
        [
            ("o.a, o.b DESC", ("a", "b")),
            ('"t"."a" DESC NULLS LAST', ("a",)),
            ("lower(a)", ()),
            (None, ()),
        ],
    )
    def test_columns_of_sort_keys(self, key: str | None, columns: tuple[str, ...]) -> None:
        assert sort_order.sort_columns(key) == columns


class TestJoinIndex:
    TEXT = "select * from orders o join order_lines l on l.order_no = o.order_no"

    def of(self, matches: float = 2.0, operator: str = "nested loop", **facts: Any) -> Case:
        outer = node("index scan", object="o", rows=100.0, seconds=0.05)
        inner = node("scan", object="l", rows=8_000.0, removed_rows=0.0, seconds=0.45)
        condition = "l.order_no = o.order_no"
        join = node(operator, outer, inner, condition=condition, rows=matches, seconds=0.5)
        measured_operation = operation(overrides=ONE_SECOND)
        its = plans(plan(join, text=self.TEXT))
        return case(measured_operation, plans=its, **{"indexes": {"order_lines": ()}, **facts})

    def test_the_table_behind_the_alias_is_named(self) -> None:
        (finding,) = join_index.find(self.of())
        assert finding.effect_share == pytest.approx(0.95)
        assert finding.advice is not None
        assert finding.advice.subject == "order_lines"
        assert "reads 8 k rows of order_lines to find 2 by order_no" in finding.claim

    def test_a_loop_that_was_chosen_for_fewer_rows_is_an_estimates_trouble(self) -> None:
        run_case = self.of()
        (its,) = run_case.plans["q1"]
        outer, inner = its.root.children
        outer = dataclasses.replace(outer, estimated_rows=1.0)
        root = dataclasses.replace(its.root, children=(outer, inner))
        changed = dataclasses.replace(its, root=root)
        assert join_index.find(dataclasses.replace(run_case, plans=plans(changed))) == []

    def test_a_join_of_most_rows_is_its_twin(self) -> None:
        assert join_index.find(self.of(matches=7_000.0, operator="hash join")) == []

    def test_a_loop_compares_all_pairs_so_that_many_matches_are_few(self) -> None:
        assert join_index.find(self.of(matches=7_000.0))
        assert join_index.find(self.of(matches=70_000.0)) == []

    def test_an_index_on_the_column_is_another_matter(self) -> None:
        index = Index("order_lines", "by_order", ("order_no",))
        assert join_index.find(self.of(indexes={"order_lines": (index,)})) == []


class TestOtherSessions:
    def of(self, cpu_s: float) -> Case:
        used = Accounts(10.0, CORES, {"engine": 20.0}, 20.0, 20.0, None)
        measured_operation = operation(run_queue=0.4, cpu_user=0.6)
        return case(measured_operation, accounts=used, other_clients={"postgres: report": cpu_s})

    def test_they_are_named_with_their_share(self) -> None:
        (finding,) = other_sessions.find(self.of(10.0))
        assert finding.effect_share == pytest.approx(0.4)
        assert "used 25 % of its CPUs" in finding.claim

    def test_a_little_is_nobodys_trouble(self) -> None:
        assert other_sessions.find(self.of(1.0)) == []


class TestTemporaryTables:
    def of(self, on_disk: float, native: str = "Aggregate using temporary table") -> Case:
        root = dataclasses.replace(node("aggregate", seconds=1.0), native=native)
        counters = counted(temporary_disk_tables=on_disk)
        return case(operation(overrides=ONE_SECOND), plans=plans(plan(root)), counters=counters)

    @pytest.mark.parametrize(("on_disk", "findings"), [(0.75, 0), (1.0, 1)])
    def test_tables_of_our_own_looks_are_none_of_an_operation(
        self, on_disk: float, findings: int
    ) -> None:
        run_case = self.of(3)
        assert run_case.counters is not None
        (figure,) = run_case.counters["counters"]
        figure["operations"] = {"q1": on_disk}
        assert len(temporary_tables.find(run_case)) == findings

    @pytest.mark.parametrize(("disk_write", "is_sure"), [(0.0, False), (0.2, True)])
    def test_a_table_in_the_page_cache_may_be_as_fast(
        self, disk_write: float, *, is_sure: bool
    ) -> None:
        """MariaDB grouped by a text as fast with 16 times the memory: 1 % of 81 % was saved."""
        waiting = operation(overrides=ONE_SECOND, cpu_user=1 - disk_write, disk_write=disk_write)
        run_case = dataclasses.replace(self.of(3), operations=(waiting,))
        (finding,) = temporary_tables.find(run_case)
        assert (finding.settle is None) is is_sure

    def test_the_operator_that_collects_rows_has_the_time(self) -> None:
        (finding,) = temporary_tables.find(self.of(3))
        assert finding.effect_share == pytest.approx(1.0)
        assert {"counter", "plan"} <= set(finding.witnesses)

    @pytest.mark.parametrize(
        ("rows", "value", "advised"),
        [
            (3 << 20, "64KiB", 1 << 30),  # of the host's memory, a 16th
            (3 << 10, "64KiB", 4 << 20),  # all rows
            (None, "64KiB", 4 << 20),  # many times as much
        ],
    )
    def test_the_tables_get_memory_for_all_rows(
        self, rows: float | None, value: str, advised: int
    ) -> None:
        role = {"temporary_memory": {"name": "tmp_table_size", "values": "bytes"}}
        counts = {"temporary_disk_tables": 3.0}
        counts |= {} if rows is None else {"rows_temporary": rows}
        run_case = dataclasses.replace(
            self.of(3),
            counters=counted(**counts),
            advice={"settings": role},
            settings={"tmp_table_size": value},
        )
        (finding,) = temporary_tables.find(run_case)
        assert finding.advice == Advice("setting", "temporary_memory", {"value": str(advised)})

    WHOLE = "select reason, count(*) from calls group by reason"

    @pytest.mark.parametrize(
        ("text", "rows", "on_disk", "is_text"),
        [
            (WHOLE, 12, True, True),
            # The result is not the whole table, or too large for the memory.
            (f"{WHOLE} limit 20", 12, True, False),
            (f"{WHOLE} having count(*) > 9", 12, True, False),
            ("select max(n) from (select n from calls group by n) r group by n", 12, True, False),
            (WHOLE, 300_000, True, False),
            # The engine keeps texts in memory, too.
            (WHOLE, 12, False, False),
        ],
    )
    def test_a_small_table_on_disk_has_a_column_that_memory_does_not_take(
        self, text: str, rows: int, *, on_disk: bool, is_text: bool
    ) -> None:
        root = dataclasses.replace(
            node("aggregate", seconds=1.0), native="Aggregate using temporary table"
        )
        role = {"temporary_memory": {"name": "tmp_memory_table_size", "values": "bytes"}}
        run_case = dataclasses.replace(
            self.of(3),
            operations=(operation(overrides=ONE_SECOND | {"rows": rows}),),
            plans=plans(plan(root, text=text)),
            counters=counted(temporary_disk_tables=3.0, rows_temporary=3e6),
            advice={"settings": role, "texts_on_disk": on_disk},
            settings={"tmp_memory_table_size": str(16 << 20)},
        )
        (finding,) = temporary_tables.find(run_case)
        assert (finding.to_try == temporary_tables.SHORT_TEXTS) is is_text
        assert (finding.advice is None) is is_text
        assert ("varchar" in (finding.to_try or "")) is on_disk

    def typed(
        self,
        text: str,
        declared: str,
        *,
        memory: int = 16 << 20,
        on_disk: bool = True,
        **facts: Any,
    ) -> Case:
        """An engine whose tables of groups are on disk: 3 tables of 100,000 rows."""
        root = dataclasses.replace(
            node("aggregate", seconds=1.0), native="Aggregate using temporary table"
        )
        role = {"temporary_memory": {"name": "tmp_memory_table_size", "values": "bytes"}}
        return dataclasses.replace(
            self.of(3),
            plans=plans(plan(root, text=text)),
            counters=counted(temporary_disk_tables=3.0, rows_temporary=3e5),
            advice={"settings": role, "texts_on_disk": on_disk},
            settings={"tmp_memory_table_size": str(memory)},
            column_types={"calls": {"id": "int", "reason": declared, "note": "text"}},
            grammar="mysql",
            **facts,
        )

    @pytest.mark.parametrize("memory", [16 << 20, 1 << 30])
    @pytest.mark.parametrize(
        ("text", "declared", "is_text"),
        [
            ("select reason, count(*) as n from calls group by reason limit 9", "text", True),
            ("select c.reason as r, count(*) from calls c group by r", "mediumblob", True),
            ("select id, min(reason) from calls group by id limit 9", "longtext", True),
            ("select distinct reason from calls limit 9", "json", True),
            # No text is in the table.
            ("select reason, count(*) from calls group by reason limit 9", "varchar(99)", False),
            ("select left(reason, 9) as r from calls group by r limit 9", "text", False),
            ("select id, count(reason) from calls group by id limit 9", "text", False),
            ("select id from calls where note = 'x' group by id limit 9", "text", False),
            ("select x.id from (select * from calls) x group by x.reason limit 9", "text", False),
        ],
    )
    def test_a_text_in_the_table_is_named_and_no_memory_is_advised(
        self, text: str, declared: str, memory: int, *, is_text: bool
    ) -> None:
        findings = temporary_tables.find(self.typed(text, declared, memory=memory))
        named = [finding for finding in findings if "calls.reason" in finding.claim]
        assert bool(named) is is_text
        # With much memory, the tables of the twins may be those of Assay's own queries.
        assert len(findings) == (is_text or memory < 1 << 30)
        assert all(finding.advice is None for finding in named)
        assert all("catalogue" in finding.witnesses for finding in named)

    def test_an_engine_that_stores_texts_in_memory_gets_more(self) -> None:
        text = "select reason, count(*) as n from calls group by reason limit 9"
        (finding,) = temporary_tables.find(self.typed(text, "text", on_disk=False))
        assert finding.advice is not None
        assert "calls.reason" not in finding.claim

    def test_a_table_that_stays_on_disk_with_much_memory_is_told(self) -> None:
        text = "select left(reason, 9) as r from calls group by r limit 9"
        run_case = self.typed(text, "text", memory=1 << 30)
        assert temporary_tables.find(run_case) == []
        apart = dataclasses.replace(run_case, counted_apart=frozenset({"temporary_disk_tables"}))
        (finding,) = temporary_tables.find(apart)
        assert (finding.advice, finding.to_try) == (None, temporary_tables.SHORT_TEXTS)

    @pytest.mark.parametrize(
        ("on_disk", "native"), [(0, "Aggregate using temporary table"), (3, "Aggregate")]
    )
    def test_its_twin_is_silent(self, on_disk: float, native: str) -> None:
        assert temporary_tables.find(self.of(on_disk, native)) == []


class TestLargeValues:
    def of(self, pieces: float, seconds: float = 1.0) -> Case:
        scan = node("scan", object="documents", rows=1_000.0, seconds=0.0001)
        root = node("aggregate", scan, rows=1.0, seconds=seconds)
        timed, counters = plan(root, execution_s=1.0), counted(large_value_pieces=pieces)
        return case(operation(overrides=ONE_SECOND), plans=plans(timed), counters=counters)

    def test_the_operator_that_unpacks_has_the_time(self) -> None:
        (finding,) = large_values.find(self.of(30_000))
        assert finding.effect_share == pytest.approx(1.0, abs=0.01)
        assert "took 1 ms for each row of documents" in finding.claim

        assert finding.settle is None

    def test_few_pieces_cannot_take_long(self) -> None:
        """An operation reads some large values, and an aggregate of other rows has the time."""
        assert large_values.find(self.of(300)) == []
        (finding,) = large_values.find(self.of(9_000))
        assert finding.effect_share == pytest.approx(0.45)
        assert finding.settle is not None

    @pytest.mark.parametrize(("pieces", "seconds"), [(10, 1.0), (9_000, 0.0001)])
    def test_its_twin_is_silent(self, pieces: float, seconds: float) -> None:
        assert large_values.find(self.of(pieces, seconds)) == []

    def beside(self, text: str, rows: int) -> Case:
        """An operation that reads documents for groups, and one that returns rows."""
        scan = node("scan", object="documents", rows=1_000.0, seconds=0.0001)
        root = node("aggregate", scan, rows=1.0, seconds=1.0)
        timed, counters = plan(root, execution_s=1.0, text=text), counted(large_value_pieces=60_000)
        one = operation("q2", share=0.01, overrides={"rows": rows})
        return case(operation(share=0.99), one, plans=plans(timed), counters=counters)

    def test_chunks_are_those_of_the_operation_that_fetches_nearly_all(self) -> None:
        (finding,) = large_values.find(self.beside("select max(body) from documents", 1))
        assert "each execution of q1 fetched 60 k chunks of them, 60 per row" in finding.claim

    def test_chunks_that_several_operations_may_fetch_are_those_of_all_together(self) -> None:
        (finding,) = large_values.find(self.beside("select max(body) from documents", 900))
        mean = "30 k chunks of them were fetched per execution of all operations together"
        assert mean in finding.claim

    @pytest.mark.parametrize("text", ["select body->>'total' from documents", "select max(body)"])
    def test_values_of_documents_can_be_columns_of_their_own(self, text: str) -> None:
        (finding,) = large_values.find(self.beside(text, 1))
        is_document = "->>" in text
        assert ("generated columns" in (finding.to_try or "")) is is_document
        read = "q1 reads body->>'total': each reads the whole document"
        assert (read in [evidence.says for evidence in finding.evidence]) is is_document

    def returned(self, pieces: float, plan_s: float = 0.1, **where: float) -> Case:
        """A plan that is captured returns no rows, so it is short."""
        root = node("index scan", object="documents", rows=300.0, seconds=plan_s / 1_000)
        timed = plan(root, execution_s=plan_s)
        parts = where or {"cpu_user": 0.6, "client": 0.4}
        selecting = operation(overrides=ONE_SECOND, **parts)
        counters = counted(large_value_pieces=pieces)
        return case(selecting, plans=plans(timed), counters=counters)

    def test_values_that_are_returned_take_time_beside_the_plan(self) -> None:
        (finding,) = large_values.find(self.returned(30_000))
        assert finding.effect_share == pytest.approx(0.5)
        assert finding.saved == (0.0, pytest.approx(0.9))
        assert finding.settle is not None

    @pytest.mark.parametrize(
        "quiet",
        [
            {"pieces": 10},
            # The plan alone takes as long.
            {"pieces": 30_000, "plan_s": 0.6},
            # It waited beside the plan.
            {"pieces": 30_000, "lock": 0.9, "cpu_user": 0.1},
        ],
    )
    def test_its_twin_with_values_that_are_not_returned_is_silent(
        self, quiet: dict[str, float]
    ) -> None:
        assert large_values.find(self.returned(**quiet)) == []


class TestFunctionPerRow:
    def of(self, calls: float, seconds: float = 0.7) -> Case:
        return case(
            operation(overrides=ONE_SECOND),
            statements={"q1": "select sum(price_of(id)) from items"},
            functions={"price_of": (calls, seconds)},
        )

    def test_it_is_named_with_its_calls_and_its_time(self) -> None:
        (finding,) = function_per_row.find(self.of(5_000))
        assert finding.effect_share == pytest.approx(0.7)
        assert finding.claim.startswith("Function price_of is called 5 k times per execution")

    @pytest.mark.parametrize(
        ("condition", "is_repeated"),
        [
            ("(items.owner = app.price_of())", True),
            ("(items.price = price_of(items.id))", False),
            ("shop = 3; filter (items.price >= price_of(3))", True),
        ],
    )
    @pytest.mark.parametrize("operator", ["scan", "bitmap scan"])
    def test_a_result_that_is_the_same_for_all_rows_may_be_stable(
        self, condition: str, operator: str, *, is_repeated: bool
    ) -> None:
        scan = node(operator, object="items", condition=condition, seconds=1.0)
        of_plan = replace(self.of(5_000), plans=plans(plan(scan)))
        for can in (True, False):
            statements = {"stable-function": "by a statement"} if can else {}
            (finding,) = function_per_row.find(replace(of_plan, advice={"statements": statements}))
            assert ("declare price_of as stable" in (finding.to_try or "")) == is_repeated
            assert finding.advice is not None
            expected = "stable-function" if can and is_repeated else "ablation"
            assert finding.advice.kind == expected

    @pytest.mark.parametrize(
        "text",
        [
            "select id from items where price > price_of(3)",
            "select id from items where price_of(id) > 3",
            "select price_of(3) from items",
            "update items set price = price_of(id)",
            "select price_of(id) from items; select 1",
            "select id from items_with_prices",
        ],
        ids=["same for all", "chooses rows", "no column", "no query", "two queries", "a view"],
    )
    def test_a_call_that_cannot_be_left_out_is_not_offered(self, text: str) -> None:
        (finding,) = function_per_row.find(replace(self.of(5_000), statements={"q1": text}))
        assert finding.advice is None
        assert "call it for fewer rows" in (finding.to_try or "")

    @pytest.mark.parametrize(("calls", "seconds"), [(1, 0.7), (5_000, 0.01)])
    def test_its_twin_is_silent(self, calls: float, seconds: float) -> None:
        assert function_per_row.find(self.of(calls, seconds)) == []
