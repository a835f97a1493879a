"""The driver's own connection by MySQL's protocol: proofs, TLS, types, lost lines, loads."""

from __future__ import annotations

import datetime
import json
import shutil
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pymysql
import pytest

from assay import _core
from assay.engines.contract import Place
from assay.engines.discovery import find_engine
from assay.model.script import Draw, Script, ScriptOperation, ScriptStatement
from assay.running.processes.launcher import Guardian
from assay.running.server.serving import ServerLauncher
from tests.certificates import Authority, make_authority
from tests.e2e.conftest import reachable_directory, wait_until
from tests.e2e.server import make_certificate
from tests.e2e.test_postgresql_session import Played, played
from tests.products import obtained

HOST = "127.0.0.1"
PASSWORD = "s3cr:t/@%?&'\\ enD9x"  # noqa: S105 - made up, and gone with the server
WRONG = "wr0ng-pass"
LONG = 17_000_000
SETTINGS = {
    "local_infile": "ON",
    "innodb_buffer_pool_size": "64M",
    "max_allowed_packet": "32M",
    "innodb_flush_log_at_trx_commit": "0",
}
TYPES = """select cast(-1 as signed) as a, cast(18446744073709551615 as unsigned) as b,
12.340 as c, 1.5e0 as d, date'2024-02-29' as e, timestamp'2024-02-29 01:02:03.5' as f,
time'-01:02:03' as g, 'tä' as h, x'00ff' as i, null as j, year(date'2024-01-01') as k"""


@dataclass(frozen=True)
class Running:
    """A server at work. `certificate` is None where it has no TLS, which `authority` signs for."""

    port: int
    administration: dict[str, str]
    certificate: Path | None
    authority: Authority | None

    def asked(self, statement: str) -> list[tuple[Any, ...]]:
        """Rows of a statement, as its administrator."""
        connection = pymysql.connect(
            host=HOST, port=self.port, database="mysql", autocommit=True, **self.administration
        )
        with connection, connection.cursor() as cursor:
            cursor.execute(statement)
            return list(cursor.fetchall())

    def config(self, user: str = "owner", **said: Any) -> str:
        whole = {"host": HOST, "port": self.port, "user": user, "password": PASSWORD}
        return json.dumps(whole | {"database": "shop"} | said)


