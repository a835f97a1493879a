"""Plans of a record: what is read, what matters in them, and what is said of damage."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.analysis.plans.recorded import captured, read_plans, shares, worst_estimate
from assay.model.plan import Plan, PlanNode
from assay.record.reader import Run
from tests.plans import made, made_plan, plan_of, tpch_plans, with_plans
from tests.records import write_run

MISSING = [{"operation": "q02", "statement": 1, "reason": "it is no query", "capture_s": 0.1}]


def written(directory: Path) -> Path:
    return directory / "raw" / "plans" / "plans.json"


def asked_for(directory: Path, **facts: Any) -> Run:
    """A run without plans whose facts say more."""
    document = json.loads((directory / "run.json").read_text(encoding="utf-8"))
    document["request"] |= {"plans": facts.pop("asked", True)}
    (directory / "run.json").write_text(json.dumps(document | facts), encoding="utf-8")
    return Run(directory)


def test_plans_are_read_as_they_were_written(tmp_path: Path) -> None:
    plans = tpch_plans()
    run = Run(with_plans(write_run(tmp_path), plans, MISSING))
    assert read_plans(run) == {plan.operation: (plan,) for plan in plans}
    capture = captured(run)
    assert (capture.capture_s, capture.reason) == (0.75, None)
    assert [cost.ratio for cost in capture.costs] == [2.0, 2.0, 2.0]
    assert [(entry.operation, entry.reason) for entry in capture.missing] == [
        ("q02", "it is no query")
    ]


def test_statements_of_an_operation_stay_together(tmp_path: Path) -> None:
    first, second = (replace(plan_of("duckdb", "tpch-q01"), statement=n) for n in (0, 1))
    assert read_plans(Run(with_plans(write_run(tmp_path), [first, second]))) == {
        "q01": (first, second)
    }


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ({"asked": False}, "--no-plans"),
        ({"asked": True}, "this engine tells none"),
        ({"plans": {"error": "the host went away"}}, "the host went away"),
        ({"status": "failed"}, "before they were asked for"),
    ],
)
def test_a_run_without_plans_says_why(tmp_path: Path, facts: dict[str, Any], reason: str) -> None:
    capture = captured(asked_for(write_run(tmp_path), **facts))
    assert capture.plans == {}
    assert reason in (capture.reason or "")


def test_an_older_record_says_so(tmp_path: Path) -> None:
    assert "older" in (captured(Run(write_run(tmp_path))).reason or "")


def damaged(name: str, value: Any, *, root: bool = True) -> str:
    """What `plans.json` holds with one value that cannot be."""
    (plan,) = (plan.facts() for plan in tpch_plans()[:1])
    (plan["root"] if root else plan)[name] = value
    return json.dumps({"capture_s": 1.0, "operations": [], "plans": [plan], "missing": []})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[",
        "[]",
        "null",
        "{}",
        '{"capture_s": 1, "operations": [], "plans": [{}], "missing": []}',
        '{"capture_s": null, "operations": [], "plans": [], "missing": []}',
        '{"capture_s": 1, "operations": [{"strange": 1}], "plans": [], "missing": []}',
        "[" * 100_000,
        damaged("rows", "many"),
        damaged("seconds", -1.0),
        damaged("estimated_rows", float("nan")),
        damaged("operator", "guess"),
        damaged("children", None),
        damaged("children", [{}]),
        damaged("surprise", 1),
        damaged("condition", 7),
        damaged("execution_s", "long", root=False),
        damaged("statement", None, root=False),
    ],
)
def test_damage_is_a_reason_and_no_crash(tmp_path: Path, text: str) -> None:
    directory = with_plans(write_run(tmp_path), tpch_plans())
    written(directory).write_text(text, encoding="utf-8")
    capture = captured(Run(directory))
    assert (capture.plans, capture.capture_s) == ({}, None)
    assert "plans.json cannot be read" in (capture.reason or "")


def test_a_plan_survives_json() -> None:
    for plan in (plan_of("postgresql", "tpch-q18-16"), plan_of("duckdb", "tpch-q22")):
        assert Plan.read(json.loads(json.dumps(plan.facts()))) == plan


def test_shares_are_of_all_that_was_spent() -> None:
    plan = made_plan(made("sort", made("scan", seconds=3.0), made("result", seconds=None)))
    assert shares(plan) == (0.0, 1.0, None)
    assert shares(made_plan(made("scan", seconds=None))) == (None,)
    assert shares(made_plan(made("scan"))) == (None,)


class TestWorstEstimate:
    def worst(self, root: PlanNode) -> PlanNode | None:
        return worst_estimate(made_plan(root))

    def scan(self, expected: float, came: float, seconds: float = 1.0, **more: Any) -> PlanNode:
        return made("scan", estimated_rows=expected, rows=came, seconds=seconds, **more)

    def test_it_is_the_largest(self) -> None:
        root = made("hash join", self.scan(10, 100), self.scan(10, 50), seconds=1.0)
        assert self.worst(root) is root.children[0]

    def test_too_many_is_as_bad_as_too_few(self) -> None:
        root = made("hash join", self.scan(10, 100), self.scan(5000, 50), seconds=1.0)
        assert self.worst(root) is root.children[1]

    def test_none_where_all_are_near(self) -> None:
        assert self.worst(made("sort", self.scan(100, 150))) is None

    def test_none_where_no_time_is_known(self) -> None:
        assert self.worst(self.scan(1, 1000, seconds=0.0)) is None

    def test_what_took_no_time_does_not_matter(self) -> None:
        root = made("hash join", self.scan(1, 10_000, 0.0), self.scan(10, 50, 9.0), seconds=0.1)
        assert self.worst(root) is root.children[1]

    def test_what_was_chosen_for_it_does(self) -> None:
        root = made("nested loop", self.scan(1, 10_000, 0.0), self.scan(10, 10), seconds=9.0)
        assert self.worst(root) is root.children[0]

    def test_an_error_that_is_inherited_is_blamed_where_it_begins(self) -> None:
        below = self.scan(10, 1_000)
        above = made("hash join", below, seconds=1.0, estimated_rows=10, rows=5_000)
        assert self.worst(above) is below

    def test_an_error_that_is_an_operators_own_is_not(self) -> None:
        below = self.scan(10, 30)
        above = made("hash join", below, seconds=1.0, estimated_rows=10, rows=5_000)
        assert self.worst(above) is above

    def test_a_scan_of_a_common_table_leads_to_what_made_it(self) -> None:
        body = self.scan(1, 400)
        read = made("cte", object="c", estimated_rows=1, rows=400, seconds=1.0)
        root = made("sort", read, made("cte", body, object="c", seconds=None))
        assert self.worst(root) is body

    def test_a_recursive_common_table_is_followed_once(self) -> None:
        """It reads itself, which once led around without end."""
        itself = made("cte", object="tree", estimated_rows=10, rows=2_000, seconds=1.0)
        join = made("hash join", itself, seconds=1.0, estimated_rows=10, rows=2_000)
        body = made("union", join, seconds=1.0, estimated_rows=10, rows=2_000)
        read = made("cte", object="tree", estimated_rows=10, rows=2_000, seconds=1.0)
        root = made("sort", read, made("cte", body, object="tree", seconds=None))
        assert self.worst(root) is itself

    def test_rows_that_were_not_wanted_are_no_error(self) -> None:
        assert self.worst(self.scan(10_000, 5, cut_short=True)) is None
        assert self.worst(self.scan(5, 10_000, cut_short=True)) is not None

    def test_a_rounded_average_is_no_error(self) -> None:
        assert self.worst(self.scan(400, 0, rows_margin=500.0)) is None

    def test_of_a_query_that_is_known(self) -> None:
        worst = worst_estimate(plan_of("postgresql", "tpch-q18-16"))
        assert worst is not None
        assert worst.native == "GroupAggregate"
        assert "sum(lineitem_1.l_quantity)" in (worst.condition or "")
