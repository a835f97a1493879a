"""MariaDB as a person uses it: private, running already, and when something goes wrong."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pymysql
import pytest

from assay.engines.contract import Place
from assay.engines.discovery import find_engine
from assay.running.processes.launcher import Guardian
from assay.running.server.serving import ServerLauncher
from tests.e2e.conftest import (
    PATIENCE_S,
    SMALL,
    Lab,
    end,
    reachable_directory,
    wait_for_phase,
)
from tests.e2e.program_plans import assert_programs_have_plans
from tests.products import obtained

ENGINE = ["--engine", "mariadb"]
PLAYING = ["run", "point-select", *ENGINE, "--scale", "0.01", "--clients", "2"]
MEASURING = [*PLAYING, "--warmup", "200ms", "--time", "10m"]
PASSWORD = "s3cr:t/@%?&'\\ enD9x"  # noqa: S105 - made up, and gone with the server


@pytest.fixture(scope="module", autouse=True)
def _obtained() -> None:
    obtained("mariadb")


class Running:
    """A server that runs already, with a stranger's table and a user who may make databases."""

    def __init__(self, port: int, administration: dict[str, str], pid: int) -> None:
        self.port, self.pid = port, pid
        self._administration = administration

    def asked(self, statement: str) -> list[tuple[object, ...]]:
        connection = pymysql.connect(
            host="127.0.0.1", port=self.port, autocommit=True, **self._administration
        )
        with connection, connection.cursor() as cursor:
            cursor.execute(statement)
            return list(cursor.fetchall())

    def dsn(self, password: str = PASSWORD) -> str:
        return f"mariadb://owner:{quote(password, safe='')}@127.0.0.1:{self.port}/shop"


@pytest.fixture(scope="module")
def running(server_place: Path) -> Iterator[Running]:
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
        settings = {"local_infile": "ON", "innodb_buffer_pool_size": "128M"}
        address = engine.start(product, Place(data, launcher.scratch), settings, launcher)
        administration = {key: address[key] for key in ("user", "password")}
        made = Running(address["port"], administration, address["pid"])
        made.asked("create database shop")
        made.asked("create table shop.customers as select seq as id from shop.seq_1_to_9")
        quoted = PASSWORD.replace("\\", "\\\\").replace("'", "''")
        made.asked(f"create user owner@'127.0.0.1' identified by '{quoted}'")
        made.asked("grant all on *.* to owner@'127.0.0.1'")
        yield made


def assert_is_nowhere_within(password: str, place: Path) -> None:
    secrets = {part.encode() for part in (password, quote(password, safe=""), password[:6])}
    for file in place.rglob("*"):
        if file.is_file():
            content = file.read_bytes()
            assert not any(word in content for word in secrets), file


def reasons(document: dict) -> dict[str, str]:
    return {
        check["check"]: f"{check['verdict']}: {check['reason']}" for check in document["checks"]
    }


def test_all_22_answers_are_right_and_all_plans_are_told(server_lab: Lab) -> None:
    document = server_lab.document("run", "tpch", *ENGINE, *SMALL)
    assert reasons(document)["answers"].startswith("valid: 22 of 22")
    assert document["engine"] == "mariadb"
    plans_file = json.loads((Path(document["path"]) / "raw" / "plans" / "plans.json").read_text())
    assert len(plans_file["plans"]) == 22
    assert plans_file["missing"] == []
    server_lab.assert_nothing_left()


def test_transactions_add_up(server_lab: Lab) -> None:
    document = server_lab.document(
        "run",
        "tpcb",
        *ENGINE,
        "--scale",
        "0.1",
        "--clients",
        "2",
        "--time",
        "500ms",
        "--warmup",
        "0s",
    )
    assert reasons(document)["answers"].startswith("valid: 1 of 1")
    assert document["operations"][0]["failed"] == 0


def test_transactions_of_one_warehouse_are_consistent(server_lab: Lab) -> None:
    result = server_lab.assay(
        *("run", "tpcc", *ENGINE, "--warehouses", "1", "--clients", "2", "--json"),
        *("--time", "1s", "--warmup", "0s", "--durability", "relaxed"),
    )
    # In a second, a limit or a share of the mix may be missed; no condition may.
    assert result.returncode in {0, 3}, result.stderr
    document = json.loads(result.stdout)
    assert reasons(document)["answers"].startswith("valid: 12 of 12")
    run = json.loads((Path(document["path"]) / "run.json").read_text())
    assert run["durability"]["level"] == "relaxed"
    assert_programs_have_plans(document)


def test_a_server_that_runs_already_is_left_as_it_was(server_lab: Lab, running: Running) -> None:
    before = running.asked("show databases")
    document = server_lab.document("run", "tpch", "--dsn", running.dsn(), *SMALL)
    assert reasons(document)["answers"].startswith("valid: 22 of 22")
    assert document["accounts"]["by_account_s"]["engine"] > 0
    assert running.asked("show databases") == before
    assert running.asked("select count(*) from shop.customers") == [(9,)]
    assert_is_nowhere_within(PASSWORD, server_lab.root / "state")
    assert_is_nowhere_within(PASSWORD, server_lab.runs)


def test_a_wrong_password_is_told_and_not_repeated(server_lab: Lab, running: Running) -> None:
    result = server_lab.assay("run", "tpch", "--dsn", running.dsn("wr0ng-word"), *SMALL)
    assert result.returncode == 1
    assert "does not accept this user with this password" in result.stderr
    assert "wr0ng-word" not in result.stderr + result.stdout


def test_an_unknown_setting_is_told_with_the_nearest(server_lab: Lab) -> None:
    result = server_lab.assay("run", "tpch", *ENGINE, *SMALL, "--set", "sort_bufer_size=1M")
    assert result.returncode == 1
    assert "did you mean 'sort_buffer_size'?" in result.stderr


def test_a_killed_server_is_a_failed_run_with_its_signal(server_lab: Lab) -> None:
    started = server_lab.begin(*MEASURING)
    wait_for_phase(server_lab, started, "measured")
    (server,) = server_lab.titled("mariadbd")
    os.kill(server, signal.SIGKILL)
    _, errors = started.communicate(timeout=PATIENCE_S)
    assert started.returncode == 2, errors
    assert "Traceback" not in errors
    assert "MariaDB ended unexpectedly: it was ended by signal 9" in errors
    server_lab.assert_nothing_left()
    document = server_lab.document("show", "latest", code=3)
    assert document["verdict"] == "invalid"
    assert document["metrics"]["operations"] > 0


def test_ctrl_c_while_measuring(server_lab: Lab) -> None:
    started = server_lab.begin(*MEASURING)
    wait_for_phase(server_lab, started, "measured")
    code, errors = end(started)
    assert code == 2, errors
    assert "Traceback" not in errors
    assert server_lab.status() == "interrupted"
    server_lab.assert_nothing_left()
    assert server_lab.document("show", "latest")["verdict"] == "unknown"


def test_ctrl_c_while_loading(server_lab: Lab) -> None:
    started = server_lab.begin("run", "tpch", *ENGINE, "--scale", "1")
    while not server_lab.titled("mariadbd"):
        assert started.poll() is None
    code, errors = end(started)
    assert code == 2, errors
    assert "Traceback" not in errors
    server_lab.assert_nothing_left()
    assert not server_lab.partial_data()
