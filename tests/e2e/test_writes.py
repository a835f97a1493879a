"""Tables that are not Assay's stay as they are: statements that write in disguise are refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import apsw
import duckdb
import psycopg
import pytest

from assay.engines.contract import EngineError, Place
from assay.engines.discovery import find_engine
from tests.disguised import DUCKDB, MARIADB, POSTGRESQL, SERVER, SQLITE, WORDS, Disguised
from tests.e2e.conftest import Lab, laboratory_in_memory
from tests.e2e.server import PASSWORD, RunningServer
from tests.e2e.test_jdbc import dsn_of
from tests.e2e.test_mariadb import Running, running  # noqa: F401 - a fixture
from tests.e2e.test_running_server import outcomes, url_of
from tests.jdbc import driver

BRIEF = ("--min-time", "10ms", "--no-plans", "--probes", "none")
MADE = """
create table ledger (id integer, paid integer);
insert into ledger select n, n from generate_series(1, 100) as n;
create sequence numbers;
create function paying() returns bigint language sql volatile security definer
  as 'insert into ledger values (0, 0) returning 1::bigint';
create procedure pay() language plpgsql security definer
  as 'begin insert into ledger values (0, 0); end';
create view payments as select paying() as n;
create function lying(n integer) returns integer language plpgsql immutable security definer
  as 'begin insert into ledger values (n, n); return n; end';
create function run(text) returns integer language plpgsql volatile security definer
  as 'begin execute $1; return 1; end';
grant all on ledger, payments to owner;
grant all on sequence numbers to owner;
grant create on schema public to owner
"""
GONE = """
drop view payments;
drop function paying(), lying(integer), run(text);
drop procedure pay();
drop table ledger;
drop sequence numbers;
revoke create on schema public from owner
"""
PAYING = "begin insert into shop.ledger values (0, 0); return 1; end"
PAY = "begin set session transaction read write; delete from shop.ledger; end"
STATE = (
    "select md5(string_agg(l::text, ',' order by id, paid)) from ledger as l",
    "select last_value, is_called from numbers",
    "select count(*) from pg_class where relnamespace = 'public'::regnamespace",
    "select count(*) from pg_largeobject_metadata",
    "select count(*) from pg_stat_activity where application_name = 'victim'",
    "select count(*) from pg_locks where locktype = 'advisory'",
)


def folder_of(place: Path, rows: Sequence[Disguised]) -> Path:
    """A folder with an operation for each statement."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    for number, row in enumerate(rows):
        (place / f"s{number:02}.sql").write_text(f"-- in disguise\n{row.text}\n")
    return place


def by(rows: Sequence[Disguised], refused_by: str) -> list[Disguised]:
    return [row for row in rows if row.refused_by == refused_by]


def assert_refused_by_words(
    lab: Lab, place: Path, rows: Sequence[Disguised], *arguments: str
) -> None:
    """One run with all of them is refused, with a line for each, before anything is played."""
    folder = folder_of(place / "words", by(rows, WORDS))
    before = len(list(lab.runs.iterdir())) if lab.runs.exists() else 0
    told = lab.assay("run", str(folder), *arguments, *BRIEF)
    assert told.returncode == 1, told.stderr
    for file in sorted(folder.iterdir()):
        assert f"{file}:2: " in told.stderr, (file.read_text(), told.stderr)
    assert "--allow-writes" in told.stderr
    assert "--roll-back" in told.stderr
    assert (len(list(lab.runs.iterdir())) if lab.runs.exists() else 0) == before


def assert_refused_by_server(
    lab: Lab, place: Path, rows: Sequence[Disguised], *arguments: str
) -> dict:
    folder = folder_of(place / "server", by(rows, SERVER))
    document = lab.document("run", str(folder), *arguments, *BRIEF, code=3)
    assert set(outcomes(document).values()) == {"failed"}
    run = json.loads((Path(document["path"]) / "run.json").read_text())
    assert run["writes"]["leave"] == "read only"
    assert run["writes"]["server_told"]
    return document


@pytest.fixture
def lab(server_place: Path) -> Iterator[Lab]:
    with laboratory_in_memory(server_place) as made:
        yield made
        made.close()
        made.assert_nothing_left()


@pytest.fixture
def ledger(server: RunningServer) -> Iterator[Callable[[], list[object]]]:
    """What is in the tables of the running server, to be compared."""
    for statement in MADE.split(";\n"):
        server.asked(statement)
    victim = psycopg.connect(server.dsn(application_name="victim"))
    try:
        yield lambda: [server.asked(text) for text in STATE]
    finally:
        victim.close()
        for statement in GONE.split(";\n"):
            server.asked(statement)


