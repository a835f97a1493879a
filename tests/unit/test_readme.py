"""What README says of engines and workloads is what Assay accepts."""

from __future__ import annotations

import pytest

from assay.engines.discovery import find_engines
from assay.model.errors import UsageError
from assay.running.asked.asking import considered
from assay.running.asked.options import options_of
from assay.running.asked.understanding import request_of
from assay.workloads.discovery import find_workloads
from tests.commands import ROOT

README = (ROOT / "README.md").read_text("utf-8")
# Workloads of a column; of BSBM the languages stand there instead of yes.
COLUMNS = {
    "TPC-H, SSB": ("tpch", "ssb"),
    "point select": ("point-select",),
    "TPC-B, sysbench": ("tpcb", "oltp-read", "oltp-write", "oltp-read-write"),
    "TPC-C": ("tpcc",),
    "BSBM": ("bsbm",),
}
SCALES = {"tpcc": 1, "bsbm": 100}
# They are asked about tables that are there, or answer nothing.
WITHOUT_A_ROW = {"jdbc", "sparql", "null", "oxigraph-server"}


def rows() -> list[list[str]]:
    """The cells of the table, its head first."""
    section = README.split("## Supported engines and workloads")[1].split("\n## ")[0]
    lines = [line.strip("| ") for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.split("|")] for line in lines if "---" not in line]


def engines_of(cell: str) -> list[str]:
    """Names of the engines that the first cell of a row has."""
    titles = [title.strip().split(" ")[0].lower() for title in cell.split(",")]
    return [title for title in titles if not title.isdigit()]


def accepted(engine: str, workload: str, **options: str) -> bool:
    scale = SCALES.get(workload, 0.01)
    asked = options_of({"workload": workload, "engine": engine, "scale": scale, **options})
    try:
        considered(request_of(asked, []))
    except UsageError:
        return False
    return True


ROWS = [row for row in rows()[1:] if "JDBC" not in row[0]]


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_a_row_says_what_is_accepted(row: list[str]) -> None:
    said = dict(zip(rows()[0][1:], row[1:], strict=True))
    for engine in engines_of(row[0]):
        for column, workloads in COLUMNS.items():
            for workload in workloads:
                is_said = said[column] != "no"
                assert accepted(engine, workload) == is_said, (engine, workload)
        spoken = ", ".join(str(language).upper() for language in languages(engine))
        assert said["BSBM"] == spoken


def languages(engine: str) -> list[str]:
    return [
        language for language in ("sparql", "sql") if accepted(engine, "bsbm", language=language)
    ]


def test_every_engine_has_a_row() -> None:
    named = {engine for row in ROWS for engine in engines_of(row[0])}
    assert named | WITHOUT_A_ROW == set(find_engines())


def test_every_workload_has_a_column() -> None:
    named = {workload for workloads in COLUMNS.values() for workload in workloads}
    variants = {name for name in find_workloads() if name.startswith("bsbm-")}
    assert named | variants == set(find_workloads())


def test_it_is_a_page_and_a_half() -> None:
    assert len(README.splitlines()) < 100
    assert "Derived from TPC-H, not comparable to published TPC results." in README
