"""A running server that others drive, observed: statements, causes, and nothing that is changed."""

from __future__ import annotations

import json
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pymysql
import pytest
from psycopg.conninfo import make_conninfo

from assay.record.reader import Run
from tests.e2e.conftest import PATIENCE_S, Lab, reachable_directory, wait_until
from tests.e2e.server import HOST, RunningServer
from tests.family import Started

COUNTED, UNCOUNTED = "watched", "unwatched"
ROWS, CUSTOMERS = 40_000, 400
LOOK = ["--time", "5s", "--no-page"]
TABLES = (
    "create table orders as select n as id, n % 400 as customer from generate_series(1, 40000) n",
    "create table accounts as select n as id, 0 as balance from generate_series(1, 50) as n",
    "alter table accounts add primary key (id)",
    "analyze",
)
ORDERS = "create table orders (id int auto_increment primary key, customer int, note text)"
NOTES = "create view notes as select id, note from orders"
# The server's list of sessions truncates it within its constant.
LONG_NOTE = "-- the customer's words\nselect count(*) from notes where note = '{}'".format(
    "word " * 400
)
ORDER = "insert into orders (customer, note) values (%s, %s)"


@contextmanager
def others(*loops: Callable[[threading.Event], None]) -> Iterator[None]:
    """Other people's sessions at work while the block lasts."""
    ended = threading.Event()
    threads = [threading.Thread(target=loop, args=(ended,), daemon=True) for loop in loops]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        for thread in threads:
            thread.join(PATIENCE_S)


def reader(dsn: str) -> Callable[[threading.Event], None]:
    """Reads one customer's orders again and again, without an index."""

    def loop(ended: threading.Event) -> None:
        with psycopg.connect(dsn, autocommit=True, application_name="shop") as connection:
            number = 0
            while not ended.wait(0.005):
                number += 1
                asked = "select id from orders where customer = %s"
                connection.execute(asked, [number % CUSTOMERS]).fetchall()

    return loop


def holder(dsn: str) -> Callable[[threading.Event], None]:
    """Locks a row and does something else."""

    def loop(ended: threading.Event) -> None:
        with psycopg.connect(dsn, application_name="forgotten") as connection:
            connection.execute("update accounts set balance = 1 where id = 7")
            ended.wait()
            connection.rollback()

    return loop


def waiter(dsn: str) -> Callable[[threading.Event], None]:
    """Wants that row."""

    def loop(ended: threading.Event) -> None:
        ended.wait(0.5)
        with psycopg.connect(dsn, autocommit=True, application_name="shop") as connection:
            connection.execute("update accounts set balance = balance + 1 where id = 7")

    return loop


@pytest.fixture(scope="module")
def databases(server: RunningServer) -> Iterator[dict[str, str]]:
    """Two databases of the server, of which one has the extension, by name."""
    made = {}
    for name in (COUNTED, UNCOUNTED):
        server.asked(f"create database {name}", database="postgres")
        for statement in TABLES:
            server.asked(statement, database=name)
        made[name] = make_conninfo(server.administration, dbname=name)
    server.asked("create extension pg_stat_statements", database=COUNTED)
    yield made
    for name in made:
        server.asked(f"drop database {name} with (force)", database="postgres")


@pytest.fixture(scope="module")
def observed(server_place, databases) -> Iterator[tuple[Lab, dict[str, Any]]]:
    """One observation of all that others do, that several tests look at."""
    from tests.e2e.conftest import server_laboratory

    dsn = databases[COUNTED]
    with server_laboratory(server_place) as lab:
        with others(reader(dsn), holder(dsn), waiter(dsn)):
            time.sleep(1.0)
            told = lab.document("observe", "--engine", "postgresql", "--dsn", dsn, *LOOK)
        yield lab, told


def findings(told: dict[str, Any], method: str) -> list[dict[str, Any]]:
    return [finding for finding in told["findings"] if finding["method"] == method]


