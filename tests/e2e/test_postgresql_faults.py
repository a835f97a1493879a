"""A private server that is stopped or dies: one message, a readable record, nothing left."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from pathlib import Path

import polars as pl

from assay.record.reader import Run
from tests.e2e.conftest import (
    PATIENCE_S,
    POSTGRESQL,
    end,
    wait_for_phase,
    wait_until,
)

LOADING = ["run", "tpch", "--engine", POSTGRESQL, "--scale", "1"]
PLAYING = ["run", "point-select", "--engine", POSTGRESQL, "--scale", "0.01", "--clients", "2"]
MEASURING = [*PLAYING, "--warmup", "200ms", "--time", "10m"]
POSTMASTER = "bin/postgres"


def ended_by_itself(started: subprocess.Popen[str]) -> str:
    """What a run told that ended without being asked to."""
    _, errors = started.communicate(timeout=PATIENCE_S)
    assert "Traceback" not in errors, errors
    return errors


def complaints(errors: str) -> list[str]:
    return [line for line in errors.splitlines() if line.startswith("assay: ")]


def test_ctrl_c_while_loading(server_lab):
    started = server_lab.begin(*LOADING)
    wait_until(lambda: server_lab.titled("COPY"), "nothing is copied into the server")
    code, errors = end(started)
    assert code == 2
    assert "Ctrl-C" in errors
    assert "Traceback" not in errors
    assert server_lab.status() == "interrupted"
    server_lab.assert_nothing_left()
    assert not server_lab.partial_data()


def test_ctrl_c_while_warming_up(server_lab):
    started = server_lab.begin(*PLAYING, "--warmup", "10m")
    wait_for_phase(server_lab, started, "warmup")
    code, errors = end(started)
    assert code == 2
    assert "Traceback" not in errors
    assert server_lab.status() == "interrupted"
    server_lab.assert_nothing_left()
    assert server_lab.document("show", "latest")["verdict"] == "unknown"


def test_ctrl_c_while_measuring(server_lab):
    started = server_lab.begin(*MEASURING)
    wait_for_phase(server_lab, started, "measured")
    code, errors = end(started)
    assert code == 2
    assert f"assay show {server_lab.latest()}" in errors
    assert server_lab.status() == "interrupted"
    server_lab.assert_nothing_left()
    document = server_lab.document("show", "latest")
    assert document["verdict"] == "unknown"
    assert document["metrics"]["operations"] > 0
    assert document["operations"][0]["failed"] == 0


def test_a_killed_run_takes_its_server_with_it(server_lab):
    started = server_lab.begin(*MEASURING)
    wait_for_phase(server_lab, started, "measured")
    assert server_lab.titled(POSTMASTER)
    end(started, signal.SIGKILL)
    server_lab.assert_nothing_left()
    assert server_lab.status() == "running"
    document = server_lab.document("show", "latest")
    assert document["verdict"] == "unknown"
    assert document["metrics"]["operations"] > 0


def test_a_killed_guardian_takes_the_server_with_it_and_the_next_start_sweeps(server_lab):
    started = server_lab.begin(*MEASURING)
    wait_for_phase(server_lab, started, "measured")
    (guardian,) = server_lab.titled("guardian.py")
    os.kill(guardian, signal.SIGKILL)
    errors = ended_by_itself(started)
    assert started.returncode == 2, errors
    assert server_lab.status() == "failed"
    wait_until(lambda: not server_lab.strays(), "processes left after the guardian was killed")
    server_lab.document("run", "tpch", "--engine", "null", "--min-time", "100ms")
    server_lab.assert_nothing_left()


def test_a_killed_server_is_a_failed_run_with_its_signal(server_lab):
    started = server_lab.begin(*MEASURING)
    wait_for_phase(server_lab, started, "measured")
    (postmaster,) = server_lab.titled(POSTMASTER)
    os.kill(postmaster, signal.SIGKILL)
    errors = ended_by_itself(started)
    assert started.returncode == 2, errors
    said, kept = complaints(errors)
    assert "PostgreSQL ended unexpectedly: it was ended by signal 9" in said
    assert f"assay show {server_lab.latest()}" in kept
    assert server_lab.status() == "failed"
    server_lab.assert_nothing_left()
    document = server_lab.document("show", "latest", code=3)
    assert "PostgreSQL ended unexpectedly" in document["status_reason"]
    assert document["verdict"] == "invalid"
    assert document["metrics"]["operations"] > 0


def test_a_killed_session_fails_operations_and_the_recovered_server_is_asked_on(server_lab):
    started = server_lab.begin(*MEASURING)
    run = wait_for_phase(server_lab, started, "measured")
    before = Run(run).table("backends")["backend_pid"]
    os.kill(before[0], signal.SIGKILL)
    # The server ends all its sessions for one that was killed, recovers, and takes new ones.
    wait_until(lambda: Run(run).table("backends").height == 4, "the sessions did not connect anew")
    recovered_ns = time.monotonic_ns()
    wait_until(lambda: _succeeded_after(run, recovered_ns), "no operation succeeded afterwards")
    code, errors = end(started)
    assert code == 2, errors
    assert "Traceback" not in errors
    server_lab.assert_nothing_left()
    document = server_lab.document("show", "latest", code=3)
    (operation,) = document["operations"]
    assert operation["failed"] >= 2
    (outcomes,) = [check for check in document["checks"] if check["check"] == "outcomes"]
    assert re.search("select: (08006|57P0[0-9]): ", outcomes["reason"])


def _succeeded_after(run: Path, time_ns: int) -> bool:
    events = Run(run).table("events")
    return events.filter((pl.col("outcome") == "ok") & (pl.col("started_ns") > time_ns)).height > 0
