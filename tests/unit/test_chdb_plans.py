"""Plans that ClickHouse drew, in words that are no engine's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assay.engines.chdb.plans import normalised
from assay.model.plan import OPERATORS, Plan
from tests.plans import node, nodes

NATIVE = Path(__file__).parents[1] / "native_plans" / "chdb"
KEPT = sorted(path.stem for path in NATIVE.glob("*.txt"))
# It makes a filter for another scan of what passes by; the field has no word for that.
WITHOUT_WORD = {"BuildRuntimeFilter"}


def native(name: str) -> str:
    return (NATIVE / f"{name}.txt").read_text(encoding="utf-8")


def plan(name: str) -> Plan:
    return normalised(native(name), name, 0, f"{name}-0.txt")


@pytest.mark.parametrize("name", KEPT)
def test_every_operator_is_there_and_has_a_word_of_the_field(name: str) -> None:
    plan_nodes = list(plan(name).root.walk())
    drawn = re.findall(r"(?m)^[│ ]*[├└]──", native(name))
    assert len(plan_nodes) == len(drawn) + 1
    for plan_node in plan_nodes:
        assert plan_node.operator in OPERATORS
        assert (plan_node.operator == "other") == (plan_node.native in WITHOUT_WORD)


@pytest.mark.parametrize("name", KEPT)
def test_operators_took_no_longer_than_two_threads_had(name: str) -> None:
    query_plan = plan(name)
    assert query_plan.execution_s is not None
    assert query_plan.seconds is not None
    assert 0 < query_plan.seconds <= 2 * query_plan.execution_s


def test_the_whole_tells_its_times_and_memory() -> None:
    query_plan = plan("tpch-q03")
    assert (query_plan.planning_s, query_plan.execution_s) == (
        pytest.approx(8.59e-3),
        pytest.approx(15.92e-3),
    )
    assert query_plan.memory_bytes == round(406.03 * 1024)


def test_time_of_a_step_is_that_of_all_its_threads() -> None:
    scan = node(plan("tpch-q01"), "lineitem")
    assert scan.seconds == pytest.approx(216.16e-3 * 1.70)


def test_a_scan_tells_its_table_columns_and_filter() -> None:
    scan = node(plan("tpch-q03"), "lineitem")
    assert (scan.operator, scan.native) == ("scan", "ReadFromMergeTree")
    assert scan.columns == ("l_orderkey", "l_extendedprice", "l_discount")
    assert scan.condition == "l_shipdate > '1995-03-15'"


def test_rounded_rows_have_a_margin() -> None:
    query_plan = plan("tpch-q03")
    assert (node(query_plan, "lineitem").rows, node(query_plan, "lineitem").rows_margin) == (
        32_260.0,
        5.0,
    )
    assert (node(query_plan, "orders").rows, node(query_plan, "orders").rows_margin) == (563.0, 0.0)


def test_a_join_has_what_it_probes_with_first_and_its_own_estimate() -> None:
    inner = nodes(plan("tpch-q03"), "Join")[1]
    assert (inner.operator, inner.condition, inner.rows) == (
        "hash join",
        "c_custkey = o_custkey",
        138.0,
    )
    assert inner.estimated_rows is None
    tables = [[n.object for n in child.walk() if n.object] for child in inner.children]
    assert tables == [["customer"], ["orders"]]
    cross = node(plan("cross"), "Join cross")
    assert (cross.operator, cross.estimated_rows, cross.q_error) == ("nested loop", 625.0, 1.0)


def test_kinds_of_joins_are_told() -> None:
    assert node(plan("tpch-q22"), "Join right anti").operator == "hash join"
    assert {n.native for n in plan("tpch-q13").root.walk() if "Join" in n.native} == {"Join left"}


def test_a_sort_of_which_few_rows_are_kept_is_a_top_n() -> None:
    operators = [plan_node.operator for plan_node in plan("tpch-q03").root.walk()]
    assert operators[:3] == ["projection", "limit", "top-n"]
    assert node(plan("tpch-q22"), "Sorting").operator == "sort"


def test_what_a_filter_removed_is_told() -> None:
    removed = node(plan("tpch-q22"), "Filter")
    assert removed.removed_rows == pytest.approx(15_000 - 1_870)


def test_rows_that_a_join_filtered_in_a_scan_are_no_error() -> None:
    query_plan = plan("tpch-q03")
    assert node(query_plan, "customer").cut_short
    assert not node(query_plan, "lineitem").cut_short


@pytest.mark.parametrize(
    "message", ["", "Expression", "Query summary:\n  Time: 1 ms\n\nOutput: n\n\nLimit\n"]
)
def test_what_is_no_plan_is_refused(message: str) -> None:
    with pytest.raises(ValueError, match="the text is not a ClickHouse plan:"):
        normalised(message, "q", 0, "q-0.txt")
