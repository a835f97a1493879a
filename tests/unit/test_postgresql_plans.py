"""Plans that PostgreSQL told, in words that are no engine's."""

from __future__ import annotations

import json

import pytest

from assay.analysis.findings.indexes import missing_index
from assay.engines.discovery import find_engine
from assay.engines.postgresql.plan_reads import columns_of
from assay.engines.postgresql.plan_times import thread_seconds, walk
from assay.engines.postgresql.plans import normalised
from assay.model.plan import OPERATORS
from tests.cases import case, operation
from tests.plans import NATIVE, native, node, nodes, plan_of

KEPT = sorted(path.stem for path in (NATIVE / "postgresql").glob("*.json"))


def plan(name: str):
    return plan_of("postgresql", name)


@pytest.mark.parametrize("name", KEPT)
def test_every_operator_has_a_word_of_the_field(name: str) -> None:
    for plan_node in plan(name).root.walk():
        assert plan_node.operator in OPERATORS
        assert plan_node.operator != "other", plan_node.native


@pytest.mark.parametrize("name", [name for name in KEPT if name != "estimated-18"])
def test_times_add_up_to_those_of_all_processes(name: str) -> None:
    (whole,) = json.loads(native("postgresql", name))
    workers_s = sum(
        thread_seconds(worker)
        for gather in walk(whole["Plan"])
        if gather["Node Type"].startswith("Gather")
        for worker in gather["Plans"][0].get("Workers", [])
    )
    spent_s = plan(name).seconds
    assert spent_s == pytest.approx(thread_seconds(whole["Plan"]) + workers_s, rel=0.02, abs=1e-5)


def test_workers_that_were_planned_are_told_apart_from_those_that_came() -> None:
    (gather,) = [
        plan_node
        for plan_node in plan("tpch-q18-16").root.walk()
        if plan_node.operator == "exchange"
    ]
    assert (gather.workers_planned, gather.workers_launched) == (2, 2)


def test_rows_of_processes_are_together_those_of_the_table() -> None:
    parallel = plan("tpch-q18-16")
    (scan,) = [
        plan_node for plan_node in nodes(parallel, "lineitem") if plan_node.operator == "scan"
    ]
    assert scan.native == "Parallel Seq Scan"
    assert (scan.loops, scan.rows_margin) == (3, 1.5)
    assert scan.rows == pytest.approx(600_572, abs=scan.rows_margin)
    assert scan.estimated_rows == pytest.approx(600_572, abs=2)


def test_what_each_process_does_for_itself_counts_for_each() -> None:
    customers = node(plan("tpch-q18-16"), "customer")
    assert (customers.native, customers.rows) == ("Seq Scan", 45_000)
    assert customers.q_error == 1.0


def test_a_parallel_scan_that_one_process_did_alone_was_expected_as_a_whole() -> None:
    alone = min(nodes(plan("parallel-index-18"), "t"), key=lambda plan_node: plan_node.loops or 0)
    assert (alone.loops, alone.rows) == (1, 10_000)
    assert alone.q_error == pytest.approx(1.0, abs=0.001)


def test_a_gather_knows_its_workers_and_is_not_charged_for_them() -> None:
    gather = node(plan("tpch-q18-16"), "Gather Merge")
    assert (gather.operator, gather.workers) == ("exchange", 2)
    assert gather.seconds is not None
    assert gather.seconds < 0.02


@pytest.mark.parametrize("version", ["16", "18"])
def test_a_common_table_is_paid_for_where_it_is_made(version: str) -> None:
    query_plan = plan(f"tpch-q15-{version}")
    body = node(query_plan, "CTE revenue")
    assert (body.operator, body.object) == ("cte", "revenue")
    inside = sum(plan_node.seconds or 0.0 for plan_node in body.walk())
    assert inside / (query_plan.seconds or 1.0) > 0.9
    scans = nodes(query_plan, "CTE Scan")
    assert len(scans) == 2
    assert all(scan.seconds is not None and scan.seconds < 0.001 for scan in scans)
    assert query_plan.root.children[-1].operator == "subquery"


def test_a_value_is_paid_for_once_and_not_by_who_asks_for_it() -> None:
    query_plan = plan("tpch-q22-16")
    initial = node(query_plan, "InitPlan 1 (returns $0)")
    (asking,) = [
        plan_node
        for plan_node in nodes(query_plan, "customer")
        if plan_node.condition and "$0" in plan_node.condition
    ]
    (whole,) = json.loads(native("postgresql", "tpch-q22-16"))
    (raw,) = [
        row
        for row in walk(whole["Plan"])
        if row["Node Type"] == "Seq Scan" and "$0" in row["Filter"]
    ]
    inside = sum(plan_node.seconds or 0.0 for plan_node in initial.walk())
    assert asking.seconds == pytest.approx(thread_seconds(raw) - inside, abs=1e-6)


