"""Sweeps over clients and over scales on real engines: study, figure, article, going on."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.conftest import POSTGRESQL, Lab

SWEEP = ["sweep", "tpcb", "--engine", POSTGRESQL, "--clients", "1,2,4", "--time", "1500ms"]
SWEEP += ["--warmup", "0s", "--no-plans", "--repeat", "1", "--durability", "none"]
STATEMENTS = 7


def rows(figure: dict[str, Any], table: str) -> list[dict[str, Any]]:
    chosen = next(candidate for candidate in figure["tables"] if candidate["name"] == table)
    heads = [column["name"] for column in chosen["columns"]]
    return [dict(zip(heads, row, strict=True)) for row in chosen["rows"]]


def is_split(lab: Lab, run: dict[str, Any]) -> bool:
    """Whether the run itself says where the time of an operation went."""
    operations = lab.document("show", run["run"])["operations"]
    return any(
        share is not None for operation in operations for share in operation["where"].values()
    )


def test_clients_are_swept_told_and_not_run_twice(server_lab: Lab) -> None:
    lab = server_lab
    document = lab.document(*SWEEP)
    (figure,) = document["figures"]
    assert figure["kind"] == "clients"
    assert len(document["runs"]) == 3
    table_rows = rows(figure, "clients")
    assert [row["clients"] for row in table_rows] == [1, 2, 4]
    for row in table_rows:
        # Every statement of a transfer is counted; all clients update the one branch.
        assert row["statements"] == pytest.approx(STATEMENTS * row["operations"])
        assert row["failed"] == 0
    law = {row["quantity"] for row in rows(figure, "law")}
    assert {"contention (sigma)", "coherence (kappa)", "clients at the knee"} <= law
    said = " ".join(figure["says"])
    assert "what limits is " in said or "nothing limits" in said or "not measured" in said
    causes = {row["cause"] for row in rows(figure, "limits")}
    if all(is_split(lab, run) for run in document["runs"]):
        assert causes >= {"locks", "CPU", "log"}
    else:
        # On a busy machine looks can account for too much to be believed: nothing is made up.
        assert {"not measured"} <= causes <= {"conflicts", "commits", "not measured"}
    article = next((lab.runs / "studies").glob("*/article.html")).read_text()
    assert "Universal Scalability Law" in article
    assert "operations a second" in article

    again = lab.assay(*SWEEP)
    assert again.returncode == 0, again.stderr
    assert "all its runs are there, none is repeated" in again.stderr
    assert "by clients" in again.stdout
    lab.assert_nothing_left()


SCALES = ["sweep", "tpch", "--engine", "duckdb", "-o", "q01", "-o", "q06", "--repeat", "2"]
SCALES += ["--scale", "0.01,0.03", "--extrapolate", "1", "--min-time", "0.2s", "--no-plans"]
SCALES += ["--no-profile"]


def test_scales_are_swept_and_a_larger_one_is_foreseen(lab: Lab) -> None:
    document = lab.document(*SCALES)
    (figure,) = document["figures"]
    assert (figure["kind"], len(document["runs"])) == ("scales", 4)
    laws = {row["of"]: row for row in rows(figure, "laws")}
    # All tables but two of 30 rows grow with the scale.
    assert laws["rows loaded"]["exponent"] == pytest.approx(1.0, abs=0.01)
    assert {"time", "time of q01", "time of q06", "CPU time", "peak memory"} <= set(laws)
    assert laws["time"]["at least"] <= laws["time"]["exponent"] <= laws["time"]["at most"]
    shares = rows(figure, "shares of time")
    assert sum(row["SF 0.01"] for row in shares) == pytest.approx(1.0)
    beyond = {row["of"]: row for row in rows(figure, "beyond")}
    assert beyond["rows loaded"]["times the largest run"] == pytest.approx(1 / 0.03)
    said = " ".join(figure["says"])
    assert "3.0 times the data (SF 0.01 to SF 0.03)" in said
    assert "SF 1 was not run; by these laws a pass would have: time " in said
    assert "SF 1 is 33 times as large as the largest scale that was run; so far outside" in said
    assert any("it takes CPU samples of every run" in why for why in figure["missing"])
    page = next((lab.runs / "studies").glob("*/article.html")).read_text()
    assert "what a pass costs by scale" in page
    lab.assert_nothing_left()


KNOB = ["sweep", "tpch", "-o", "q13", "--engine", "duckdb", "--scale", "0.01", "--repeat", "2"]
KNOB += ["--vary", "threads=1,2", "--min-time", "0", "--no-plans"]


def test_a_knob_is_read_back_counted_and_its_first_execution_is_apart(lab: Lab) -> None:
    document = lab.document(*KNOB)
    (figure,) = document["figures"]
    assert figure["kind"] == "trade"
    assert [(row["asked"], row["in force"]) for row in rows(figure, "read-back")] == [
        ("1", "1"),
        ("2", "2"),
    ]
    for row in rows(figure, "first"):
        # An execution that takes memory for the first time has its page faults.
        assert row["minor page faults, first"] > row["later"]
    counted = {row["counter"]: row for row in rows(figure, "counters")}
    assert 0 < counted["threads at work"]["threads 1"] <= counted["threads at work"]["threads 2"]
    assert counted["voluntary switches"]["side"] in {"blocking", "has to move"}
    shown = lab.assay(*KNOB)
    assert shown.returncode in (0, 3), shown.stderr
    assert "by the kernel's meters" not in shown.stdout
    assert "both sides" in shown.stdout
    article = next((lab.runs / "studies").glob("*/article.html")).read_text()
    assert "scheduling: " in article
