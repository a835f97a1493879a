"""What clients did on a server, captured from its log and played again on a copy of its state."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import polars as pl
import psycopg
import pyarrow.parquet as pq
import pymysql
import pytest
from psycopg.conninfo import conninfo_to_dict

import assay
from assay.engines.contract import Place
from assay.engines.discovery import find_engine
from assay.record.reader import Run
from assay.running.processes.launcher import Guardian
from assay.running.server.serving import ServerLauncher
from assay.workloads.discovery import read_workload
from tests.e2e.conftest import Lab, reachable_directory
from tests.products import obtained

ROUNDS = 30
PAUSE_S = 0.01
# What clients wrote is written again.
UNOBSERVED = ["--no-plans", "--probes", "none", "--allow-writes"]
BRIEF = ["--time", "500ms", "--warmup", "0s", *UNOBSERVED]
POSTGRESQL = {
    "fsync": "off",
    "shared_buffers": "32MB",
    "logging_collector": "on",
    "log_destination": "csvlog,jsonlog",
    "log_directory": "log",
}
MARIADB = {"innodb_buffer_pool_size": "64M", "innodb_flush_log_at_trx_commit": "0"}
TABLES = (
    "create table accounts (id int primary key, balance numeric(12,2), name varchar(40))",
    "create table moves (account int, amount numeric(12,2), note varchar(40), at varchar(30))",
    "insert into accounts values (1, 10, 'Ada'), (2, 20, 'O''Neil'), (3, 30, null)",
)
STATE = (
    "select id, balance, name from accounts order by id",
    "select account, amount, note from moves order by 1, 2, 3",
)


@contextmanager
def served(engine_name: str, settings: dict[str, str]) -> Iterator[tuple[dict[str, Any], Path]]:
    """A server's address and its data directory."""
    engine = find_engine(engine_name).engine()
    product = obtained(engine_name)
    with reachable_directory() as folder, Guardian("captured", folder / "instances") as guardian:
        data = guardian.directory / "data"
        data.mkdir(mode=0o700)
        launcher = ServerLauncher(guardian, folder / "server.log")
        launcher.own(data)
        yield engine.start(product, Place(data, launcher.scratch), settings, launcher), data
        launcher.stop()


def work(ask: Callable[..., Any], number: int) -> None:
    """What one client does: a transaction, one that it takes back, and a statement."""
    account, amount = number % 3 + 1, number / 4
    ask("begin")
    ask(f"update accounts set balance = balance + {amount} where id = {account}")  # noqa: S608
    note = "it''s" if number % 2 else "\u00e4"
    ask(f"insert into moves values ({account}, {amount}, '{note}', '2024-02-29')")  # noqa: S608
    ask("commit" if number % 5 else "rollback")
    ask(f"select name from accounts where id = {account}")  # noqa: S608
    time.sleep(PAUSE_S)


def drive(connect: Callable[[], Any]) -> None:
    """Two clients at once; the second one prepares what it asks."""

    def client(first: int) -> None:
        with connect() as connection:
            cursor = connection.cursor()
            for number in range(first, ROUNDS, 2):
                work(cursor.execute, number)
                values = (number % 3 + 1, None if number % 3 else "x")
                cursor.execute("select balance from accounts where id = %s or name = %s", values)

    clients = [threading.Thread(target=client, args=(first,)) for first in (0, 1)]
    for thread in clients:
        thread.start()
    for thread in clients:
        thread.join()


