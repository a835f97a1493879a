"""Rows and tables are loaded in the order that was asked for, and a run begins as loading left it.

One operation reads a table as it lies, so its rows tell in which order they were loaded.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.report.words.run import conditions_text
from tests.e2e.conftest import POSTGRESQL, Lab, server_laboratory

TABLES = """
create table orders (
  o_orderkey integer, o_custkey integer, o_orderstatus text, o_totalprice decimal(15, 2),
  o_orderdate date, o_orderpriority text, o_clerk text, o_shippriority integer, o_comment text
);
create table nation (n_nationkey integer, n_name text, n_regionkey integer, n_comment text);
"""
WORKLOAD = """
generator = "tpch"
tables = ["nation", "orders"]
order = ["lying", "counted"]
"""
BY_DATE = ["--sorted", "orders=o_orderdate", "--load-order", "orders,nation"]
ONCE = ["--scale", "0.01", "--no-plans"]


@pytest.fixture
def lab(server_place: Path) -> Iterator[Lab]:
    """A laboratory on a disk where embedded engines and servers of ours can be started."""
    with server_laboratory(server_place) as lab:
        yield lab


@pytest.fixture
def lying(lab: Lab) -> Path:
    """A workload of two tables without keys."""
    folder = lab.root / "lying"
    (folder / "schema").mkdir(parents=True)
    (folder / "operations").mkdir()
    (folder / "workload.toml").write_text(WORKLOAD)
    (folder / "schema" / "tables.sql").write_text(TABLES)
    (folder / "operations" / "lying.sql").write_text(
        "select o_orderdate, o_orderkey from orders;\n"
    )
    (folder / "operations" / "counted.sql").write_text("select count(*) as n from nation;\n")
    return folder


def rows(lab: Lab) -> list[tuple[str, int]]:
    """What `lying` returned."""
    import polars as pl

    from assay.record.reader import Run

    ((_, file),) = Run(lab.latest()).results("lying")
    return [(str(date)[:10], int(key)) for date, key in pl.read_ipc(file).rows()]


def recorded(lab: Lab, file: str = "run.json") -> dict[str, Any]:
    document: dict[str, Any] = json.loads((lab.latest() / file).read_text())
    return document


def state_check(document: dict[str, Any]) -> dict[str, Any]:
    (chosen,) = (check for check in document["checks"] if check["check"] == "state")
    return chosen


def assert_loaded(lab: Lab, document: dict[str, Any]) -> None:
    """The process that loaded was measured, the data went through no cache, and all is told."""
    state = document["state"]
    assert state_check(document)["verdict"] == "valid", state_check(document)["reason"]
    assert (state["asked"], state["passes"], state["resident_bytes_before_start"]) == (
        "loaded",
        0,
        None,
    )
    assert state["data_bytes"] >= (state["resident_bytes_after_start"] or 0) > 0
    assert state["since_load_s"] > 0
    data = recorded(lab, "environment.json")["data"]
    accounts = recorded(lab, "environment.json")["accounts"]
    assert all(accounts[str(pid)].startswith("engine") for pid in data["loaded_by_pids"])
    assert data["tables"]["orders"]["rows"] == 15_000
    assert not any(lab.datasets.glob("lying-*"))


@pytest.mark.parametrize("engine", ["duckdb", "sqlite", POSTGRESQL])
def test_rows_lie_as_they_were_sorted_and_the_run_begins_as_loading_left_it(
    lab: Lab, lying: Path, engine: str
) -> None:
    asked = ["run", str(lying), "--engine", engine, *ONCE, "--state", "loaded", *BY_DATE]
    document = lab.document(*asked)
    table_rows = rows(lab)
    assert table_rows == sorted(table_rows)
    assert len({date for date, _ in table_rows}) > 1000
    assert_loaded(lab, document)
    assert recorded(lab)["order"]["load_order"] == ["orders", "nation"]
    assert document["conditions"]["sorted_by"] == {"orders": ["o_orderdate"]}
    assert "orders sorted by o_orderdate, loaded in the order orders, nation" in conditions_text(
        document
    )
    # What comes from PyPI has no extension that tells it, and SQLite has a cache a connection.
    assert (document["state"]["engine_cached_bytes"] is not None) is (engine == "duckdb")
    lab.assert_nothing_left()


def test_a_data_set_in_another_order_is_kept_as_such(lab: Lab, lying: Path) -> None:
    sorted_rows = ["--sorted", "orders=o_totalprice"]
    lab.document("run", str(lying), *ONCE, "--min-time", "1ms", *sorted_rows)
    table_rows = rows(lab)
    assert table_rows != sorted(table_rows)
    assert table_rows != sorted(table_rows, key=lambda row: row[1])
    (manifest,) = lab.datasets.glob("lying-*/manifest.json")
    assert json.loads(manifest.read_text())["key"]["sorted_by"] == {"orders": ["o_totalprice"]}


def test_the_first_power_test_follows_the_load(lab: Lab) -> None:
    from assay.record.reader import Run

    asked = ["--engine", POSTGRESQL, *ONCE, "--test", "full", "--state", "loaded", "--streams", "1"]
    document = lab.document("run", "tpch", *asked, "--load-order", "lineitem,rest")
    events = Run(lab.latest()).table("events").sort("started_ns")
    phases = events["phase"].unique(maintain_order=True).to_list()
    assert phases[:4] == ["power-1", "throughput-1", "power-2", "throughput-2"]
    assert recorded(lab, "environment.json")["data"]["loaded_ns"] < events["started_ns"].min()
    assert state_check(document)["verdict"] == "valid", state_check(document)["reason"]
    (answers,) = (check for check in document["checks"] if check["check"] == "answers")
    assert answers["verdict"] == "valid", answers["reason"]
    lab.assert_nothing_left()


def test_an_order_that_cannot_be_is_refused_before_anything_is_written(lab: Lab) -> None:
    result = lab.assay("run", "tpch", "--scale", "0.01", "--sorted", "lineitem=l_shpdate")
    assert result.returncode == 1
    assert "did you mean 'l_shipdate'?" in " ".join(result.stderr.split())
    assert not lab.runs.exists()
