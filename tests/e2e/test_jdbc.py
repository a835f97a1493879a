"""A database that is reached by JDBC: measured as a guest, through a bridge of ours."""

from __future__ import annotations

import json
import os
import shutil
import signal
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.conftest import Lab, wait_for_phase
from tests.e2e.server import DATABASE, HOST, PASSWORD, RunningServer
from tests.e2e.test_running_server import assert_is_nowhere_within, folder_of, outcomes
from tests.jdbc import driver

QUERIES = {"count": "select count(*) from customers", "sum": "select sum(id) from customers"}
WITHOUT_DRIVERS = "empty.jar"


def dsn_of(server: RunningServer) -> str:
    return f"jdbc:postgresql://{HOST}:{server.port}/{DATABASE}"


@pytest.fixture(scope="module")
def jar(tmp_path_factory) -> Path:
    """The driver as one file, in a directory that servers' users may not enter."""
    place = tmp_path_factory.mktemp("driver")
    return Path(shutil.make_archive(str(place / "driver"), "zip", driver("postgresql")))


@pytest.fixture
def guest(server, server_lab) -> Iterator[Lab]:
    server_lab.extra_env |= {"JDBC_USER": "owner", "JDBC_PASSWORD": PASSWORD}
    yield server_lab
    server_lab.close()
    server_lab.assert_nothing_left()
    assert_is_nowhere_within(PASSWORD, server_lab.root / "state")
    assert server.alive()


def command_lines(lab: Lab, word: str) -> list[str]:
    return [
        Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
        for pid in lab.titled(word)
    ]


def test_a_strangers_folder_is_measured_through_a_bridge(guest, server, jar, tmp_path):
    folder = folder_of(tmp_path, **QUERIES)
    arguments = ["run", str(folder), "--dsn", dsn_of(server), "--driver", str(jar)]
    document = guest.document(*arguments, "--min-time", "1s")
    assert outcomes(document) == {"count": "ok", "sum": "ok"}
    assert document["engine"] == "jdbc"
    assert document["engine_version"].startswith("PostgreSQL 1")
    accounts = json.loads((Path(document["path"]) / "environment.json").read_text())["accounts"]
    assert sorted(accounts.values()) == ["bridge", "driver"]
    used = document["accounts"]["by_account_s"]
    assert used["bridge"] > 0
    assert used["driver"] > 0
    assert_is_nowhere_within(PASSWORD, Path(document["path"]))


def test_a_bridge_that_is_killed_ends_the_run_by_name(guest, server, jar, tmp_path):
    folder = folder_of(tmp_path, slow="select pg_sleep(0.01)")
    started = guest.begin(
        "run", str(folder), "--dsn", dsn_of(server), "--driver", str(jar), "--min-time", "60s"
    )
    wait_for_phase(guest, started, "measured")
    (line,) = command_lines(guest, "assay.bridge.Bridge")
    assert PASSWORD not in line
    (pid,) = guest.titled("assay.bridge.Bridge")
    os.kill(pid, signal.SIGKILL)
    _, errors = started.communicate(timeout=60)
    assert started.returncode == 2, errors
    assert "bridge was ended by signal 9" in errors
    assert guest.status() == "failed"
    assert_is_nowhere_within(PASSWORD, guest.latest())


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ([], ["no JDBC driver is named", "--driver FILE.jar"]),
        (
            ["--driver", "/nowhere/x.jar"],
            ["/nowhere/x.jar", "name the driver's jar, or its Maven coordinates"],
        ),
        (["--driver", WITHOUT_DRIVERS], ["no driver takes this URL", "--driver"]),
        (
            ["--engine", "postgresql", "--driver", "/etc/hostname"],
            ["belongs to JDBC: remove --engine"],
        ),
    ],
)
def test_what_is_missing_is_named_before_anything_is_written(
    guest, server, tmp_path, monkeypatch, said, message
):
    with zipfile.ZipFile(tmp_path / WITHOUT_DRIVERS, "w"):
        pass
    monkeypatch.chdir(tmp_path)
    result = guest.assay("run", str(folder_of(tmp_path, **QUERIES)), "--dsn", dsn_of(server), *said)
    assert result.returncode == 1, result.stderr
    assert all(word in " ".join(result.stderr.split()) for word in message), result.stderr
    assert not guest.runs.exists()


@pytest.mark.parametrize(
    ("dsn", "message"),
    [
        ("jdbc:postgresql://127.0.0.1:1/shop", ["refused"]),
        ("jdbc", ["no engine supports the scheme of --dsn jdbc:"]),
        ("jdbc:", ["the DSN cannot be read", "jdbc:postgresql://host"]),
    ],
)
def test_a_database_that_is_not_there_is_told(guest, jar, tmp_path, dsn, message):
    folder = folder_of(tmp_path, **QUERIES)
    result = guest.assay("run", str(folder), "--dsn", dsn, "--driver", str(jar))
    assert result.returncode == 1, result.stderr
    assert all(word in " ".join(result.stderr.split()) for word in message), result.stderr
    assert PASSWORD not in result.stderr


def test_a_workload_that_makes_tables_is_refused(guest, server, jar):
    result = guest.assay("run", "tpch", "--scale", "0.01", "--dsn", dsn_of(server), "--driver", jar)
    assert result.returncode != 0
    assert "Assay cannot create tables through JDBC" in " ".join(result.stderr.split())
