"""Time trees: nodes are the sums of their parts, and every part is where its cause is."""

from __future__ import annotations

import dataclasses
import math

import pytest

from assay.analysis.causes import CAUSES, PARTS, UNCOVERED
from assay.analysis.time.computing import BY_PLANS, computing_by_operation
from assay.analysis.time.operation_tree import operation_tree
from assay.analysis.time.tree import TimeNode, merged, parent, scaled
from tests.cases import case, even, node, operation, plan, plans

LEAVES = {
    "cpu_user": "computing/executing",
    "cpu_system": "computing/kernel",
    "run_queue": "computing/queue",
    "throttled": "computing/limit",
    "stolen": "computing/steal",
    "log": "log",
    "client": "network",
    UNCOVERED: "unexplained",
} | {
    name: f"waiting/{name}"
    for name in ("disk_read", "disk_write", "disk", "lock", "latch", "workers", "idle", "paused")
}


class TestOperation:
    @pytest.mark.parametrize("cause", [cause.name for cause in CAUSES])
    def test_every_cause_has_its_node_and_no_other(self, cause: str) -> None:
        tree = operation_tree(dict.fromkeys(PARTS, 0.0) | {cause: 1.0}, None)
        assert tree is not None
        leaves = {path for path, part in tree.walk() if part.share and not part.children}
        assert leaves == {LEAVES[cause]}
        assert tree.share == 1.0

    def test_time_that_was_not_split_has_no_tree(self) -> None:
        assert operation_tree(dict.fromkeys(PARTS), None) is None

    def test_executing_is_divided_as_plans_are_and_planning_stands_beside_it(self) -> None:
        root = node("sort", node("scan", seconds=6.0), seconds=2.0)
        its = plans(plan(root, planning_s=2.0))
        (computing,) = computing_by_operation(None, its, prepared=False).values()
        tree = operation_tree(dict.fromkeys(PARTS, 0.0) | {"cpu_user": 0.5, "lock": 0.5}, computing)
        assert tree is not None
        assert tree.share_of("computing/planning") == pytest.approx(0.1)
        assert tree.share_of("computing/executing/scan") == pytest.approx(0.3)
        assert tree.share_of("computing/executing/sort") == pytest.approx(0.1)
        executing = tree.at("computing/executing")
        assert executing is not None
        assert executing.source == BY_PLANS

    def test_prepared_statements_have_no_planning(self) -> None:
        its = plans(plan(node(seconds=1.0), planning_s=1.0))
        (computing,) = computing_by_operation(None, its, prepared=True).values()
        assert computing.planning == 0.0


class TestRun:
    def test_it_is_the_sum_of_its_operations(self) -> None:
        slow = operation("slow", share=0.75, disk_read=0.8, cpu_user=0.2)
        quick = operation("quick", share=0.25, cpu_user=1.0)
        tree = case(slow, quick).time
        assert tree is not None
        assert tree.share_of("waiting/disk_read") == pytest.approx(0.6)
        assert tree.share_of("computing/executing") == pytest.approx(0.4)
        assert tree.share == pytest.approx(1.0)

    def test_operations_that_were_not_split_are_not_explained(self) -> None:
        measured_operation = operation("known", share=0.7, cpu_user=1.0)
        unknown = operation("unknown", share=0.3, overrides={"where": dict.fromkeys(PARTS)})
        tree = case(measured_operation, unknown).time
        assert tree is not None
        assert tree.share_of("unexplained/not-split") == pytest.approx(0.3)

    def test_sessions_that_share_threads_have_the_tree_of_all_together(self) -> None:
        unknown = operation(overrides={"where": dict.fromkeys(PARTS)})
        together = dict.fromkeys(PARTS, 0.0) | {"lock": 0.4, "cpu_user": 0.6}
        tree = case(unknown, where=together).time
        assert tree is not None
        assert tree.share_of("waiting/lock") == pytest.approx(0.4)

    def test_nothing_split_is_no_tree(self) -> None:
        unsplit = [
            dataclasses.replace(measured_operation, where=dict.fromkeys(PARTS))
            for measured_operation in even(2, cpu_user=1.0)
        ]
        assert case(*unsplit).time is None


class TestTree:
    def test_what_one_tree_does_not_split_is_a_part_of_the_sum(self) -> None:
        split = parent("wall", "Wall", [parent("a", "A", [TimeNode("x", "X", 0.5)])])
        whole = merged([split, parent("wall", "Wall", [TimeNode("a", "A", 0.3)])])
        assert whole is not None
        assert whole.share_of("a") == pytest.approx(0.8)
        assert whole.share_of("a/other") == pytest.approx(0.3)
        assert whole.closure_error < 1e-9

    def test_a_node_that_is_no_sum_is_seen(self) -> None:
        wrong = TimeNode("wall", "Wall", 1.0, (TimeNode("a", "A", 0.4),))
        assert wrong.closure_error == pytest.approx(0.6)

    def test_scaling_keeps_sums(self) -> None:
        tree = parent("wall", "Wall", [TimeNode("a", "A", 0.4), TimeNode("b", "B", 0.6)])
        half = scaled(tree, 0.5)
        assert math.isclose(half.share, 0.5)
        assert half.closure_error < 1e-9

    def test_absent_nodes_have_no_share(self) -> None:
        tree = parent("wall", "Wall", [TimeNode("a", "A", 1.0)])
        assert tree.share_of("b") == 0.0
        assert tree.at("a/b") is None
