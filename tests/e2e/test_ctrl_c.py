"""Ctrl-C while nobody answers, when no record is left, and while tables are loaded."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from assay.running.processes.hosting import GRACE_S
from tests.e2e.conftest import ASSAY, PATIENCE_S, POSTGRESQL, Lab, end, wait_for_phase
from tests.mysql_peer import MYSQL_OK, mysql_greeting, mysql_packet

# The system's resolver waits 10 s for one name server.
CTRL_C_MAX_S = 4.0
LOADING_S = 1.0
FURTHER_S = 0.2
HOST = "db.example"
# In namespaces of its own: the only name server takes all queries and answers none. Its socket
# stays open in the program that takes this one's place.
WITHOUT_NAMES = """
import os, socket, subprocess, sys
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
subprocess.run(["mount", "--bind", sys.argv[1], "/etc/resolv.conf"], check=True)
silent = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
silent.bind(("127.0.0.1", 53))
silent.set_inheritable(True)
os.execv(sys.argv[2], sys.argv[2:])
"""

needs_namespaces = pytest.mark.skipif(
    os.geteuid() != 0 or not (shutil.which("unshare") and shutil.which("ip")),
    reason="root is needed, and `unshare` and `ip`, for name servers of its own",
)


def queried(pid: int) -> bool:
    """Whether a name server that runs in the process has a query that it did not read."""
    rows = [line.split() for line in Path(f"/proc/{pid}/net/udp").read_text().splitlines()[1:]]
    return any(row[1].endswith(":0035") and int(row[4].partition(":")[2], 16) for row in rows)


def stopped(lab: Lab, command: list[str], is_waiting: Callable[[int], bool]) -> None:
    """Start a command, and check that Ctrl-C ends it at once while it waits."""
    pipe = subprocess.PIPE
    started = subprocess.Popen(
        command, env=lab.env(), stdout=pipe, stderr=pipe, text=True, start_new_session=True
    )
    lab.begun.append(started)
    begun_s = time.monotonic()
    while not is_waiting(started.pid):
        assert started.poll() is None, started.communicate()[1]
        assert time.monotonic() - begun_s < PATIENCE_S
        time.sleep(0.05)
    since_s = time.monotonic()
    started.send_signal(signal.SIGINT)
    printed, errors = started.communicate(timeout=PATIENCE_S)
    took_s = time.monotonic() - since_s
    assert started.returncode == 2, errors
    assert "stopped by Ctrl-C" in errors
    assert "Traceback" not in errors
    # No record was made.
    assert "kept" not in errors
    if "--json" in command:
        assert json.loads(printed) == {"error": "stopped by Ctrl-C", "exit_code": 2}
    assert took_s < CTRL_C_MAX_S
    assert not lab.runs.exists()


@needs_namespaces
@pytest.mark.parametrize(
    ("engine", "dsn"),
    [
        ("postgresql", f"postgresql://me@{HOST}/shop"),
        ("postgresql", f"postgresql://me@{HOST},{HOST}/shop"),
        ("mariadb", f"mariadb://me@{HOST}/shop"),
        ("sparql", f"http://{HOST}/ds/query"),
    ],
)
def test_ctrl_c_ends_the_wait_for_a_name(lab: Lab, tmp_path: Path, engine: str, dsn: str) -> None:
    names = tmp_path / "resolv.conf"
    names.write_text("nameserver 127.0.0.1\n")
    unshared = ["unshare", "--mount", "--net", sys.executable, "-c", WITHOUT_NAMES, str(names)]
    workload = "bsbm" if engine == "sparql" else "tpch"
    arguments = ["run", workload, "--engine", engine, "--dsn", dsn]
    stopped(lab, [*unshared, str(ASSAY), *arguments], queried)


@contextmanager
def answering(requests: int) -> Iterator[tuple[int, threading.Event]]:
    """The port of a MySQL server that takes a login and so many requests, and then is silent.

    The event says that it is.
    """
    is_silent = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(PATIENCE_S)

        def serve() -> None:
            line, _ = listener.accept()
            line.settimeout(PATIENCE_S)
            with line, suppress(OSError):
                line.sendall(mysql_greeting())
                for number in (2, *[1] * requests):
                    line.recv(4096)
                    line.sendall(mysql_packet(number, MYSQL_OK))
                line.recv(4096)
                is_silent.set()
                line.recv(4096)

        thread = threading.Thread(target=serve)
        thread.start()
        yield listener.getsockname()[1], is_silent
        thread.join()


# The client sets the character set, and then asks for the version.
@pytest.mark.parametrize("requests", [0, 1])
def test_ctrl_c_ends_the_wait_for_a_server_that_became_silent(lab: Lab, requests: int) -> None:
    with answering(requests) as (port, is_silent):
        dsn = f"mariadb://me@127.0.0.1:{port}/shop?connect_timeout=60"
        command = [str(ASSAY), "run", "tpch", "--engine", "mariadb", "--dsn", dsn, "--json"]
        stopped(lab, command, lambda _: is_silent.is_set())


def test_ctrl_c_ends_the_loading_of_tables(server_lab: Lab) -> None:
    started = server_lab.begin("run", "tpch", "--engine", POSTGRESQL, "--scale", "3")
    assert started.stderr is not None
    for line in started.stderr:
        if line.startswith("  tables"):
            break
    time.sleep(LOADING_S)
    since_s = time.monotonic()
    code, errors = end(started)
    took_s = time.monotonic() - since_s
    assert code == 2, errors
    assert "stopped by Ctrl-C" in errors
    assert "loading" in errors
    assert took_s < GRACE_S  # Later, the process that loads would be killed.
    assert server_lab.status() == "interrupted"
    server_lab.assert_nothing_left()


def test_further_ctrl_c_end_a_run_with_its_exit_code_and_one_document(
    lab: Lab, tmp_path: Path
) -> None:
    """The second one comes while the stopped run is reported, and others until the end."""
    document = tmp_path / "stopped.json"
    long = ("--scale", "0.01", "--min-time", "10m", "--json", "--page")
    with document.open("w") as out:
        started = lab.begin("run", "tpch", *long, stdout=out)
    wait_for_phase(lab, started, "measured")
    begun_s = time.monotonic()
    while started.poll() is None:
        assert time.monotonic() - begun_s < PATIENCE_S
        started.send_signal(signal.SIGINT)
        time.sleep(FURTHER_S)
    _, errors = started.communicate(timeout=PATIENCE_S)
    assert started.returncode == 2, errors
    assert "Traceback" not in errors
    assert json.loads(document.read_text())
    assert lab.status() == "interrupted"
    lab.assert_nothing_left()
