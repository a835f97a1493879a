"""Probes on the engine's host: whom they follow there, and whose clock their samples are of."""

from __future__ import annotations

import os
import queue
import socket
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest

from assay.model.errors import RunFailedError, UsageError
from assay.probes.contract import Target
from assay.probes.discovery import find_probes
from assay.probes.system import SystemProbe
from assay.record.reader import Run
from assay.record.writer import RunWriter
from assay.running.asked.request import RunRequest
from assay.running.fleet.asked import EngineHost, parse_engine_host
from assay.running.fleet.clocks import Offset
from assay.running.fleet.contract import ALIVE, FAILED, GO, READY, whose
from assay.running.fleet.meeting import Agent
from assay.running.fleet.observer import Observer
from assay.running.fleet.observing import Observing, check_still_runs, engine_pids
from assay.running.processes.process_table import read_process
from assay.running.server.subject import Subject
from tests.unit.test_fleet_asked import asked

AHEAD_NS = 7_000_000_000_000
MIX = {"workload": "point-select", "clients": 4, "engine": "postgresql"}
PLACE = "tcp://127.0.0.1:8786"


def test_an_engine_s_host_is_an_agent_and_perhaps_processes_there():
    assert parse_engine_host(None) is None
    assert parse_engine_host("db-1.local") == EngineHost("db-1.local")
    assert parse_engine_host("db:12,7") == EngineHost("db", (12, 7))


@pytest.mark.parametrize("text", ["", "db:", "db:0", "db:x", "db:1,", ":5", "two words"])
def test_what_is_none_is_refused(text):
    with pytest.raises(UsageError, match="--engine-host"):
        parse_engine_host(text)


def test_it_needs_a_fleet_that_meets_and_a_server_that_is_not_ours():
    dsn = "postgresql://u@db/x"
    assert (
        asked(**MIX, dsn=dsn, fleet=PLACE, fleet_plain=True, engine_host="db").engine_host == "db"
    )
    with pytest.raises(UsageError, match="add --fleet"):
        asked(**MIX, dsn=dsn, engine_host="db")
    with pytest.raises(
        UsageError,
        match=r"--engine-host: --fleet names agents on this host only: .* as --fleet tcp://HOST:PORT",
    ):
        asked(**MIX, dsn=dsn, fleet="2", engine_host="db")
    with pytest.raises(UsageError, match="--engine-host: a private engine runs on this host,"):
        asked(**MIX, fleet=PLACE, fleet_plain=True, engine_host="db")
    with pytest.raises(UsageError, match="--engine-host and --block-trace"):
        asked(**MIX, dsn=dsn, fleet=PLACE, fleet_plain=True, engine_host="db", block_trace=True)


def test_the_engine_is_who_listens_on_its_port_or_who_is_named():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        assert engine_pids(port, []) == [os.getpid()]
        assert engine_pids(port, [1]) == [1]
    with pytest.raises(RunFailedError, match=rf"port {port}: .* of root.*NAME:PID"):
        engine_pids(port, [])
    with pytest.raises(RunFailedError, match="NAME:PID"):
        engine_pids(None, [])
    with pytest.raises(RunFailedError, match="no process 4194304"):
        engine_pids(port, [1, 4_194_304])


def test_a_process_that_ended_before_the_load_is_not_followed():
    messages: queue.SimpleQueue = queue.SimpleQueue()
    with subprocess.Popen(["sleep", "60"]) as engine:
        job = {"probes": ["processes"], "interval_s": 0.1, "pids": [engine.pid], "port": None}
        # A message that could be posted is true.
        work = Observing(job, lambda message: messages.put(message) is None)
        ready = messages.get(timeout=60)
        engine.kill()
    work.say({"kind": GO, "facts": {}})
    failed = next(message for message in iter(messages.get, None) if message["kind"] != ALIVE)
    work.join(60)
    assert ready["message"]["kind"] == READY
    assert failed["kind"] == FAILED
    assert f"process {engine.pid} ended before the load began" in failed["message"]


def test_who_has_the_number_of_an_engine_that_ended_is_not_followed():
    us = read_process(os.getpid())
    assert us is not None
    check_still_runs([us])
    with pytest.raises(RunFailedError, match="ended before the load began"):
        check_still_runs([us._replace(start_ticks=us.start_ticks - 1)])


