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

from assay.engines.postgresql import reading_only
from assay.engines.postgresql.connecting import read_dsn
from tests.e2e.conftest import PATIENCE_S
from tests.e2e.server import DATABASE, HOST, PASSWORD, RunningServer
from tests.e2e.test_running_server import BRIEF, folder_of, outcomes, url_of

PGBOUNCER = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
UNPRIVILEGED = "nobody"
COUNT = "select count(*) from customers"


def free_port() -> int:
    with socket.create_server((HOST, 0)) as probe:
        return int(probe.getsockname()[1])


@pytest.fixture(params=["pool_mode = transaction"])
def pooler(request: pytest.FixtureRequest, server: RunningServer, tmp_path: Path) -> Iterator[str]:
    """The address of a PgBouncer before the server, in transaction mode unless asked otherwise."""
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
        f"auth_type = trust\nauth_file = {tmp_path}/users.txt\n{request.param}\n"
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


@pytest.fixture
def numbers(server: RunningServer) -> Iterator[None]:
    """A sequence, and a function that takes a number of it though its name says nothing of it."""
    server.asked("create sequence numbers")
    server.asked(
        "create function hides() returns bigint language sql as $$ select nextval('numbers') $$"
    )
    server.asked("grant all on sequence numbers to owner")
    try:
        yield
    finally:
        server.asked("drop function hides")
        server.asked("drop sequence numbers")


def test_behind_a_pooler_each_operation_reads_only_by_its_transaction(
    server_lab, pooler, server, tmp_path, numbers
):
    folder = folder_of(tmp_path, count=COUNT, hides="select hides()")
    document = server_lab.document("run", str(folder), "--dsn", pooler, *BRIEF, code=3)
    assert outcomes(document) == {"count": "ok", "hides": "failed"}
    assert document["conditions"]["writes"]["server_told"] == "begin read only"
    assert server.asked("select is_called from numbers") == [(False,)]


@pytest.mark.parametrize(
    "pooler",
    [
        "pool_mode = transaction",
        "pool_mode = session",
        "pool_mode = transaction\nignore_startup_parameters = options",
    ],
    indirect=True,
)
def test_a_pooler_is_found_whether_it_refuses_or_drops_the_setting(pooler):
    address = reading_only.read_only(read_dsn(pooler))
    connection, reached = reading_only.connected(address, "assay test")
    connection.close()
    assert reached == {"dsn": read_dsn(pooler)["dsn"], reading_only.BY_TRANSACTION: True}


def test_an_operation_that_ends_its_transaction_is_refused_behind_a_pooler(
    server_lab, pooler, tmp_path
):
    folder = folder_of(tmp_path, count=f"begin;\n{COUNT};\ncommit")
    ended = server_lab.assay("run", str(folder), "--dsn", pooler, *BRIEF)
    assert ended.returncode == 1
    assert "through a pooler, so each operation needs a read-only transaction" in ended.stderr
    assert "2 statements would end that transaction" in ended.stderr
    assert "queries/count.sql:1: begin begins or ends a transaction" in ended.stderr
    assert "--allow-writes" in ended.stderr


@pytest.mark.parametrize(
    "pooler",
    ["pool_mode = transaction", "pool_mode = transaction\nignore_startup_parameters = options"],
    indirect=True,
)
def test_a_setting_that_a_pooler_drops_is_refused(server_lab, pooler, tmp_path):
    folder = folder_of(tmp_path, count=COUNT)
    ended = server_lab.assay("run", str(folder), "--dsn", pooler, "--set", "work_mem=8MB", *BRIEF)
    assert ended.returncode == 1
    assert "name the server itself in --dsn" in ended.stderr


def test_behind_a_pooler_every_operation_of_a_mix_succeeds(server_lab, pooler, server, tmp_path):
    folder = folder_of(tmp_path, count=COUNT, one="select 1", two="select 2")
    load = ["--clients", "3", "--time", "1s", "--warmup", "200ms", "--allow-writes"]
    document = server_lab.document("run", str(folder), "--dsn", pooler, *load)
    assert outcomes(document) == {"count": "ok", "one": "ok", "two": "ok"}
    assert document["conditions"]["pooled"] is True
    assert document["accounts"]["by_account_s"]["engine"] > 0
    assert server.alive()


def test_no_tables_are_made_through_a_pooler(server_lab, pooler):
    ended = server_lab.assay("run", "tpcb", "--dsn", pooler)
    assert ended.returncode == 1
    assert "name the server itself in --dsn, not the pooler" in ended.stderr


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
