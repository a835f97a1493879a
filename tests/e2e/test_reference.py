"""Answers that no workload keeps are made by another engine: for drawn values, at any scale."""

from __future__ import annotations

import json
import shutil
import signal
from pathlib import Path

import polars as pl
import pytest

import assay
from tests.e2e.conftest import POSTGRESQL, SMALL, Lab, wait_until

DRAWN = ["--parameters", "drawn", "--seed", "7", "--no-plans"]


def answers(document: dict) -> dict:
    return next(check for check in document["checks"] if check["check"] == "answers")


def expected(document: dict) -> Path:
    return Path(document["path"]) / "raw" / "results" / "expected"


def origin(document: dict) -> dict:
    return json.loads((expected(document) / "origin.json").read_text())


def statements(document: dict) -> dict:
    return json.loads((Path(document["path"]) / "run.json").read_text())["statements"]


def digests(document: dict) -> pl.DataFrame:
    """Of the rows of each operation, whenever they were fetched."""
    events = pl.read_ipc_stream(Path(document["path"]) / "raw" / "events.arrows")
    frame = events.select(pl.col("operation").cast(pl.String), "digest").unique()
    return frame.sort("operation", "digest")


@pytest.fixture
def references(own_cache_lab: Lab) -> tuple[Lab, Path]:
    return own_cache_lab, own_cache_lab.root / "cache" / "assay" / "references"


def test_drawn_parameters_are_verified_and_repeatable_and_what_was_made_is_used_again(references):
    lab, cache = references
    first = lab.document("run", "tpch", *SMALL, *DRAWN)
    assert answers(first)["verdict"] == "valid", answers(first)
    assert "22 of 22" in answers(first)["reason"]
    assert len(list(cache.iterdir())) == 22
    assert origin(first)["made"]["engine"].startswith("DataFusion ")
    assert (expected(first) / "q01-0-0.csv").is_file()
    damaged = min(cache.iterdir())
    damaged.write_text("nothing")
    second = lab.document("run", "tpch", *SMALL, *DRAWN)
    assert answers(second)["verdict"] == "valid", answers(second)
    assert origin(second)["made"]["files_kept_from_before"] == 21
    assert damaged.read_text() != "nothing"
    for path in expected(first).glob("*.csv"):
        assert (expected(second) / path.name).read_text() == path.read_text()
    assert statements(first) == statements(second)
    assert digests(first).equals(digests(second))


def test_a_server_is_verified_by_the_same_rows(server_lab):
    document = server_lab.document("run", "tpch", "--engine", POSTGRESQL, *SMALL, *DRAWN)
    assert answers(document)["verdict"] == "valid", answers(document)


def test_a_scale_without_kept_answers_is_verified(lab):
    document = lab.document("run", "tpch", "--scale", "0.02", "--min-time", "100ms", "--no-plans")
    assert answers(document)["verdict"] == "valid", answers(document)
    assert (expected(document) / "q01.csv").is_file()


def test_kept_answers_need_no_reference(tpch_run):
    _, document = tpch_run
    assert origin(document) == {"origin": "workloads/tpch/answers/sf0.01"}
    assert not (Path(document["path"]) / "raw" / "host-reference.log").exists()


def test_a_query_that_the_reference_refuses_is_unknown_and_says_so(lab, tmp_path):
    folder = tmp_path / "tpch"
    shutil.copytree(Path(assay.__file__).parent / "workloads" / "tpch", folder)
    (folder / "operations" / "q06.sql").write_text("select typeof(r_name) as n from region")
    document = lab.document("run", str(folder), *SMALL, *DRAWN)
    answers_check = answers(document)
    assert answers_check["verdict"] == "unknown"
    assert "q06: DataFusion" in answers_check["reason"]


def test_answers_on_data_that_no_generator_made_are_not_compared(lab, tmp_path):
    folder = tmp_path / "mine"
    (folder / "schema").mkdir(parents=True)
    (folder / "schema" / "tables.sql").write_text("create table t as select 1 as n;")
    (folder / "one.sql").write_text("select n from t")
    document = lab.document("run", str(folder), "--min-time", "50ms", "--no-plans")
    assert (answers(document)["verdict"], answers(document)["measured"]) == ("valid", False)
    assert "there are no reference answers for these queries" in answers(document)["reason"]
    assert "not made by a generator" in origin(document)["why"]


def test_operations_that_change_the_data_are_not_verified(lab, tmp_path):
    folder = tmp_path / "tpch"
    shutil.copytree(Path(assay.__file__).parent / "workloads" / "tpch", folder)
    (folder / "operations" / "q06.sql").write_text("delete from lineitem where l_orderkey < 100")
    document = lab.document("run", str(folder), *SMALL, *DRAWN)
    assert answers(document)["verdict"] == "unknown"
    assert "q06 may change the data" in answers(document)["reason"]


def test_stopped_while_rows_are_made_it_is_interrupted_and_readable(references):
    lab, _ = references
    quick = ["--scale", "0.1", "--min-time", "10ms"]
    lab.document("run", "tpch", *quick, "--no-plans")
    started = lab.begin("run", "tpch", *quick, *DRAWN)

    def made() -> bool:
        assert started.poll() is None, started.communicate()
        return any(lab.latest().glob("raw/host-reference.log"))

    wait_until(made, "no reference was ever made")
    started.send_signal(signal.SIGINT)
    _, errors = started.communicate(timeout=120)
    assert started.returncode == 2, errors
    assert lab.status() == "interrupted"
    assert lab.document("show", "latest")["verdict"] == "unknown"
    lab.assert_nothing_left()
