"""Servers that somebody else manages: a pooler between, and roles that may see little."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest

from tests.e2e.conftest import PATIENCE_S
from tests.e2e.server import DATABASE, HOST, PASSWORD, RunningServer
from tests.e2e.test_running_server import BRIEF, folder_of, outcomes, url_of

PGBOUNCER = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
UNPRIVILEGED = "nobody"
COUNT = "select count(*) from customers"


def free_port() -> int:
    with socket.create_server((HOST, 0)) as probe:
        return int(probe.getsockname()[1])


@pytest.fixture
def pooler(server: RunningServer, tmp_path: Path) -> Iterator[str]:
    """The address of a PgBouncer in transaction mode before the server."""
    if PGBOUNCER is None:
        pytest.skip("pgbouncer is not installed: make pgbouncer")
    tmp_path.chmod(0o755)
    port = free_port()
    password = PASSWORD.replace('"', '""')
    (tmp_path / "users.txt").write_text(f'"owner" "{password}"\n')
    configuration = tmp_path / "pgbouncer.ini"
    configuration.write_text(
        "[databases]\n"
        f"{DATABASE} = host={HOST} port={server.port} dbname={DATABASE} user=owner\n"
        "[pgbouncer]\n"
        f"listen_addr = {HOST}\nlisten_port = {port}\nunix_socket_dir =\n"
        f"auth_type = trust\nauth_file = {tmp_path}/users.txt\npool_mode = transaction\n"
    )
    # It refuses to run as root.
    user = ["-u", UNPRIVILEGED] if os.geteuid() == 0 else []
    log = (tmp_path / "log").open("wb")
    process = subprocess.Popen([PGBOUNCER, *user, str(configuration)], stdout=log, stderr=log)
    try:
        address = f"postgresql://owner@{HOST}:{port}/{DATABASE}"
        await_pooler(address)
        yield address
    finally:
        process.terminate()
        process.wait(PATIENCE_S)
        log.close()


def await_pooler(address: str) -> None:
    deadline_s = time.monotonic() + PATIENCE_S
    while True:
        try:
            psycopg.connect(address).close()
        except psycopg.OperationalError:
            assert time.monotonic() < deadline_s
            time.sleep(0.05)
        else:
            return


def test_a_pooler_that_cannot_be_told_to_read_only_is_refused_with_the_mends(
    server_lab, pooler, tmp_path
):
    told = server_lab.assay("run", str(folder_of(tmp_path, count=COUNT)), "--dsn", pooler, *BRIEF)
    assert told.returncode == 1
    assert "pooler" in told.stderr
    assert "name the server itself" in told.stderr
    assert "--allow-writes" in told.stderr


def test_behind_a_pooler_every_operation_of_a_mix_succeeds(server_lab, pooler, server, tmp_path):
    folder = folder_of(tmp_path, count=COUNT, one="select 1", two="select 2")
    load = ["--clients", "3", "--time", "1s", "--warmup", "200ms", "--allow-writes"]
    document = server_lab.document("run", str(folder), "--dsn", pooler, *load)
    assert outcomes(document) == {"count": "ok", "one": "ok", "two": "ok"}
    assert document["conditions"]["pooled"] is True
    assert document["accounts"]["by_account_s"]["engine"] > 0
    assert server.alive()


def test_no_tables_are_made_through_a_pooler(server_lab, pooler):
    told = server_lab.assay("run", "tpcb", "--dsn", pooler)
    assert told.returncode == 1
    assert "name the server itself in --dsn, not the pooler" in told.stderr


@pytest.mark.parametrize("grant", ["pg_monitor", None])
def test_a_role_that_may_see_little_is_enough(server_lab, server, tmp_path, grant):
    role = f"guest_{grant}".lower()
    server.asked(f"create role {role} login password 'guest'")
    try:
        server.asked(f"grant select on customers to {role}")
        if grant:
            server.asked(f"grant {grant} to {role}")
        dsn = url_of(server, role).replace(quote(PASSWORD, safe=""), "guest")
        folder = folder_of(tmp_path, count=COUNT)
        document = server_lab.document("run", str(folder), "--dsn", dsn, *BRIEF)
        assert outcomes(document) == {"count": "ok"}
        assert document["verdict"] != "invalid"
        assert document["accounts"]["by_account_s"]["engine"] > 0
    finally:
        server.asked(f"drop owned by {role}")
        server.asked(f"drop role {role}")
