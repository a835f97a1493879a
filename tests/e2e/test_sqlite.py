"""SQLite, as a stranger runs it: right answers, plans, counters, mixes, and what goes wrong."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
from pathlib import Path

import polars as pl
import pytest

import assay
from tests.e2e.conftest import FEW, SMALL, copy_data, end, run_once, wait_for_phase, wait_until
from tests.e2e.program_plans import assert_programs_have_plans

SQLITE = ("--engine", "sqlite")
TPCH = Path(assay.__file__).parent / "workloads" / "tpch"
LONG = [*SQLITE, "--scale", "0.01", "--min-time", "10m"]


@pytest.fixture(scope="module")
def measured(shared, tmp_path_factory):
    """One run that the tests of this file look at."""
    root = tmp_path_factory.mktemp("sqlite")
    return run_once(shared, root, *SQLITE, "--set", "cache_size=-256")


def test_all_answers_are_right(measured):
    _, document = measured
    checks = {check["check"]: check for check in document["checks"]}
    assert "22 of 22" in checks["answers"]["reason"]
    assert checks["answers"]["verdict"] == checks["outcomes"]["verdict"] == "valid"
    assert all(operation["seconds"] > 0 for operation in document["operations"])


def test_its_settings_are_recorded(measured):
    _, document = measured
    environment = json.loads((Path(document["path"]) / "environment.json").read_text())
    settings = environment["engine"]["settings"]
    assert settings["cache_size"] == "-256"
    assert settings["journal_mode"] == "wal"


def test_every_query_has_a_plan(measured):
    _, document = measured
    plans_file = json.loads((Path(document["path"]) / "raw" / "plans" / "plans.json").read_text())
    assert len(plans_file["plans"]) == 22
    assert plans_file["missing"] == []
    assert all(plan["execution_s"] > 0 and not plan["timed"] for plan in plans_file["plans"])


def test_pages_are_counted_around_operations(measured):
    _, document = measured
    rows = pl.read_ipc_stream(Path(document["path"]) / "raw" / "engine-operations.arrows")
    assert set(rows["counter"]) >= {"cache_hit", "cache_miss", "temporary_spill"}
    assert rows.filter(pl.col("counter") == "cache_miss")["value"].max() > 0


@pytest.mark.parametrize("workload", ["tpcb", "point-select"])
def test_a_mix_is_played_by_several_clients(lab, workload):
    arguments = ("--scale", "0.1", "--clients", "3", "--time", "500ms", "--warmup", "100ms")
    document = lab.document("run", workload, *SQLITE, *arguments)
    checks = {check["check"]: check["verdict"] for check in document["checks"]}
    assert checks["outcomes"] == "valid"
    assert checks.get("answers", "valid") == "valid"
    assert "engine" in document["probes"]["each"]
    counted = {
        counter["name"]: counter["total"] for counter in document["engine_counters"]["counters"]
    }
    assert counted["buffer_hits"] > 0
    assert (counted["pages_written"] > 0) == (workload == "tpcb")


def test_transactions_that_write_wait_for_their_turn(lab):
    """One writer at a time: each says so at its begin, and none is left half done."""
    arguments = ("--clients", "3", "--time", "2s", "--warmup", "500ms", "--durability", "none")
    document = lab.document("run", "tpcc", *SQLITE, *arguments)
    assert {operation["outcome"] for operation in document["operations"]} == {"ok"}
    events = pl.read_ipc_stream(Path(document["path"]) / "raw" / "events.arrows")
    conditions = events.filter(pl.col("operation").cast(pl.String).is_in(["c01", "c08", "c10"]))
    assert conditions["rows"].to_list() == [0] * len(conditions)
    assert_programs_have_plans(document)


def test_a_new_workload_runs_as_it_is(lab, tmp_path):
    lab.assay("workloads", "new", str(tmp_path / "mine"))
    document = lab.document("run", str(tmp_path / "mine"), *SQLITE, "--min-time", "100ms")
    checks = {check["check"]: check for check in document["checks"]}
    assert "2 of 2" in checks["answers"]["reason"]


def test_wrong_rows_are_wrong_answers(own_cache_lab, measured):
    lab = own_cache_lab
    dataset = copy_data(lab, measured[0].root, "sqlite")
    database = dataset / "data" / "assay.sqlite"
    with sqlite3.connect(database) as connection:
        connection.execute("delete from lineitem where l_orderkey % 1000 = 1")
    connection.close()
    from assay.record.seal import file_sha256

    manifest = json.loads((dataset / "manifest.json").read_text())
    manifest["files"]["assay.sqlite"]["sha256"] = file_sha256(database)
    (dataset / "manifest.json").write_text(json.dumps(manifest))
    document = lab.document("run", "tpch", *SQLITE, *FEW, code=3)
    assert document["verdict"] == "invalid"
    assert "instead of" in document["checks"][0]["reason"]


# What goes wrong.


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("cash_size=1", ["no setting 'cash_size'", "did you mean 'cache_size'?"]),
        ("synchronous=never", ["synchronous=never", "one of off, normal, full, extra"]),
    ],
)
def test_a_wrong_setting_is_one_message(lab, setting, message):
    result = lab.assay("run", "tpch", *SQLITE, "--set", setting)
    assert result.returncode == 1
    assert all(word in result.stderr for word in message), result.stderr
    assert "Traceback" not in result.stderr
    assert not lab.runs.exists()


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (["--durability", "sometimes"], "its levels are full, relaxed, none"),
        (["--foreign-keys"], "this engine cannot add foreign keys: remove the option"),
        (["--warehouses", "0.5"], "0.5 warehouses: TPC-C is scaled by whole warehouses"),
        (["--warehouses", "0"], "--scale 0: the number must be above 0"),
    ],
)
def test_what_transactions_cannot_have_is_one_message(lab, option, message):
    result = lab.assay("run", "tpcc", *SQLITE, *option)
    assert result.returncode == 1
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert not lab.runs.exists()


def test_a_full_disk_under_the_data_is_told(own_cache_lab):
    lab = own_cache_lab
    script = 'mount -t tmpfs -o size=2m none "$0" && exec "$@"'
    prefix = ("unshare", "--mount", "--map-root-user", "sh", "-c", script, str(lab.root / "cache"))
    result = lab.assay("run", "tpch", *SQLITE, *SMALL, prefix=prefix)
    assert result.returncode == 2, result.stderr
    assert "Free some space" in result.stderr
    assert "Traceback" not in result.stderr
    lab.assert_nothing_left()


def _endless(tmp_path: Path) -> Path:
    """A workload whose q07 does not end."""
    folder = tmp_path / "workloads" / "mine"
    shutil.copytree(TPCH, folder)
    manifest = folder / "workload.toml"
    manifest.write_text(manifest.read_text().replace('name = "tpch"', 'name = "mine"', 1))
    (folder / "operations" / "q07.sqlite.sql").write_text(
        "with recursive n (i) as (select 1 union all select i + 1 from n) select max(i) from n"
    )
    return folder


def test_a_query_over_its_time_is_cancelled_and_the_others_go_on(lab, tmp_path):
    lab.extra_env["ASSAY_WORKLOADS"] = str(_endless(tmp_path).parent)
    document = lab.document("run", "mine", *SQLITE, *SMALL, "--no-plans", "--timeout", "1s", code=3)
    outcomes = {operation["name"]: operation for operation in document["operations"]}
    assert outcomes["q07"]["error"] == "deadline"
    assert outcomes["q12"]["outcome"] == "ok"


def test_ctrl_c_ends_a_long_query(lab, tmp_path):
    lab.extra_env["ASSAY_WORKLOADS"] = str(_endless(tmp_path).parent)
    started = lab.begin("run", "mine", *SQLITE, *SMALL)
    wait_for_phase(lab, started, "warmup")
    code, errors = end(started)
    assert code == 2, errors
    assert lab.status() == "interrupted"
    lab.assert_nothing_left()


def test_a_killed_engine_is_a_failed_run_with_its_signal(lab):
    started = lab.begin("run", "tpch", *LONG)
    wait_for_phase(lab, started, "measured")
    (host,) = lab.titled("assay.running.processes.host")
    os.kill(host, signal.SIGKILL)
    _, errors = started.communicate(timeout=60)
    assert started.returncode == 2, errors
    assert "signal 9" in errors
    lab.assert_nothing_left()


def test_an_interrupted_load_leaves_nothing_that_looks_like_data(own_cache_lab):
    lab = own_cache_lab
    started = lab.begin("run", "tpch", *SQLITE, "--scale", "0.3")
    wait_until(lambda: list(lab.datasets.glob("*.partial/data/*.sqlite")), "no load began")
    code, _ = end(started)
    assert code == 2
    lab.assert_nothing_left()
    assert not [path for path in lab.datasets.iterdir() if path.is_dir()]


def test_a_writer_that_finds_the_file_locked_fails_by_that_name_or_tries_again(lab):
    arguments = ("run", "tpcb", *SQLITE, "--scale", "0.1", "--clients", "3", "--time", "1s")
    impatient = (*arguments, "--warmup", "200ms", "--set", "busy_timeout=0")
    refused = lab.document(*impatient, code=3)
    assert refused["operations"][0]["error"] == "SQLITE_BUSY"
    patient = lab.document(*impatient, "--retries", "1000000")
    assert patient["metrics"]["retries"] > 0
    checks = {check["check"]: check["verdict"] for check in patient["checks"]}
    assert checks["outcomes"] == checks["answers"] == "valid"
