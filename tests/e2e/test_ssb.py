"""The Star Schema Benchmark on engines of both kinds: the same rows, the kept answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.conftest import POSTGRESQL, SMALL


@pytest.mark.parametrize("engine", ["sqlite", POSTGRESQL])
def test_answers_are_those_that_are_kept(server_lab, engine):
    document = server_lab.document("run", "ssb", "--engine", engine, *SMALL)
    checks = {check["check"]: check for check in document["checks"]}
    assert "13 of 13" in checks["answers"]["reason"]
    expected = Path(document["path"]) / "raw" / "results" / "expected"
    origin = json.loads((expected / "origin.json").read_text())
    assert origin["origin"] == "workloads/ssb/answers/sf0.01"
    environment = json.loads((Path(document["path"]) / "environment.json").read_text())
    # The same whichever engine was loaded, or the answers would not be.
    assert environment["data"]["tables"]["lineorder"]["rows"] == 60_324