@pytest.fixture(scope="module")
def running(server_place: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    engine = find_engine("mariadb").engine()
    product = obtained("mariadb")
    with (
        reachable_directory() as folder,
        Guardian("running", folder / "instances") as guardian,
    ):
        data = guardian.directory / "data"
        data.mkdir(mode=0o700)
        launcher = ServerLauncher(guardian, folder / "server.log")
        launcher.own(data)
        settings, certificate, authority = dict(SETTINGS), None, None
        if shutil.which("openssl"):
            certificate = make_certificate(launcher.scratch, "server")
            key = certificate.with_suffix(".key")
            launcher.own(key)
            authority = make_authority(launcher.scratch, "clients")
            settings |= {"ssl_cert": str(certificate), "ssl_key": str(key)}
            settings |= {"ssl_ca": str(authority.certificate)}
        address = engine.start(product, Place(data, launcher.scratch), settings, launcher)
        administration = {key: address[key] for key in ("user", "password")}
        made = Running(address["port"], administration, certificate, authority)
        made.asked("create database shop")
        quoted = PASSWORD.replace("\\", "\\\\").replace("'", "''")
        made.asked(f"create user owner@'{HOST}' identified by '{quoted}'")
        made.asked(f"grant all on *.* to owner@'{HOST}'")
        made.asked(f"create user bare@'{HOST}'")
        made.asked(f"create user certified@'{HOST}' require subject '/CN=certified'")
        yield made


def script_of(operations: dict[str, list[str]], draws: tuple[Draw, ...] = (), **facts: Any) -> str:
    """Every statement binds all draws in their order."""
    places = tuple(range(len(draws)))
    asked = tuple(
        ScriptOperation(
            name,
            tuple(ScriptStatement(text, places if "$" in text else ()) for text in statements),
            draws,
        )
        for name, statements in operations.items()
    )
    return json.dumps(Script(asked).facts() | facts)


def opened(config: str, operations: dict[str, list[str]] | None = None, **facts: Any):
    return _core.MysqlSession(config, script_of(operations or {"one": ["select 1"]}, **facts), 1, 0)


def asked(running: Running, raw: Path, *statements: str, **facts: Any) -> Played:
    """Plays one operation of some statements once."""
    operations = {"asked": list(statements)}
    return played(raw, [opened(running.config(), operations, **facts)], operations)


# Who asks, and how they prove it.


def test_a_password_is_proved_and_a_wrong_one_told_without_it(running: Running) -> None:
    opened(running.config())
    with pytest.raises(_core.SessionOpenError, match="password is wrong") as refused:
        opened(running.config(password=WRONG))
    assert WRONG not in str(refused.value)
    opened(running.config("bare", password=None, database=None))


def test_nobody_there_and_no_such_database_are_told_with_the_mend(running: Running) -> None:
    with pytest.raises(_core.SessionOpenError, match="is it running"):
        opened(running.config(port=1))
    with pytest.raises(_core.SessionOpenError, match="create the database"):
        opened(running.config(database="nosuch"))


def test_what_a_connection_is_to_execute_first_is_refused_in_the_servers_words(
    running: Running,
) -> None:
    with pytest.raises(_core.SessionOpenError, match="nosuch"):
        opened(running.config(init=["set session nosuch = 1"]))


def test_a_line_is_encrypted_and_asks_who_the_server_is(running: Running, tmp_path: Path) -> None:
    if running.certificate is None:
        pytest.skip("no openssl to make a certificate")
    cipher = "select variable_value from information_schema.session_status"
    cipher += " where variable_name = 'ssl_version'"
    for mode, seen in (("disabled", ""), ("required", "TLSv1.3"), ("verify-identity", "TLSv1.3")):
        tls = {"mode": mode, "ca": str(running.certificate)}
        operations = {"asked": [cipher]}
        session = opened(running.config(tls=tls), operations)
        kept = played(tmp_path / mode, [session], operations).kept("asked")
        assert kept.item() == seen
    strange = make_certificate(tmp_path, "strange")
    with pytest.raises(_core.SessionOpenError, match="TLS with"):
        opened(running.config(tls={"mode": "verify-ca", "ca": str(strange)}))


def test_a_client_proves_by_a_certificate_who_it_is(running: Running, tmp_path: Path) -> None:
    if running.authority is None:
        pytest.skip("no openssl to make a certificate")

    def certified(**said: str | None) -> None:
        tls = {"mode": "verify-ca", "ca": str(running.certificate)} | said
        opened(running.config("certified", password=None, database=None, tls=tls))

    def of(certificate: Path, key: Path | None = None) -> dict[str, str]:
        return {"cert": str(certificate), "key": str(key or certificate.with_suffix(".key"))}

    own = running.authority.sign("own", "certified", "")
    certified(**of(own))
    other = running.authority.sign("other", "somebody", "")
    strange = make_authority(tmp_path).sign("strange", "certified", "")
    for refused in ({}, of(other), of(strange)):
        with pytest.raises(_core.SessionOpenError):
            certified(**refused)
    with pytest.raises(_core.SessionOpenError, match="nosuch"):
        certified(**of(own, tmp_path / "nosuch"))


# What comes back.


def test_types_are_the_same_in_text_and_in_binary(running: Running, tmp_path: Path) -> None:
    both = [
        asked(running, tmp_path / str(prepared), TYPES, prepared=prepared)
        for prepared in (False, True)
    ]
    (row,) = both[0].kept("asked").rows()
    assert row == (
        -1,
        2**64 - 1,
        Decimal("12.340"),
        1.5,
        datetime.date(2024, 2, 29),
        datetime.datetime(2024, 2, 29, 1, 2, 3, 500_000),  # noqa: DTZ001 - of no time zone
        "-01:02:03",
        "tä",
        b"\x00\xff",
        None,
        2024,
    )
    assert both[1].kept("asked").rows() == [row]
    digests = [play.events["digest"].item() for play in both]
    assert digests[0] == digests[1]


@pytest.mark.parametrize("prepared", [False, True])
def test_values_may_be_used_twice_and_out_of_order(
    running: Running, tmp_path: Path, *, prepared: bool
) -> None:
    draws = (Draw("n", integer=(7, 7)), Draw("t", choice=("x'\\",)))
    text = "select $2 as t, $1 as n, $1 + 1 as m, '$1' as plain"
    frame = asked(running, tmp_path, text, draws=draws, prepared=prepared).kept("asked")
    assert frame.rows() == [("x'\\", 7, 8, "$1")]


def test_a_row_longer_than_a_packet_comes_whole(running: Running, tmp_path: Path) -> None:
    text = f"select repeat('x', {LONG}) as a union all select 'y'"
    lengths = asked(running, tmp_path, text).kept("asked")["a"].str.len_bytes()
    assert lengths.to_list() == [LONG, 1]


def test_a_request_longer_than_the_server_takes_is_told_with_the_mend(
    running: Running, tmp_path: Path
) -> None:
    draws = (Draw("t", choice=("x" * 40_000_000,)),)
    operations = {"long": ["select length($1) as n"], "after": ["select 1 as n"]}
    # Only the first one binds the text.
    session = opened(running.config(), operations, draws=draws)
    both = played(tmp_path, [session], operations)
    assert both.events["outcome"].to_list() == ["failed", "ok"]
    long = asked(
        running,
        tmp_path / "long",
        "select length($1) as n",
        draws=(Draw("t", choice=("x" * LONG,)),),
    )
    assert long.kept("asked").item() == LONG


def test_a_pipelined_script_finds_the_same(running: Running, tmp_path: Path) -> None:
    running.asked("create or replace table shop.piped (a int primary key, n int)")
    running.asked("insert into shop.piped values (1, 0)")
    statements = [
        "begin",
        "select n from piped",
        "select n + 1 from piped",
        "update piped set n = n + 1",
        "select n as n from piped",
        "commit",
    ]
    operations = {"asked": statements, "again": statements}
    session = opened(running.config(), operations, prepared=True, pipelined=True)
    events = played(tmp_path, [session], operations).events
    assert events["outcome"].to_list() == ["ok", "ok"]
    assert running.asked("select n from shop.piped") == [(2,)]


def test_several_sessions_share_a_thread(running: Running, tmp_path: Path) -> None:
    operations = {"one": ["select 1 as n"], "two": ["begin", "select 2 as n", "commit"]}
    sessions = [
        _core.MysqlSession(running.config(), script_of(operations, prepared=True), 1, number)
        for number in range(4)
    ]
    phase = {
        "arrival": {"shape": "closed", "clients": 4},
        "weights": [1, 1],
        "operations_max": 200,
    }
    done = played(tmp_path, sessions, operations, phase=phase, sessions_per_worker=4)
    assert done.events["outcome"].unique().to_list() == ["ok"]
    assert done.report["errors"] == []


# What goes wrong.


def test_a_transaction_that_is_left_open_fails_and_is_undone(
    running: Running, tmp_path: Path
) -> None:
    running.asked("create or replace table shop.left_open (n int)")
    done = asked(running, tmp_path, "begin", "insert into left_open values (1)")
    assert done.events["error"].to_list() == ["open_transaction"]
    assert running.asked("select count(*) from shop.left_open") == [(0,)]


def test_an_error_has_its_sqlstate_and_number_and_undoes_what_came_before(
    running: Running, tmp_path: Path
) -> None:
    running.asked("create or replace table shop.unique_ones (n int primary key)")
    insert = "insert into unique_ones values (1)"
    done = asked(running, tmp_path, "begin", insert, insert, "commit", prepared=True)
    assert done.events["error"].to_list() == ["23000"]
    assert "(1062)" in done.errors_text()
    assert running.asked("select count(*) from shop.unique_ones") == [(0,)]


def in_each_others_way(running: Running, raw: Path, retries_max: int) -> Played:
    """Two operations that lock the same two rows, each in its own order, at the same time."""
    running.asked("create or replace table shop.locked (id int primary key, n int)")
    running.asked("insert into shop.locked values (1, 0), (2, 0)")
    statements = {
        name: [
            "begin",
            f"update locked set n = n + 1 where id = {first}",  # noqa: S608
            "select sleep(0.2)",
            f"update locked set n = n + 1 where id = {second}",  # noqa: S608
            "commit",
        ]
        for name, first, second in (("up", 1, 2), ("down", 2, 1))
    }
    sessions = [
        _core.MysqlSession(running.config(), script_of(statements, prepared=True), 1, number)
        for number in range(2)
    ]
    phase = {
        "arrival": {"shape": "throughput", "clients": 2},
        "operations": [],
        "orders": [[0], [1]],
    }
    return played(raw, sessions, statements, phase=phase, retries_max=retries_max)


def test_a_deadlock_is_retried_and_counted_by_its_class(running: Running, tmp_path: Path) -> None:
    done = in_each_others_way(running, tmp_path, retries_max=5)
    assert done.events["outcome"].to_list() == ["ok", "ok"]
    assert running.asked("select sum(n) from shop.locked") == [(4,)]
    failed = done.table("attempts")["error"].cast(pl.String).to_list()
    assert set(failed) == {"40001"}
    # It began, updated one row and slept before it stood in the other one's way.
    assert set(done.table("attempts")["statements"]) == {3}
    assert done.events["retries"].sum() == len(failed)


def test_a_deadlock_that_is_not_retried_fails_by_its_class(
    running: Running, tmp_path: Path
) -> None:
    events = in_each_others_way(running, tmp_path, retries_max=0).events
    assert sorted(events["outcome"]) == ["failed", "ok"]
    assert events["error"].drop_nulls().to_list() == ["40001"]
    # What the loser had changed is undone.
    assert running.asked("select sum(n) from shop.locked") == [(2,)]


def test_what_runs_is_ended_on_the_server_when_the_drive_is_interrupted(
    running: Running, tmp_path: Path
) -> None:
    operations = {"asked": ["select benchmark(100000000000, 2) as n"], "after": ["select 2 as n"]}
    busy = "select id from information_schema.processlist where info like 'select benchmark(1%'"
    session, cancel = opened(running.config(), operations), _core.CancelFlag()

    def interrupt() -> None:
        wait_until(lambda: running.asked(busy), "a statement that runs")
        cancel.cancel()

    interrupter = threading.Thread(target=interrupt)
    interrupter.start()
    done = played(tmp_path, [session], operations, cancel=cancel)
    interrupter.join()
    assert done.report["ended"] != "done"
    assert "after" not in done.events["operation"].to_list()
    wait_until(lambda: not running.asked(busy), "the statement runs on")


def test_a_connection_that_was_lost_while_it_rested_fails_one_operation(
    running: Running, tmp_path: Path
) -> None:
    operations = {"asked": ["select 1 as n"], "after": ["select 2 as n"]}
    session = opened(running.config(), operations)
    resting = "select id from information_schema.processlist where user = 'owner'"
    for (number,) in running.asked(resting):
        running.asked(f"kill connection {number}")
    wait_until(lambda: not running.asked(resting), "the connection is not gone")
    events = played(tmp_path, [session], operations).events
    assert events["outcome"].to_list() == ["failed", "ok"]
    assert events["error"].to_list() == ["08006", None]


def test_a_killed_connection_fails_its_operation_and_the_next_connects_anew(
    running: Running, tmp_path: Path
) -> None:
    operations = {"asked": ["select sleep(20) as n"], "after": ["select 2 as n"]}
    session = opened(running.config(), operations)

    def kill() -> None:
        busy = "select id from information_schema.processlist where info like 'select sleep(20)%'"
        wait_until(lambda: running.asked(busy), "a statement that sleeps")
        ((number,),) = running.asked(busy)
        running.asked(f"kill connection {number}")

    killer = threading.Thread(target=kill)
    killer.start()
    done = played(tmp_path, [session], operations)
    killer.join()
    assert done.events["outcome"].to_list() == ["failed", "ok"]
    assert done.kept("after").item() == 2


def test_an_operation_past_its_deadline_is_ended_on_the_server(
    running: Running, tmp_path: Path
) -> None:
    operations = {"asked": ["select benchmark(100000000000, 1) as n"], "after": ["select 2 as n"]}
    session = opened(running.config(), operations)
    done = played(tmp_path, [session], operations, operation_deadline_ns=300_000_000)
    assert done.events["outcome"].to_list()[1] == "ok"
    assert done.events["outcome"].to_list()[0] != "ok"
    busy = "select count(*) from information_schema.processlist where info like '%benchmark(1%'"
    assert running.asked(busy + " and id <> connection_id()") == [(0,)]


# Loads.


def rows() -> pa.Table:
    return pa.table(
        {
            "a": pa.array([1, 2**64 - 1, None], pa.uint64()),
            "b": ["tä\t\n\\N'", "", None],
            "c": pa.array([Decimal("-0.05"), Decimal("12.30"), None], pa.decimal128(12, 2)),
            "d": [datetime.date(2024, 2, 29), datetime.date(1, 1, 1), None],
            "e": pa.array([1, -1_000_000, None], pa.timestamp("us")),
            "f": pa.array([b"\x00\xff\t", b"", None]),
            "g": [0.1, -1e300, None],
            "h": [True, False, None],
        }
    )


COLUMNS = "a bigint unsigned, b varchar(9), c decimal(12, 2), d date, e datetime(6)"
COLUMNS += ", f varbinary(9), g double, h tinyint"


@pytest.fixture(params=["load data local infile", "insert"])
def way(request: pytest.FixtureRequest, running: Running) -> Iterator[str]:
    if request.param == "insert":
        running.asked("set global local_infile = off")
    yield request.param
    running.asked("set global local_infile = on")


def test_loaded_rows_are_those_that_were_sent(running: Running, way: str) -> None:
    running.asked(f"create or replace table shop.loaded ({COLUMNS}) charset utf8mb4")
    loaded = _core.mysql_load(running.config(), "loaded", rows(), 2)
    assert loaded == (3, way)
    sent = [tuple(row.values()) for row in rows().to_pylist()]
    assert sorted(running.asked("select * from shop.loaded"), key=str) == sorted(sent, key=str)


def test_a_row_that_the_server_would_leave_out_fails_the_load(running: Running, way: str) -> None:
    running.asked("create or replace table shop.loaded (n int primary key)")
    with pytest.raises(OSError, match=r"table loaded: .*Duplicate entry '2'"):
        _core.mysql_load(running.config(), "loaded", pa.table({"n": [1, 2, 2]}), 1)
    assert running.asked("select count(*) from shop.loaded") == [(0,)], way


def test_a_table_that_is_not_there_and_a_type_without_a_form_are_told(running: Running) -> None:
    with pytest.raises(OSError, match="nosuch"):
        _core.mysql_load(running.config(), "nosuch", pa.table({"n": [1]}), 1)
    running.asked("create or replace table shop.loaded (n int)")
    with pytest.raises(OSError, match=r"column n: .*is not loaded"):
        _core.mysql_load(running.config(), "loaded", pa.table({"n": [[1]]}), 1)


def test_many_rows_come_over_several_connections(running: Running, way: str) -> None:
    running.asked("create or replace table shop.loaded (n int primary key, t varchar(30))")
    many = pa.table({"n": range(50_001), "t": ["some text"] * 50_001})
    batches = many.to_batches(max_chunksize=1000)
    stream = pa.RecordBatchReader.from_batches(many.schema, batches)
    assert _core.mysql_load(running.config(), "loaded", stream, 3) == (50_001, way)
    assert running.asked("select count(*), sum(n) from shop.loaded") == [
        (50_001, Decimal(50_000 * 50_001 // 2))
    ]
