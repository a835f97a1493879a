"""Plans that Virtuoso told of TPC-H at SF 0.1, and of small statements, in words of no engine."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Any

import polars as pl
import pytest

from assay.analysis.plans.recorded import shares
from assay.analysis.plans.work import (
    in_proportion,
    mixed_work,
    plan_work,
    work_by_operation,
    work_of,
)
from assay.analysis.work.rules import UNCLASSIFIED, WORDS
from assay.engines.virtuoso.explaining import VirtuosoPlans, asked
from assay.engines.virtuoso.plan_text import step_words
from assay.engines.virtuoso.plan_totals import Native, read_native, totals
from assay.engines.virtuoso.plans import normalised
from assay.model.plan import OPERATORS, Plan, PlanNode
from tests.plans import NATIVE, made, made_plan, native, node

NAMES = sorted(file.stem for file in (NATIVE / "virtuoso").glob("*.json"))
QUERIES = [name for name in NAMES if name.startswith("q")]
Shape = tuple[object, ...]


def plan(name: str) -> Plan:
    return plan_of(native("virtuoso", name))


def plan_of(text: str) -> Plan:
    return normalised(text, "q", 0, "q-0.json")


def shape(node: PlanNode) -> Shape:
    """Operator and table, then the shapes of the inputs; without what only hands rows on."""
    if node.operator in {"result", "projection"} and len(node.children) == 1:
        return shape(node.children[0])
    named = node.operator if node.object is None else f"{node.operator} {node.object}"
    return (named, *(shape(child) for child in node.children))


def test_there_is_a_plan_of_each_query() -> None:
    assert [f"q{number:02d}" for number in range(1, 23)] == QUERIES


@pytest.mark.parametrize("name", NAMES)
def test_every_step_is_understood_and_every_time_is_told_once(name: str) -> None:
    kept = read_native(native("virtuoso", name))
    made_of = plan(name)
    assert made_of.timed
    assert made_of.seconds == pytest.approx(totals(kept).thread_s, rel=1e-9)
    assert sum(share or 0.0 for share in shares(made_of)) == pytest.approx(1)
    for plan_node in made_of.root.walk():
        assert plan_node.operator in OPERATORS
        assert plan_node.operator != "other" or plan_node.native == "outer"
        assert work_of(plan_node) in WORDS or plan_node.seconds is None
    assert Plan.read(json.loads(json.dumps(made_of.facts()))) == made_of


SHAPES: list[tuple[str, Shape]] = [
    ("q01", ("sort", ("aggregate", ("scan lineitem",)))),
    (
        "q13",
        (
            "sort",
            (
                "aggregate",
                (
                    "aggregate",
                    (
                        "other",
                        (
                            "hash join",
                            ("scan customer",),
                            ("hash build", ("filter", ("scan orders",))),
                        ),
                    ),
                ),
            ),
        ),
    ),
    (
        "q21",
        (
            "top-n",
            (
                "aggregate",
                (
                    "hash join",
                    (
                        "filter",
                        ("nested loop", ("scan orders",), ("index scan lineitem",)),
                        ("subquery", ("filter", ("index scan lineitem",))),
                        ("subquery", ("filter", ("index scan lineitem",))),
                    ),
                    ("hash build", ("nested loop", ("scan nation",), ("scan supplier",))),
                ),
            ),
        ),
    ),
    ("top", ("limit", ("scan orders",))),
    ("insert", ("modify region", ("scan region",))),
    ("update", ("modify supplier", ("scan supplier",))),
    ("delete", ("modify orders", ("nested loop", ("values",), ("index scan orders",)))),
    (
        "union",
        (
            "set operation",
            ("set operation", ("scan nation",), ("scan region",)),
            ("scan supplier",),
        ),
    ),
    (
        "second-index",
        (
            "aggregate",
            ("nested loop", ("index scan lineitem",), ("index scan lineitem",)),
        ),
    ),
]


@pytest.mark.parametrize(("name", "expected"), SHAPES)
def test_pipelines_become_the_tree_that_they_mean(name: str, expected: Shape) -> None:
    assert shape(plan(name).root) == expected


def test_rows_are_what_a_step_gave_and_estimates_what_it_was_expected_to() -> None:
    q13 = plan("q13")
    orders, customer = node(q13, "orders"), node(q13, "customer")
    assert (orders.estimated_rows, orders.rows) == (23_000, 150_000)
    assert (customer.estimated_rows, customer.rows) == (15_000, 15_000)
    join = node(q13, "Hash source")
    # 9.88787 each of 15,000: the figures have six digits.
    assert join.rows is not None
    assert abs(join.rows - 148_318) <= join.rows_margin
    assert join.estimated_rows == pytest.approx(3.4 * 15_000)


def test_a_table_after_others_is_expected_for_each_row_of_those() -> None:
    q21 = plan("q21")
    (late,) = [
        plan_node.children[1]
        for plan_node in q21.root.walk()
        if plan_node.operator == "nested loop" and plan_node.children[0].object == "orders"
    ]
    # The scan is merged with a look-up that lets 0.042 of the rows through.
    assert late.estimated_rows == pytest.approx(0.058 * 0.042 * 72_884)
    assert late.rows == 13_711


def test_what_ends_a_pipeline_has_no_count_of_rows() -> None:
    assert node(plan("distinct"), "lineitem").rows is None
    assert node(plan("q06"), "lineitem").rows is None


def test_a_step_that_was_given_no_row_was_never_executed() -> None:
    nothing = plan("nothing")
    assert node(nothing, "Hash source").loops == 0
    assert node(nothing, "part").loops is None


def test_an_index_that_is_no_table_is_told_with_its_table() -> None:
    first = next(
        plan_node
        for plan_node in plan("second-index").root.walk()
        if plan_node.operator == "index scan"
    )
    assert (first.object, first.index) == ("lineitem", "l_pk_sk")


def test_queries_in_code_count_once_and_not_in_the_step_that_asks_them() -> None:
    figures = "time {}% fanout 1 input 1 rows"
    text = "\n".join(
        [
            *("{", figures.format(40), "END Node", "After test:", "0: if (  {"),
            *(figures.format(30), "t 5 rows(.a$1)", figures.format(5), "Subquery Select( <none> )"),
            *("}", ") then 4 else 5 unkn 5", "4: BReturn 1", figures.format(25), "Select (b$2)"),
            *("}", "", " 65 msec 100% cpu, 1 rnd 2 seq 0% same seg 0% same pg"),
        ]
    )
    made_of = plan_of(text)
    seconds = {plan_node.native: plan_node.seconds for plan_node in made_of.root.walk()}
    # 40 parts have those 35 in them, so that all parts are of 65.
    assert seconds == pytest.approx(
        {"Select": 0.025, "END Node": 0.005, "query in code": None}
        | {"Subquery Select": 0.005, "table read": 0.03}
    )


def test_exists_is_done_with_the_first_row() -> None:
    q21 = plan("q21")
    (first, _) = [plan_node for plan_node in q21.root.walk() if plan_node.operator == "subquery"]
    assert all(plan_node.cut_short for plan_node in first.children[0].walk())
    assert not q21.root.cut_short


def test_steps_without_names_are_charged_to_the_next_one() -> None:
    figures = "time {}% fanout 1 input 1 rows"
    text = "\n".join(
        [
            *("{", figures.format(10), figures.format(20), "fork {"),
            *(figures.format(30), "t 5 rows(.a$1)", "a = 1", "}", figures.format(40)),
            *("Select (b$2)", "}", "", " 100 msec 100% cpu, 1 rnd 2 seq 0% same seg 0% same pg"),
        ]
    )
    made_of = plan_of(text)
    seconds = {plan_node.native: plan_node.seconds for plan_node in made_of.root.walk()}
    assert seconds == pytest.approx({"Select": 0.04, "fork": 0.03, "table read": 0.03})
    assert made_of.execution_s == 0.1


def test_the_time_of_threads_is_at_least_that_of_the_clock() -> None:
    log = {"ql_rt_clocks": 300.0, "ql_thread_clocks": 100.0, "ql_c_clocks": 50.0}
    assert totals(Native("{\n}", log, 100.0)).thread_s == 2.5
    assert totals(Native("{\n}", log | {"ql_thread_clocks": 500.0}, 100.0)).thread_s == 5
    assert totals(Native("{\n}", log | {"ql_thread_clocks": -5.0}, 100.0)).thread_s == 2.5
    assert totals(Native("{\n}", log, 100.0)).planning_s == 0.5
    assert totals(Native("{\n}", {"ql_rt_msec": 7.0})).execution_s == 0.007


def test_the_clock_of_a_statement_has_its_compilation_in_it() -> None:
    # As its query log has them of a statement that one thread executed.
    log = {"ql_rt_clocks": 1118182.0, "ql_thread_clocks": 289770.0, "ql_c_clocks": 828412.0}
    plan_totals = totals(Native("{\n}", log, 1e6))
    assert (plan_totals.execution_s, plan_totals.thread_s) == pytest.approx((0.28977, 0.28977))
    assert plan_totals.planning_s == 0.828412


PROFILE = """
A row of the result	1
{
    time        50% fanout        10 input         1 rows
    t        20 rows(.a$28)

    time        50% fanout         0 input        10 rows
    Select (.a$28)
  }


 2463 msec 196% cpu,         45 rnd 1.64922e+06 seq         0% same seg         0% same pg