def test_a_correlated_subquery_stands_behind_the_inputs_of_its_node() -> None:
    join = plan("tpch-q02-16").root.children[0].children[0]
    assert [child.operator for child in join.children] == ["scan", "hash build", "subquery"]
    assert join.children[2].children[0].operator == "aggregate"


def test_what_was_never_executed_has_no_rows() -> None:
    query_plan = plan("never-executed-18")
    (never,) = [plan_node for plan_node in query_plan.root.walk() if plan_node.loops == 0]
    assert (never.native, never.index) == ("Index Scan", "t_id")
    assert (never.rows, never.q_error) == (None, None)
    assert never.estimated_rows == 1


def test_a_question_whether_there_is_a_row_may_stop_at_the_first() -> None:
    asked = node(plan("never-executed-18"), "InitPlan 1").children[0]
    assert asked.cut_short
    assert (asked.estimated_rows, asked.rows, asked.q_error) == (10, 1, None)


def test_parts_of_a_table_are_inputs_of_an_append() -> None:
    root = plan("append-18").root
    assert root.operator == "set operation"
    assert [child.object for child in root.children] == ["p1", "p2"]
    assert [child.removed_rows for child in root.children] == [100, 51]


def test_bitmaps_have_their_index_and_no_rows_where_they_are_combined() -> None:
    query_plan = plan("bitmap-18")
    assert {plan_node.index for plan_node in nodes(query_plan, "Bitmap Index Scan")} == {
        "t_a",
        "t_b",
    }
    assert node(query_plan, "BitmapAnd").rows is None
    assert node(query_plan, "Bitmap Heap Scan").rows == 229


def test_an_index_that_is_enough_tells_how_often_it_was_not() -> None:
    scan = node(plan("index-only-18"), "Index Only Scan")
    assert (scan.operator, scan.index, scan.condition) == ("index scan", "t_id", "(t.id < 3000)")
    assert scan.details["Heap Fetches"] == 0


def test_memoize_tells_its_hits_and_its_input_only_the_misses() -> None:
    query_plan = plan("memoize-18")
    cache = node(query_plan, "Memoize")
    assert cache.details["Cache Hits"] + cache.details["Cache Misses"] == cache.loops == 500
    assert node(query_plan, "Limit").loops == cache.details["Cache Misses"]


@pytest.mark.parametrize(("version", "margin"), [("15", 25.0), ("18", 0.25)])
def test_averages_over_loops_are_as_unsure_as_they_are_rounded(version: str, margin: float) -> None:
    assert node(plan(f"memoize-{version}"), "Limit").rows_margin == margin


def test_sorts_say_how_they_sorted() -> None:
    assert node(plan("top-n-18"), "Sort").operator == "top-n"
    assert node(plan("sort-on-disk-18"), "Sort").operator == "sort"
    step = node(plan("incremental-sort-18"), "Incremental Sort")
    assert step.condition == "t.id, t.c; presorted t.id"
    below = step.children[0]
    assert (below.rows, below.cut_short, below.q_error) == (11, True, None)


def test_what_did_not_fit_into_memory_is_spilled() -> None:
    sort = node(plan("sort-on-disk-18"), "Sort")
    assert sort.details["Sort Space Type"] == "Disk"
    # What is merged in several rounds is written more than once.
    assert (sort.spilled_bytes or 0) >= sort.details["Sort Space Used"] * 1024
    batched = plan("hash-batches-18")
    assert node(batched, "Hash").details["Hash Batches"] > 1
    spilled = [plan_node.spilled_bytes or 0 for plan_node in batched.root.walk()]
    assert all(nodes(batched, word)[0].spilled_bytes for word in ("Hash", "Hash Join"))
    assert batched.spilled_bytes == sum(spilled)
    assert plan("tpch-q15-18").spilled_bytes == 0


def test_a_merge_join_may_not_want_all_rows() -> None:
    long, short = node(plan("merge-join-18"), "Merge Join").children
    assert (long.rows, long.q_error) == (501, None)
    assert short.q_error == 1.0


def test_generated_code_is_told_in_seconds() -> None:
    query_plan = plan("jit-15")
    assert query_plan.compiling_s == pytest.approx(
        query_plan.details["JIT"]["Timing"]["Total"] / 1000
    )
    assert plan("tpch-q15-18").compiling_s == 0.0


def test_rows_of_what_changes_tables_are_not_told() -> None:
    root = plan("insert-18").root
    assert (root.operator, root.native, root.object) == ("modify", "Insert", "s")
    assert (root.rows, root.estimated_rows) == (None, None)
    assert root.details["WAL Records"] > 0


