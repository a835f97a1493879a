"""The main job, as a stranger runs it."""

from __future__ import annotations

import csv
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.e2e.conftest import FEW, SMALL
from tests.schemas import RUN_SCHEMA, validator

# What is said of a machine that others use.
OF_OTHERS = {"steal", "throttled", "stalls"}
# The parts of a split are shares that add up to one; floating point leaves a little.
SHARE_TOLERANCE = 1e-6


def operations_longer_than(seconds: float, document: dict[str, Any]) -> set[str]:
    """The operations of which an execution took so long."""
    events = pl.read_ipc_stream(Path(document["path"]) / "raw" / "events.arrows")
    took_ns = pl.col("finished_ns") - pl.col("started_ns")
    return set(events.filter(took_ns > seconds * 1e9)["operation"].cast(pl.String))


@pytest.fixture
def measured(tpch_run):
    """One run that the tests of this file look at."""
    return tpch_run


def test_the_document_follows_its_schema(measured):
    _, document = measured
    validator(RUN_SCHEMA).validate(document)


def test_all_answers_are_right_and_a_noisy_machine_is_at_worst_unknown(measured):
    _, document = measured
    checks = {check["check"]: check for check in document["checks"]}
    assert checks["answers"]["verdict"] == "valid", checks["answers"]
    assert "22 of 22" in checks["answers"]["reason"]
    assert document["verdict"] in {"valid", "unknown"}
    assert checks["outcomes"]["verdict"] == "valid"
    assert checks["clock_order"]["verdict"] == "valid"


def test_every_operation_says_how_long_and_where_the_time_went(measured):
    _, document = measured
    assert len(document["operations"]) == 22
    for operation in document["operations"]:
        assert operation["outcome"] == "ok"
        assert operation["seconds"] > 0
        assert operation["coverage"] is not None
        parts = [share for share in operation["where"].values() if share is not None]
        assert all(-SHARE_TOLERANCE <= share <= 1 + SHARE_TOLERANCE for share in parts)
        if None not in operation["where"].values():
            assert sum(parts) == pytest.approx(1, abs=SHARE_TOLERANCE)
    total = sum(operation["seconds"] for operation in document["operations"])
    assert document["metrics"]["total_seconds"] == pytest.approx(total)
    assert sum(operation["share"] for operation in document["operations"]) == pytest.approx(1)


def test_there_is_a_headline_finding_with_its_method(measured):
    _, document = measured
    finding = document["findings"][0]
    assert any(character.isdigit() for character in finding["claim"])
    busy = re.search(r"([\d.]+) of (\d+) cores", finding["claim"])
    assert busy is None or float(busy[1]) <= float(busy[2]), finding["claim"]
    assert finding["interval_words"].endswith(("no interval", "over passes"))
    assert finding["runs"] == [document["run"]]


def test_the_record_is_sealed_as_the_system_tool_reads_it(measured):
    _, document = measured
    result = subprocess.run(
        ["sha256sum", "--check", "--quiet", "SEAL"],
        cwd=document["path"],
        check=False,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stdout


def test_the_report_is_one_file(measured):
    _, document = measured
    report = Path(document["report"])
    assert report.is_file()
    assert "derived from TPC-H, not comparable to published TPC results" in report.read_text()


def test_nothing_is_left_behind(measured):
    lab, _ = measured
    lab.assert_nothing_left()


def test_show_and_report_tell_the_same_again(measured):
    lab, document = measured
    again = lab.document("show", "latest")
    assert again == document
    shown = lab.assay("show", "latest", "--all")
    assert "TPC-H" in shown.stdout
    assert "q22" in shown.stdout
    assert lab.assay("report", "latest").stdout.strip() == document["report"]


def test_runs_are_listed_with_their_verdict(measured):
    lab, document = measured
    result = lab.assay("runs")
    assert result.stdout.splitlines()[-1].endswith(document["run"])
    assert result.stdout.startswith(document["verdict"])


@pytest.mark.parametrize("kind", ["csv", "parquet", "json"])
def test_export_can_be_read_by_others(measured, tmp_path, kind):
    lab, document = measured
    result = lab.assay("export", "latest", "--to", kind, "--out", str(tmp_path))
    assert result.returncode == 0, result.stderr
    written = {Path(line).name: Path(line) for line in result.stdout.splitlines()}
    if kind == "csv":
        with written["operations.csv"].open() as file:
            assert [row["name"] for row in csv.DictReader(file)] == [
                operation["name"] for operation in document["operations"]
            ]
    elif kind == "parquet":
        assert pl.read_parquet(written["events.parquet"]).height >= 44
    else:
        assert json.loads(next(iter(written.values())).read_text())["run"] == document["run"]


def test_the_null_engine_tells_what_the_laboratory_costs(null_run):
    lab, document = null_run
    assert document["verdict"] == "unknown"
    assert {operation["outcome"] for operation in document["operations"]} == {"ok"}
    # Operations of nanoseconds cannot be split: nothing is claimed of what bounds them. What others
    # do on the machine is another matter, as is an operation that they kept from its CPU for long.
    of_others = OF_OTHERS | {f"bound-by:{name}" for name in operations_longer_than(1e-3, document)}
    assert {finding["key"] for finding in document["findings"]} <= of_others
    lab.assert_nothing_left()


def test_settings_reach_the_engine_and_are_read_back(lab):
    document = lab.document("run", "tpch", *FEW, "--set", "threads=1")
    environment = json.loads((Path(document["path"]) / "environment.json").read_text())
    assert environment["engine"]["settings"]["threads"] == "1"
    lab.assert_nothing_left()


def test_without_probes_nothing_of_the_host_is_claimed(lab):
    document = lab.document("run", "tpch", *FEW, "--probes", "none")
    assert document["verdict"] == "unknown"
    assert document["probes"]["core_share"] is None
    checks = {check["check"]: check["verdict"] for check in document["checks"]}
    assert (checks["answers"], checks["probes"]) == ("valid", "unknown")
    raw = Path(document["path"]) / "raw"
    assert not list(raw.glob("probe-*.arrows"))
    assert json.loads((raw.parent / "run.json").read_text())["request"]["probes"] == []
    lab.assert_nothing_left()


def test_only_the_probes_that_were_named_run(lab):
    document = lab.document("run", "tpch", *FEW, "--probes", "waits,system")
    assert set(document["probes"]["each"]) == {"system", "waits"}
    raw = Path(document["path"]) / "raw"
    assert {path.name for path in raw.glob("probe-*")} == {
        "probe-system.arrows",
        "probe-waits.arrows",
    }
    waits = pl.read_ipc_stream(raw / "waits.arrows")
    assert "session" in waits["comm"].to_list()
    assert waits.height > waits["tid"].n_unique()


def test_strict_turns_unknown_into_three(lab):
    lab.document("run", "tpch", "--engine", "null", *SMALL, "--strict", code=3)
