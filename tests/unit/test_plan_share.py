"""The part of an operation's elapsed time in which its plans compute or wait for data."""

from __future__ import annotations

import pytest

from assay.analysis.time.operation_tree import operation_tree
from assay.analysis.time.plan_share import computing_share, plan_share

KINDS = ("cpu_user", "run_queue", "disk_read", "workers", "idle", "client", "uncovered")


@pytest.mark.parametrize(
    ("shares", "computing", "whole", "alone"),
    [
        # One of two threads computes all the time.
        ((0.5, 0, 0, 0, 0.5, 0, 0), 1.0, 1.0, 1.0),
        ((0.5, 0, 0, 0.5, 0, 0, 0), 1.0, 1.0, 1.0),
        # One of four computes and reads in turn.
        ((0.15, 0, 0.1, 0.25, 0.5, 0, 0), 0.6, 1.0, 1.0),
        # Without idle threads, all shares stay as they are.
        ((0.3, 0.2, 0.1, 0, 0, 0.4, 0), 0.5, 0.6, 0.4),
        ((0, 0, 0, 0, 0.7, 0.3, 0), 0.0, 0.0, 0.0),
        ((0, 0, 0, 0, 1, 0, 0), 0.0, 0.0, 0.0),
    ],
)
def test_idle_threads_count_as_what_the_busy_ones_do(
    shares: tuple[float, ...], computing: float, whole: float, alone: float
) -> None:
    tree = operation_tree(dict(zip(KINDS, shares, strict=True)), None)
    assert tree is not None
    assert computing_share(tree) == pytest.approx(computing)
    assert plan_share(tree) == pytest.approx(whole)
    assert plan_share(tree, with_cpu_waits=False) == pytest.approx(alone)
