"""BSBM in both of its languages: the same questions, known answers, and the figures of a mix."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

SMALL = ("--scale", "100", "--mixes", "3", "--warmup-mixes", "1")


def right(document: dict) -> str:
    checks = {check["check"]: check for check in document["checks"]}
    assert checks["answers"]["verdict"] == "valid", checks["answers"]["reason"]
    assert checks["outcomes"]["verdict"] == "valid", checks["outcomes"]["reason"]
    return checks["answers"]["reason"]


@pytest.mark.parametrize(
    ("asked", "language", "named"),
    [((), "sparql", (41_120, "triples")), (("--engine", "duckdb"), "sql", (100, "products"))],
)
def test_explore_is_answered_and_measured(lab, asked, language, named):
    document = lab.document("run", "bsbm", *asked, *SMALL)
    assert right(document).startswith("11 of 11 answers to fixed values right")
    origin = Path(document["path"]) / "raw/results/expected/origin.json"
    run_document = json.loads(origin.read_text())
    assert run_document["origin"] == f"workloads/bsbm/answers/{language}/sf100"
    sequence = document["sequence"]
    assert (sequence["size"], sequence["size_name"]) == named
    assert (sequence["mixes"], sum(query["executions"] for query in sequence["queries"])) == (3, 75)
    (rate,) = sequence["metrics"]
    assert rate["name"] == "QMpH"
    assert rate["value"] == pytest.approx(3600 * 3 / sequence["operations_s"])
    assert f"QMpH {rate['value']:,.0f}" in lab.assay("show", Path(document["path"]).name).stdout


def test_updates_come_and_explore_is_asked_beside_them(lab):
    document = lab.document("run", "bsbm-explore-and-update", *SMALL, "--clients", "2")
    assert right(document).startswith("11 of 11")
    counts = {query["name"]: query["executions"] for query in document["sequence"]["queries"]}
    assert (counts["u1"], counts["u2"], counts["q2"], counts["q12"]) == (6, 9, 18, 3)


def test_analysts_drill_down(lab):
    document = lab.document(
        "run", "bsbm-bi", "--engine", "duckdb", "--scale", "100", "--mixes", "3"
    )
    assert right(document).startswith("8 of 8")
    names = [metric["name"] for metric in document["sequence"]["metrics"]]
    assert names == ["QMpH", "BI Power", "BI Throughput"]
