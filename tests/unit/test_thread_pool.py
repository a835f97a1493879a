"""Clients that queue for the groups of a thread pool, and loads whose pool is not their limit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from assay.analysis.findings.case import Case
from assay.analysis.findings.client import thread_pool
from assay.analysis.findings.shape import bound_by
from assay.analysis.time.where import POOLED, where_time_went
from assay.engines.discovery import find_engine
from assay.probes.streams import ACTIVITY, Stream
from assay.record.reader import Run
from tests.cases import case, even
from tests.conftest import BEGUN_NS, MS
from tests.looks import CLIENT, POOL_TID, ROOT, RUN, Lab, Thread, lasting
from tests.unit.test_many_clients import WINDOW_S, crowd
from tests.unit.test_thread_waits import OURS

CORES = 2


def pooled(
    groups: int = 1,
    clients: int = 6,
    busy: float | None = 0.96,
    rate: float | None = None,
    handling: str = "pool-of-threads",
    engine: str = "mariadb",
) -> Case:
    """A load on a server with a pool of threads, whose engine used so many of two CPUs."""
    made = crowd(clients=clients, idle_s=1.0, rate=rate)
    return case(
        *even(2),
        load=made.load,
        accounts=made.accounts,
        cores=CORES,
        runnable_threads=busy,
        settings={"thread_handling": handling, "thread_pool_size": str(groups)},
        advice=find_engine(engine).advice(),
    )


def test_clients_that_queue_for_one_group_are_named() -> None:
    (finding,) = thread_pool.find(pooled())
    assert finding.effect_share == pytest.approx(0.5)
    assert finding.settle == thread_pool.TO_SETTLE
    assert "thread_pool_size 1: 6 clients share a pool of threads" in finding.claim
    assert "executes one statement at a time" in finding.claim
    assert finding.advice is not None
    assert finding.advice.kind == "named-setting"
    assert (finding.advice.subject, finding.advice.values["value"]) == ("thread_pool_size", "2")


def test_other_programs_do_not_hide_the_queue() -> None:
    """Threads that wait for a CPU, which other programs use, are at work, too."""
    made = pooled(busy=1.5)
    assert made.accounts is not None
    accounts = replace(made.accounts, by_process={"engine": 0.3 * WINDOW_S})
    (finding,) = thread_pool.find(replace(made, accounts=accounts))
    assert "the engine used 0.3 of 2 CPUs" in finding.claim


def test_several_groups_of_many_cpus_are_named() -> None:
    made = pooled(groups=2, busy=1.9, clients=20)
    (finding,) = thread_pool.find(replace(made, cores=8))
    assert "executes 2 statements at a time" in finding.claim
    assert finding.effect_share == pytest.approx(0.75)


@pytest.mark.parametrize(
    "quiet",
    [
        pooled(handling="one-thread-per-connection"),
        pooled(groups=2, busy=1.9),
        # The groups are idle: clients wait for something else.
        pooled(busy=0.4),
        pooled(busy=None),
        # The pool added threads to the group, or most clients have one.
        pooled(busy=2.6),
        pooled(busy=1.7, clients=2),
        pooled(clients=1),
        pooled(rate=100.0),
        replace(pooled(), throttled_share=0.5),
        replace(pooled(), pinned={"engine": 1}),
        replace(pooled(), load=None),
        replace(pooled(), accounts=None),
        # Without a pool among the engine's settings.
        pooled(engine="postgresql"),
    ],
)
def test_its_twins_are_silent(quiet: Case) -> None:
    assert thread_pool.find(quiet) == []


def test_the_reason_for_time_without_a_split_is_said() -> None:
    load = pooled()
    load = replace(load, operations=(), unsplit=POOLED)
    claims = [finding.claim for finding in bound_by.find(load)]
    assert claims
    assert claims[0].endswith(f"what operations waited for was not measured: {POOLED}")


def recorded(path: Path, resting_thread: int) -> Run:
    """A server whose only connection has this thread between its statements."""
    lab = Lab(path)
    lab.threads = [
        Thread(ROOT, OURS, "server", BEGUN_NS, lab.serial(20, 200, {RUN: 1.0})),
        Thread(ROOT, POOL_TID, "server", BEGUN_NS, [lasting(CLIENT, 1)]),
    ]
    lab.sessions, lab.told_every_ns = {}, None
    lab.at_work = 1
    lab.extra = {"connections": [{"time_ns": 0, "session": 0, "connection": 12}]}
    run = lab.write()
    with Stream(run.dir / "raw", "activity", ACTIVITY) as stream:
        for number, time_ns in enumerate(range(BEGUN_NS, lab.until_ns, 70 * MS)):
            tid = OURS if number % 2 else resting_thread
            row = (time_ns, ROOT, "connection", None, "assay", "Query", "State", "Sending data")
            stream.push(*row, tid, 12)
    return Run(run.dir)


def test_threads_of_a_pool_have_no_sessions(tmp_path: Path) -> None:
    operations, whole = where_time_went(recorded(tmp_path, resting_thread=0))
    assert whole is None
    assert {row["coverage"] for row in operations.values()} == {None}
    assert {part for row in operations.values() for part in row["where"].values()} == {None}


def test_a_thread_of_each_connection_has_one(tmp_path: Path) -> None:
    operations, whole = where_time_went(recorded(tmp_path, resting_thread=OURS))
    assert whole is not None
    assert operations["q1"]["where"]["cpu_user"] is not None
