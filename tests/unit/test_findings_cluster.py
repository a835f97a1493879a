"""Claims about waiting between nodes, where counters were read around some operations only."""

from __future__ import annotations

import pytest

from assay.analysis.cluster.barriers import Barriers
from assay.analysis.cluster.line import Line, NodeFigures
from assay.analysis.cluster.told import Cluster
from assay.analysis.findings.nodes import node_waits
from tests.cases import case, operation

UNREAD = Line(1.0, NodeFigures("", "", {}), ())


def line(waited: float) -> Line:
    grown = {"task_ns": 100.0, "wait_ns": waited, "blocked_ns": 0.0}
    return Line(1.0, NodeFigures("", "", grown), ())


def cluster(run: Line, **operations: Line) -> Cluster:
    return Cluster("Workers", (), {}, {}, 4.0, run, (), operations, Barriers())


def test_operations_that_were_not_read_are_as_the_whole_run() -> None:
    run_cluster = cluster(line(40.0), a=line(60.0), b=UNREAD)
    (finding,) = node_waits.find(
        case(operation("a", 0.5), operation("b", 0.5), cluster=run_cluster)
    )
    assert finding.effect_share == pytest.approx(0.5)
    assert finding.claim == (
        "Tasks waited for other nodes for 50 % of the time, most in a: 40 % waiting for data "
        "from other nodes, 0 % until other nodes take data"
    )


def test_where_none_was_read_the_run_tells() -> None:
    (finding,) = node_waits.find(case(operation("a"), cluster=cluster(line(40.0), a=UNREAD)))
    assert finding.effect_share == pytest.approx(0.4)


def test_where_tasks_hardly_waited_nothing_is_said() -> None:
    assert node_waits.find(case(operation("a"), cluster=cluster(line(1.0), a=line(1.0)))) == []
