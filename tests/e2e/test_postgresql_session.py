"""The driver's own connection to PostgreSQL: proofs, TLS, types, large results, lost lines."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import quote

import duckdb
import polars as pl
import pytest
from psycopg.conninfo import conninfo_to_dict

from assay import _core
from assay.engines.discovery import find_engines
from assay.model.script import Script, ScriptOperation, ScriptStatement
from tests.e2e.conftest import wait_until
from tests.e2e.server import DATABASE, HOST, PASSWORD, RunningServer, make_certificate

WRONG = "wr0ng-pass"
ONE = {"one": ["select 1 as n"]}


def script_of(operations: dict[str, list[str]], *, prepared: bool = False) -> str:
    asked = tuple(
        ScriptOperation(name, tuple(ScriptStatement(text) for text in statements))
        for name, statements in operations.items()
    )
    return json.dumps(Script(asked, prepared).facts())


def opened(dsn: str, operations: dict[str, list[str]] | None = None) -> _core.PostgresSession:
    return _core.PostgresSession(dsn, script_of(operations or ONE), 1, 0)


@dataclass
class Played:
    """What came of a drive."""

    report: dict[str, Any]
    raw: Path

    def table(self, stream: str) -> pl.DataFrame:
        return pl.read_ipc_stream(self.raw / f"{stream}.arrows")

    @property
    def events(self) -> pl.DataFrame:
        return self.table("events").with_columns(
            pl.col("operation", "outcome", "error").cast(pl.String)
        )

    def kept(self, operation: str) -> pl.DataFrame:
        (file,) = (self.raw / "results").glob(f"{operation}-*.arrow")
        return pl.read_ipc(file)

    def errors_text(self) -> str:
        return json.dumps(self.report["errors"])


def played(
    raw: Path,
    sessions: list[Any],
    operations: dict[str, list[str]],
    tick=None,
    cancel: _core.CancelFlag | None = None,
    **plan: Any,
) -> Played:
    """Plays every operation once in its order, or as `phase` says."""
    (raw / "results").mkdir(parents=True)
    phase = {
        "name": "measured",
        "arrival": {"shape": "power"},
        "operations": list(range(len(operations))),
    } | plan.pop("phase", {})
    whole = {"operations": list(operations), "phases": [phase], "seed": 1, **plan}
    flag, tick = cancel or _core.CancelFlag(), tick or (lambda *_: None)
    report = _core.drive(json.dumps(whole), sessions, raw, flag, tick)
    return Played(json.loads(report), raw)


def asked(server: RunningServer, raw: Path, *statements: str, **plan: Any) -> Played:
    """Plays one operation of some statements once."""
    operations = {"asked": list(statements)}
    return played(raw, [opened(server.dsn(), operations)], operations, **plan)


# Who asks, and how they prove it.


@pytest.mark.parametrize("role", ["owner", "old", "plain"])
def test_a_password_is_proved_in_each_way_that_a_server_asks_for(server, role):
    opened(server.dsn(role))


@pytest.mark.parametrize("role", ["owner", "old", "plain"])
def test_a_wrong_password_is_told_without_it(server, role):
    with pytest.raises(_core.SessionOpenError) as refused:
        opened(server.dsn(role, password=WRONG))
    assert "the password is wrong" in str(refused.value)
    assert "PGPASSWORD" in str(refused.value)
    assert WRONG not in str(refused.value)


@pytest.mark.parametrize("role", ["owner", "old", "plain"])
def test_no_password_names_the_places_where_one_is_looked_for(server, role, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(_core.SessionOpenError, match="asks for a password, and none is known"):
        opened(server.dsn(role, password=None))


def test_one_who_is_trusted_needs_no_password(server):
    opened(server.dsn("trusted", password=None))


def test_one_who_is_not_let_in_is_told_where_that_is_said(server):
    with pytest.raises(_core.SessionOpenError) as refused:
        opened(server.dsn("banned"))
    assert "pg_hba.conf" in str(refused.value)
    assert PASSWORD not in str(refused.value)


def test_a_url_says_all_that_keywords_say(server):
    who = f"owner:{quote(PASSWORD, safe='')}@{HOST}:{server.port}"
    opened(f"postgresql://{who}/{DATABASE}?application_name=url%20of%20mine")


def test_the_environment_says_what_the_text_does_not(server, monkeypatch):
    address = conninfo_to_dict(server.dsn())
    names = {"dbname": "PGDATABASE"}
    for keyword, value in address.items():
        monkeypatch.setenv(names.get(keyword, f"PG{keyword.upper()}"), str(value))
    opened("")


def test_a_password_file_is_read_if_only_its_owner_reads_it(server, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    file = tmp_path / ".pgpass"
    escaped = PASSWORD.replace("\\", "\\\\").replace(":", "\\:")
    file.write_text(f"# mine\nelsewhere:*:*:*:no\n{HOST}:*:{DATABASE}:owner:{escaped}\n")
    file.chmod(0o600)
    opened(server.dsn(password=None))
    file.chmod(0o644)
    with pytest.raises(_core.SessionOpenError, match="none is known"):
        opened(server.dsn(password=None))


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"dbname": "shpo"}, ["shpo", "create the database, or name another one"]),
        ({"user": "nobody-here"}, ["password"]),
        ({"port": 1}, ["no server at 127.0.0.1:1", "is it running"]),
        ({"host": "/nowhere"}, ["no server at /nowhere", "is it running"]),
    ],
)
def test_what_is_not_there_is_named(server, said, message):
    with pytest.raises(_core.SessionOpenError) as refused:
        opened(server.dsn(**said))
    assert all(word in str(refused.value) for word in message), str(refused.value)
    assert PASSWORD not in str(refused.value)


@pytest.mark.parametrize(
    ("dsn", "message"),
    [
        ("hots=127.0.0.1", ["hots", "known are"]),
        ("host=127.0.0.1 port=http", ["http", "1 to 65535"]),
        ("host=127.0.0.1 port=70000", ["70000", "1 to 65535"]),
        ("postgresql://me:se%zz@127.0.0.1/db", ["hexadecimal"]),
        ("127.0.0.1", ["neither a URL"]),
        ("host=127.0.0.1 sslmode=maybe", ["maybe", "verify-full"]),
    ],
)
def test_a_description_that_cannot_be_read_says_what_is_wrong(dsn, message):
    with pytest.raises(_core.SessionOpenError) as refused:
        opened(dsn)
    assert all(word in str(refused.value) for word in message), str(refused.value)
    assert "se%zz" not in str(refused.value)


# TLS.


@pytest.fixture
def certificate(server):
    if server.certificate is None:
        pytest.skip("needs Maven, which brings a build with TLS, and openssl")
    return server.certificate


ENCRYPTED = "select ssl from pg_stat_ssl where pid = pg_backend_pid()"


def _is_encrypted(server: RunningServer, raw: Path, **said: Any) -> bool:
    operations = {"asked": [ENCRYPTED]}
    of = played(raw, [opened(server.dsn(**said), operations)], operations)
    return of.kept("asked").item()


@pytest.mark.parametrize(
    ("mode", "encrypted"), [("disable", False), ("prefer", True), ("require", True)]
)
def test_the_line_is_closed_as_the_mode_asks(server, certificate, tmp_path, mode, encrypted):
    assert _is_encrypted(server, tmp_path, sslmode=mode) is encrypted


@pytest.mark.parametrize("mode", ["verify-ca", "verify-full"])
def test_a_certificate_that_is_trusted_is_taken(server, certificate, tmp_path, mode):
    assert _is_encrypted(server, tmp_path, sslmode=mode, sslrootcert=certificate)


@pytest.mark.parametrize("mode", ["verify-ca", "verify-full"])
def test_a_certificate_of_a_stranger_is_refused(server, certificate, tmp_path, mode):
    strange = make_certificate(tmp_path, "strange")
    with pytest.raises(_core.SessionOpenError) as refused:
        opened(server.dsn(sslmode=mode, sslrootcert=strange))
    assert "TLS with 127.0.0.1" in str(refused.value)
    assert "certificate" in str(refused.value)
    assert PASSWORD not in str(refused.value)


def test_a_root_that_cannot_be_read_is_named(server, certificate, tmp_path):
    with pytest.raises(_core.SessionOpenError, match=r"nosuch\.crt"):
        opened(server.dsn(sslmode="verify-ca", sslrootcert=tmp_path / "nosuch.crt"))


def test_a_request_to_cancel_goes_over_tls_too(server, certificate, tmp_path):
    operations = {"asked": ["select pg_sleep(600)"]}
    session = opened(server.dsn(sslmode="require"), operations)
    of = played(tmp_path, [session], operations, operation_deadline_ns=100_000_000)
    assert of.events["error"].to_list() == ["deadline"]
    wait_until(lambda: not server.busy(), "the statement goes on")


# Errors that pass.


@pytest.fixture
def taken(server):
    """A table whose one key is taken."""
    server.asked("create table taken (id int primary key)")
    server.asked("insert into taken values (1)")
    server.asked("grant insert on taken to owner")
    yield "insert into taken values (1)"
    server.asked("drop table taken")


@pytest.mark.parametrize(("passing", "retries"), [((), 0), (("23505",), 3)])
def test_a_key_that_is_taken_is_tried_again_on_an_engine_that_needs_it_only(
    server, tmp_path, taken, passing, retries
):
    operations = {"taken": [taken]}
    session = _core.PostgresSession(server.dsn(), script_of(operations), 1, 0, passing)
    events = played(tmp_path, [session], operations, retries_max=3).events
    assert events["error"].to_list() == ["23505"]
    assert events["retries"].to_list() == [retries]


def test_a_program_never_makes_a_key_twice_so_that_one_that_is_taken_is_no_accident(
    server, tmp_path, taken
):
    texts = {"begin": "begin", "district": taken, "low_stock": "select 1", "commit": "commit"}
    statements = tuple(ScriptStatement(text, name=name) for name, text in texts.items())
    operation = ScriptOperation("taken", statements, program="tpcc.stock-level")
    script = json.dumps(Script((operation,), parameters={"warehouses": 1}).facts())
    session = _core.PostgresSession(server.dsn(), script, 1, 0, ("23505",))
    events = played(tmp_path, [session], {"taken": []}, retries_max=3).events
    assert events["error"].to_list() == ["23505"]
    assert events["retries"].to_list() == [0]


def test_the_one_engine_that_needs_it_says_so():
    needing = {
        folder.facts.name for folder in find_engines().values() if folder.facts.passing_errors
    }
    assert needing == {"postgresql"}


# Values: what was fetched is what was kept, and is digested as any engine's rows.

SAME = """
select * from (values
  (1::smallint, 2::integer, 3::bigint, 1.5::real, 2.25::double precision, 'text'::text, true,
   date '2024-02-29', timestamp '2024-02-29 12:34:56.789012', 12.50::decimal(12, 2)),
  (-1::smallint, -2::integer, '-9223372036854775808'::bigint, -0.1::real, 1e300::double precision,
   'ä€😀''"', false, date '1969-12-31', timestamp '1900-01-01 00:00:00', -0.05::decimal(12, 2)),
  (null, null, null, null, null, null, null, null, null, null)
) as t (small, whole, big, single, double, words, truth, day, moment, price)
"""
SAME_ROWS = [
    (
        1, 2, 3, 1.5, 2.25, "text", True,
        date(2024, 2, 29), datetime.fromisoformat("2024-02-29 12:34:56.789012"), Decimal("12.50"),
    ),
    (
        -1, -2, -(2**63), pytest.approx(-0.1), 1e300, "ä€😀'\"", False,
        date(1969, 12, 31), datetime.fromisoformat("1900-01-01"), Decimal("-0.05"),
    ),
    (None,) * 10,
]  # fmt: skip


class DuckDbSession:
    """Rows of DuckDB by the Arrow stream, as its engine hands them out."""

    def execute(self, operation: int, values: list[str]) -> Any:
        with duckdb.connect() as connection:
            return connection.sql(SAME).to_arrow_table()

    def interrupt(self) -> None:
        raise AssertionError("nothing is to be interrupted")


def test_values_are_kept_as_the_server_has_them(server, tmp_path):
    of = asked(server, tmp_path, SAME)
    assert of.events["outcome"].to_list() == ["ok"], of.errors_text()
    rows = of.kept("asked").rows()
    price = [row[-1] for row in rows]
    assert [row[:-1] for row in rows] == [row[:-1] for row in SAME_ROWS]
    assert [None if it is None else Decimal(it) for it in price] == [row[-1] for row in SAME_ROWS]


def test_the_same_rows_have_the_same_digest_on_another_engine(server, tmp_path):
    ours = asked(server, tmp_path / "postgresql", SAME).events["digest"]
    script = script_of({"asked": [SAME]})
    session = _core.PythonSession(DuckDbSession(), script, 1, 0)
    of = played(tmp_path / "duckdb", [session], {"asked": [SAME]})
    assert of.events["outcome"].to_list() == ["ok"], of.errors_text()
    assert ours.to_list() == of.events["digest"].to_list()


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("'NaN'::numeric", "NaN"),
        ("'Infinity'::numeric", "inf"),
        ("(repeat('9', 100) || '.' || repeat('1', 30))::numeric", "9" * 100 + "." + "1" * 30),
        ("1e-20::numeric", Decimal("1e-20")),
        ("10000000::numeric", Decimal(10_000_000)),
        ("-0.00010::numeric", Decimal("-0.0001")),
        ("'NaN'::float8", "nan"),
        ("'-Infinity'::float8", float("-inf")),
        ("'\\x00ff10'::bytea", b"\x00\xff\x10"),
        ("''::text", ""),
        ("""'{"a": [1, null]}'::json""", '{"a": [1, null]}'),
        ("""'{"b": 1,  "a": 2}'::jsonb""", '{"a": 2, "b": 1}'),
        ("array[1, 2, null]", "{1,2,NULL}"),
        ("array['a', 'b \"c\"']", '{a,"b \\"c\\""}'),
        ("'2024-01-01 02:00:00+02'::timestamptz", datetime.fromisoformat("2024-01-01")),
        ("'00000000-0000-0000-0000-00000000000a'::uuid", "00000000-0000-0000-0000-00000000000a"),
        ("interval '1 day 2 hours'", "1 day 02:00:00"),
        ("'10.0.0.1/8'::inet", "10.0.0.1/8"),
        ("time '12:34:56'", "12:34:56"),
        ("row(1, 'a')", "(1,a)"),
    ],
)
def test_each_type_is_fetched_and_kept(server, tmp_path, expression, value):
    of = asked(server, tmp_path, f"select {expression} as it")
    assert of.events["outcome"].to_list() == ["ok"], of.errors_text()
    kept = of.kept("asked")["it"][0]
    assert str(kept) == str(value)


def test_a_result_of_seventy_megabytes_is_digested_whole(server, tmp_path):
    text = "select n, repeat(md5(n::text), 32) as filler from generate_series(1, 70000) as n"
    of = asked(server, tmp_path, text)
    (event,) = of.events.rows(named=True)
    assert (event["outcome"], event["rows"]) == ("ok", 70_000)
    again = asked(server, tmp_path / "again", text).events["digest"]
    assert again.to_list() == [event["digest"]]
    assert not list((tmp_path / "results").glob("*.arrow"))


# What goes wrong.


def test_a_wrong_number_of_values_is_an_error(server, tmp_path):
    of = asked(server, tmp_path, "select $1::int")
    assert of.events["outcome"].to_list() == ["failed"]
    assert "value" in of.errors_text()


def test_an_error_within_a_transaction_is_rolled_back(server, tmp_path):
    server.asked("create table if not exists kept (n integer)")
    server.asked("grant all on kept to owner")
    operations = {
        "broken": ["begin", "insert into kept values (1)", "select 1 / 0", "commit"],
        "open": ["begin", "insert into kept values (2)"],
        "whole": ["begin", "insert into kept values (3)", "commit"],
        "count": ["select n from kept"],
    }
    of = played(tmp_path, [opened(server.dsn(), operations)], operations)
    assert of.events["outcome"].to_list() == ["failed", "failed", "ok", "ok"]
    assert of.events["error"].to_list() == ["22012", "open_transaction", None, None]
    assert of.kept("count").rows() == [(3,)]
    server.asked("drop table kept")


def test_a_value_that_cannot_be_bound_costs_its_operation_and_nothing_else(server, tmp_path):
    """Half a request that stayed in the buffer would cost the next operation its connection."""
    too_large = {"text": "select $1::integer as n", "values": [0]}
    wide = {
        "name": "wide",
        "draws": [{"name": "key", "integer": [2**31, 2**31]}],
        "statements": [
            {"text": "begin"},
            {"text": "select pg_current_xact_id()"},
            too_large,
            {"text": "commit"},
        ],
    }
    state = "select pg_current_xact_id_if_assigned() is null as is_none"
    after = {"name": "after", "statements": [{"text": state}]}
    script = json.dumps({"operations": [wide, after], "prepared": True})
    session = _core.PostgresSession(server.dsn(), script, 1, 0)
    of = played(tmp_path, [session], {"wide": [], "after": []})
    assert of.events["outcome"].to_list() == ["failed", "ok"]
    assert "parameter key: 2147483648 does not fit integer" in of.errors_text()
    # A transaction that was left open would still have its number.
    assert of.kept("after").rows() == [(True,)]
    assert of.table("backends").height == 1


def test_an_operation_cannot_copy_to_the_client(server, tmp_path):
    of = asked(server, tmp_path, "copy (select 1) to stdout")
    assert of.events["outcome"].to_list() == ["failed"]
    assert "cannot copy to the client" in of.errors_text()


def test_a_terminated_session_fails_once_and_connects_anew(server, tmp_path):
    operations = {"before": ["select 1"], "cut": ["select pg_terminate_backend(pg_backend_pid())"]}
    operations |= {"after": ["select 2"], "later": ["select 3"]}
    of = played(tmp_path, [opened(server.dsn(), operations)], operations)
    assert of.events["outcome"].to_list() == ["ok", "failed", "ok", "ok"]
    assert of.events["error"].to_list()[1] == "57P01"
    backends = of.table("backends")
    assert backends["session"].to_list() == [0, 0]
    assert backends["backend_pid"].n_unique() == 2


@pytest.mark.parametrize("together", [1, 8])
def test_a_crew_does_what_single_sessions_do(server, tmp_path, together):
    operations = {
        "rows": ["select n, n * n as square from generate_series(1, 500) as n"],
        "wrong": ["select 1 / 0"],
        "several": ["begin", "select 1", "commit"],
    }
    clients = 8
    sessions = [
        _core.PostgresSession(server.dsn(), script_of(operations, prepared=True), 1, number)
        for number in range(clients)
    ]
    arrival = {"shape": "closed", "clients": clients}
    of = played(
        tmp_path,
        sessions,
        operations,
        phase={"arrival": arrival, "operations_max": 400, "duration_ns": 600 * 10**9},
        sessions_per_worker=together,
    )
    assert of.report["ended"] == "done"
    events = of.events
    assert events.height == 400
    seen = events.select("operation", "outcome", "error", "rows", "digest").unique()
    assert seen.height == 3
    by_operation = {row["operation"]: row for row in seen.rows(named=True)}
    assert by_operation["rows"]["rows"] == 500
    assert by_operation["wrong"]["error"] == "22012"
    assert (by_operation["several"]["outcome"], by_operation["several"]["rows"]) == ("ok", 1)
    assert of.kept("rows").rows()[-1] == (500, 250_000)
    assert of.table("backends")["backend_pid"].n_unique() == clients


# Statements that go together.


def pipelined(
    server: RunningServer, raw: Path, operations: dict[str, list[str]], *, together: bool, **plan
) -> Played:
    script = json.loads(script_of(operations, prepared=plan.pop("prepared", True)))
    session = _core.PostgresSession(
        server.dsn(), json.dumps(script | {"pipelined": together}), 1, 0
    )
    return played(raw, [session], operations, phase={"passes_min": 2}, **plan)


@pytest.mark.parametrize("prepared", [True, False])
def test_pipelined_statements_have_the_same_answers(server, tmp_path, prepared):
    several = ["begin", "select 1 as n", "select n from generate_series(1, 700) as n", "commit"]
    operations = {"several": several, "one": ["select 7 as seven"]}
    answers = {}
    for together in (True, False):
        of = pipelined(
            server, tmp_path / str(together), operations, together=together, prepared=prepared
        )
        assert of.events["outcome"].to_list() == ["ok"] * 4
        answers[together] = of.events.select("operation", "rows", "digest")
        statements = of.table("statements")
        assert statements["rows"].to_list() == [0, 1, 700, 0] * 2
        assert (statements["finished_ns"] >= statements["started_ns"]).all()
        assert of.kept("several")["n"].sum() == 700 * 701 / 2
    assert answers[True].equals(answers[False])


@pytest.mark.parametrize("together", [True, False])
def test_pipelined_statements_are_one_request(server, tmp_path, together):
    """Statements without a transaction of their own share one if they share a request."""
    note = "select 1 from set_config('assay.noted', pg_current_xact_id()::text, false)"
    same = "select current_setting('assay.noted') = pg_current_xact_id()::text as same"
    of = pipelined(server, tmp_path, {"two": [note, same]}, together=together)
    kept = [pl.read_ipc(file)["same"].item() for file in (tmp_path / "results").glob("*.arrow")]
    # What is not described yet is sent alone.
    assert sorted(kept) == ([False, True] if together else [False])
    assert of.events["rows"].to_list() == [2, 2]


def test_what_comes_after_an_error_in_a_pipeline_has_no_effect(server, tmp_path):
    server.asked("create table if not exists piped (n integer)")
    server.asked("grant all on piped to owner")
    operations = {
        "broken": ["begin", "insert into piped values (1)", "select 1 / 0", "commit"],
        "whole": ["begin", "insert into piped values (3)", "commit"],
        "count": ["select n from piped"],
    }
    of = pipelined(server, tmp_path, operations, together=True)
    assert of.events["outcome"].to_list() == ["failed", "ok", "ok"] * 2
    assert set(of.events["error"].drop_nulls()) == {"22012"}
    assert of.events.filter(operation="count")["rows"].to_list() == [1, 2]
    assert set(of.table("statements")["operation"].cast(pl.String)) == {"whole"}
    server.asked("drop table piped")
