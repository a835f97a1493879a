"""Observed statements: their time by counters and by looks, its causes, and plans by counts."""

from __future__ import annotations

from typing import ClassVar

import pytest

from assay.analysis.findings.engine_facts import TableFacts
from assay.analysis.observed.causes import CpuUse, split_by_cause
from assay.analysis.observed.estimated import with_estimates
from assay.analysis.observed.scanned import scanned_rows
from assay.analysis.observed.statements import (
    Watched,
    counted_growth,
    looks_taken,
    watched_statements,
    weighted_looks,
)
from assay.analysis.waits.rules import all_waits
from assay.model.plan import Plan, PlanNode
from tests.watched import BEGUN_NS, LOCKED, Row, S, counted, counts_of, looks_of

WINDOW = (BEGUN_NS, BEGUN_NS + 10 * S)
RULES = all_waits({"events": [{"cause": "lock", "type": "Lock", "says": "Waits."}]})


def seen_at(share: int, statement: str = "a", number: int = 100) -> dict[int, list[Row]]:
    """Looks of which every so manieth sees the statement."""
    row: Row = (1, statement, None, None, None)
    return {place: [row] if place % share == 0 else [] for place in range(number)}


def grown(calls: float, seconds: float) -> dict[str, dict[str, tuple[float, float]]]:
    return {"a": {name: (0.0, value) for name, value in counted(calls, seconds).items()}}


class TestWeightedLooks:
    def test_a_look_stands_for_the_time_around_it(self) -> None:
        seen = weighted_looks(looks_of(seen_at(4)), WINDOW)
        assert seen.height == 25
        assert seen["weight_s"].sum() == pytest.approx(2.5)

    def test_rare_looks_stand_for_more(self) -> None:
        looks = looks_of({0: [], 1: [], 11: [(1, "a", None, None, None)], 21: []})
        assert weighted_looks(looks, WINDOW)["weight_s"].to_list() == [pytest.approx(1.0)]

    def test_looks_outside_of_the_window_do_not_count(self) -> None:
        looks = looks_of(seen_at(1, number=300))
        assert looks_taken(looks, WINDOW) == 101
        assert weighted_looks(looks, WINDOW).height == 101

    def test_an_alias_is_the_statement_that_it_stands_for(self) -> None:
        seen = weighted_looks(looks_of(seen_at(2, "x")), WINDOW, {"x": "a"})
        assert set(seen["statement"]) == {"a"}

    def test_nobody_at_work_is_no_session(self) -> None:
        assert weighted_looks(looks_of({0: [], 1: []}), WINDOW).is_empty()


class TestTimeOfAStatement:
    def test_it_is_what_was_counted_where_looks_agree(self) -> None:
        (one,) = watched_statements(looks_of(seen_at(4)), counts_of(grown(100, 2.2)), WINDOW)
        assert (one.basis, one.seconds) == ("counters", 2.2)
        assert one.mean_s == pytest.approx(0.022)

    def test_what_is_not_counted_is_seen(self) -> None:
        (one,) = watched_statements(looks_of(seen_at(2)), counts_of(grown(100, 0.01)), WINDOW)
        assert one.basis == "looks"
        assert one.seconds == pytest.approx(5.0)
        assert one.counted_s == pytest.approx(0.01)

    def test_a_long_execution_that_began_before_counts_as_long_as_it_was_seen(self) -> None:
        (one,) = watched_statements(looks_of(seen_at(4)), counts_of(grown(1, 600.0)), WINDOW)
        assert one.basis == "looks"
        assert one.seconds == pytest.approx(2.5)

    def test_short_ones_that_no_look_saw_are_counted(self) -> None:
        looks = looks_of({0: [], 1: []})
        (one,) = watched_statements(looks, counts_of(grown(1_000, 4.0)), WINDOW)
        assert (one.basis, one.seconds, one.looks) == ("counters", 4.0, 0)

    def test_without_counts_there_is_no_mean(self) -> None:
        (one,) = watched_statements(looks_of(seen_at(2)), counts_of({}), WINDOW)
        assert one.calls is None
        assert one.mean_s is None

    def test_workers_are_their_leaders(self) -> None:
        looks = looks_of({n: [(1, "a", None, None, None), (2, "a", 1, None, None)] for n in (0, 1)})
        (one,) = watched_statements(looks, counts_of({}), WINDOW)
        assert one.looks == 2

    def test_the_longest_comes_first(self) -> None:
        row: Row = (2, "b", None, None, None)
        looks = {n: [*rows, row] for n, rows in seen_at(4).items()}
        names = [
            one.statement for one in watched_statements(looks_of(looks), counts_of({}), WINDOW)
        ]
        assert names == ["b", "a"]

    def test_after_a_reset_it_is_what_stands_there(self) -> None:
        counts = counts_of({"a": {"calls": (50.0, 8.0), "execution_seconds": (9.0, 0.5)}})
        assert counted_growth(counts) == {"a": {"calls": 8.0, "execution_seconds": 0.5}}

    def test_what_was_not_executed_is_left_out(self) -> None:
        assert counted_growth(counts_of({"a": {"calls": (50.0, 50.0)}})) == {}


