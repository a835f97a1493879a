"""The driver's session over the bridge: the same digests as sessions of a database's own."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from assay import _core
from assay.engines.bridge.addresses import session_config
from assay.engines.bridge.errors import BridgeError
from assay.engines.bridge.link import Link
from assay.engines.bridge.statements import marked_script
from assay.engines.contract import Address
from assay.model.script import Draw, Script, ScriptOperation, ScriptStatement
from tests import sqlite
from tests.e2e.conftest import wait_until
from tests.e2e.server import DATABASE, HOST, PASSWORD, RunningServer
from tests.e2e.test_postgresql_session import Played, opened, played, script_of
from tests.jdbc import bridge, driver

VALUES = {
    "whole": "select 1::smallint as a, -2::int as b, 9223372036854775807::bigint as c",
    "sum of 64 bits": """
        select sum(n) as s from generate_series(4611686018427387900, 4611686018427387910) as n
    """,
    "decimals": """
        select 1.10::numeric as a, -0.000001 as b, 0.00 as c, 1e20::numeric as d,
               99999999999999999999999999999999999999 as e
    """,
    "long decimals": "select repeat('1234567890', 6)::numeric / 1000 as a",
    "not numbers": "select 'NaN'::numeric as a, 'NaN'::float8 as b, '-Infinity'::float8 as c",
    "floating": "select 1.1::real as a, 0.1::float8 as b, '-0'::float8 as c, 1e300::float8 as d",
    "dates": "select date '1992-02-29' as a, date '0044-03-15' as b, date '9999-12-31' as c",
    "times": """
        select timestamp '1992-02-29 23:59:59.123456' as a,
               timestamp '1969-12-31 23:59:59.999999' as b,
               timestamp '1500-01-01 00:00:00.5' as c, timestamptz '2020-06-01 12:00:00+02' as d
    """,
    "absent": """
        select null as a, null::int as b, null::numeric as c, null::date as d, null::bytea as e
    """,
    "truth": "select true as a, false as b, null::boolean as c",
    "texts": """
        select '' as a, 'é€😀' as b, 'blank  '::char(9) as c, 'x'::varchar as d, '"'::"char" as e
    """,
    "blobs": "select ''::bytea as a, '\\x00ff10'::bytea as b",
    "others": """
        select '12:34:56'::time as a, '{1,2}'::int[] as b, '{"a": 1}'::jsonb as d,
               'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid as c
    """,
    "many": """
        select n as a, n / 3.0 as b, date '1992-01-01' + n as c, 'row ' || n as d
        from generate_series(1, 5000) as n
    """,
    "none": "select 1 as a where false",
}
SQLITE_VALUES = {
    "whole": "select 1 as a, -9223372036854775808 as b, 3000000000 as c",
    "sums": "select sum(whole) as a, sum(money) as b, avg(whole) as c from t",
    "declared": "select whole, money, real, text, day, blob from t",
    "mixed": "select n from (select 1 as n union all select 2.5 union all select 3)",
    "absent": "select null as a, '' as b, x'' as c",
    "none": "select whole from t where whole > 99",
}
SQLITE_TABLE = """
    create table t (
        whole integer, money decimal(15,2), real real, text varchar(10), day date, blob blob);
    insert into t values (1, 17, 0.5, 'é', '1992-02-29', x'00ff');
    insert into t values (2, 17.25, 3, '', null, x'');
    insert into t values (null, null, null, null, null, null);
"""


@pytest.fixture(scope="module")
def through() -> Iterator[Path]:
    """A bridge's socket."""
    with bridge([driver("postgresql"), driver("sqlite")]) as (socket, _):
        yield socket


def url_of(server: RunningServer) -> str:
    return f"jdbc:postgresql://{HOST}:{server.port}/{DATABASE}"


def address_of(server: RunningServer, socket: Path, **properties: str) -> Address:
    who = {"user": "owner", "password": PASSWORD, **properties}
    return {"socket": str(socket), "url": url_of(server), "properties": who}


def over_jdbc(
    address: Address, operations: dict[str, list[str]], *, prepared: bool = False
) -> _core.JdbcSession:
    return _core.JdbcSession(
        session_config(address), script_of(operations, prepared=prepared), 1, 0
    )


def digests(of: Played) -> dict[str, tuple[Any, ...]]:
    assert of.report["errors"] == []
    rows = of.events.select("operation", "rows", "digest", "outcome").rows()
    return {name: (rows, digest, outcome) for name, rows, digest, outcome in rows}