def test_postgresql_is_left_as_it_was(server, lab, ledger, tmp_path) -> None:
    before = ledger()
    assert_refused_by_words(lab, tmp_path, POSTGRESQL, "--dsn", url_of(server))
    document = assert_refused_by_server(lab, tmp_path, POSTGRESQL, "--dsn", url_of(server))
    assert ledger() == before
    errors = {operation["error"] for operation in document["operations"]}
    assert "25006" in errors
    assert not Path("/tmp/assay-was-here").exists()  # noqa: S108 - where one would have written


def test_postgresql_told_to_read_only_refuses_by_itself(server, ledger) -> None:
    engine = find_engine("postgresql").engine()
    before = ledger()
    for row in POSTGRESQL:
        if not row.server_alone:
            continue
        instance = engine.attach(engine.read_only(engine.address(url_of(server))))
        # Without values the library sends several statements as one text.
        with pytest.raises(psycopg.Error):
            instance.handle.execute(row.text)
        engine.detach(instance)
    assert ledger() == before


def test_what_is_rolled_back_leaves_the_tables_as_they_were(server, lab, ledger, tmp_path) -> None:
    before = ledger()
    writing = [
        Disguised("postgresql", "insert into ledger values (9, 9); select count(*) from ledger"),
        Disguised("postgresql", "select paying()"),
        Disguised("postgresql", "create table made (a int); select count(*) from made"),
    ]
    folder = folder_of(tmp_path / "rolled", writing)
    arguments = ("--dsn", url_of(server), "--roll-back")
    document = lab.document("run", str(folder), *arguments, "--min-time", "10ms")
    assert set(outcomes(document).values()) == {"ok"}
    assert document["conditions"]["writes"]["leave"] == "rolled back"
    run = json.loads((Path(document["path"]) / "run.json").read_text())
    assert run["plan"]["statements"][0][0] == "1 begin"
    assert run["plan"]["statements"][0][-1] == "4 rollback"
    assert ledger() == before
    folder_of(folder, [Disguised("postgresql", "vacuum ledger"), Disguised("", "commit")])
    told = lab.assay("run", str(folder), *arguments)
    assert told.returncode == 1
    assert "s00.sql:2: vacuum" in told.stderr
    assert "s01.sql:2: commit begins or ends a transaction" in told.stderr


def test_what_is_allowed_writes(server, lab, ledger, tmp_path) -> None:
    before = ledger()
    folder = folder_of(tmp_path / "allowed", [Disguised("", "insert into ledger values (9, 9)")])
    document = lab.document("run", str(folder), "--dsn", url_of(server), "--allow-writes", *BRIEF)
    assert outcomes(document) == {"s00": "ok"}
    assert document["conditions"]["writes"]["leave"] == "allowed"
    assert ledger() != before


def test_mariadb_is_left_as_it_was(lab, running: Running, tmp_path) -> None:  # noqa: F811
    for statement in (
        "create table shop.ledger as select seq as id, seq as paid from shop.seq_1_to_100",
        "alter table shop.ledger add primary key (id)",
        "create sequence shop.numbers",
        f"create function shop.paying() returns int modifies sql data {PAYING}",
        f"create procedure shop.pay() {PAY}",
    ):
        running.asked(statement)
    state = ("checksum table shop.ledger", "select * from shop.numbers", "show tables from shop")
    before = [running.asked(text) for text in (*state, "select @@global.max_connections")]
    assert_refused_by_words(lab, tmp_path, MARIADB, "--dsn", running.dsn())
    assert_refused_by_server(lab, tmp_path, MARIADB, "--dsn", running.dsn())
    engine = find_engine("mariadb").engine()
    for row in (row for row in MARIADB if row.server_alone):
        instance = engine.attach(engine.read_only(engine.address(running.dsn())))
        with pytest.raises(Exception, match="READ ONLY"), instance.handle.cursor() as cursor:
            cursor.execute(row.text)
        engine.detach(instance)
    folder = folder_of(
        tmp_path / "rolled",
        [Disguised("", "insert into ledger values (0, 9); select paying() + 1")],
    )
    (folder / "s00.sql").write_text("delete from ledger where id < 50; select paying()")
    rolled = lab.document("run", str(folder), "--dsn", running.dsn(), "--roll-back", *BRIEF)
    assert outcomes(rolled) == {"s00": "ok"}
    (folder / "s00.sql").write_text("create table made (a int)")
    told = lab.assay("run", str(folder), "--dsn", running.dsn(), "--roll-back")
    assert "create commits, or may commit" in told.stderr
    (folder / "s00.sql").write_text("select id,\n payd from ledger")
    (folder / "s01.sql").write_text("select id\nfrom ledger\nwhre id = 1")
    told = lab.assay("run", str(folder), "--dsn", running.dsn())
    assert told.returncode == 1
    assert "s00.sql:1: Unknown column 'payd'" in told.stderr
    assert 'the nearest name is "paid" of table ledger' in told.stderr
    assert "s01.sql:3: syntax error near 'id = 1'" in told.stderr
    after = [running.asked(text) for text in (*state, "select @@global.max_connections")]
    assert after == before


