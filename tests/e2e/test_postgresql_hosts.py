"""DSNs with several servers: which one libpq, administration, and each session connect to."""

from __future__ import annotations

import itertools
import json
import os
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import psycopg
import pytest

from assay import _core
from assay.engines.contract import EngineError
from assay.engines.postgresql.connecting import connect, read_dsn
from assay.engines.postgresql.hosts import SESSIONS
from assay.record.reader import Run
from tests.e2e.conftest import (
    PATIENCE_S,
    Lab,
    end,
    reachable_directory,
    wait_for_phase,
    wait_until,
)
from tests.e2e.postgresql_pair import HOST, Pair, pair_of_servers

SCRIPT = json.dumps({"operations": []})
NUMBERS = itertools.count()
PRIMARY, STANDBY, REFUSED = "primary", "standby", "refused"
CLOSED_PORT = 1
ENGINE = ("--engine", "postgresql")
ESTABLISHED = "01"
# The time without a primary.
PROMOTED_AFTER_S = 1.0
# A connection attempt takes 10 s; what remains after Ctrl-C is the end of the process.
CTRL_C_MAX_S = 2.0


@pytest.fixture(scope="module")
def pair(server_place: Path) -> Iterator[Pair]:
    """A primary and a standby that no test changes."""
    with reachable_directory() as folder, pair_of_servers(server_place / "cache", folder) as pair:
        yield pair


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("PG")]:
        monkeypatch.delenv(name)


def listed(pair: Pair, names: str, **keywords: Any) -> str:
    """A DSN with a list of servers; `p` is the primary, `s` the standby, `-` a closed port."""
    nodes = {"p": pair.primary.port, "s": pair.standby.port, "-": CLOSED_PORT}
    ports = ",".join(str(nodes[name]) for name in names)
    return pair.dsn(*[pair.primary] * len(names), **{"port": ports, **keywords})


def by_libpq(pair: Pair, dsn: str) -> str:
    """Which server libpq itself connects to; psycopg would go through the list by itself."""
    connection = psycopg.pq.PGconn.connect(dsn.encode())
    try:
        if connection.status != psycopg.pq.ConnStatus.OK:
            return REFUSED
        return name_of(pair, int(connection.port))
    finally:
        connection.finish()


def name_of(pair: Pair, port: int) -> str:
    return {pair.primary.port: PRIMARY, pair.standby.port: STANDBY}[port]


def by_administration(pair: Pair, dsn: str) -> str:
    try:
        with connect(read_dsn(dsn)["dsn"], "administration of a table") as connection:
            return name_of(pair, connection.info.port)
    except EngineError:
        return REFUSED


def by_session(pair: Pair, dsn: str) -> tuple[str, str]:
    """Which server a session connects to, and its error."""
    name = f"session-{next(NUMBERS)}"
    named = f"{dsn}{'&' if '://' in dsn else ' '}application_name={name}"
    try:
        session = _core.PostgresSession(named, SCRIPT, 1, 0)
    except _core.SessionOpenError as error:
        return REFUSED, str(error)
    counts = {node.port: node.sessions(name) for node in (pair.primary, pair.standby)}
    del session
    (port,) = [port for port, count in counts.items() if count == 1]
    return name_of(pair, port), ""


