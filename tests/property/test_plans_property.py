"""Whatever plan PostgreSQL tells, what its operators spent adds up to what its processes spent."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.analysis.plans.recorded import compare_plans, shares, worst_estimate
from assay.engines.postgresql.plans import normalised
from assay.model.plan import Plan

KINDS = ["Seq Scan", "Sort", "Hash Join", "Nested Loop", "Aggregate", "Limit", "Materialize"]
BLOCKS = ("Shared Hit Blocks", "Shared Read Blocks", "Temp Written Blocks")
MS = 1000.0


@st.composite
def plan_nodes(draw: st.DrawFn, depth: int = 0, workers: int = 0) -> dict[str, Any]:
    """A node whose time holds that of its inputs, as a server would tell it.

    Below a Gather each of its processes has been through the node once.
    """
    gathers = workers == 0 and depth < 3 and draw(st.booleans())
    below = draw(st.integers(1, 3)) if gathers else workers
    count = 1 if gathers else draw(st.integers(0, 2 if depth < 4 else 0))
    children = [draw(plan_nodes(depth + 1, below)) for _ in range(count)]
    loops = workers + 1
    own = [draw(st.floats(0.0, 50.0)) for _ in range(loops)]
    ours = [
        own[process] + sum(process_times(child)[process] for child in children)
        for process in range(loops)
    ]
    node: dict[str, Any] = {
        "Node Type": "Gather" if gathers else draw(st.sampled_from(KINDS)),
        "Parallel Aware": workers > 0 and draw(st.booleans()),
        "Parent Relationship": "Outer",
        "Plan Rows": draw(st.integers(0, 10**6)),
        "Actual Rows": draw(st.integers(0, 10**6)),
        "Actual Loops": loops,
        "Actual Total Time": sum(ours) / loops,
        **{name: sum(c[name] for c in children) + draw(st.integers(0, 99)) for name in BLOCKS},
        "Plans": children,
        "own_ms": sum(own),
    }
    if gathers:
        node |= {"Workers Planned": below, "Workers Launched": below}
    if workers:
        node["Workers"] = [{"Actual Total Time": ms, "Actual Loops": 1} for ms in ours[1:]]
    return node


def process_times(node: dict[str, Any]) -> list[float]:
    """Milliseconds of the leader and of each worker in a node and below."""
    workers = [worker["Actual Total Time"] for worker in node.get("Workers", [])]
    return [node["Actual Total Time"] * node["Actual Loops"] - sum(workers), *workers]


def own_ms(node: dict[str, Any]) -> float:
    return float(node["own_ms"]) + sum(own_ms(child) for child in node["Plans"])


def plan_of(root: dict[str, Any]) -> Plan:
    return normalised(json.dumps([{"Plan": root}]), "q01", 0, "q01-0.json")


@given(plan_nodes())
def test_times_and_blocks_add_up(root: dict[str, Any]) -> None:
    plan = plan_of(root)
    assert plan.seconds == pytest.approx(own_ms(root) / MS, abs=1e-9)
    cached = sum(node.cached_bytes or 0 for node in plan.root.walk())
    assert cached == root["Shared Hit Blocks"] * 8192
    assert plan.spilled_bytes == root["Temp Written Blocks"] * 8192


@given(plan_nodes())
def test_no_operator_spent_less_than_nothing_and_all_shares_are_one(root: dict[str, Any]) -> None:
    plan = plan_of(root)
    assert all((node.seconds or 0.0) >= 0 for node in plan.root.walk())
    measured_shares = [share for share in shares(plan) if share is not None]
    assert sum(measured_shares) == pytest.approx(1.0) or not plan.seconds


@given(plan_nodes())
def test_rows_are_over_all_loops_and_an_error_is_at_least_one(root: dict[str, Any]) -> None:
    for node in plan_of(root).root.walk():
        assert node.rows is not None
        assert node.rows % 1 == 0
        assert node.q_error is None or node.q_error >= 1
        assert node.rows_margin == (0.5 * (node.loops or 0) if (node.loops or 0) > 1 else 0)


@given(plan_nodes(), plan_nodes())
def test_any_two_plans_can_be_compared(first: dict[str, Any], second: dict[str, Any]) -> None:
    before, after = plan_of(first), plan_of(second)
    comparison = compare_plans(before, after)
    for side, plan in (("before", before), ("after", after)):
        seen = [id(getattr(p, side)) for p in comparison.pairs if getattr(p, side) is not None]
        assert sorted(seen) == sorted(id(node) for node in plan.root.walk())
    assert compare_plans(before, before).changes == ()
    worst = worst_estimate(after)
    assert worst is None or (worst.q_error or 0) >= 2
