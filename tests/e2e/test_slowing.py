"""A real engine is slowed: its answers stay right, the record says what was done, nobody stays."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from assay.record.layout import ACCOUNT_PROBES
from tests.e2e.conftest import POSTGRESQL, SMALL, Lab, server_laboratory

ASKED = ["--operation", "q01", "--operation", "q06", "--slow", "cpu=2", "--no-plans"]


@pytest.fixture
def lab(server_place: Path) -> Iterator[Lab]:
    """A laboratory where embedded engines and servers of ours can be started."""
    with server_laboratory(server_place) as lab:
        yield lab


@pytest.mark.parametrize("engine", ["duckdb", POSTGRESQL])
def test_an_engine_stands_still_for_what_it_computed(lab: Lab, engine: str) -> None:
    document = lab.document("run", "tpch", "--engine", engine, *SMALL, *ASKED)
    checks = {check["check"]: check["verdict"] for check in document["checks"]}
    assert (checks["answers"], checks["outcomes"]) == ("valid", "valid")
    assert checks["slowing"] != "invalid"
    run = lab.latest()
    facts = json.loads((run / "run.json").read_text("utf-8"))
    slowing = facts["slowing"]
    assert facts["request"]["slow"] == slowing["asked"] == {"cpu": 2.0}
    assert slowing["error"] is None
    assert slowing["stops"] > 0
    assert slowing["owed_ns"] == pytest.approx(slowing["taken_cpu_ns"], rel=1e-3)
    stops = pl.read_ipc_stream(run / "raw" / "slowing.arrows")
    assert stops["stopped_ns"][-1] == slowing["stopped_ns"]
    accounts = json.loads((run / "environment.json").read_text("utf-8"))["accounts"]
    assert ACCOUNT_PROBES in accounts.values()
    assert not list(lab.instances.glob("*"))