def test_a_plan_that_was_not_executed_has_estimates_only() -> None:
    query_plan = plan("estimated-18")
    assert (
        query_plan.timed,
        query_plan.execution_s,
        query_plan.seconds,
        query_plan.compiling_s,
    ) == (False,) + (None,) * 3
    assert query_plan.planning_s is not None
    assert all(
        plan_node.rows is None and plan_node.seconds is None for plan_node in query_plan.root.walk()
    )
    assert all(plan_node.estimated_rows for plan_node in query_plan.root.walk())


def test_rows_of_an_inner_side_are_those_of_its_join() -> None:
    """PostgreSQL 16 says 0 rows a loop, 23,868 times; the join has them all."""
    query_plan = plan("tpch-q02-16")
    suppliers = node(query_plan, "partsupp_supplier_index")
    assert (suppliers.rows, suppliers.rows_margin) == (16_320, 0.0)


@pytest.mark.parametrize("text", ["", "[]", "{}", "[{}]", '[{"Plan": {}}]', '[{"Plan": 1}]', "{"])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        normalised(text, "q01", 0, "file")


def test_scans_say_their_columns_and_how_often_an_index_was_searched() -> None:
    taken = plan_of("postgresql", "tpcc-take-stock-18")
    assert node(taken, "stock_key").columns == (
        "s_quantity",
        "s_ytd",
        "s_order_cnt",
        "s_remote_cnt",
        "s_w_id",
        "s_i_id",
    )
    assert taken.reads is not None
    assert (taken.reads.index_lookups, taken.reads.index_rows, taken.reads.scan_rows) == (14, 14, 0)
    # Of one table its columns stand without its name, and casts and functions are none.
    district = plan_of("postgresql", "tpcc-district-18")
    assert node(district, "Seq Scan").columns == ("d_next_o_id", "d_w_id", "d_id")
    # A change gives back more of its rows than the scan below it did.
    assert node(district, "Update").columns == ("d_tax", "d_next_o_id")
    assert district.reads is not None
    assert district.reads.scan_rows == 10


def test_rows_that_are_locked_are_changed() -> None:
    assert node(plan_of("postgresql", "tpcc-oldest-18"), "LockRows").operator == "modify"


@pytest.mark.parametrize(
    ("output", "columns"),
    [
        (["(c_balance - '1.5'::numeric)", "ctid"], ("c_balance",)),
        (
            ["CASE c_credit WHEN 'a b'::bpchar THEN left(c_data, 500) ELSE c_data END"],
            ("c_credit", "c_data"),
        ),
        (['x."Of Mine"', "x.plain", '"*VALUES*".column1'], ("Of Mine", "plain")),
        (["x.at::timestamp without time zone", "(x.n)::character varying(20)"], ("at", "n")),
        (["NULL::integer", "$1"], ()),
    ],
)
def test_columns_are_told_from_what_is_written_around_them(
    output: list[str], columns: tuple[str, ...]
) -> None:
    scan = {"Node Type": "Seq Scan", "Relation Name": "t", "Alias": "x", "Output": output}
    assert columns_of(scan) == columns


def test_of_rows_that_a_join_is_given_whole_the_columns_that_it_takes_count() -> None:
    join = plan_of("postgresql", "tpcc-customer-18")
    customer = {"c_id", "c_d_id", "c_w_id", "c_last", "c_credit", "c_discount"}
    assert set(node(join, "customer_key").columns or ()) == customer
    assert set(node(join, "Seq Scan").columns or ()) == {"w_id", "w_tax"}
    # What is computed for a value is no column.
    hashed = plan_of("postgresql", "hashed-subplan-18")
    assert nodes(hashed, "t")[0].columns == ("a",)


def test_rows_of_a_function_are_those_of_no_table() -> None:
    """No index helps a condition on the rows that a function returns."""
    facts = {
        "Node Type": "Function Scan",
        "Function Name": "generate_series",
        "Filter": "(md5((n)::text) ~~ 'aa%'::text)",
        "Plan Rows": 2,
        "Actual Rows": 39,
        "Actual Loops": 1,
        "Actual Total Time": 10.0,
        "Rows Removed by Filter": 7961,
    }
    text = json.dumps([{"Plan": facts, "Planning Time": 0.1, "Execution Time": 10.0}])
    made = normalised(text, "q01", 0, "file")
    assert (made.root.operator, made.root.native) == ("values", "Function Scan")
    assert not made.root.is_full_scan
    spent = operation("q01", overrides={"seconds": 0.01}, cpu_user=1.0)
    advice = find_engine("postgresql").advice() or {}
    assert missing_index.find(case(spent, plans={"q01": (made,)}, advice=advice)) == []
