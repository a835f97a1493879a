"""Header, chart over time and tables tell the same CPU time, also of children no sample saw."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from assay.analysis.host.accounts import accounts, accounts_window
from assay.analysis.host.timeline import cpu_cores
from assay.analysis.server.ended import KNOWN_MIN
from assay.analysis.server.sessions import split_by_session
from tests.conftest import S
from tests.unit.test_accounts import CPUS, frame, machine, process

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


# A server whose short workers are told to their parent alone, looked at less often than the CPUs,
# and at other moments.
ROOT, BACKEND, WORKERS = 7, 8, tuple(range(20, 20 + KNOWN_MIN))
CPUS_AT_S = [place / 10 for place in range(101)]
PROCESSES_AT_S = [0.05 + 0.7 * place for place in range(14)]
BUSY_CORES, BACKEND_CORES, WORKER_CORES = 1.2, 0.3, 0.6
WINDOW_NS = (round(2.02 * S), round(7.98 * S))
# Ticks of the chart are no edges of the window: it is off by less than one of them at each end.
TICK_S = 0.1


def coarse() -> pl.DataFrame:
    rows = process(PROCESSES_AT_S, BACKEND, "engine", BACKEND_CORES, ppid=ROOT, title="session")
    for row in process(PROCESSES_AT_S, ROOT, "engine", 0.0, title="server"):
        told_ns = round(row["time_ns"] * WORKER_CORES)
        rows.append(row | {"children_user_ns": told_ns, "children_system_ns": 0})
    at_ns = round(PROCESSES_AT_S[6] * S)
    about = {"ppid": ROOT, "account": "engine", "started_ns": at_ns, "user_ns": 0}
    title = f"parallel worker for PID {BACKEND}"
    rows += [about | {"time_ns": at_ns, "pid": pid, "title": title} for pid in WORKERS]
    return frame("processes", rows)


def dense() -> pl.DataFrame:
    share = round(BUSY_CORES / CPUS * S)
    cpus = machine(CPUS_AT_S, user_ns=share, idle_ns=S - share, steal_ns=0)
    return cpus.with_columns(nice_ns=0, system_ns=0, irq_ns=0, softirq_ns=0, iowait_ns=0)


def drawn_s(drawn: pl.DataFrame, account: str, begun_s: float, ended_s: float) -> float:
    """Area of an account in the chart, whose steps go back to the tick before, in a window."""
    own = drawn.filter(pl.col("account") == account).sort("time_s")
    begin = pl.col("time_s").shift(1).clip(begun_s, ended_s)
    width = pl.col("time_s").clip(begun_s, ended_s) - begin
    return float(own.select((pl.col("cores") * width).sum()).item())


class TestHeaderChartAndTable:
    def test_they_tell_the_same_cpu_time(self) -> None:
        cpus, processes = dense(), coarse()
        used = accounts(cpus, processes, *WINDOW_NS)
        backends = pl.DataFrame(
            [{"time_ns": 0, "session": 0, "backend_pid": BACKEND}],
            schema_overrides={"backend_pid": pl.UInt32, "session": pl.UInt32},
        )
        table = split_by_session(processes, backends, None, WINDOW_NS)
        assert used is not None
        assert table is not None
        first, last = accounts_window(cpus, processes, *WINDOW_NS) or (0, 0)
        drawn = cpu_cores(cpus, processes, cpus["time_ns"].unique().sort(), 0)
        figures = {"engine": used.by_process["engine"], "background": used.background_s}
        for account, told in figures.items():
            in_chart = drawn_s(drawn, account, first / S, last / S)
            assert in_chart == pytest.approx(told, abs=2 * TICK_S * BUSY_CORES), account
        assert table["window_s"] == pytest.approx(used.window_s)
        assert table["cpu_s"] == pytest.approx(figures["engine"], rel=0.001)
        assert figures["engine"] == pytest.approx(0.9 * used.window_s, rel=0.001)
        assert used.background_s == pytest.approx(0.3 * used.window_s, rel=0.001)

    def test_ended_workers_are_their_session_s(self) -> None:
        backends = pl.DataFrame(
            [{"time_ns": 0, "session": 0, "backend_pid": BACKEND}],
            schema_overrides={"backend_pid": pl.UInt32, "session": pl.UInt32},
        )
        table = split_by_session(coarse(), backends, None, WINDOW_NS)
        assert table is not None
        (session,) = table["sessions"]
        assert session["cpu_s"] == pytest.approx(table["cpu_s"], rel=0.001)
        assert session["workers_cpu_s"] == pytest.approx(0.6 * table["window_s"], rel=0.001)
        assert (table["ended_seen"], table["unseen_cpu_s"]) == (len(WORKERS), 0.0)
        assert table["ended_cpu_s"] == pytest.approx(session["workers_cpu_s"])

    def test_of_few_known_ones_nothing_is_concluded(self) -> None:
        backends = pl.DataFrame(
            [{"time_ns": 0, "session": 0, "backend_pid": BACKEND}],
            schema_overrides={"backend_pid": pl.UInt32, "session": pl.UInt32},
        )
        fewer = coarse().filter(pl.col("pid") != WORKERS[0])
        table = split_by_session(fewer, backends, None, WINDOW_NS)
        assert table is not None
        assert (table["ended_seen"], table["ended_cpu_s"]) == (0, 0.0)
        assert table["unseen_cpu_s"] == pytest.approx(0.6 * table["window_s"], rel=0.001)

    def test_a_coarser_stream_does_not_make_background_of_the_engine(self) -> None:
        """Each stream's own samples around the window once made two windows of one."""
        greedy = frame("processes", process(PROCESSES_AT_S, BACKEND, "engine", BUSY_CORES))
        used = accounts(dense(), greedy, *WINDOW_NS)
        assert used is not None
        assert used.by_process["engine"] == pytest.approx(used.busy_s)
        assert used.background_s == pytest.approx(0.0, abs=1e-6)
