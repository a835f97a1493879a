"""Plans without execution: when they stand for executed ones, and which causes they refute."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from assay.analysis.diagnose.same_plans import estimates_suffice, plans_stayed
from assay.model.errors import RecordUnreadableError
from assay.model.finding import Finding
from assay.model.plan import Plan, PlanNode
from assay.record.reader import Run, find_run, find_workload_run
from assay.record.seal import write_seal
from assay.report.diagnosis.document import verdict_words
from assay.report.results.runs import unjudged_row
from assay.running.asked.request import RunRequest
from assay.study.diagnosing.candidates import LEAVE, Candidate
from assay.study.diagnosing.planning import (
    planned_part,
    plans_show_change,
    refuted_by_plans,
    untimed,
)
from tests.plans import made, made_plan, with_plans
from tests.records import write_run

BASELINE, CHANGE = "as it is", "index of a (x)"
REQUEST = RunRequest(workload="made", engine="postgresql", scale=1.0)
SCAN = made("scan", object="a")
LOOK_UP = made("index scan", object="a", index="a_x")


def record(place: Path, name: str, *roots: PlanNode, **more: Any) -> Run:
    """A run whose operations q01, q02, ... have these plans."""
    plans = [
        made_plan(root, operation=f"q{number:02}", native=f"q{number:02}-0.json", **more)
        for number, root in enumerate(roots, 1)
    ]
    return recorded(place, name, plans)


def recorded(
    place: Path, name: str, plans: list[Plan], missing: list[dict[str, Any]] | None = None
) -> Run:
    return Run(with_plans(write_run(place / name), plans, missing))


def candidate(*operations: str, by_plan: bool = True) -> Candidate:
    cause = Finding("a is read in full", 0.5, None, (), "missing-index", operations=operations)
    changed = REQUEST.changed(prepare={CHANGE: "create index"})
    return Candidate(cause, CHANGE, "index", changed, by_plan, stays=True, expected=0.5)


class TestEstimates:
    def test_the_same_plans_stand_for_the_executed_ones(self, tmp_path: Path) -> None:
        executed = record(tmp_path, "executed", SCAN, LOOK_UP)
        assert estimates_suffice(executed, record(tmp_path, "estimated", SCAN, LOOK_UP), [])

    def test_a_plan_that_execution_changes_does_not(self, tmp_path: Path) -> None:
        executed = record(tmp_path, "executed", SCAN, LOOK_UP)
        estimated = record(tmp_path, "estimated", LOOK_UP, LOOK_UP)
        assert not estimates_suffice(executed, estimated, ["q01"])
        assert estimates_suffice(executed, estimated, ["q02"]), "q02 has the same plan"

    @pytest.mark.parametrize("unseen", [{"compiling_s": 0.1}, {"spilled_bytes": 1 << 20}])
    def test_what_only_execution_shows_is_left_to_rounds(
        self, tmp_path: Path, unseen: dict[str, Any]
    ) -> None:
        executed = record(tmp_path, "executed", SCAN, **unseen)
        assert not estimates_suffice(executed, record(tmp_path, "estimated", SCAN), ["q01"])

    def test_a_load_that_writes_is_left_to_rounds(self, tmp_path: Path) -> None:
        executed = record(tmp_path, "executed", SCAN, made("modify", SCAN, object="a"))
        estimated = record(tmp_path, "estimated", SCAN, made("modify", SCAN, object="a"))
        assert not estimates_suffice(executed, estimated, ["q01"])

    def test_a_missing_plan_is_left_to_rounds(self, tmp_path: Path) -> None:
        gap = {"operation": "q02", "statement": 0, "reason": "none", "capture_s": None}
        executed = recorded(tmp_path, "executed", [made_plan(SCAN)], [gap])
        assert not estimates_suffice(executed, record(tmp_path, "estimated", SCAN), ["q01"])

    def test_workers_that_did_not_start_make_no_difference(self, tmp_path: Path) -> None:
        started = made("exchange", SCAN, workers=1, workers_planned=2, workers_launched=1)
        planned = replace(started, workers=2, workers_launched=None)
        executed = record(tmp_path, "executed", started)
        assert estimates_suffice(executed, record(tmp_path, "estimated", planned), [])
        assert not plans_stayed(executed, record(tmp_path, "other", planned), [])


class TestStayed:
    def test_each_statement_needs_both_plans(self, tmp_path: Path) -> None:
        one = record(tmp_path, "one", SCAN)
        two = recorded(
            tmp_path,
            "two",
            [made_plan(SCAN), made_plan(SCAN, statement=1, native="q01-1.json")],
        )
        assert plans_stayed(one, one, ["q01"])
        assert not plans_stayed(one, two, ["q01"])
        assert not plans_stayed(one, one, ["q02"])

    @pytest.mark.parametrize("more", [{"compiling_s": 0.1}, {"spilled_bytes": 1 << 20}])
    def test_the_same_operators_with_other_memory_or_code_are_no_same_plan(
        self, tmp_path: Path, more: dict[str, Any]
    ) -> None:
        """Better estimates may end the generation of code, or a spill, and save time."""
        before, after = record(tmp_path, "before", SCAN, **more), record(tmp_path, "after", SCAN)
        assert not plans_stayed(before, after, ["q01"])

    def test_another_way_to_read_an_index_is_another_plan(self, tmp_path: Path) -> None:
        ways = [
            made("index scan", object="a", index="a_x", native=native)
            for native in ("Index Scan", "Index Only Scan")
        ]
        before, after = (record(tmp_path, way.native, way) for way in ways)
        assert not plans_stayed(before, after, ["q01"])


class TestRefuted:
    def test_a_change_that_alters_no_plan_needs_no_run(self, tmp_path: Path) -> None:
        run = record(tmp_path, "run", SCAN)
        planned = {name: record(tmp_path, name, SCAN) for name in (BASELINE, CHANGE)}
        (tried,) = refuted_by_plans(run, BASELINE, planned, [candidate("q01")])
        assert (tried.judgement.verdict, tried.judgement.by_plan) == ("refuted", True)
        assert (tried.judgement.rounds, tried.rounds) == (0, ())
        said = verdict_words(tried.judgement, None)
        assert said == "no plan changes with it; nothing was run"

    def test_statistics_may_change_plans_of_values_that_were_not_captured(
        self, tmp_path: Path
    ) -> None:
        run = record(tmp_path, "run", SCAN)
        planned = {name: record(tmp_path, name, SCAN) for name in (BASELINE, CHANGE)}
        facts = {**run.facts, "workload": run.facts["workload"] | {"drawn_operations": ["q01"]}}
        drawn = cast("Any", SimpleNamespace(facts=facts))
        assert plans_show_change(run, "histogram", ["q01"])
        assert not plans_show_change(drawn, "histogram", ["q01"])
        assert not plans_show_change(drawn, "statistics", [])
        assert plans_show_change(drawn, "index", ["q01"])
        histogram = replace(candidate("q01"), kind="histogram")
        assert refuted_by_plans(run, BASELINE, planned, [histogram])

    def test_another_plan_is_left_to_rounds(self, tmp_path: Path) -> None:
        run = record(tmp_path, "run", SCAN)
        planned = {
            BASELINE: record(tmp_path, BASELINE, SCAN),
            CHANGE: record(tmp_path, CHANGE, LOOK_UP),
        }
        assert refuted_by_plans(run, BASELINE, planned, [candidate("q01")]) == []

    def test_a_change_that_acts_otherwise_is_left_to_rounds(self, tmp_path: Path) -> None:
        run = record(tmp_path, "run", SCAN)
        planned = {name: record(tmp_path, name, SCAN) for name in (BASELINE, CHANGE)}
        other = candidate("q01", by_plan=False)
        assert refuted_by_plans(run, BASELINE, planned, [other]) == []
        assert planned_part("plans", BASELINE, run, REQUEST, [other]) is None

    def test_a_capture_that_failed_refutes_nothing(self, tmp_path: Path) -> None:
        run = record(tmp_path, "run", SCAN)
        before = {BASELINE: record(tmp_path, BASELINE, SCAN)}
        assert refuted_by_plans(run, BASELINE, before, [candidate("q01")]) == []
        after = {CHANGE: record(tmp_path, CHANGE, SCAN)}
        assert refuted_by_plans(run, BASELINE, after, [candidate("q01")]) == []


class TestHypothetical:
    """A change that the optimiser only assumes is refuted by plans, or left untimed."""

    def assumed(self) -> Candidate:
        return replace(candidate("q01"), stays=False, is_hypothetical=True)

    def test_an_index_that_changes_no_plan_is_refuted(self, tmp_path: Path) -> None:
        run = record(tmp_path, "run", SCAN)
        planned = {name: record(tmp_path, name, SCAN) for name in (BASELINE, CHANGE)}
        (tried,) = refuted_by_plans(run, BASELINE, planned, [self.assumed()])
        assert tried.judgement.verdict == "refuted"

    def test_a_plan_with_the_index_has_its_cost(self, tmp_path: Path) -> None:
        before = record(tmp_path, BASELINE, SCAN, cost=4631.0)
        after = record(tmp_path, CHANGE, LOOK_UP, cost=8.44)
        (untried,) = untimed(before, {CHANGE: after}, [self.assumed()])
        assert "their cost falls from 4,631 to 8.44" in untried.why
        assert "--allow-changes" in untried.why

    def test_without_costs_no_number_is_shown(self, tmp_path: Path) -> None:
        before, after = record(tmp_path, BASELINE, SCAN), record(tmp_path, CHANGE, LOOK_UP)
        (untried,) = untimed(before, {CHANGE: after}, [self.assumed()])
        assert untried.why.startswith("estimated plans would use the index; ")

    def test_without_captured_plans_the_option_is_named(self, tmp_path: Path) -> None:
        (untried,) = untimed(None, {}, [self.assumed()])
        assert untried.why == LEAVE

    def test_a_change_that_can_be_timed_is_left_to_rounds(self, tmp_path: Path) -> None:
        before, after = record(tmp_path, BASELINE, SCAN), record(tmp_path, CHANGE, LOOK_UP)
        assert list(untimed(before, {CHANGE: after}, [candidate("q01")])) == []


class TestAsked:
    def test_its_runs_execute_nothing(self, tmp_path: Path) -> None:
        run = record(tmp_path, "run", SCAN)
        part = planned_part("plans", BASELINE, run, REQUEST, [candidate("q01")])
        assert part is not None
        assert [variant.name for variant in part.variants] == [BASELINE, CHANGE]
        for variant in part.variants:
            request = cast("RunRequest", variant.request)
            assert (request.plans_only, request.plans_executed) == (True, False)

    def test_a_run_without_plans_asks_for_none(self, tmp_path: Path) -> None:
        run = Run(write_run(tmp_path / "run"))
        assert planned_part("plans", BASELINE, run, REQUEST, [candidate("q01")]) is None

    def test_a_run_that_kills_the_engine_asks_for_none(self, tmp_path: Path) -> None:
        run, killed = record(tmp_path, "run", SCAN), REQUEST.changed(kill_s=1.0)
        assert planned_part("plans", BASELINE, run, killed, [candidate("q01")]) is None


def test_a_record_of_plans_alone_is_no_run(tmp_path: Path) -> None:
    measured = write_run(tmp_path / "runs")
    later = write_run(tmp_path / "runs", run_id="20261121T101500Z-tpch-duckdb-abc124")
    file = later / "run.json"
    facts = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps(facts | {"kind": "planned"}), encoding="utf-8")
    write_seal(later)
    assert find_run("latest", tmp_path / "runs") == measured
    assert find_workload_run("latest", tmp_path / "runs").id == measured.name
    with pytest.raises(RecordUnreadableError, match="has only plans"):
        find_run(later.name, tmp_path / "runs")
    assert unjudged_row(later)["state"] == "planned"
