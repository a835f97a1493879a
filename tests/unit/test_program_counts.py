"""Calls of functions in the measured part, of sessions that report them late."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from assay.analysis.counters.program_counts import program_counts
from assay.analysis.findings.programs import function_per_row
from assay.analysis.host.task_counters import executions
from assay.analysis.plans.shown_calls import shows_call
from assay.model.errors import UsageError
from assay.probes.streams import ENGINE, Stream
from assay.workloads.rewriting import without
from tests.cases import case, node, operation, plan, plans
from tests.conftest import BEGUN_NS, PASSES, S, SyntheticRun

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.record.reader import Run

CALLS, SECONDS = 100.0, 0.001


def counted(synthetic: SyntheticRun, *readings: tuple[int, float | None]) -> dict[str, object]:
    """Return the counts of readings: their time, and executions reported so far if any."""
    run = synthetic.write()
    with Stream(run.dir / "raw", "engine", ENGINE) as stream:
        for time_ns, reported in readings:
            stream.push(time_ns, "database", "assay", "commits", 1.0)
            if reported is not None:
                stream.push(time_ns, "functions", "rate_of", "calls", 70 + CALLS * reported)
                stream.push(time_ns, "functions", "rate_of", "seconds", SECONDS * reported)
    return dict(program_counts(run, "functions", ran(run)))


def ran(run: Run) -> pl.DataFrame:
    return executions(run.table("events"), None)


class TestProgramCounts:
    @pytest.mark.parametrize("early", [0, 1], ids=["none reported", "warm-up reported"])
    def test_calls_that_are_reported_late_count(self, synthetic: SyntheticRun, early: int) -> None:
        ended_ns = synthetic.ended_ns
        readings = [(BEGUN_NS - S, 0.0), (BEGUN_NS + S // 100, early), (ended_ns + S, PASSES + 1)]
        calls, seconds = counted(synthetic, *readings)["rate_of"]  # type: ignore[misc]
        assert calls == pytest.approx(CALLS * PASSES)
        assert seconds == pytest.approx(SECONDS * PASSES)

    def test_a_function_is_new_if_the_first_reading_lacks_it(self, synthetic: SyntheticRun) -> None:
        readings = [(BEGUN_NS - S, None), (BEGUN_NS + S // 100, 1), (synthetic.ended_ns, 9)]
        calls, _ = counted(synthetic, *readings)["rate_of"]  # type: ignore[misc]
        assert calls == pytest.approx((70 + CALLS * 9) * PASSES / (PASSES + 1))

    def test_a_counter_that_was_reset_is_left_out(self, synthetic: SyntheticRun) -> None:
        assert counted(synthetic, (BEGUN_NS - S, 90), (synthetic.ended_ns, 1)) == {}


@pytest.mark.parametrize(
    ("text", "is_shown"),
    [
        ("-- all\nselect sum(app.Price_of(id)) from items where shop = ${shop};", True),
        ("select a from items group by a having max(price_of(id)) > 3", True),
        ("select id from items where price_of(id) > ${price}", False),
        ("select (select max(price_of(id)) from items)", False),
        ("select price_of(", False),
    ],
)
def test_a_call_can_be_left_out_where_a_query_shows_it(text: str, *, is_shown: bool) -> None:
    assert shows_call(text, "postgres", "app.price_of") == is_shown


def in_a_view(calls: float, rows: tuple[float, float] = (300.0, 60.0)) -> Case:
    """Two operations that query a view, whose condition calls a function for each row."""
    scans = [
        plan(node("scan", condition="filter may_see(t.id)", rows=1.0, removed_rows=count - 1), name)
        for name, count in zip(("q1", "q2"), rows, strict=True)
    ]
    once = {"seconds": 1.0, "passes": 10}
    return case(
        operation("q1", share=0.5, overrides=once),
        operation("q2", share=0.5, overrides=once),
        statements={"q1": "select a from tasks_seen", "q2": "select b from tasks_seen"},
        functions={"may_see": (calls, calls * 2e-3)},
        plans=plans(*scans),
    )


def test_calls_that_plans_agree_with_are_divided_among_operations() -> None:
    (finding,) = function_per_row.find(in_a_view(3_600))
    of_each = "300 times per execution of q1 and 60 times per execution of q2"
    assert f"Function may_see is called {of_each}" in finding.claim
    assert finding.fractions == {"q1": pytest.approx(0.6), "q2": pytest.approx(0.12)}


def test_a_random_choice_of_as_many_rows_can_stand_for_a_condition() -> None:
    (finding,) = function_per_row.find(in_a_view(3_600))
    assert finding.advice is not None
    assert finding.advice.kind == "ablation"
    kept = {"operations": "q1, q2", "kept": "0.003333, 0.016667"}
    assert finding.advice.values == kept
    (unknown,) = function_per_row.find(in_a_view(9_000))
    assert unknown.advice is None


VIEW = {"seen": "select u.id as viewer, t.id from users u join tasks t on may_see(u.id, t.id)"}
TABLES = {"users": ("id",), "tasks": ("id",)}


@pytest.mark.parametrize(("dialect", "random"), [("postgresql", "RANDOM"), ("mysql", "RAND")])
def test_the_choice_is_in_the_place_of_the_call_in_a_view(dialect: str, random: str) -> None:
    text = "select id from seen where viewer = ${viewer}"
    rewritten = without(text, (dialect,), ["chosen:may_see:0.01"], TABLES, VIEW).text
    assert "may_see" not in rewritten.lower()
    assert f"ON {random}() < 0.01" in rewritten
    assert "${viewer}" in rewritten


def test_a_function_that_no_condition_calls_is_refused() -> None:
    with pytest.raises(UsageError, match="no condition of the query calls may_see"):
        without("select may_see(id) from tasks", ("postgresql",), ["chosen:may_see:0.01"], TABLES)


def test_calls_of_one_operation_are_no_mean_over_others() -> None:
    (finding,) = function_per_row.find(in_a_view(3_000, (300.0, 0.0)))
    assert "is called 300 times per execution of q1 and" in finding.claim
    assert finding.operations == ("q1",)


def test_calls_that_plans_do_not_explain_are_those_of_all_together() -> None:
    (finding,) = function_per_row.find(in_a_view(9_000))
    assert "450 times per execution of all operations together, on average" in finding.claim


def test_calls_are_those_of_the_operations_that_name_the_function() -> None:
    once = {"seconds": 1.0, "passes": 4}
    run_case = case(
        operation("q1", share=0.5, overrides=once),
        operation("q2", share=0.5, overrides=once),
        statements={"q1": "select sum(price_of(id)) from items", "q2": "select 1"},
        functions={"price_of": (4_000, 3.2)},
    )
    (finding,) = function_per_row.find(run_case)
    assert "is called 1 k times per execution of q1 and took 40 %" in finding.claim
    assert "each call takes 800 µs" in (finding.to_try or "")