READ_ONLY = {"options": "-c default_transaction_read_only=on"}
# Servers in the order of the list, further parameters, and the server that is chosen.
TABLE: list[tuple[str, dict[str, Any], str]] = [
    ("ps", {}, PRIMARY),
    ("sp", {}, STANDBY),
    ("-p", {}, PRIMARY),
    ("--s", {}, STANDBY),
    ("--", {}, REFUSED),
    ("sp", {"target_session_attrs": "any"}, STANDBY),
    ("sp", {"target_session_attrs": "read-write"}, PRIMARY),
    ("sp", {"target_session_attrs": "primary"}, PRIMARY),
    ("ps", {"target_session_attrs": "read-only"}, STANDBY),
    ("ps", {"target_session_attrs": "standby"}, STANDBY),
    ("ps", {"target_session_attrs": "prefer-standby"}, STANDBY),
    ("-ps", {"target_session_attrs": "prefer-standby"}, STANDBY),
    ("p-", {"target_session_attrs": "prefer-standby"}, PRIMARY),
    ("p", {"target_session_attrs": "standby"}, REFUSED),
    ("s", {"target_session_attrs": "read-write"}, REFUSED),
    ("s-", {"target_session_attrs": "primary"}, REFUSED),
    ("ps", {"target_session_attrs": "read-write", **READ_ONLY}, REFUSED),
    ("ps", {"target_session_attrs": "primary", **READ_ONLY}, PRIMARY),
    ("ps", {"target_session_attrs": "read-only", **READ_ONLY}, PRIMARY),
    ("ps", {"password": "wrong"}, REFUSED),
    # Addresses, names and ports.
    ("ps", {"hostaddr": f"{HOST},{HOST}"}, PRIMARY),
    ("ps", {"host": "first.invalid,second.invalid", "hostaddr": f"{HOST},{HOST}"}, PRIMARY),
    ("ps", {"host": f"first.invalid,{HOST}"}, STANDBY),
    ("ps", {"host": f"first.invalid,{HOST}", "hostaddr": f"{HOST},"}, PRIMARY),
    ("ps", {"host": "localhost,localhost"}, PRIMARY),
    ("ps", {"host": f"first.invalid,{HOST}", "load_balance_hosts": "random"}, STANDBY),
    ("-s", {"load_balance_hosts": "random"}, STANDBY),
    ("ps", {"load_balance_hosts": "disable"}, PRIMARY),
    ("spps", {"load_balance_hosts": "random", "target_session_attrs": "primary"}, PRIMARY),
]


@pytest.mark.parametrize(("names", "keywords", "expected"), TABLE, ids=str)
def test_libpq_administration_and_sessions_choose_the_same_server(
    pair: Pair, names: str, keywords: dict[str, Any], expected: str
) -> None:
    dsn = listed(pair, names, connect_timeout=5, **keywords)
    assert by_libpq(pair, dsn) == expected
    chosen, message = by_session(pair, dsn)
    assert chosen == expected, message
    assert by_administration(pair, dsn) == expected
    assert pair.primary.password not in message


def test_a_url_with_several_hosts_is_read_as_libpq_reads_it(pair: Pair) -> None:
    ports = pair.primary.port, pair.standby.port
    hosts = f"{HOST}:{CLOSED_PORT},{HOST}:{ports[1]},{HOST}:{ports[0]}"
    url = f"postgresql://assay:{pair.primary.password}@{hosts}/postgres?target_session_attrs="
    for target, expected in (("any", STANDBY), ("primary", PRIMARY)):
        dsn = f"{url}{target}"
        assert by_libpq(pair, dsn) == expected
        assert (by_session(pair, dsn)[0], by_administration(pair, dsn)) == (expected, expected)