12 disk reads, 3 read ahead,         1% wait
Compilation: 4 msec 0 reads         0% read 0 messages         0% clw
"""


def test_a_text_of_profile_is_read_as_it_is_printed() -> None:
    made_of = plan_of(PROFILE)
    assert made_of.execution_s == 2.463
    assert made_of.planning_s == 0.004
    assert made_of.seconds == pytest.approx(2.463 * 1.96)
    assert made_of.read_bytes == 12 * 8192
    assert made_of.details["activity"]["seq"] == 1_649_220


def test_a_text_of_explain_has_estimates_only() -> None:
    lines = [line for line in PROFILE.splitlines()[2:9] if "time" not in line]
    made_of = plan_of("\n".join(lines))
    assert not made_of.timed
    assert made_of.execution_s is None
    assert node(made_of, "t").estimated_rows == 20
    assert node(made_of, "t").rows is None


REFUSED = [
    ("", "no line"),
    ("nothing at all", "no line"),
    ("{", "line 1: the text ends before `{` of line 1"),
    ("{\nfork {\nt 5 rows(.a$1)\n}", "line 4: the text ends before `{` of line 1"),
    ("{\ntime half% fanout 1 input 1 rows\n}", "line 2: 'time half%"),
    ("{\ntime -5% fanout 1 input 1 rows\nt 5 rows(.a$1)\n}", "line 2"),
    ("{\ntime 5% fanout 1e308 input 1e308 rows\nt 5 rows(.a$1)\n}", "line 2"),
    ("{\ngarbage\n}", "line 2: 'garbage' is not a step"),
    ("{\nAfter code:\n0: BReturn 0\n}", "plan line 2: 'After code:' does not follow a step"),
    ("{\n" * 200, "more than 100 nested steps"),
    ('{"plan": ["{"], "log": {}}', "not a Virtuoso plan"),
    (
        '{"plan": 5, "log": {}, "clock_hz": 1, "tables": {}, "executed": true}',
        "not a Virtuoso plan",
    ),
    ("[1]", "not a Virtuoso plan"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_what_is_no_plan_is_refused_with_its_line(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        plan_of(text)


def test_words_are_of_plans_and_of_samples() -> None:
    for word in step_words():
        assert word.operator in OPERATORS
        assert word.work in (*WORDS, UNCLASSIFIED)


# ---- what plans' time went into


def test_work_of_a_plan_adds_up_to_its_time() -> None:
    for name in QUERIES:
        made_of = plan(name)
        work = plan_work(made_of)
        assert math.fsum(work.values()) == pytest.approx(made_of.seconds)
        assert list(work.values()) == sorted(work.values(), reverse=True)
    assert next(iter(plan_work(plan("q01")))) == "aggregate"


def test_an_operator_whose_engine_says_no_word_has_that_of_its_kind() -> None:
    root = made("sort", made("hash join", made("scan", seconds=3.0), seconds=2.0), seconds=1.0)
    assert plan_work(made_plan(root)) == {"scan": 3.0, "hash probe": 2.0, "sort": 1.0}
    unknown = made_plan(made("other", seconds=1.0, work="no such word"))
    assert plan_work(unknown) == {UNCLASSIFIED: 1.0}
    assert plan_work(made_plan(made("scan", seconds=None))) == {}


def test_seconds_of_operations_are_divided_as_their_plans_are() -> None:
    first = made_plan(made("sort", made("scan", seconds=3.0), seconds=1.0))
    second = made_plan(made("sort", seconds=2.0))
    plans = {"q01": (first,), "q02": (second, second)}
    seconds = {"q01": 40.0, "q02": 5.0, "q03": 2.0}
    divided = in_proportion(plans, seconds)
    assert divided == {"scan": 30.0, "sort": 15.0, UNCLASSIFIED: 2.0}
    assert math.fsum(divided.values()) == sum(seconds.values())


def test_time_that_is_of_several_kinds_of_work_is_told() -> None:
    q09 = plan("q09")
    (mixed,) = mixed_work([q09])
    lineitem = node(q09, "lineitem")
    assert (mixed.work, mixed.also) == ("scan", ("join filter", "hash probe"))
    assert mixed.seconds == lineitem.seconds


def test_work_by_operation_has_shares_of_each_operation() -> None:
    plans = {name: (plan(name), plan(name)) for name in ("q13", "q01")}
    table = work_by_operation(plans)
    assert table["operation"].unique(maintain_order=True).to_list() == ["q13", "q01"]
    assert table.group_by("operation").agg(pl.col("share").sum())[
        "share"
    ].to_list() == pytest.approx([1, 1])
    whole = sum(query_plan.seconds or 0.0 for several in plans.values() for query_plan in several)
    assert table["seconds"].sum() == pytest.approx(whole)
    assert work_by_operation({}).is_empty()


# ---- asking


def test_values_are_bound_where_they_stand() -> None:
    made_of = asked("select '$1', $2 -- $3\n, $1 from t;", ("a", "b"))
    assert made_of.sql == "select '$1', ?  \n, ? from t"
    assert made_of.values == ("b", "a")
    assert not made_of.steers
    assert asked("COMMIT;", ()).steers


class FakeTable:
    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self._rows = rows

    def to_pylist(self) -> list[dict[str, Any]]:
        return self._rows

    def column(self, _place: int) -> FakeTable:
        return self

    def __getitem__(self, _place: int) -> object:
        return self._rows


class FakeLink:
    """A server that has executed all but what begins with `bad`."""

    def __init__(self) -> None:
        self.executed: list[str] = []
        self.clock = 0

    def text(self, _sql: str) -> list[list[str]]:
        return [["t_index", "t"]]

    def run(self, sql: str) -> None:
        self.executed.append(sql)

    def together(self, statements: Sequence[tuple[str, Sequence[object]]]) -> None:
        self.executed += [sql for sql, _ in statements]

    def ask(self, sql: str, _bound: Sequence[object] = ()) -> FakeTable:
        if "rdtsc" in sql:
            self.clock += 1_000_000
            return FakeTable([{"started": "now", "clock": str(self.clock)}])
        plan = "{\nt_index 5 rows(.a$1)\n}"
        selects = [text for text in self.executed if text.startswith("select a")]
        entries = [
            {"ql_id": str(9 - n), "ql_text": select, "ql_plan": plan, "ql_sqlstate": None}
            | {"ql_error": None, "ql_rt_msec": "3"}
            for n, select in enumerate(reversed(selects))
        ]
        return FakeTable(entries)


def test_statements_are_executed_together_and_their_plans_are_those_of_the_log() -> None:
    link = FakeLink()
    reader = VirtuosoPlans(link, "/log")  # type: ignore[arg-type]
    statements = [("begin", ()), ("select a1", ()), ("select a2", ()), ("commit", ())]
    begin, first, second, commit = reader.explain(statements, 30)
    assert link.executed[1:-1] == ["begin", "select a1", "select a2", "rollback"]
    assert (begin.native, commit.native) == (None, None)
    assert "transaction" in (begin.reason or "")
    assert (first.reason, second.reason) == (None, None)
    kept = read_native(first.native or "")
    assert kept.tables == {"t_index": "t"}
    assert kept.clock_hz is not None
    assert kept.clock_hz > 0
    assert kept.log == {"ql_id": 8.0, "ql_rt_msec": 3.0}
