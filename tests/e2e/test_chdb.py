"""chDB, as a stranger runs it: right answers, settings, what it has not, and an end before time."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from tests.e2e.conftest import SMALL, Lab, end, wait_for_phase

CHDB = ("--engine", "chdb")


@pytest.fixture(scope="module")
def measured(shared, tmp_path_factory):
    """One run that the tests of this file look at."""
    root = tmp_path_factory.mktemp("chdb")
    (shared / "cache").mkdir(exist_ok=True)
    (root / "cache").symlink_to(shared / "cache")
    return Lab(root).document(
        "run", "tpch", *CHDB, *SMALL, "--parameters", "drawn", "--set", "max_threads=1"
    )


def test_all_answers_are_right(measured):
    checks = {check["check"]: check for check in measured["checks"]}
    assert "22 of 22" in checks["answers"]["reason"]
    assert checks["outcomes"]["verdict"] == "valid"


def test_every_query_has_a_plan(measured):
    document = json.loads((Path(measured["path"]) / "raw" / "plans" / "plans.json").read_text())
    assert (len(document["plans"]), document["missing"]) == (22, [])
    assert all(plan["execution_s"] > 0 for plan in document["plans"])


def test_its_settings_are_recorded(measured):
    document = json.loads((Path(measured["path"]) / "environment.json").read_text())
    settings = document["engine"]["settings"]
    assert (settings["max_threads"], settings["join_use_nulls"]) == ("1", "1")


def test_rows_of_queries_are_loaded_and_their_answers_checked_at_a_scale_without_any(lab):
    document = lab.document("run", "ssb", *CHDB, "--scale", "0.02", "--min-time", "100ms")
    checks = {check["check"]: check for check in document["checks"]}
    assert "13 of 13" in checks["answers"]["reason"]
    environment = json.loads((Path(document["path"]) / "environment.json").read_text())
    tables = environment["data"]["tables"]
    assert tables["dates"]["rows"] == 2557
    assert len(tables["lineorder"]["checksum"]) == 16


def test_refresh_functions_are_refused_with_the_mend(lab):
    result = lab.assay("run", "tpch", *CHDB, "--test", "power", "--scale", "0.01")
    assert result.returncode == 1
    assert "chDB has no transactions: add --no-refresh" in " ".join(result.stderr.split())


def test_a_run_that_is_stopped_keeps_its_record(lab):
    running = lab.begin("run", "tpch", *CHDB, "--scale", "0.01", "--min-time", "10m")
    wait_for_phase(lab, running, "measured")
    code, _ = end(running, signal.SIGINT)
    assert code == 2
