"""Answers of one's own: taken from one state, kept beside the queries, compared by later runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import assay
from tests.e2e.conftest import Lab

QUICK = ("--engine", "duckdb", "--min-time", "10ms", "--no-plans", "--probes", "none")
ROWS = "create table t as select i as n, i % 3 as k from range(30) as r(i);"
QUERIES = {
    "unordered": "select k, count(*) as many, sum(n) / 7.0 as share from t group by k",
    "ordered": "select n, k from t order by k desc",
    "limited": "select k, n from t order by k limit 4",
    "chance": "select random() as x",
}


@pytest.fixture
def queries(tmp_path: Path) -> Path:
    """A folder whose data no generator makes."""
    folder = tmp_path / "mine"
    (folder / "schema").mkdir(parents=True)
    (folder / "schema" / "tables.sql").write_text(ROWS)
    for name, text in QUERIES.items():
        (folder / f"{name}.sql").write_text(text)
    return folder


def verdict_on_answers(lab: Lab, folder: Path, code: int = 0) -> dict[str, Any]:
    document = lab.document("run", str(folder), *QUICK, code=code)
    return next(check for check in document["checks"] if check["check"] == "answers")


def taken(lab: Lab, folder: Path, *more: str) -> dict[str, Any]:
    """What was taken: its operations by name."""
    told = lab.document("answers", str(folder), "--engine", "duckdb", *more)
    return told | {"operations": {row["operation"]: row for row in told["operations"]}}


def test_they_are_kept_only_when_asked_and_compared_from_then_on(lab: Lab, queries: Path) -> None:
    before = verdict_on_answers(lab, queries)
    assert (before["verdict"], before["measured"]) == ("valid", False)
    assert f"assay answers {queries} --engine duckdb --scale 1 --keep" in before["reason"]
    shown = taken(lab, queries)
    assert not shown["kept"]
    assert not (queries / "answers").exists()
    assert {row["change"] for row in shown["operations"].values()} == {"new", None}
    assert "two executions" in shown["operations"]["chance"]["why_not"]
    assert taken(lab, queries, "--keep")["kept"]
    rows = sorted(path.name for path in (queries / "answers" / "sf1").iterdir())
    assert rows == ["kept.json", "limited.csv", "ordered.csv", "unordered.csv"]
    after = verdict_on_answers(lab, queries)
    assert after["verdict"] == "valid"
    assert after["reason"].startswith("3 of 4 answers right, not compared")
    (queries / "chance.sql").unlink()
    told = verdict_on_answers(lab, queries)["reason"]
    assert told.startswith("3 of 3 answers right, as kept on ")
    assert "UTC, DuckDB" in told


def test_rows_that_changed_make_the_run_invalid_until_they_are_kept_anew(
    lab: Lab, queries: Path
) -> None:
    taken(lab, queries, "--keep")
    kept = {path.name: path.read_bytes() for path in (queries / "answers" / "sf1").iterdir()}
    (queries / "schema" / "tables.sql").write_text(ROWS.replace("range(30)", "range(31)"))
    wrong = verdict_on_answers(lab, queries, code=3)
    assert wrong["verdict"] == "invalid"
    assert "Compared with the rows stored on" in wrong["reason"]
    shown = taken(lab, queries)["operations"]
    assert shown["ordered"]["change"] == "31 rows instead of 30"
    assert shown["limited"]["change"] == "the same"
    now = {path.name: path.read_bytes() for path in (queries / "answers" / "sf1").iterdir()}
    assert now == kept
    (queries / "chance.sql").unlink()
    taken(lab, queries, "--keep")
    assert verdict_on_answers(lab, queries)["verdict"] == "valid"


def test_a_statement_that_changed_is_not_compared_with_the_old_answer(
    lab: Lab, queries: Path
) -> None:
    taken(lab, queries, "--keep")
    (queries / "ordered.sql").write_text("select n from t order by n desc")
    told = verdict_on_answers(lab, queries)
    assert told["verdict"] == "valid"
    assert "the query ordered changed after its answer was stored" in told["reason"]


def test_rows_that_somebody_wrote_are_not_overwritten(lab: Lab, queries: Path) -> None:
    folder = queries / "answers" / "sf1"
    folder.mkdir(parents=True)
    (folder / "ordered.csv").write_text("n|k\n1|1\n")
    told = taken(lab, queries, "--keep")["operations"]["ordered"]
    assert "was not made by this command" in told["why_not"]
    assert (folder / "ordered.csv").read_text() == "n|k\n1|1\n"


def test_from_python_they_are_the_same(
    lab: Lab, queries: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in lab.env().items():
        monkeypatch.setenv(name, value)
    told = assay.answers(str(queries), keep=True, engine="duckdb", runs=lab.runs)
    assert told.kept
    rows = {row.operation: row.answer.rows for row in told.operations if row.answer is not None}
    assert rows == {"unordered": 3, "ordered": 30, "limited": 4}
