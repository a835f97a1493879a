"""DSNs of MariaDB and MySQL with several servers: which is used, and which after it was killed."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import polars as pl
import pymysql
import pytest

from assay import _core
from assay.engines.contract import EngineError, Place
from assay.engines.discovery import find_engine
from assay.engines.mysql_family.connecting import read_dsn, session_config
from assay.record.reader import Run
from assay.running.processes.launcher import Guardian
from assay.running.server.serving import ServerLauncher
from tests.e2e.conftest import PATIENCE_S, Lab, reachable_directory, wait_for_phase, wait_until
from tests.products import obtained

HOST = "127.0.0.1"
PASSWORD = "s3cr:t,@%?&'\\ enD9x"  # noqa: S105 - made up, and gone with the servers
CLOSED_PORT = 1
SCRIPT = json.dumps({"operations": []})
SETTINGS = {"innodb_buffer_pool_size": "16M", "innodb_flush_log_at_trx_commit": "0"}
# Both products have it: numbers from 1 to 1,000.
NUMBERS = (
    "with recursive numbers (id) as (select 1 union all select id + 1 from numbers where id < 1000)"
    " select id from numbers"
)
ENGINES = ["mariadb", "mysql"]
FIRST, SECOND, REFUSED = "first", "second", "refused"


@dataclass(frozen=True)
class Node:
    """One server: its process, its port, and how its administrator connects."""

    engine: str
    pid: int
    port: int
    administration: dict[str, str]

    @property
    def address(self) -> str:
        """The server as records name it."""
        return f"{HOST}:{self.port}"

    def asked(self, statement: str) -> list[tuple[Any, ...]]:
        """Rows of a statement, as the administrator."""
        connection = pymysql.connect(
            host=HOST, port=self.port, database="mysql", autocommit=True, **self.administration
        )
        with connection, connection.cursor() as cursor:
            cursor.execute(statement)
            return list(cursor.fetchall())

    def sessions(self) -> int:
        """The number of connections of the user of the DSN."""
        count = "select count(*) from information_schema.processlist where user = 'owner'"
        return int(self.asked(count)[0][0])


Pair = tuple[Node, Node]


@contextmanager
def two_servers(engine: str) -> Iterator[Pair]:
    """Start two servers with the same user and table, which do not know each other."""
    with reachable_directory() as folder, ExitStack() as stack:
        yield _started(engine, folder, "a", stack), _started(engine, folder, "b", stack)


def _started(engine: str, folder: Path, name: str, stack: ExitStack) -> Node:
    guardian = stack.enter_context(Guardian(f"hosts-{name}", folder / f"instances-{name}"))
    launcher = ServerLauncher(guardian, folder / f"server-{name}.log")
    stack.callback(launcher.stop)
    data = guardian.directory / "data"
    data.mkdir(mode=0o700)
    launcher.own(data)
    place = Place(data, launcher.scratch)
    address = find_engine(engine).engine().start(obtained(engine), place, SETTINGS, launcher)
    administration = {key: address[key] for key in ("user", "password")}
    node = Node(engine, address["pid"], address["port"], administration)
    quoted = PASSWORD.replace("\\", "\\\\").replace("'", "''")
    node.asked("create database shop")
    node.asked(f"create user owner@'{HOST}' identified by '{quoted}'")
    node.asked(f"grant all on *.* to owner@'{HOST}'")
    node.asked(f"create table shop.items as {NUMBERS}")
    return node


@pytest.fixture(scope="module", params=ENGINES)
def pair(request: pytest.FixtureRequest) -> Iterator[Pair]:
    with two_servers(request.param) as pair:
        yield pair


def listed(pair: Pair, names: str, password: str = PASSWORD) -> str:
    """A URL with a list of servers: `a` is the first, `b` the second, `-` a closed port."""
    ports = {"a": pair[0].port, "b": pair[1].port, "-": CLOSED_PORT}
    hosts = ",".join(f"{HOST}:{ports[name]}" for name in names)
    return f"{pair[0].engine}://owner:{quote(password, safe='')}@{hosts}/shop?connect_timeout=5"


def refused(error: Exception) -> str:
    assert PASSWORD not in str(error)
    return REFUSED


def by_administration(pair: Pair, dsn: str) -> str:
    engine = find_engine(pair[0].engine).engine()
    try:
        instance = engine.attach(engine.address(dsn))
    except EngineError as error:
        return refused(error)
    with instance.handle as connection:
        # The host of an agent attaches to the same server anew.
        again = engine.attach(instance.address)
        ports = {connection.port, again.handle.port, instance.address["port"]}
        again.handle.close()
    (port,) = ports
    return {pair[0].port: FIRST, pair[1].port: SECOND}[port]


def by_session(pair: Pair, dsn: str) -> str:
    before = [node.sessions() for node in pair]
    try:
        session = _core.MysqlSession(session_config(read_dsn(dsn, (pair[0].engine,))), SCRIPT, 1, 0)
    except _core.SessionOpenError as error:
        return refused(error)
    after = [node.sessions() for node in pair]
    del session
    wait_until(lambda: [node.sessions() for node in pair] == before, "the session does not end")
    return [FIRST, SECOND][[now - then for now, then in zip(after, before, strict=True)].index(1)]


@pytest.mark.parametrize(
    ("names", "password", "expected"),
    [
        pytest.param("ab", PASSWORD, FIRST, id="first"),
        pytest.param("ba", PASSWORD, SECOND, id="other_order"),
        pytest.param("-b", PASSWORD, SECOND, id="one_closed"),
        pytest.param("--a", PASSWORD, FIRST, id="two_closed"),
        pytest.param("--", PASSWORD, REFUSED, id="all_closed"),
        # A refused password ends the attempt: nothing is said of the other servers.
        pytest.param("ab", "wr0ng-pass", REFUSED, id="wrong_password"),
    ],
)
def test_administration_and_sessions_use_the_first_server_that_answers(
    pair: Pair, names: str, password: str, expected: str
) -> None:
    dsn = listed(pair, names, password)
    assert (by_administration(pair, dsn), by_session(pair, dsn)) == (expected, expected)


def folder_of(place: Path) -> Path:
    """A workload of one query that both servers can answer."""
    folder = place / "queries"
    folder.mkdir()
    (folder / "one.sql").write_text("select count(*) from items where id = 17")
    (folder / "workload.toml").write_text('arrival = "closed"\n')
    return folder


def servers_of(path: Path) -> pl.DataFrame:
    return Run(path).table("servers").with_columns(pl.col("server").cast(pl.String))


@pytest.mark.parametrize("engine", ENGINES)
def test_sessions_go_on_with_the_next_server_when_one_is_killed(
    server_lab: Lab, tmp_path: Path, engine: str
) -> None:
    with two_servers(engine) as pair:
        arguments = ["run", str(folder_of(tmp_path)), "--dsn", listed(pair, "ab"), "--clients", "4"]
        started = server_lab.begin(*arguments, "--warmup", "0s", "--time", "5s", "--no-plans")
        path = wait_for_phase(server_lab, started, "measured")
        wait_until(lambda: servers_of(path).height >= 4, "sessions are not recorded")
        os.kill(pair[0].pid, signal.SIGKILL)
        _, errors = started.communicate(timeout=PATIENCE_S)
        assert started.returncode in (0, 3), errors
        assert "Traceback" not in errors
    document = server_lab.document("show", "latest", code=started.returncode)
    assert document["status"] == "complete"
    first, second = document["conditions"]["servers"]
    assert (first["server"], first["sessions"]) == (pair[0].address, 4)
    assert (second["server"], second["sessions"]) == (pair[1].address, 4)
    assert first["since_s"] is None
    assert 0 < second["since_s"] < 5
    assert second["outage_s"] is not None
    events = Run(path).table("events").with_columns(pl.col("outcome").cast(pl.String))
    last_ok = events.filter(outcome="ok").group_by("session").agg(pl.col("finished_ns").max())
    assert last_ok.height == 4
    assert (events["finished_ns"].max() - last_ok["finished_ns"].min()) / 1e9 < 1.0
