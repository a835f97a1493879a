"""Plans that DuckDB told, in words that are no engine's."""

from __future__ import annotations

import json

import pytest

from assay.engines.duckdb.plans import normalised
from assay.model.plan import OPERATORS, Plan
from tests.plans import NATIVE, native, node, nodes, plan_of

KEPT = sorted(path.stem for path in (NATIVE / "duckdb").glob("*.json"))
# Statements that are no queries have operators of which the field has no word.
WITHOUT_WORD = {"CREATE_VIEW"}


def plan(name: str) -> Plan:
    return plan_of("duckdb", name)


@pytest.mark.parametrize("name", KEPT)
def test_every_operator_has_a_word_of_the_field(name: str) -> None:
    for plan_node in plan(name).root.walk():
        assert plan_node.operator in OPERATORS
        assert (plan_node.operator == "other") == (plan_node.native in WITHOUT_WORD)


@pytest.mark.parametrize("name", [name for name in KEPT if name != "estimated"])
def test_times_add_up_to_the_cpu_time_that_it_tells(name: str) -> None:
    query_plan, whole = plan(name), json.loads(native("duckdb", name))
    assert query_plan.seconds == pytest.approx(whole["query"]["cpu_time"], rel=0.001, abs=5e-6)
    assert query_plan.planning_s is not None
    assert query_plan.execution_s is not None
    both = query_plan.planning_s + query_plan.execution_s
    assert both == pytest.approx(whole["query"]["total_time"])


def test_a_scan_tells_its_table_columns_filter_and_what_it_left_out() -> None:
    scan = node(plan("tpch-q03"), "lineitem")
    assert (scan.operator, scan.native) == ("scan", "TABLE_SCAN")
    assert scan.columns == ("l_orderkey", "l_extendedprice", "l_discount", "l_shipdate")
    assert scan.condition == "(l_shipdate > '1995-03-15'::DATE)"
    assert scan.details["rows_scanned"] == (scan.rows or 0) + (scan.removed_rows or 0) == 600_572


def test_columns_of_a_filter_are_names_and_not_words_in_texts() -> None:
    scan = node(plan("filter-text"), "t")
    assert scan.columns == ("a", "c")


def test_fewer_rows_by_the_filter_of_a_join_are_no_error() -> None:
    query_plan = plan("tpch-q03")
    scan = node(query_plan, "lineitem")
    assert scan.cut_short
    assert (scan.estimated_rows or 0) > 10 * (scan.rows or 0)
    assert scan.q_error is None
    assert node(query_plan, "customer").q_error == pytest.approx(1.2, abs=0.1)


def test_a_limit_stops_what_is_below() -> None:
    root = plan("limit").root
    assert (root.operator, root.rows, root.estimated_rows) == ("limit", 5, None)
    assert (root.children[0].cut_short, root.children[0].q_error) == (True, None)


def test_places_of_columns_are_told_by_name() -> None:
    assert node(plan("tpch-q03"), "HASH_GROUP_BY").condition == (
        "l_orderkey, o_orderdate, o_shippriority"
    )


def test_joins_tell_their_kind_and_sides() -> None:
    inner, outer = nodes(plan("tpch-q03"), "HASH_JOIN")
    assert inner.condition == "l_orderkey = o_orderkey"
    assert [child.object for child in inner.children[:1]] == ["lineitem"]
    assert outer.condition == "o_custkey = c_custkey"
    assert nodes(plan("tpch-q22"), "HASH_JOIN SEMI")
    assert node(plan("delim-join"), "PIECEWISE_MERGE_JOIN").operator == "merge join"


def test_a_common_table_stands_behind_what_reads_it() -> None:
    query_plan = plan("tpch-q15")
    assert (query_plan.root.operator, query_plan.root.object, query_plan.root.rows) == (
        "cte",
        "revenue",
        None,
    )
    goes_on, body = query_plan.root.children
    assert {plan_node.object for plan_node in body.walk()} == {"lineitem", None}
    scans = [plan_node for plan_node in goes_on.walk() if plan_node.operator == "cte"]
    assert [scan.object for scan in scans] == ["revenue", "revenue"]


def test_a_table_for_a_correlated_subquery_has_the_same_name_in_each_plan() -> None:
    query_plan = plan("delim-join")
    assert {plan_node.object for plan_node in nodes(query_plan, "CTE_SCAN")} == {"__duckdb_delim_"}


def test_aggregates_sorts_and_the_first_few() -> None:
    operators = {plan_node.native: plan_node.operator for plan_node in plan("tpch-q18").root.walk()}
    assert operators["TOP_N"] == "top-n"
    assert operators["HASH_GROUP_BY"] == "aggregate"
    assert node(plan("filter-text"), "UNGROUPED_AGGREGATE").operator == "aggregate"
    assert node(plan("tpch-q15"), "PERFECT_HASH_GROUP_BY").condition == "l_suppkey"
    assert node(plan("window"), "WINDOW").operator == "window"


def test_a_union_and_what_changes_tables_count_no_rows() -> None:
    assert plan("union").root.rows is None
    insert = plan("insert").root
    assert (insert.operator, insert.rows, insert.q_error) == ("modify", None, None)


def test_what_went_to_disk_is_known_of_the_whole_only() -> None:
    query_plan = plan("sort-on-disk")
    assert query_plan.spilled_bytes == query_plan.details["system"]["peak_temp_dir_size"] > 0
    assert all(plan_node.spilled_bytes is None for plan_node in query_plan.root.walk())
    assert plan("tpch-q03").spilled_bytes == 0
    assert (query_plan.memory_bytes or 0) > 0


def test_a_plan_that_was_not_executed_has_estimates_only() -> None:
    query_plan = plan("estimated")
    assert (query_plan.timed, query_plan.execution_s, query_plan.seconds) == (False, None, None)
    assert {plan_node.object for plan_node in nodes(query_plan, "t")} == {"t"}
    assert all(plan_node.rows is None for plan_node in query_plan.root.walk())


def test_the_record_has_what_else_it_tells_and_not_the_statement_again() -> None:
    details = plan("tpch-q03").details
    assert details["optimizer"]["join_order"] > 0
    assert "sql" not in details["query"]


@pytest.mark.parametrize("text", ["", "[]", "{}", "[1]", '{"operator": []}', '{"result": "error"}'])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        normalised(text, "q01", 0, "file")
