"""The chart over time and the header tell the same CPU time, also of children no sample saw."""

from __future__ import annotations

from typing import Any

import pytest

from assay.analysis.host.accounts import accounts
from assay.analysis.host.timeline import cpu_cores
from tests.conftest import S
from tests.unit.test_accounts import frame, machine, process

TIMES = [0.0, 1.0, 2.0, 3.0, 4.0]


def parent(reaps: dict[float, int]) -> list[dict[str, Any]]:
    """A server that computes a tenth of a core, and is told of `reaps` seconds of children."""
    rows = process(TIMES, 7, "engine", 0.1)
    for row in rows:
        row["children_user_ns"] = sum(s for at, s in reaps.items() if at * S <= row["time_ns"]) * S
        row["children_system_ns"] = 0
    return rows


@pytest.mark.parametrize("reaps", [{1.0: 1, 2.0: 1, 3.0: 1, 4.0: 1}, {3.0: 2}])
def test_children_that_no_sample_saw_are_not_background_in_the_chart(
    reaps: dict[float, int],
) -> None:
    cpus = machine(TIMES, user_ns=round(0.3 * S), idle_ns=round(0.7 * S), steal_ns=0)
    cpus = cpus.with_columns(nice_ns=0, system_ns=0, irq_ns=0, softirq_ns=0, iowait_ns=0)
    processes = frame("processes", parent(reaps))
    used = accounts(cpus, processes, 0, 4 * S)
    assert used is not None
    drawn = cpu_cores(cpus, processes, processes["time_ns"].unique().sort(), 0)
    engine = drawn.filter(drawn["account"] == "engine")["cores"]
    assert used.by_process["engine"] == pytest.approx(0.4 + sum(reaps.values()))
    assert engine.sum() == pytest.approx(used.by_process["engine"])


def test_a_child_that_was_seen_and_reaped_later_counts_once() -> None:
    child = process([1.0, 2.0], 8, "engine", 0.5)
    processes = frame("processes", [*parent({3.0: 1}), *child])
    cpus = machine(TIMES, user_ns=round(0.3 * S), idle_ns=round(0.7 * S), steal_ns=0)
    drawn = cpu_cores(cpus, processes, processes["time_ns"].unique().sort(), 0)
    engine = drawn.filter(drawn["account"] == "engine")["cores"]
    assert engine.sum() == pytest.approx(0.4 + 1.0)
