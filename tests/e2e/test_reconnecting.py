"""A server that stops answering in the middle of a run: its sessions connect anew in vain."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from assay.record.reader import Run
from tests.e2e.conftest import ASSAY, Lab, end, wait_for_phase, wait_until
from tests.e2e.server import RunningServer
from tests.forwarding import Forwarder

TIME_LIMIT_S = 1.0
CONNECT_TIMEOUT_S = 60
# Less than one attempt to connect or to resolve a name takes; a busy host needs some seconds.
IN_TIME_S = 20.0
HOST = "db.example"
NAME_SERVER = "127.0.0.77"
# In a namespace of its own: files that the system's resolver reads are replaced.
WITH_NAMES = """
mount --bind "$1" /etc/hosts && mount --bind "$2" /etc/resolv.conf && shift 2 && exec "$@"
"""

needs_namespaces = pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("unshare"),
    reason="root is needed, and `unshare`, for a name server of its own",
)


def queries(place: Path) -> Path:
    folder = place / "queries"
    folder.mkdir()
    (folder / "one.sql").write_text("select 1 as one")
    return folder


def run_of(place: Path, dsn: str, clients: int) -> list[str]:
    limits = ["--warmup", "0s", "--time", "10m", "--timeout", f"{TIME_LIMIT_S:.0f}s"]
    dsn = f"{dsn} sslmode=disable connect_timeout={CONNECT_TIMEOUT_S}"
    which = ["--engine", "postgresql", "--dsn", dsn, "--clients", str(clients)]
    return ["run", str(queries(place)), *which, *limits]


def late(path: Path) -> int:
    """How many recorded operations have reached their time limit."""
    errors = Run(path).table("events")["error"].cast(pl.String)
    return int((errors == "deadline").sum())


def check_end(lab: Lab, started: subprocess.Popen[str], path: Path) -> None:
    """Stop the run by Ctrl-C, and check that neither it nor an operation waited for the server."""
    since_s = time.monotonic()
    code, errors = end(started)
    took_s = time.monotonic() - since_s
    assert code == 2, errors
    assert "Traceback" not in errors
    assert took_s < IN_TIME_S
    assert lab.status() == "interrupted"
    events = Run(path).table("events").filter(pl.col("started_ns").is_not_null())
    longest_s = (events["finished_ns"] - events["started_ns"]).max() / 1e9
    assert TIME_LIMIT_S <= longest_s < IN_TIME_S


@pytest.mark.parametrize("clients", [1, 6])
def test_neither_time_limit_nor_ctrl_c_waits_for_a_server_that_became_silent(
    server: RunningServer, server_lab: Lab, tmp_path: Path, clients: int
) -> None:
    forwarder = Forwarder(server.port)
    with forwarder as port:
        started = server_lab.begin(*run_of(tmp_path, server.dsn(port=port), clients))
        path = wait_for_phase(server_lab, started, "measured")
        forwarder.fall_silent()
        # The second line of a session is taken once its first has reached the time limit.
        wait_until(lambda: forwarder.silent_lines > 2 * clients, "sessions do not connect anew")
        check_end(server_lab, started, path)


@pytest.fixture
def silent_name_server(tmp_path: Path) -> Iterator[Path]:
    """A `resolv.conf` whose name server accepts queries and answers none."""
    names = tmp_path / "resolv.conf"
    names.write_text(f"nameserver {NAME_SERVER}\noptions timeout:30 attempts:2\n")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind((NAME_SERVER, 53))
        yield names


@needs_namespaces
@pytest.mark.parametrize("clients", [1, 6])
def test_neither_time_limit_nor_ctrl_c_waits_for_a_name(
    server: RunningServer,
    server_lab: Lab,
    tmp_path: Path,
    silent_name_server: Path,
    clients: int,
) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text(f"127.0.0.1 {HOST} localhost\n")
    pipe = subprocess.PIPE
    with Forwarder(server.port) as port:
        command = [str(ASSAY), *run_of(tmp_path, server.dsn(host=HOST, port=port), clients)]
        unshared = ["unshare", "--mount", "sh", "-c", WITH_NAMES, "sh"]
        started = subprocess.Popen(
            [*unshared, str(hosts), str(silent_name_server), *command],
            env=server_lab.env(),
            stdout=pipe,
            stderr=pipe,
            text=True,
            start_new_session=True,
        )
        server_lab.begun.append(started)
        path = wait_for_phase(server_lab, started, "measured")
        hosts.write_text("127.0.0.1 localhost\n")
    # All connections are closed now.
    wait_until(lambda: late(path) > clients, "no operation reaches its time limit")
    check_end(server_lab, started, path)