@pytest.mark.parametrize("prepared", [False, True])
def test_digests_are_those_of_postgresqls_own_session(server, through, tmp_path, prepared):
    operations = {name: [text] for name, text in VALUES.items()}
    native = played(tmp_path / "native", [opened(server.dsn(), operations)], operations)
    session = over_jdbc(address_of(server, through), operations, prepared=prepared)
    bridged = played(tmp_path / "bridged", [session], operations)
    assert digests(bridged) == digests(native)
    # PostgreSQL's own session keeps a `numeric` that is no number as text.
    for name in VALUES.keys() - {"not numbers"}:
        assert bridged.kept(name).equals(native.kept(name)), name


def test_digests_are_those_of_sqlites_own_session(through, tmp_path):
    operations = {name: [text] for name, text in SQLITE_VALUES.items()}
    with sqlite.started(tmp_path) as (engine, instance):
        engine.run_script(instance, SQLITE_TABLE)
        own = instance.handle.session(script_of(operations), 1, 0)
        native = played(tmp_path / "native", [own], operations)
        address = {"socket": str(through), "url": f"jdbc:sqlite:{instance.handle.path}"}
        bridged = played(tmp_path / "bridged", [over_jdbc(address, operations)], operations)
    assert digests(bridged) == digests(native)


def test_a_large_result_is_digested_while_it_comes(server, through, tmp_path):
    text = "select repeat('x', 1000) || n as a from generate_series(1, 80000) as n"
    operations = {"large": [text]}
    native = played(tmp_path / "native", [opened(server.dsn(), operations)], operations)
    session = over_jdbc(address_of(server, through), operations)
    bridged = played(tmp_path / "bridged", [session], operations)
    assert digests(bridged) == digests(native)
    assert not list((bridged.raw / "results").glob("large-*"))


def test_a_transaction_is_committed_rolled_back_or_refused(server, through, tmp_path):
    server.asked("drop table if exists paid; create table paid (n integer)")
    server.asked("grant all on paid to owner")
    operations = {
        "kept": ["begin", "insert into paid values (1)", "commit"],
        "undone": ["start transaction", "insert into paid values (2)", "rollback;"],
        "broken": ["begin", "insert into paid values (3)", "select 1 / 0", "commit"],
        "open": ["begin", "insert into paid values (4)"],
        "seen": ["select n from paid"],
    }
    of = played(
        tmp_path, [over_jdbc(address_of(server, through), operations)], operations, retries_max=0
    )
    errors = dict(of.events.select("operation", "error").rows())
    assert errors == {
        "kept": None,
        "undone": None,
        "broken": "22012",
        "open": "25000",
        "seen": None,
    }
    assert of.kept("seen")["n"].to_list() == [Decimal(1)]


def test_values_are_drawn_and_bound_alike(server, through, tmp_path):
    """Numbers and texts, each for a place of another type."""
    text = "select $2::date + $1::int as d, $1::bigint as n, $3 || '$1' as t"
    draws = (
        Draw("n", integer=(1, 1000)),
        Draw("d", choice=("1992-01-01", "1995-06-17")),
        Draw("t", choice=("a ? b", "it's")),
    )
    statement = ScriptStatement(f"{text} from customers where id = $1", (0, 1, 2))
    script = Script((ScriptOperation("a", (statement,), draws),), prepared=True)
    phase = {"phase": {"passes_min": 20}}
    own = _core.PostgresSession(server.dsn(), json.dumps(script.facts()), 7, 0)
    native = played(tmp_path / "native", [own], {"a": []}, **phase)
    config = session_config(address_of(server, through))
    other = _core.JdbcSession(config, json.dumps(marked_script(script).facts()), 7, 0)
    bridged = played(tmp_path / "bridged", [other], {"a": []}, **phase)
    assert native.events["digest"].n_unique() > 10
    assert bridged.events["digest"].to_list() == native.events["digest"].to_list()


def test_clients_that_share_a_thread_get_their_own_rows(server, through, tmp_path):
    operations = {"one": ["select id, name from customers order by id limit 100"]}
    address = address_of(server, through)
    sessions = [over_jdbc(address, operations, prepared=True) for _ in range(4)]
    phase = {
        "arrival": {"shape": "closed", "clients": 4},
        "weights": [1],
        "duration_ns": 300_000_000,
    }
    of = played(tmp_path, sessions, operations, phase=phase, sessions_per_worker=4)
    assert of.report["errors"] == []
    assert of.events["digest"].n_unique() == 1
    assert of.events["session"].n_unique() == 4
    assert set(of.events["rows"]) == {100}


def test_an_operation_that_takes_too_long_is_cancelled(server, through, tmp_path):
    operations = {"long": ["select pg_sleep(600)"], "next": ["select 1 as n"]}
    session = over_jdbc(address_of(server, through), operations)
    of = played(tmp_path, [session], operations, operation_deadline_ns=200_000_000)
    assert of.events["error"].to_list() == ["deadline", None]
    wait_until(lambda: not server.busy("%JDBC%"), "the statement goes on")