class Agents:
    """An agent whose clock is ahead, and who says what it is told to."""

    def __init__(self, *, same: bool = False) -> None:
        owners = whose()
        clock = owners["clock"] if same else "another one"
        self.engine_host = Agent("db", "", owners | {"clock": clock})
        self.observed: queue.SimpleQueue = queue.SimpleQueue()
        self.said: list[str] = []
        self.job: dict = {}
        self.ahead_ns = 0 if same else AHEAD_NS

    def observe(self, job):
        self.job = job
        host_facts = {"host": {"host": "db"}, "accounts": {"5": "engine"}}
        self.tell("ready", **host_facts)

    def say(self, number, kind, **_):
        self.said.append(kind)

    def leave(self, number):
        self.observed.put(None)

    def clock(self, number):
        return Offset(time.monotonic_ns() + 1, self.ahead_ns, 1_000, 40)

    def tell(self, kind, **facts):
        self.observed.put({"kind": "told", "message": {"kind": kind, **facts}})

    def send(self, directory: Path):
        for path in directory.glob("*.arrows"):
            data = path.read_bytes()
            for at in range(0, len(data), 1000):
                chunk = data[at : at + 1000]
                self.observed.put({"kind": "stream", "name": path.stem, "bytes": chunk})


PROBE = {"cost": "little", "stream": "system", "error": None}


@pytest.fixture
def seen(tmp_path):
    """Streams that a probe wrote on this host."""
    directory = tmp_path / "seen"
    directory.mkdir()
    probe = SystemProbe()
    probe.start(Target(directory, 0.02, ()))
    time.sleep(0.1)
    probe.stop()
    return directory


def observed(tmp_path, agents, last):
    """A run with the engine's host and this one; `last` is done while both are at work."""
    run_facts: dict = {}
    request = RunRequest(workload="w", engine="e", scale=1.0, engine_host="db")
    with RunWriter(tmp_path, "run", {"plan": {}}) as run:
        target = Target(run.raw, 0.02, ((os.getpid(), "probes"),))
        observer = Observer(agents, request, Subject("e", {}, port=5432), run)
        with ExitStack() as stack:
            agents.tell("begun", probes={"system": PROBE})
            probes = [probe for probe in find_probes() if probe.name in ("system", "engine")]
            left = stack.enter_context(observer.at_work(probes, target, run_facts))
            assert [probe.name for probe in left] == ["engine"]
            time.sleep(0.05)
            last()
        return Run(run.dir), run_facts


def table_of(path: Path) -> pl.DataFrame:
    with pa.OSFile(str(path)) as file:
        return pl.DataFrame(pl.from_arrow(pa.ipc.open_stream(file).read_all()))


def test_samples_of_the_engine_s_host_are_on_the_run_s_clock(tmp_path, seen):
    agents = Agents()

    def last():
        agents.send(seen)
        agents.tell("observed", probes={"system": PROBE | {"samples": 3}})

    run, host_facts = observed(tmp_path, agents, last)
    assert agents.said == ["go", "cancel"]
    assert agents.job == {
        "probes": ["disks", "neighbours", "processes", "system", "waits"],
        "interval_s": RunRequest(workload="w", engine="e", scale=1.0).probe_interval_s,
        "pids": [],
        "port": 5432,
    }
    assert host_facts["system"] == PROBE | {"samples": 3, "host": "db"}
    for stream in ("system", "cpus", "probe-system"):
        ours, own = run.table(stream), table_of(seen / f"{stream}.arrows")
        assert ours.height == own.height > 0
        assert ((own["time_ns"] - ours["time_ns"]) == AHEAD_NS).all()
        assert ours.drop("time_ns").equals(own.drop("time_ns"))
    # What this host saw of itself is beside, not among it.
    assert run.has("run-host/system")
    assert run.facts["engine_host"]["run_host_probes"]["system"]["samples"] > 0
    assert run.facts["engine_host"]["clock"]["after"] is not None
    assert not list((run.dir / "raw" / "fleet").glob("*"))


def test_an_agent_that_goes_ends_its_probes_and_not_the_run(tmp_path, seen):
    agents = Agents(same=True)

    def last():
        agents.send(seen)
        agents.observed.put(None)

    run, host_facts = observed(tmp_path, agents, last)
    assert "db on the engine's host went away" in host_facts["system"]["error"]
    assert run.table("system").height > 0
    assert run.facts["engine_host"]["clock"]["after"] is None
    assert run.facts["engine_host"]["error"]
    assert run.facts["engine_host"]["run_host_probes"]["system"]["error"] is None


def test_an_agent_that_finds_no_engine_ends_the_run_before_it_begins(tmp_path):
    agents = Agents()
    failed = {"kind": "failed", "message": "no process is seen", "exit_code": 2}
    agents.observe = lambda _: agents.observed.put(failed)
    request = RunRequest(workload="w", engine="e", scale=1.0, engine_host="db")
    subject, message = Subject("e", {}), "--engine-host: db: no process is seen"
    with (
        RunWriter(tmp_path, "run", {"plan": {}}) as run,
        pytest.raises(RunFailedError, match=message),
    ):
        Observer(agents, request, subject, run)