def test_the_password_file_has_a_line_for_each_server(pair: Pair, tmp_path: Path) -> None:
    passwords = tmp_path / "passwords"
    lines = [
        f"{HOST}:{pair.primary.port}:*:*:wrong",
        f"{HOST}:{pair.standby.port}:*:*:{pair.primary.password}",
    ]
    passwords.write_text("\n".join([*lines, ""]))
    passwords.chmod(0o600)
    for names, target, expected in (
        ("sp", "any", STANDBY),
        ("ps", "standby", REFUSED),
        ("-sp", "standby", STANDBY),
    ):
        dsn = listed(pair, names, passfile=passwords, target_session_attrs=target, password="")
        assert by_libpq(pair, dsn) == expected
        chosen, message = by_session(pair, dsn)
        assert (chosen, by_administration(pair, dsn)) == (expected, expected), message


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"host": "a,b", "port": "1,2,3"}, "3 ports for 2 hosts"),
        ({"host": "a", "port": "1,2"}, "2 ports for 1 host:"),
        ({"host": "a,b", "hostaddr": "127.0.0.1"}, "2 hosts and 1 addresses"),
        ({"host": "a,b", "hostaddr": "127.0.0.1,b"}, "hostaddr=b: this is no IP address"),
        ({"host": "a,b", "target_session_attrs": "leader"}, "prefer-standby"),
        ({"host": "a,b", "load_balance_hosts": "yes"}, "disable, random"),
    ],
    ids=str,
)
def test_a_wrong_list_is_one_clear_error(
    lab: Lab, tmp_path: Path, keywords: dict[str, str], message: str
) -> None:
    dsn = psycopg.conninfo.make_conninfo("", dbname="d", user="u", **keywords)
    with pytest.raises(EngineError, match=message):
        read_dsn(dsn)
    with pytest.raises(_core.SessionOpenError):
        _core.PostgresSession(dsn, SCRIPT, 1, 0)
    result = lab.assay("run", str(folder_of(tmp_path)), "--dsn", dsn, "--engine", "postgresql")
    errors = [line for line in result.stderr.splitlines() if line.startswith("assay: ")]
    assert (result.returncode, len(errors)) == (1, 1), result.stderr
    assert message in result.stderr
    assert not lab.runs.exists()


def test_random_order_spreads_sessions_and_a_fixed_order_does_not(pair: Pair) -> None:
    for balance, expected in (("random", 2), ("disable", 1)):
        name = f"spread {balance}"
        dsn = listed(pair, "ps", load_balance_hosts=balance, application_name=name)
        sessions = [_core.PostgresSession(dsn, SCRIPT, 1, number) for number in range(24)]
        counts = [node.sessions(name) for node in (pair.primary, pair.standby)]
        del sessions
        assert sum(counts) == 24
        # Of 24 fair choices, fewer than 4 go to one server in 1 of 3,600 cases; the seed is fixed.
        assert sum(count >= 4 for count in counts) == expected, counts


def folder_of(place: Path) -> Path:
    """A workload of one query that both servers can answer."""
    folder = place / "queries"
    folder.mkdir()
    (folder / "one.sql").write_text("select twice from items where id = 17")
    (folder / "workload.toml").write_text('arrival = "closed"\n')
    return folder


def servers_of(path: Path) -> pl.DataFrame:
    return Run(path).table("servers").with_columns(pl.col("server").cast(pl.String))


def test_a_run_tells_to_which_servers_its_sessions_were_connected(
    pair: Pair, server_lab: Lab, tmp_path: Path
) -> None:
    dsn = listed(pair, "ps", load_balance_hosts="random")
    arguments = ["run", str(folder_of(tmp_path)), "--dsn", dsn, *ENGINE, "--clients", "12"]
    document = server_lab.document(*arguments, "--warmup", "0s", "--time", "1s")
    rows = document["conditions"]["servers"]
    assert {row["server"] for row in rows} == {pair.primary.address, pair.standby.address}
    assert sum(row["sessions"] for row in rows) == 12
    assert document["operations"][0]["failed"] == 0
    header = server_lab.assay("show", "latest").stdout
    assert "sessions on 2 servers" in " ".join(header.split())
    for row in rows:
        assert f"{row['server']} ({row['connections']} connection" in " ".join(header.split())
    assert pair.primary.password not in header


def test_a_run_with_one_server_says_nothing_of_servers(
    pair: Pair, server_lab: Lab, tmp_path: Path
) -> None:
    dsn = listed(pair, "-s", target_session_attrs="standby")
    arguments = ["run", str(folder_of(tmp_path)), "--dsn", dsn, *ENGINE, "--clients", "3"]
    document = server_lab.document(*arguments, "--warmup", "0s", "--time", "500ms")
    (row,) = document["conditions"]["servers"]
    counts = {"server": pair.standby.address, "sessions": 3, "connections": 3}
    assert row == counts | {"since_s": None, "outage_s": None}
    assert "servers:" not in server_lab.assay("show", "latest").stdout