def assert_was_replayed(lab: Lab, folder: Path, engine: str, dsn: str) -> None:
    """Each execution became due when it was recorded; shares and values are those of the log."""
    told = lab.document(
        "run", str(folder), "--engine", engine, "--dsn", dsn, "--as-recorded", *UNOBSERVED
    )
    assert {operation["outcome"] for operation in told["operations"]} == {"ok"}
    assert told["conditions"]["as_recorded"] == 1.0
    workload = read_workload(folder)
    schedule = pq.read_table(folder / "schedule.parquet")
    events = Run(Path(told["path"])).table("events").sort("scheduled_ns")
    due = events["scheduled_ns"] - events["scheduled_ns"].min()
    assert due.to_list() == schedule["at_ns"].to_pylist()
    counts = dict(events["operation"].value_counts().iter_rows())
    assert counts == workload.weights
    assert (events["started_ns"] >= events["scheduled_ns"]).all()


@pytest.fixture(scope="module")
def postgresql() -> Iterator[dict[str, Any]]:
    """A server on which clients worked, a copy of its state before, and its logs."""
    with (
        served("postgresql", POSTGRESQL) as (address, data),
        psycopg.connect(address["dsn"], autocommit=True) as connection,
    ):
        connection.execute("create database shop")
        with psycopg.connect(address["dsn"] + " dbname=shop", autocommit=True) as shop:
            for text in TABLES:
                shop.execute(text)
        connection.execute("create database copy template shop")
        # What made the tables is not in the log.
        connection.execute("alter system set log_statement = 'all'")
        connection.execute("select pg_reload_conf()")
        time.sleep(0.5)
        drive(lambda: psycopg.connect(address["dsn"] + " dbname=shop", autocommit=True))
        said = conninfo_to_dict(address["dsn_tcp"])
        time.sleep(0.5)
        yield {
            "logs": {
                ending: sorted((data / "cluster" / "log").glob(f"*.{ending}"))
                for ending in ("csv", "json")
            },
            "dsn": f"postgresql://{said['user']}:{said['password']}@{said['host']}:"
            f"{said['port']}/copy",
            "state": lambda database: states(partial(rows_of, address["dsn"], database)),
        }