class TestCauses:
    def split(self, rows: list[Row], used: CpuUse | None):
        seen = weighted_looks(looks_of(dict.fromkeys(range(100), rows)), WINDOW)
        return split_by_cause(seen, RULES, used)["a"]

    def test_who_waits_says_for_what(self) -> None:
        split = self.split([(1, "a", None, *LOCKED)], None)
        assert split.where["lock"] == pytest.approx(1.0)
        assert split.cpu_share == 0.0

    def test_a_wait_that_no_rule_knows_is_not_explained(self) -> None:
        split = self.split([(1, "a", None, "Extension", "Odd")], None)
        assert split.where["uncovered"] == pytest.approx(1.0)

    def test_a_state_of_executing_is_no_wait(self) -> None:
        split = self.split([(1, "a", None, "State", "executing")], None)
        assert split.where["cpu_user"] == pytest.approx(1.0)

    def test_who_does_not_wait_is_divided_by_what_processes_used(self) -> None:
        split = self.split([(1, "a", None, None, None)], CpuUse(5.0, 3.0, 0.8))
        assert split.where["cpu_user"] == pytest.approx(0.4)
        assert split.where["cpu_system"] == pytest.approx(0.1)
        assert split.where["run_queue"] == pytest.approx(0.3)
        assert split.where["uncovered"] == pytest.approx(0.2)

    def test_parts_add_up(self) -> None:
        rows: list[Row] = [(1, "a", None, *LOCKED), (2, "a", None, None, None)]
        split = self.split(rows, CpuUse(99.0, 99.0, 0.5))
        assert sum(share or 0.0 for share in split.where.values()) == pytest.approx(1.0)

    def test_workers_are_at_work_beside_their_leader(self) -> None:
        rows: list[Row] = [(1, "a", None, None, None), (2, "a", 1, None, None)]
        split = self.split(rows, None)
        assert split.threads == pytest.approx(2.0)
        assert split.cpu_share == pytest.approx(2.0)

    def test_few_looks_do_not_split(self) -> None:
        seen = weighted_looks(looks_of({0: [(1, "a", None, *LOCKED)], 1: []}), WINDOW)
        assert split_by_cause(seen, RULES, None) == {}


class TestPlans:
    SCAN = PlanNode("scan", "Seq Scan", object="orders", condition="a = 1", estimated_rows=10.0)
    TABLES: ClassVar = {"orders": TableFacts(estimated_rows=100_000.0, bytes=8192 * 1000)}

    def plans(self, root: PlanNode) -> dict[str, tuple[Plan, ...]]:
        return {"q": (Plan("q", 0, "q.json", root, timed=False),)}

    def watched(self, **counts: float) -> list[tuple[str, Watched]]:
        return [("q", Watched("1", 1.0, "counters", 9, 1.0, 1.0, {"calls": 10.0, **counts}))]

    def test_estimates_say_how_many_rows_are_read_in_vain(self) -> None:
        (plan,) = with_estimates(self.plans(self.SCAN), self.TABLES, {"q": 0.5}, {})["q"]
        assert (plan.root.rows, plan.root.removed_rows) == (10.0, 99_990.0)
        assert plan.root.seconds == pytest.approx(0.5)

    def test_a_plan_that_was_timed_stays_as_it_is(self) -> None:
        plans = {"q": (Plan("q", 0, "q.json", self.SCAN),)}
        assert with_estimates(plans, self.TABLES, {}, {}) == plans

    def test_of_a_table_that_is_not_known_nothing_is_said(self) -> None:
        (plan,) = with_estimates(self.plans(self.SCAN), {}, {}, {})["q"]
        assert plan.root.removed_rows is None

    def test_rows_that_were_examined_are_counted(self) -> None:
        told = self.watched(rows=30.0, rows_examined=500_000.0)
        scanned = scanned_rows(told, self.plans(self.SCAN), {})
        assert (scanned["q"].examined, scanned["q"].kept) == (50_000.0, 3.0)
        (plan,) = with_estimates(self.plans(self.SCAN), self.TABLES, {}, scanned)["q"]
        assert (plan.root.rows, plan.root.removed_rows) == (3.0, 49_997.0)

    def test_as_many_bytes_as_the_table_has_are_the_table(self) -> None:
        told = self.watched(
            rows=30.0, cache_hit_bytes=8192 * 9_900.0, cache_read_bytes=8192 * 100.0
        )
        scanned = scanned_rows(told, self.plans(self.SCAN), self.TABLES)
        assert scanned["q"].examined == 100_000.0

    def test_fewer_are_not(self) -> None:
        told = self.watched(rows=30.0, cache_hit_bytes=8192 * 500.0)
        assert scanned_rows(told, self.plans(self.SCAN), self.TABLES) == {}

    def test_beside_other_operators_counts_are_not_the_scans(self) -> None:
        root = PlanNode("aggregate", "Aggregate", children=(self.SCAN,))
        told = self.watched(rows=10.0, rows_examined=500_000.0)
        assert scanned_rows(told, self.plans(root), self.TABLES) == {}
