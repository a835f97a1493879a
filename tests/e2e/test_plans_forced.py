"""`assay plans` and `--without` on a real engine, from the command line to the figure."""

from __future__ import annotations

from typing import Any

import pytest

from assay.record.reader import Run
from assay.record.studies import list_studies
from tests.e2e.conftest import POSTGRESQL, SMALL, Lab

PLANS = ("plans", "tpch", "-o", "q03", "--scale", "0.01", "--most", "4", "--repeat", "2")


def figure(document: dict[str, Any], table: str) -> list[dict[str, Any]]:
    (figures,) = document["figures"]
    (chosen,) = (candidate for candidate in figures["tables"] if candidate["name"] == table)
    heads = [column["name"] for column in chosen["columns"]]
    return [dict(zip(heads, row, strict=True)) for row in chosen["rows"]]


@pytest.mark.parametrize("engine", ["duckdb", POSTGRESQL])
def test_other_plans_are_forced_compared_and_timed(server_lab: Lab, engine: str) -> None:
    lab = server_lab
    document = lab.document(*PLANS, "--engine", engine)
    times, ways = figure(document, "plans"), figure(document, "ways")
    assert 2 <= len(times) <= 4
    assert len({row["joins"] for row in ways} | {row["how"] for row in ways}) > 2
    finished = [row for row in times if row["time"] is not None]
    assert all(row["answer"] == "the same" for row in finished)
    (chosen,) = (row for row in times if row["plan"] == "q03@0")
    assert chosen["of the chosen"] == 1.0
    assert (chosen["cost"] is not None) == (engine == POSTGRESQL)
    assert document["verdict"] != "invalid"
    if engine == "duckdb":
        the_same_command_finds_everything_there(lab, engine)


def the_same_command_finds_everything_there(lab: Lab, engine: str) -> None:
    again = lab.assay(*PLANS, "--engine", engine)
    assert again.returncode == 0, again.stderr
    assert "going on with" in again.stderr
    assert len(list_studies(lab.runs)) == 1


def test_what_cannot_be_forced_is_told(lab: Lab) -> None:
    result = lab.assay("plans", "tpch", "-o", "q03", "--scale", "0.01", "--engine", "null")
    assert result.returncode == 1
    assert "--engine: null cannot change settings for a single statement" in result.stderr


def test_a_technique_that_is_off_is_off_in_the_engine(lab: Lab) -> None:
    off = ("--without", "join_order", "--without", "top_n")
    document = lab.document("run", "tpch", *SMALL, "--operation", "q03", *off, "--no-plans")
    run = Run(lab.runs / document["run"])
    assert run.facts["request"]["without"] == ["join_order", "top_n"]
    disabled_optimizers = run.environment["engine"]["settings"]["disabled_optimizers"]
    assert set(disabled_optimizers.split(",")) == {"join_order", "top_n"}
