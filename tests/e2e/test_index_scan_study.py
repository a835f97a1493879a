"""The study of Q1 by an index scan: its plan is the article's; another plan proves nothing."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import assay
from tests.e2e.conftest import POSTGRESQL, Lab, server_laboratory

SHIPPED = Path(assay.__file__).parent / "studies" / "q1-index-scan"
# The same query by the planner's own choice of a scan, said to be by the index.
OTHERWISE = """
[part.otherwise]
set.enable_indexscan = "off"
set.enable_seqscan = "on"
expects.plan = ["sort", "aggregate", "index scan lineitem l_shipdate_idx"]

[[figure]]"""
EXIT_INVALID = 3


@pytest.fixture(scope="module")
def carried_out(server_place: Path) -> Iterator[dict[str, Any]]:
    """The document of a short study on a small scale, with a part whose plan is another."""
    with server_laboratory(server_place) as lab:
        yield lab.document("study", str(_short(lab)), "--quick", *_only(), code=EXIT_INVALID)


def _short(lab: Lab) -> Path:
    folder = lab.root / "q1"
    shutil.copytree(SHIPPED, folder)
    file = folder / "study.toml"
    text = file.read_text(encoding="utf-8")
    for before, after in {
        "scale = 1\n": "scale = 0.01\n",
        "repetitions = 3, ": "repetitions = 1, ",
        'engine = "postgresql"': f'engine = "{POSTGRESQL}"',
        "[[figure]]": OTHERWISE.strip(),
    }.items():
        assert before in text
        text = text.replace(before, after, 1)
    file.write_text(text, encoding="utf-8")
    return file


def _only() -> list[str]:
    parts = ("baseline", "computation-removed", "otherwise")
    return [word for part in parts for word in ("--only", part)]


def figure(document: dict[str, Any], name: str) -> dict[str, Any]:
    return next(made_figure for made_figure in document["figures"] if made_figure["name"] == name)


def test_the_plan_is_the_articles_and_another_one_is_told(carried_out: dict[str, Any]) -> None:
    doubted = [doubt_row for doubt_row in carried_out["doubts"] if doubt_row["check"] == "plan"]
    (doubt,) = (doubtful["reason"] for doubtful in doubted)
    assert doubt.endswith("and not sort over aggregate over index scan lineitem l_shipdate_idx")
    (run,) = doubted[0]["runs"]
    parts = {study_run["run"]: study_run["part"] for study_run in carried_out["runs"]}
    assert parts[run] == "otherwise"
    assert len(parts) == 3
    assert carried_out["verdict"] == "invalid"


def test_answers_are_those_that_are_kept(carried_out: dict[str, Any]) -> None:
    (table,) = figure(carried_out, "answers")["tables"]
    row_counts = {row[0]: row[3] for row in table["rows"]}
    assert row_counts["PostgreSQL baseline"] == "right"


def test_reads_and_processors_of_each_change(carried_out: dict[str, Any]) -> None:
    series = figure(carried_out, "series")
    assert series["subjects"] == ["baseline", "computation removed"]
    reads = next(measure for measure in series["measures"] if measure["key"] == "reads")["values"]
    assert all(read_row["middle"] > 0 for read_row in reads.values())
    (priced,) = figure(carried_out, "removed")["tables"][0]["rows"]
    assert priced[-1] == "the same"


def test_what_was_left_out_is_said(carried_out: dict[str, Any]) -> None:
    shown = {gap["what"]: gap["why"] for gap in carried_out["not_shown"]}
    assert "--allow-host-changes" in shown["part read-ahead"]
    assert figure(carried_out, "read_sizes")["missing"]
    assert figure(carried_out, "verdict")["says"]