def operation(told: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = (one for one in told["operations"] if one["name"] == name)
    return found


def test_statements_are_told_with_calls_and_causes(observed) -> None:
    _, told = observed
    assert told["observed"]["source"] == "pg_stat_statements"
    read, wait = operation(told, "select-orders"), operation(told, "update-accounts")
    assert read["rows"] == ROWS // CUSTOMERS
    assert read["throughput_per_s"] > 1
    assert read["seconds"] > 0
    # One session waited all the time, and its statement never ended.
    assert wait["seconds"] is None
    assert wait["where"]["lock"] > 0.95
    waited = next(
        one for one in told["observed"]["statements"] if one["key"] and one["basis"] == "looks"
    )
    assert waited["seconds"] == pytest.approx(told["observed"]["window_s"], rel=0.1)


def test_both_causes_are_named(observed) -> None:
    _, told = observed
    (lock,) = findings(told, "lock-wait")
    assert "forgotten, idle in transaction" in lock["claim"]
    assert "accounts" in lock["claim"]
    for index in findings(told, "missing-index"):
        # Beside one that waits all the time, what a scan took may be too little to be said.
        assert '("customer")' in index["change"]["sql"]
        assert index["certainty"] == "seen"


def test_its_own_statements_are_not_among_them(observed) -> None:
    _, told = observed
    names = {one["name"] for one in told["operations"]}
    assert names == {"select-orders", "update-accounts"}


def test_the_record_is_sealed_and_says_what_it_cost(observed) -> None:
    lab, told = observed
    run = Run(Path(told["path"]))
    assert run.kind == "observed"
    assert run.complete
    assert run.broken_seals() == []
    assert told["probes"]["core_share"] < 0.05
    assert told["observed"]["own_cpu_share"] < 0.05
    assert all(probe["error"] is None for probe in told["probes"]["each"].values())
    assert told["sessions"]["sessions"]
    lab.assert_nothing_left()


def test_nothing_was_changed_and_nobody_stayed(observed, server: RunningServer) -> None:
    assert (
        server.sessions("assay%") == []
        or wait_until(
            lambda: len(server.sessions("assay statements")) == 0, "a session of ours stayed"
        )
        is None
    )
    assert server.asked("select sum(balance) from accounts", database=COUNTED) <= [(1,)]


def test_it_is_explained_and_shown_again(observed) -> None:
    lab, told = observed
    explained = lab.assay("explain", told["run"])
    assert explained.returncode == 0, explained.stderr
    assert "forgotten" in explained.stdout
    one = lab.assay("explain", told["run"], "--operation", "select-orders")
    assert "Seq Scan" in one.stdout
    listed = lab.assay("runs")
    assert "Statements of others" in listed.stdout


def test_without_counts_it_is_told_by_looks(server_lab: Lab, databases) -> None:
    dsn = databases[UNCOUNTED]
    with others(reader(dsn), reader(dsn)):
        told = server_lab.document(
            "observe", "--engine", "postgresql", "--dsn", dsn, "--time", "4s", "--no-page"
        )
    assert told["observed"]["source"] is None
    (mend,) = (one for one in told["observed"]["limits"] if "create extension" in one)
    assert UNCOUNTED in mend
    read = operation(told, "select-orders")
    assert read["seconds"] is None
    assert read["share"] > 0.9
    # Another session of the server was never asked to make the extension.
    assert told["plans"]["select-orders"]


def test_a_role_that_sees_nothing_is_told_so(
    server_lab: Lab, server: RunningServer, databases
) -> None:
    server_lab.extra_env["PGPASSWORD"] = ""
    dsn = server.dsn("trusted", dbname=COUNTED)
    with others(reader(databases[COUNTED])):
        told = server_lab.document(
            "observe", "--engine", "postgresql", "--dsn", dsn, "--time", "2s", "--no-page"
        )
    assert any("grant pg_monitor to trusted" in one for one in told["observed"]["limits"])
    assert {one["name"] for one in told["operations"]} <= {"hidden"}


def test_ctrl_c_ends_it_within_a_second_with_a_whole_record(server_lab: Lab, databases) -> None:
    dsn = databases[COUNTED]
    started = server_lab.begin(
        "observe", "--engine", "postgresql", "--dsn", dsn, "--until-stopped", "--no-page"
    )

    def looks() -> bool:
        assert started.poll() is None, started.communicate()
        return bool(server_lab.runs.exists() and list(server_lab.runs.glob("*/raw/looks.arrows")))

    wait_until(looks, "it did not begin to look")
    time.sleep(1.5)
    begun_s = time.monotonic()
    started.send_signal(signal.SIGINT)
    wait_until((server_lab.latest() / "SEAL").exists, "it was not sealed")
    took_s = time.monotonic() - begun_s
    _, errors = started.communicate(timeout=PATIENCE_S)
    assert started.returncode == 0, errors
    # Plans of statements are asked for meanwhile, on a machine that tests share.
    assert took_s < 3.0
    facts = json.loads((server_lab.latest() / "run.json").read_text())
    assert facts["status"] == "complete"
    assert facts["observed"]["stopped"]
    assert Run(server_lab.latest()).broken_seals() == []
    server_lab.assert_nothing_left()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--engine", "postgresql", "--dsn", f"host={HOST} port=1 user=x"], "nothing listens"),
        (["--dsn", f"mysql://x@{HOST}:1/x"], "nothing listens"),
        (["--dsn", "sqlite:shop.db", "--engine", "sqlite"], "cannot be observed"),
    ],
)
def test_what_cannot_be_observed_leaves_no_record(lab: Lab, words: list[str], said: str) -> None:
    told = lab.assay("observe", *words, "--time", "1s")
    assert told.returncode == 1, told.stderr
    assert said in told.stderr
    assert len(told.stderr.strip().splitlines()) <= 2
    assert not lab.runs.exists() or not list(lab.runs.iterdir())


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("mysql", {"innodb_redo_log_capacity": "32M"}),
        # It counts no statements unless that is switched on.
        (
            "mariadb",
            {"performance_schema": "ON", "performance_schema_instrument": "statement/%=ON"},
        ),
    ],
)
def test_the_family_is_observed_by_its_digests(
    lab: Lab, name: str, settings: dict[str, str]
) -> None:
    with reachable_directory() as root:
        started = Started(root, name)
        with started.guardian:
            started.start({"innodb_buffer_pool_size": "64M", **settings})
            told = _of_mysql(started, lab)
    assert told["observed"]["source"] == "performance_schema"
    names = {one["name"]: one for one in told["operations"]}
    assert set(names) == {"select-orders", "select-notes", "commit", "begin", "insert-orders"}
    assert names["select-orders"]["throughput_per_s"] > 1
    (index,) = findings(told, "missing-index")
    assert "(`customer`)" in index["change"]["sql"]
    assert "on `assay`.`orders`" in " ".join(index["change"]["sql"].split())
    assert index["certainty"] == "seen"


def _of_mysql(started: Started, lab: Lab) -> dict[str, Any]:
    address = started.address
    given = {
        "host": HOST,
        "port": address["port"],
        "user": address["user"],
        "password": address["password"],
        "database": "assay",
    }
    rows = [(number % CUSTOMERS, "some words of a note") for number in range(ROWS)]
    with pymysql.connect(**given, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(ORDERS)
        cursor.execute(NOTES)
        cursor.executemany(ORDER, rows)
        cursor.execute("analyze table orders")

    def loop(ended: threading.Event) -> None:
        with pymysql.connect(**given) as connection, connection.cursor() as cursor:
            number = 0
            while not ended.wait(0.005):
                number += 1
                cursor.execute("begin")
                cursor.execute(ORDER, (-1, "new"))
                cursor.execute("commit")
                asked = "select id, note from orders where customer = %s"
                cursor.execute(asked, [number % CUSTOMERS])
                cursor.fetchall()
                cursor.execute(LONG_NOTE)
                cursor.fetchall()

    with others(loop):
        time.sleep(0.5)
        return lab.document("observe", "--dsn", started.dsn, *LOOK)
