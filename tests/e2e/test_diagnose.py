"""Causes are tried by experiments: confirmed, kept, explained anew; a stopped one goes on."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.record.predictions import read_predictions
from assay.record.reader import Run, list_runs
from tests.e2e.conftest import Lab, laboratory_in_memory, server_laboratory, wait_until
from tests.e2e.server import RunningServer
from tests.e2e.test_running_server import folder_of, url_of

CELL = Path(__file__).parents[1] / "planted" / "calibration" / "page-views"
SHORT = ("--engine", "sqlite", "--clients", "1", "--time", "0.6s", "--warmup", "0.2s")
DIAGNOSE = ("diagnose", str(CELL), *SHORT, "--budget", "2m")
ORDERS = (
    "create table trade.orders as select i as order_id, i % 20000 as customer_id,"
    " repeat('x', 80) as note from generate_series(1, 200000) as i"
)
MAKE_ORDERS = (
    "create schema trade authorization owner",
    ORDERS,
    "alter table trade.orders owner to owner",
    "analyze trade.orders",
)
INDEXES = "select indexname from pg_indexes where schemaname = 'trade'"


def stopped_after(lab: Lab, text: str) -> str:
    """What a diagnosis says that is stopped once it has said this."""
    started = lab.begin(*DIAGNOSE)
    assert started.stderr is not None
    lines = []
    for line in started.stderr:
        lines.append(line)
        if text in line:
            started.send_signal(signal.SIGINT)
            break
    _, rest = started.communicate(timeout=120)
    assert started.returncode == 2, "".join(lines) + rest
    return "".join(lines) + rest


def test_a_planted_cause_is_confirmed_and_a_stopped_diagnosis_goes_on(server_place: Path) -> None:
    with laboratory_in_memory(server_place) as lab:
        said = stopped_after(lab, "round 1  ")
        assert "the same command goes on" in said
        lab.assert_nothing_left()
        before = {run.name for run in list_runs(lab.runs) if Run(run).facts["status"] == "complete"}
        assert len(before) >= 2
        document: dict[str, Any] = json.loads(lab.assay(*DIAGNOSE, "--json").stdout)
        (first, *_) = document["steps"]
        (cause,) = [tried for tried in first["tried"] if tried["key"] == "missing-index:of_page"]
        assert cause["verdict"] == "confirmed", cause["says"]
        assert first["kept"] == "index of views (page)"
        low, high = cause["gain"]["interval"]
        assert 0 < low < cause["gain"]["share"] < high < 1
        # The runs of before are among those that the verdict rests on.
        used = {run for pair in cause["trial"]["rounds"] for run in pair.values()}
        assert before - {document["run"]} <= used
        assert [point["change"] for point in document["way"]] == [None, "index of views (page)"]
        assert document["way"][1]["seconds"] < document["way"][0]["seconds"]
        # What was measured is remembered, and not twice.
        assert [row["method"] for row in read_predictions(lab.runs)].count("missing-index") == 1
        page = Path(document["page"])
        assert "missing-index:of_page" in page.read_text(encoding="utf-8")
        runs = len(list_runs(lab.runs))
        again = lab.assay(*DIAGNOSE)
        assert "CONFIRMED   missing-index:of_page   kept" in again.stdout
        assert len(list_runs(lab.runs)) == runs, "all runs were there"
        lab.assert_nothing_left()


def test_a_run_without_causes_has_nothing_to_try(server_place: Path) -> None:
    with laboratory_in_memory(server_place) as lab:
        given = ("run", str(CELL), *SHORT, "--prepare", str(CELL / "prepare/index.sql"))
        name = Path(lab.document(*given)["path"]).name
        document = json.loads(lab.assay("diagnose", name, "--json").stdout)
        assert not [
            tried
            for step in document["steps"]
            for tried in step["tried"]
            if tried["verdict"] == "confirmed"
        ]
        refused = lab.assay("diagnose", name, "--scale", "2")
        assert refused.returncode == 1
        assert "is a run, which has its own 'scale'" in refused.stderr
        unknown = lab.assay("diagnose", "nothing-of-this-name")
        assert unknown.returncode == 1
        assert "is no workload, and no run" in unknown.stderr


@pytest.fixture
def trade(server: RunningServer) -> Iterator[RunningServer]:
    for statement in MAKE_ORDERS:
        server.asked(statement)
    yield server
    server.asked("drop schema trade cascade")


def test_on_a_running_server_a_killed_diagnosis_leaves_nothing_and_is_taken_up(
    trade: RunningServer, server_place: Path, tmp_path: Path
) -> None:
    folder = folder_of(
        tmp_path, by_customer="select order_id from trade.orders where customer_id = 4711"
    )
    given = ("diagnose", str(folder), "--dsn", url_of(trade), "--min-time", "200ms")
    with server_laboratory(server_place) as lab:
        without = json.loads(lab.assay(*given, "--json").stdout)
        untried = [cause for step in without["steps"] for cause in step["cannot_be_tried"]]
        assert any("--allow-changes" in cause["why"] for cause in untried)
        assert trade.asked(INDEXES) == []
        allowed = (*given, "--allow-changes", "--budget", "1m")
        started = lab.begin(*allowed)
        wait_until(lambda: trade.asked(INDEXES) != [], "an index is tried")
        started.kill()
        started.communicate()
        wait_until(lambda: trade.asked(INDEXES) == [], "the index is gone")
        document = json.loads(lab.assay(*allowed, "--json").stdout)
        (cause,) = [
            tried
            for tried in document["steps"][0]["tried"]
            if tried["key"] == "missing-index:by_customer"
        ]
        assert cause["verdict"] == "confirmed", cause["says"]
        assert "create index" in cause["cause"]["change"]["sql"]
        assert document["steps"][1]["on_top_of"] == [cause["change"]]
        assert trade.asked(INDEXES) == []
        lab.assert_nothing_left()