@pytest.mark.parametrize("names", ["ps", "sp"])
def test_sessions_go_on_with_the_other_server_when_one_is_killed(
    server_place: Path, server_lab: Lab, tmp_path: Path, names: str
) -> None:
    """The standby is killed; in `sp` it is the one that administration uses."""
    with reachable_directory() as folder, pair_of_servers(server_place / "cache", folder) as pair:
        dsn = listed(pair, names, load_balance_hosts="random")
        arguments = ["run", str(folder_of(tmp_path)), "--dsn", dsn, *ENGINE, "--clients", "8"]
        started = server_lab.begin(*arguments, "--warmup", "0s", "--time", "6s")
        path = wait_for_phase(server_lab, started, "measured")
        wait_until(lambda: servers_of(path).height >= 8, "sessions are not recorded")
        before = servers_of(path)
        os.kill(pair.standby.pid, signal.SIGQUIT)
        _, errors = started.communicate(timeout=PATIENCE_S)
        assert started.returncode in (0, 3), errors
        assert "Traceback" not in errors
    killed = before.filter(pl.col("server") == pair.standby.address)["session"].unique()
    assert killed.len() > 0
    after = servers_of(path)[before.height :]
    assert set(after["server"]) == {pair.primary.address}
    assert set(killed) <= set(after["session"])
    document = server_lab.document("show", "latest", code=started.returncode)
    assert document["status"] == "complete"
    counts = {row["server"]: row for row in document["conditions"]["servers"]}
    assert counts[pair.primary.address]["sessions"] == 8
    events = Run(path).table("events")
    last_ok = (
        events.filter(pl.col("outcome").cast(pl.String) == "ok")
        .group_by("session")
        .agg(pl.col("finished_ns").max())
    )
    since_s = (events["finished_ns"].max() - last_ok["finished_ns"].min()) / 1e9
    assert last_ok.height == 8
    assert since_s < 1.0


def test_sessions_go_on_with_the_promoted_standby_when_the_primary_is_killed(
    server_place: Path, server_lab: Lab, tmp_path: Path
) -> None:
    folder = folder_of(tmp_path)
    (folder / "one.sql").write_text("update items set twice = twice + 2 where id = 17")
    with reachable_directory() as place, pair_of_servers(server_place / "cache", place) as pair:
        dsn = listed(pair, "ps", target_session_attrs="read-write", connect_timeout=2)
        arguments = ["run", str(folder), "--dsn", dsn, *ENGINE, "--clients", "4", "--allow-writes"]
        started = server_lab.begin(*arguments, "--warmup", "0s", "--time", "8s")
        path = wait_for_phase(server_lab, started, "measured")
        wait_until(lambda: servers_of(path).height >= 4, "sessions are not recorded")
        os.kill(pair.primary.pid, signal.SIGQUIT)
        wait_until(lambda: not is_running(pair.primary.pid), "the primary does not end")
        time.sleep(PROMOTED_AFTER_S)
        pair.promote()
        _, errors = started.communicate(timeout=PATIENCE_S)
        assert started.returncode in (0, 3), errors
        assert "Traceback" not in errors
        twice = pair.standby.ask("select twice from items where id = 17")[0][0]
    document = server_lab.document("show", "latest", code=started.returncode)
    assert document["status"] == "complete"
    first, second = document["conditions"]["servers"]
    assert (first["server"], second["server"]) == (pair.primary.address, pair.standby.address)
    assert (first["sessions"], second["sessions"]) == (4, 4)
    assert first["since_s"] is None
    # All operations of a time without a primary fail, and are counted.
    events = Run(path).table("events").with_columns(pl.col("outcome").cast(pl.String))
    (operation,) = document["operations"]
    assert operation["failed"] == events.filter(pl.col("outcome") == "failed").height > 0
    ends = events.filter(pl.col("outcome") == "ok")["finished_ns"].sort()
    gap_s = ends.diff().max() / 1e9
    assert gap_s >= PROMOTED_AFTER_S
    assert second["outage_s"] == pytest.approx(gap_s, abs=1e-3)
    assert 0 < second["since_s"] < 8
    header = " ".join(server_lab.assay("show", "latest").stdout.split())
    assert f"{pair.standby.address} (4 connections, from" in header
    assert "without a successful operation" in header
    # Asynchronous replication may lose acknowledged updates, and invents none.
    assert 34 < twice <= 34 + 2 * events.filter(pl.col("outcome") == "ok").height


