"""Virtuoso as a person uses it: right answers, wrong ones that are found, a server that dies."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from assay.engines.bridge.process import JAR
from assay.engines.contract import EngineError, Wanted, tell_nobody
from assay.engines.discovery import find_engine
from assay.record.reader import Run
from assay.running.host.places import engines_dir
from tests.e2e.conftest import PATIENCE_S, Lab, wait_for_phase

RUN = ["run", "tpch", "--engine", "virtuoso", "--scale", "0.01", "--set", "NumberOfBuffers=20000"]
WRONG = "update lineitem set l_extendedprice = l_extendedprice + 1000 where l_returnflag = 'R';"
MONEY_OF_RETURNS = "q10"
TITLES = ["TOUCHES", "READS", "READ_PCT", "N_DIRTY", "N_BUFFERS"]
BEFORE_THE_TEST = {"edge": "start", "object": "lineitem", "counter": "touches"}


@pytest.fixture(scope="module")
def place() -> None:
    """Obtains the server's programs."""
    if not JAR.is_file():
        pytest.skip("the bridge is not built: `make setup` does it")
    try:
        find_engine("virtuoso").engine().obtain(Wanted(engines_dir()), tell_nobody)
    except EngineError as error:
        pytest.skip(f"this host cannot obtain Virtuoso: {error}")


@pytest.fixture
def laboratory(place: None, server_lab: Lab) -> Iterator[Lab]:
    yield server_lab
    server_lab.close()
    server_lab.assert_nothing_left()


def checks(document: dict) -> dict[str, dict]:
    return {check["check"]: check for check in document["checks"]}


def test_a_power_test_with_drawn_values_and_refreshes_is_right(laboratory: Lab) -> None:
    document = laboratory.document(*RUN, "--test", "power")
    by_check = checks(document)
    assert by_check["answers"]["verdict"] == "valid", by_check["answers"]
    assert by_check["outcomes"]["verdict"] == "valid", by_check["outcomes"]
    names = {operation["name"] for operation in document["operations"]}
    assert {"rf1", "rf2"} <= names
    assert len(names) == 24
    environment = json.loads((Path(document["path"]) / "environment.json").read_text())
    assert sorted(environment["accounts"].values()) == ["bridge", "driver", "engine"]
    assert environment["engine"]["settings"]["statistics"] == "none"
    its_own_tables_are_printed_as_it_prints_them(laboratory, document)


def its_own_tables_are_printed_as_it_prints_them(laboratory: Lab, document: dict) -> None:
    run = Run(Path(document["path"]))
    counted = document["engine_counters"]
    status = {counter["name"]: counter for counter in counted["counters"]}
    assert status["status_buffers"]["last"] == 20_000
    assert status["status_clients"]["last"] >= 3
    assert status["status_calls"]["total"] > 0
    assert [edge for edge, text in run.status_texts() if "Lock Status" in text] == ["start", "end"]
    indexes, first, rest = counted["tables"]
    assert (first["name"], rest["name"]) == ("indexes-first", "indexes-rest")
    assert "to that connection only" in counted["activity"]["missing"]
    assert [column["title"] for column in indexes["columns"]] == TITLES
    touched = {row["object"]: row["values"] for row in indexes["rows"]}["lineitem"]
    assert touched[0] > 0
    assert touched[-1] > 0
    began = run.table("engine-status").filter(
        *(pl.col(name).cast(pl.String) == value for name, value in BEFORE_THE_TEST.items())
    )
    assert began["value"].to_list() == [0.0], "it was told to count anew"
    page = laboratory.assay("explain", "latest").stdout
    assert "KEY_TABLE" in page
    assert "TOUCHES" in page


def test_a_wrong_answer_is_found(laboratory: Lab, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.sql"
    wrong.write_text(WRONG, encoding="utf-8")
    document = laboratory.document(*RUN, "--prepare", str(wrong), "--min-time", "1ms", code=3)
    assert document["verdict"] == "invalid"
    answers = checks(document)["answers"]
    assert answers["verdict"] == "invalid"
    assert MONEY_OF_RETURNS in answers["reason"]


def test_a_server_that_dies_is_an_outcome_and_the_run_goes_on(laboratory: Lab) -> None:
    started = laboratory.begin(*RUN, "--min-time", "4s")
    wait_for_phase(laboratory, started, "measured")
    (server,) = laboratory.titled("virtuoso-t")
    os.kill(server, signal.SIGFPE)
    _, errors = started.communicate(timeout=PATIENCE_S)
    assert started.returncode == 3, errors
    run = Run(laboratory.latest())
    assert run.facts["status"] == "complete"
    (crash,) = run.facts["crashes"]
    assert "it was ended by signal 8" in crash["words"]
    assert "Server online" in crash["words"]
    assert crash["seconds"] > 0
    events = run.table("events").sort("started_ns")
    failed = events.filter(pl.col("outcome") == "failed")
    assert failed["error"].to_list() == ["08006"]
    assert events.filter(pl.col("started_ns") > failed["finished_ns"][0]).height > 0
    document = laboratory.document("show", "latest", code=3)
    assert "the server crashed once and was restarted" in checks(document)["outcomes"]["reason"]