@contextmanager
def file_of(engine: str, place: Path) -> Iterator[Path]:
    """A database file of somebody's, with his own settings."""
    path = place / f"shop.{engine}"
    if engine == "sqlite":
        with apsw.Connection(str(path)) as connection:
            connection.execute("create table ledger (id int, paid int)")
            connection.execute("insert into ledger values (1, 1), (2, 2)")
        connection.close()
    else:
        with duckdb.connect(path) as opened:
            opened.execute("create table ledger (id int, paid int)")
            opened.execute("insert into ledger values (1, 1), (2, 2)")
            opened.execute("create sequence numbers")
    yield path


@pytest.mark.parametrize(("engine", "rows"), [("sqlite", SQLITE), ("duckdb", DUCKDB)])
def test_a_file_is_left_as_it_was(lab, tmp_path, engine: str, rows: list[Disguised]) -> None:
    with file_of(engine, tmp_path) as path:
        before = path.read_bytes()
        dsn = ("--dsn", f"{engine}:{path}")
        assert_refused_by_words(lab, tmp_path, rows, *dsn)
        behaviour = find_engine(engine).engine()
        place = Place(tmp_path, tmp_path, path, reads_only=True)
        for row in (row for row in rows if row.server_alone):
            instance = behaviour.start(place, {})
            connection = instance.handle.own if engine == "sqlite" else instance.handle
            with pytest.raises((apsw.ReadOnlyError, duckdb.Error)):
                connection.execute(row.text)
            behaviour.stop(instance)
        reading = folder_of(tmp_path / "reading", [Disguised("", "select count(*) from ledger")])
        document = lab.document("run", str(reading), *dsn, *BRIEF)
        assert outcomes(document) == {"s00": "ok"}
        assert document["conditions"]["writes"]["leave"] == "read only"
        writing = folder_of(
            tmp_path / "writing", [Disguised("", "insert into ledger values (9, 9)")]
        )
        rolled = lab.document("run", str(writing), *dsn, "--roll-back", *BRIEF)
        assert outcomes(rolled) == {"s00": "ok"}
        assert sorted(file.name for file in tmp_path.iterdir() if file.is_file()) == [path.name]
        if engine == "sqlite":
            assert path.read_bytes() == before
        else:
            with duckdb.connect(path) as opened:
                assert opened.execute("select sum(id) from ledger").fetchall() == [(3,)]


def test_a_file_that_is_not_there_and_tables_of_ours_are_refused(lab, tmp_path) -> None:
    told = lab.assay("run", "tpch", "--dsn", f"sqlite:{tmp_path}/none.db")
    assert "creates no tables in your database file" in told.stderr
    folder = folder_of(tmp_path / "one", [Disguised("", "select 1")])
    told = lab.assay("run", str(folder), "--dsn", f"duckdb:{tmp_path}/none.db")
    assert f"the file {tmp_path}/none.db does not exist" in told.stderr
    with pytest.raises(EngineError, match="the file /none does not exist"):
        find_engine("sqlite").engine().file("sqlite:///none")


def test_a_database_behind_jdbc_is_left_as_it_was(server, lab, ledger, tmp_path) -> None:
    before = ledger()
    jar = shutil.make_archive(str(tmp_path / "driver"), "zip", driver("postgresql"))
    lab.extra_env |= {"JDBC_USER": "owner", "JDBC_PASSWORD": PASSWORD}
    arguments = ("--dsn", dsn_of(server), "--driver", jar)
    assert_refused_by_words(lab, tmp_path, POSTGRESQL, *arguments)
    rows = [Disguised("jdbc", "select paying()", SERVER)]
    document = assert_refused_by_server(lab, tmp_path, rows, *arguments)
    assert document["operations"][0]["error"] == "25006"
    folder = folder_of(tmp_path / "rolled", [Disguised("", "insert into ledger values (9, 9)")])
    rolled = lab.document("run", str(folder), *arguments, "--roll-back", *BRIEF)
    assert outcomes(rolled) == {"s00": "ok"}
    (folder / "s00.sql").write_text("select id,\n payd from ledger")
    told = lab.assay("run", str(folder), *arguments)
    assert told.returncode == 1
    assert 's00.sql:2: column "payd" does not exist' in told.stderr
    assert ledger() == before
