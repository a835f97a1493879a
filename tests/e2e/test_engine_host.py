"""An agent that drives nothing observes the engine on its host, beside another one that drives."""

from __future__ import annotations

import json
import signal
import socket
from pathlib import Path

import pytest

from assay.record.reader import Run
from tests.e2e.conftest import PATIENCE_S, Lab
from tests.e2e.server import RunningServer
from tests.e2e.test_running_server import url_of

MIX = ["run", "point-select", "--scale", "0.01", "--clients", "2", "--no-plans"]
BRIEF = ["--warmup", "100ms", "--time", "1s", "--probe-interval", "50ms"]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


@pytest.fixture
def place(server: RunningServer, server_lab: Lab):
    """Where two agents have been asked to: `a`, and `db` for the engine's host."""
    server_lab.extra_env["ASSAY_RUN_DSN"] = url_of(server)
    address = f"tcp://127.0.0.1:{free_port()}"
    agents = [server_lab.begin("agent", address, "--listen", "--plain")]
    agents += [
        server_lab.begin("agent", address, "--plain", "--name", name) for name in ("a", "db")
    ]
    yield address
    for process in agents:
        process.send_signal(signal.SIGTERM)
    for process in agents:
        process.communicate(timeout=PATIENCE_S)
    server_lab.assert_nothing_left()


def test_samples_are_those_of_the_engine_s_host(place, server, server_lab):
    result = server_lab.assay(
        *MIX, *BRIEF, "--fleet", place, "--fleet-plain", "--engine-host", "db", "--json"
    )
    # Others use this host, too, so that the verdict may be unknown.
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["conditions"]["fleet"]["engine_host"] == "db"
    run = Run(max(server_lab.runs.iterdir()))
    assert [host["name"] for host in run.facts["fleet"]["hosts"]] == ["a"]
    engine_host = run.facts["engine_host"]
    assert engine_host["name"] == "db"
    assert engine_host["error"] is None
    hosts = {name: probe.get("host") for name, probe in run.facts["probes"].items()}
    ours = {"disks", "neighbours", "processes", "system", "waits"}
    assert hosts == dict.fromkeys(ours, "db") | {"engine": None}
    # The postmaster and the server's processes below it are the engine's, here and nowhere else.
    processes = run.table("processes")
    engine = processes.filter(processes["account"] == "engine")
    assert server.pid in engine["pid"].to_list()
    assert set(processes["account"].unique()) == {"engine", "probes"}
    beside = run.table("run-host/processes")
    assert set(beside["account"].unique()) == {"driver", "probes"}
    assert run.environment["accounts"][str(server.pid)] == "engine"
    assert "driver" in run.environment["run_host"]["accounts"].values()
    # They began before the warm-up, and went on until the load had ended.
    events = run.table("events")
    for stream in ("system", "disks", "processes"):
        times = run.table(stream)["time_ns"]
        assert times.min() < events["started_ns"].min()
        assert times.max() > events["finished_ns"].max()
    assert not list(Path(run.dir / "raw" / "fleet").glob("*"))


def test_an_observation_has_the_server_s_processes_from_the_agent_on_its_host(
    place, server, server_lab
):
    look = ["observe", "--dsn", url_of(server), "--time", "3s", "--no-page", "--no-plans"]
    there_is = ("--fleet", place, "--fleet-plain", "--engine-host", "db")
    result = server_lab.assay(*look, *there_is, "--json")
    assert result.returncode == 0, result.stderr
    run = Run(max(server_lab.runs.iterdir()))
    hosts = {name: probe.get("host") for name, probe in run.facts["probes"].items()}
    there = {"disks", "neighbours", "processes", "system"}
    assert hosts == dict.fromkeys(there, "db") | {"engine": None, "statements": None}
    assert run.facts["engine_host"]["error"] is None
    assert json.loads(result.stdout)["observed"]["engine_host"] == "db"
    shown = server_lab.assay("show", "latest").stdout
    assert "the engine's host was sampled by the agent db" in " ".join(shown.split())
    processes = run.table("processes")
    engine = processes.filter(processes["account"] == "engine")
    assert server.pid in engine["pid"].to_list()
    assert run.environment["accounts"][str(server.pid)] == "engine"
    beside = run.table("run-host/processes")
    assert set(beside["account"].unique()) == {"probes"}