def rows_of(dsn: str, database: str, text: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(f"{dsn} dbname={database}") as connection:
        return connection.execute(text).fetchall()


def states(rows: Callable[[str], Any]) -> list[list[tuple[Any, ...]]]:
    return [[tuple(row) for row in rows(text)] for text in STATE]


def test_a_log_of_postgresql_is_played_again_as_it_was(postgresql, server_lab, tmp_path) -> None:
    folders = [tmp_path / ending for ending in ("csv", "json")]
    for folder in folders:
        told = assay.capture(
            log=postgresql["logs"][folder.name], database="shop", out=folder, time="1h"
        )
        assert (told.transactions, told.clients) == (ROUNDS, 2)
        assert told.executions == 3 * ROUNDS
    for name in ("accounts", "moves"):
        texts = [
            sorted(
                file.read_text() for file in (folder / "operations").iterdir() if name in file.name
            )
            for folder in folders
        ]
        assert texts[0] == texts[1]
    assert postgresql["state"]("copy") != postgresql["state"]("shop")
    assert_was_replayed(server_lab, folders[0], "postgresql", postgresql["dsn"])
    assert postgresql["state"]("copy") == postgresql["state"]("shop")


def test_counts_of_a_running_server_become_a_mix(postgresql, server_lab, tmp_path) -> None:
    dsn = postgresql["dsn"]
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("create extension if not exists pg_stat_statements")
    over = threading.Event()

    def client() -> None:
        with psycopg.connect(dsn, autocommit=True) as connection:
            while not over.is_set():
                for number in (1, 2, 3):
                    connection.execute(f"select name from accounts where id = {number}")  # noqa: S608
                    # A session shows its last statement.
                    time.sleep(PAUSE_S)
                    connection.execute("select balance from accounts where id = %s", (number,))
                    time.sleep(PAUSE_S)

    thread = threading.Thread(target=client)
    thread.start()
    try:
        told = assay.capture(dsn=dsn, time="1500ms", out=tmp_path / "counted")
    finally:
        over.set()
        thread.join()
    assert (told.operations, told.timed) == (2, False)
    refused = server_lab.assay("run", str(tmp_path / "counted"), "--dsn", dsn)
    assert refused.returncode == 1
    assert "has no values yet: write values into" in refused.stderr
    manifest = tmp_path / "counted" / "workload.toml"
    workload = read_workload(tmp_path / "counted")
    (known,) = [name for name, facts in workload.facts.operations.items() if facts.values]
    (unknown,) = set(workload.facts.order) - {known}
    values = pq.read_table(tmp_path / "counted" / "values" / f"{known}.parquet")
    assert set(values["p1"].to_pylist()) <= {1, 2, 3}
    counts = workload.weights
    assert abs(counts[known] - counts[unknown]) <= 1
    manifest.write_text(manifest.read_text().replace("choice = []", "integer = [1, 3]"))
    told = server_lab.document("run", str(tmp_path / "counted"), "--dsn", dsn, *BRIEF)
    assert {operation["outcome"] for operation in told["operations"]} == {"ok"}


def test_logs_of_mariadb_are_played_again_as_they_were(server_lab: Lab, tmp_path: Path) -> None:
    with served("mariadb", MARIADB) as (address, data):
        given = {"host": "127.0.0.1", "port": address["port"], "autocommit": True}
        given |= {key: address[key] for key in ("user", "password")}

        def asked(text: str, database: str | None = None) -> list[tuple[Any, ...]]:
            with pymysql.connect(database=database, **given) as connection:
                cursor = connection.cursor()
                cursor.execute(text)
                return list(cursor.fetchall())

        for database in ("shop", "copy"):
            asked(f"create database {database}")
            for text in TABLES:
                asked(text, database)
        logs = {name: data / f"{name}.txt" for name in ("general", "slow")}
        asked("set global long_query_time = 0")
        asked(f"set global general_log_file = '{logs['general']}'")
        asked(f"set global slow_query_log_file = '{logs['slow']}'")
        asked("set global general_log = 1, global slow_query_log = 1")
        drive(lambda: pymysql.connect(database="shop", **given))
        asked("set global general_log = 0, global slow_query_log = 0")
        texts = []
        for name, log in logs.items():
            told = assay.capture(log=log, database="shop", out=tmp_path / name)
            assert (told.transactions, told.executions) == (ROUNDS, 3 * ROUNDS)
            folder = tmp_path / name / "operations"
            texts.append(sorted(file.read_text() for file in folder.iterdir()))
        assert texts[0] == texts[1]
        password = quote(address["password"], safe="")
        dsn = f"mysql://{address['user']}:{password}@127.0.0.1:{address['port']}/copy"
        assert_was_replayed(server_lab, tmp_path / "general", "mariadb", dsn)
        assert states(lambda text: asked(text, "copy")) == states(lambda text: asked(text, "shop"))


def test_other_values_are_played_and_none_of_the_log(postgresql, server_lab, tmp_path) -> None:
    folder = tmp_path / "anonymised"
    told = assay.capture(log=postgresql["logs"]["csv"], database="shop", out=folder, anonymise=True)
    assert told.anonymised
    for file in folder.rglob("*"):
        if file.is_file():
            content = file.read_bytes()
            assert not any(
                word in content for word in (b"it's", b"it''s", b"2024-02-29", b"O'Neil")
            )
    told = server_lab.document(
        "run",
        str(folder),
        "--dsn",
        postgresql["dsn"],
        "--as-recorded",
        "--speed",
        "4",
        *UNOBSERVED,
    )
    assert {operation["outcome"] for operation in told["operations"]} == {"ok"}
    assert told["conditions"]["as_recorded"] == 4.0
    events = Run(Path(told["path"])).table("events").sort("scheduled_ns")
    recorded = pl.Series(pq.read_table(folder / "schedule.parquet")["at_ns"].to_pylist())
    due = events["scheduled_ns"] - events["scheduled_ns"].min()
    assert (due - recorded / 4).abs().max() <= 1
