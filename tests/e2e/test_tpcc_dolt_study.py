"""The study of Dolt's TPC-C with an engine in its place: what it asks works there, too."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import assay
from tests.e2e.conftest import Lab

SHIPPED = Path(assay.__file__).parent / "studies" / "tpcc-dolt"
ONLY = ("--only", "statements", "--only", "text", "--engine", "sqlite")


@pytest.fixture
def carried_out(lab: Lab) -> dict[str, Any]:
    """The document of its short form, whose runs are shorter still."""
    folder = lab.root / "statements"
    shutil.copytree(SHIPPED, folder)
    file = folder / "study.toml"
    text = re.sub(r'time = "\d+s"', 'time = "1s"', file.read_text(encoding="utf-8"))
    file.write_text(text.replace('warmup = "2s"', 'warmup = "0s"'), encoding="utf-8")
    return lab.document("study", str(folder), "--quick", *ONLY)


def figure(document: dict[str, Any], name: str) -> dict[str, Any]:
    return next(made_figure for made_figure in document["figures"] if made_figure["name"] == name)


def test_a_strangers_engine_is_asked_every_statement(carried_out: dict[str, Any]) -> None:
    assert {entry["status"] for entry in carried_out["missing"]} == {"left out"}
    shown = figure(carried_out, "statements")
    assert shown["subjects"] == ["SQLite"]
    tables = {table["name"]: table["rows"] for table in shown["tables"]}
    medians = dict(tables["medians"])
    assert len(medians) == 9
    assert all(seconds > 0 for seconds in medians.values())
    paths = {statement: path for statement, _, path in tables["paths"]}
    assert paths.keys() == medians.keys()
    assert "customer_by_name" in paths["by-name"]
    # The longest column was made a text by SQL, and reads as before.
    texts = figure(carried_out, "text")
    assert dict(texts["tables"][0]["rows"]).keys() == {
        "by-name",
        "by-name-wide",
        "scan",
        "scan-wide",
    }
    assert {run["verdict"] for run in carried_out["runs"]} != {"invalid"}
