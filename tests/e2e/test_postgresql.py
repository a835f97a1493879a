"""PostgreSQL as an engine: obtained, loaded, measured, checked, and gone."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import polars as pl
import pytest

from assay.record.reader import Run
from tests.e2e.conftest import (
    PATIENCE_S,
    POSTGRESQL,
    Lab,
    wait_for_phase,
)
from tests.schemas import RUN_SCHEMA, validator

ON_POSTGRESQL = ["--engine", POSTGRESQL, "--scale", "0.01"]
BRIEF = ["--time", "1s", "--warmup", "200ms"]


def environment_of(document: dict) -> dict:
    return json.loads((Path(document["path"]) / "environment.json").read_text())


def verdicts(document: dict) -> dict[str, str]:
    return {check["check"]: check["verdict"] for check in document["checks"]}


def reason(document: dict, check: str) -> str:
    return {candidate["check"]: candidate["reason"] for candidate in document["checks"]}[check]


@pytest.fixture
def measured(postgresql_run):
    """One run of TPC-H that several tests look at."""
    return postgresql_run


def test_all_answers_are_right_and_the_document_follows_its_schema(measured):
    _, document = measured
    validator(RUN_SCHEMA).validate(document)
    assert "22 of 22" in reason(document, "answers")
    check_verdicts = verdicts(document)
    assert {
        check_verdicts[check] for check in ("answers", "outcomes", "clock_order", "completeness")
    } == {"valid"}
    assert len(document["operations"]) == 22
    assert all(operation["seconds"] > 0 for operation in document["operations"])


def test_engine_driver_and_probes_each_have_their_own_cost(measured):
    _, document = measured
    used_s = document["accounts"]["by_account_s"]
    assert set(used_s) == {"engine", "driver", "probes"}
    assert used_s["engine"] > 0
    assert all(probe["error"] is None for probe in document["probes"]["each"].values())
    assert {"engine", "processes", "system", "disks"} <= set(document["probes"]["each"])


def test_settings_and_origin_of_the_product_are_recorded(measured):
    _, document = measured
    engine = environment_of(document)["engine"]
    assert engine["version"] == document["engine_version"]
    assert engine["settings"]["server_version"].startswith(engine["version"])
    assert engine["settings"]["track_io_timing"] == "on"
    assert engine["origin"]["provider"] == "pypi"
    (digest,) = engine["origin"]["sha256"].values()
    assert re.fullmatch("[0-9a-f]{64}", digest)


def test_the_servers_own_counters_are_in_the_record(measured):
    _, document = measured
    counters = pl.read_ipc_stream(Path(document["path"]) / "raw" / "engine.arrows")
    assert counters.height > 0
    backends = pl.read_ipc_stream(Path(document["path"]) / "raw" / "backends.arrows")
    assert backends.height == 1


def test_neither_process_nor_socket_nor_directory_is_left(measured):
    lab, _ = measured
    lab.assert_nothing_left()
    assert not list((lab.root / "state").rglob(".s.PGSQL.*"))


def test_no_password_is_in_the_record(measured, server_place):
    _, document = measured
    kept = list((server_place / "cache" / "assay" / "datasets").rglob("password"))
    assert kept, "the private server's password is not where this test looks for it"
    for password in {file.read_bytes() for file in kept}:
        for file in Path(document["path"]).rglob("*"):
            assert file.is_dir() or password not in file.read_bytes(), file


def test_a_setting_reaches_the_server_and_is_read_back(server_lab):
    document = server_lab.document(
        "run", "point-select", *ON_POSTGRESQL, *BRIEF, "--set", "work_mem=65MB"
    )
    assert environment_of(document)["engine"]["settings"]["work_mem"] == "65MB"
    assert document["conditions"]["clients"] == 1
    server_lab.assert_nothing_left()


def test_a_closed_load_of_several_clients_succeeds(server_lab):
    document = server_lab.document("run", "point-select", *ON_POSTGRESQL, *BRIEF, "--clients", "8")
    assert document["verdict"] in {"valid", "unknown"}
    assert verdicts(document)["row_counts"] == "valid"
    assert document["metrics"]["operations"] > 0
    assert document["metrics"]["latency_seconds_p99"] > 0
    events = Run(Path(document["path"])).table("events")
    assert set(events["session"]) == set(range(8))
    backends = pl.read_ipc_stream(Path(document["path"]) / "raw" / "backends.arrows")
    assert backends["backend_pid"].n_unique() == 8
    server_lab.assert_nothing_left()


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two CPUs to keep apart")
def test_an_open_load_is_placed_as_asked(server_lab):
    of_engine, of_client, *_ = sorted(os.sched_getaffinity(0))
    pin = f"engine={of_engine},client={of_client}"
    load = ("--clients", "8", "--rate", "50", "--time", "3s", "--warmup", "200ms")
    started = server_lab.begin("run", "point-select", *ON_POSTGRESQL, *load, "--pin", pin, "--json")
    wait_for_phase(server_lab, started, "warmup")
    servers = server_lab.titled("postgres: ") or server_lab.titled("bin/postgres")
    (host,) = server_lab.titled("assay.running.processes.host")
    placed = {pid: os.sched_getaffinity(pid) for pid in (*servers, host)}
    output, errors = started.communicate(timeout=PATIENCE_S)
    assert started.returncode == 0, errors
    assert len(servers) > 8
    assert placed == {host: {of_client}} | {pid: {of_engine} for pid in servers}
    document = json.loads(output)
    assert environment_of(document)["pin"] == {"engine": [of_engine], "client": [of_client]}
    assert verdicts(document)["rate_held"] in {"valid", "unknown"}
    assert document["conditions"]["rate_per_s"] == 50
    server_lab.assert_nothing_left()


def test_a_rate_that_is_not_held_is_invalid_and_says_so(server_lab):
    load = ("--clients", "1", "--rate", "1e6")
    document = server_lab.document("run", "point-select", *ON_POSTGRESQL, *BRIEF, *load, code=3)
    assert document["verdict"] == "invalid"
    assert verdicts(document)["rate_held"] == "invalid"
    assert "the engine did not hold the rate of 1,000,000/s" in reason(document, "rate_held")
    assert "lower --rate" in reason(document, "rate_held")
    server_lab.assert_nothing_left()


def test_transactions_of_several_clients_leave_all_sums_equal(server_lab):
    document = server_lab.document(
        "run", "tpcb", *ON_POSTGRESQL, *BRIEF, "--clients", "4", "--retries", "3"
    )
    assert verdicts(document)["answers"] == "valid", reason(document, "answers")
    operations = {operation["name"]: operation for operation in document["operations"]}
    assert operations["transfer"]["failed"] == 0
    assert "not comparable to published TPC results" in document["legal"]
    server_lab.assert_nothing_left()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--set", "work_mem=abc"), ["work_mem", "abc", "--set"]),
        (("--set", "wrok_mem=64MB"), ["'wrok_mem'", "did you mean 'work_mem'?"]),
        (("--set", "port=5432"), ["port", "--dsn"]),
        (("--engine", "postgresql@99"), ["99", "16.2"]),
        (("--bin-dir", "/nowhere"), ["/nowhere", "--bin-dir"]),
        (("--rate", "-1"), ["--rate", "above 0"]),
        (("--pin", "motor=0"), ["motor", "engine"]),
        (("--pin", "engine=4096"), ["4096"]),
    ],
)
def test_a_wrong_word_is_one_message_and_nothing_is_written(server_lab: Lab, arguments, message):
    result = server_lab.assay("run", "point-select", *ON_POSTGRESQL, *BRIEF, *arguments)
    assert result.returncode == 1, result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    assert all(word in result.stderr for word in message), result.stderr
    assert not server_lab.runs.exists() or not list(server_lab.runs.iterdir())
    server_lab.assert_nothing_left()