def is_running(pid: int) -> bool:
    """Whether a process exists and is no zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@contextmanager
def silent_port() -> Iterator[int]:
    """A port that takes connections and never answers."""
    with socket.socket() as listening:
        listening.bind((HOST, 0))
        listening.listen()
        yield int(listening.getsockname()[1])


@pytest.mark.parametrize("target", ["any", "read-write", "prefer-standby"])
def test_administration_goes_on_after_a_server_that_does_not_answer(
    pair: Pair, target: str
) -> None:
    expected = STANDBY if target == "prefer-standby" else PRIMARY
    with silent_port() as silent:
        ports = f"{silent},{pair.primary.port},{pair.standby.port}"
        keywords = {"host": f"localhost,{HOST},{HOST}", "port": ports, "connect_timeout": 1}
        dsn = listed(pair, "ps", **keywords, target_session_attrs=target)
        assert by_libpq(pair, dsn) == expected
        assert by_administration(pair, dsn) == expected
        only = listed(pair, "-", port=silent, connect_timeout=1, target_session_attrs=target)
        with pytest.raises(EngineError, match="that host does not answer"):
            connect(only, "administration")


@pytest.mark.parametrize("servers", [1, 2])
def test_ctrl_c_ends_the_wait_for_servers_that_do_not_answer(
    server_lab: Lab, tmp_path: Path, servers: int
) -> None:
    with silent_port() as silent:
        ports, hosts = (",".join([str(it)] * servers) for it in (silent, HOST))
        dsn = psycopg.conninfo.make_conninfo("", host=hosts, port=ports, user="u", dbname="d")
        started = server_lab.begin("run", str(folder_of(tmp_path)), "--dsn", dsn, *ENGINE)
        wait_until(lambda: is_connected(silent), "assay does not connect")
        # Its wait for the first answer has begun.
        time.sleep(0.2)
        since_s = time.monotonic()
        code, errors = end(started)
        took_s = time.monotonic() - since_s
    assert code == 2, errors
    assert "stopped by Ctrl-C" in errors
    assert took_s < CTRL_C_MAX_S
    assert not server_lab.runs.exists()


def is_connected(port: int) -> bool:
    """Whether a connection to a port of this host is established, by the kernel's table."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return any(row[2].endswith(f":{port:04X}") and row[3] == ESTABLISHED for row in rows)


def test_the_address_of_sessions_keeps_the_list(pair: Pair) -> None:
    from assay.engines.discovery import find_engine

    engine = find_engine("postgresql").engine()
    dsn = listed(pair, "sp", target_session_attrs="primary", load_balance_hosts="random")
    instance = engine.attach(engine.address(dsn))
    again = engine.attach(instance.address)
    try:
        for address in (instance.address, again.address):
            administration = psycopg.conninfo.conninfo_to_dict(address["dsn"])
            sessions = psycopg.conninfo.conninfo_to_dict(address[SESSIONS])
            assert administration["port"] == str(pair.primary.port)
            assert administration["target_session_attrs"] == "any"
            assert sessions["port"] == f"{pair.standby.port},{pair.primary.port}"
            assert sessions["target_session_attrs"] == "primary"
            assert sessions["load_balance_hosts"] == "random"
            assert sessions["host"] == f"{HOST},{HOST}"
            assert "hostaddr" not in sessions
    finally:
        engine.detach(instance)
        engine.detach(again)