def test_a_lost_connection_fails_its_operation_and_the_next_one_connects(server, through, tmp_path):
    end = "select pg_terminate_backend(pg_backend_pid())"
    operations = {"lost": [end], "next": ["select 1 as n"]}
    of = played(tmp_path, [over_jdbc(address_of(server, through), operations)], operations)
    assert of.events["outcome"].to_list() == ["failed", "ok"]
    assert PASSWORD not in of.errors_text()


def test_a_bridge_that_is_killed_fails_operations_by_name(server, tmp_path):
    operations = {"one": ["select 1 as n"], "two": ["select 2 as n"]}
    with bridge([driver("postgresql")]) as (socket, process):
        session = over_jdbc(address_of(server, socket), operations)
        process.send_signal(signal.SIGKILL)
        process.wait()
        of = played(tmp_path, [session], operations)
    assert set(of.events["error"]) == {"08006"}
    assert "the bridge process of the JDBC driver ended" in of.errors_text()


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (
            {"url": "jdbc:nosuch://127.0.0.1/a"},
            ["no driver takes this URL", "org.postgresql.Driver", "--driver"],
        ),
        ({"url": f"jdbc:postgresql://{HOST}:1/shop"}, ["refused"]),
        (
            {"properties": {"user": "owner", "password": "wr0ng-pass"}},
            ["password authentication failed"],
        ),
        ({"setup": ["set nosuch.setting.at all"]}, ["syntax error"]),
        ({"socket": "/nowhere/bridge.sock"}, ["bridge", "its log has the cause"]),
    ],
)
def test_what_cannot_be_reached_is_told_without_the_password(server, through, said, message):
    address = address_of(server, through) | said
    with pytest.raises(BridgeError) as refused:
        Link.connect(address)
    with pytest.raises(_core.SessionOpenError) as too:
        over_jdbc(address, {"one": ["select 1"]})
    for text in map(str, (refused.value, too.value)):
        assert all(word in text for word in message), text
        assert PASSWORD not in text
        assert "wr0ng-pass" not in text


def test_rows_are_loaded_as_they_are_and_come_back_so(server, through):
    kinds = "w bigint, f float8, d decimal(15,2), day date, t timestamp, s text, b bytea, y boolean"
    count = 3000
    rows = pa.table(
        {
            "w": pa.array([None if n % 7 == 0 else n << 33 for n in range(count)]),
            "f": pa.array([n / 3 for n in range(count)]),
            "d": pa.array([Decimal(n - 1500) / 100 for n in range(count)], pa.decimal128(15, 2)),
            "day": pa.array(range(-1000, count - 1000), pa.int32()).cast(pa.date32()),
            "t": pa.array([n * 1_000_001 - 10**9 for n in range(count)]).cast(pa.timestamp("us")),
            "s": pa.array(["" if n % 5 == 0 else f"é {n}" for n in range(count)]),
            "b": pa.array([bytes((n % 256, 0)) for n in range(count)]),
            "y": pa.array([None if n % 3 == 0 else n % 2 == 0 for n in range(count)]),
        }
    )
    with Link.connect(address_of(server, through)) as link:
        link.run("create schema if not exists mine authorization owner")
        link.run(f"create table mine.loaded ({kinds})")
        insert = "insert into mine.loaded values (?, ?, ?, ?, ?, ?, ?, ?)"
        batches = [
            *rows.slice(0, 1001).to_batches(),
            *rows.slice(1001).to_batches(max_chunksize=77),
        ]
        reader = pa.RecordBatchReader.from_batches(rows.schema, batches)
        assert link.load(insert, reader, 2, at_once=100) == count
        back = link.ask("select * from mine.loaded order by day")
        assert back.cast(pa.schema(rows.schema)).equals(rows)
        assert link.text("select w, s from mine.loaded order by day limit 2") == [
            [None, ""],
            [str(1 << 33), "é 1"],
        ]
        assert link.ask("select s from mine.loaded where w = ?", [1 << 33]).to_pylist() == [
            {"s": "é 1"}
        ]
        again = pa.RecordBatchReader.from_batches(rows.schema, batches)
        with pytest.raises(BridgeError, match="contains null values") as refused:
            link.run("alter table mine.loaded alter w set not null")
        assert refused.value.sqlstate == "23502"
        link.run("drop schema mine cascade")
        with pytest.raises(BridgeError, match="does not exist"):
            link.load(insert, again, 2)


def test_a_statement_is_cancelled_from_another_thread(server, through):
    with Link.connect(address_of(server, through)) as link:
        canceller = threading.Thread(
            target=lambda: (wait_until(lambda: server.busy("%JDBC%"), ""), link.cancel())
        )
        canceller.start()
        with pytest.raises(BridgeError) as ended:
            link.run("select pg_sleep(600)")
        canceller.join()
        assert ended.value.sqlstate == "57014"
        assert link.ask("select 1 as n").to_pylist() == [{"n": 1}]
