"""`assay tune` on a real engine: from knobs to a conclusion, with points that fail; going on."""

from __future__ import annotations

from typing import Any

from assay.record.reader import Run
from tests.e2e.conftest import Lab

TUNE = ["tune", "tpch", "-o", "q01", "--engine", "duckdb", "--scale", "0.01", "--min-time", "0.1s"]
# Less than an open database takes: such runs fail.
KNOBS = ["--knob", "memory_limit=100kB,200kB"]
NOTHING = 5


def rows(document: dict[str, Any], table: str) -> list[dict[str, Any]]:
    (figure,) = document["figures"]
    chosen = next((candidate for candidate in figure["tables"] if candidate["name"] == table), None)
    if chosen is None:
        return []
    heads = [column["name"] for column in chosen["columns"]]
    return [dict(zip(heads, row, strict=True)) for row in chosen["rows"]]


def test_settings_that_fail_are_points_of_the_search_and_none_is_recommended(lab: Lab) -> None:
    document = lab.document(*TUNE, *KNOBS, code=NOTHING)
    (figure,) = document["figures"]
    assert figure["kind"] == "tuning"
    assert figure["says"][0] == "Nothing is recommended: every setting that was tried failed."
    assert rows(document, "trials")[0]["setting"] == "default"
    for row in rows(document, "trials"):
        run = Run(lab.runs / row["run"])
        asked = run.facts["request"]["settings"]
        text = ", ".join(f"{name}={value}" for name, value in asked.items())
        assert (text or "default") == row["setting"]
        assert (row["failed"] is None) == (row["setting"] == "default")
    without_record = {entry["variant"] for entry in document["missing"]}
    settings = {
        table_row["setting"] for table_row in rows(document, "trials") if table_row["failed"]
    }
    assert without_record | settings == {"memory_limit=100kB", "memory_limit=200kB"}
    lab.assert_nothing_left()

    again = lab.assay(*TUNE, *KNOBS)
    assert again.returncode == NOTHING, again.stderr
    assert f"going on with {document['study']}" in again.stderr
    assert "nothing is recommended" in again.stderr
    assert len([path for path in lab.runs.iterdir() if (path / "run.json").exists()]) <= 4


def test_what_cannot_be_searched_is_refused_before_anything_runs(lab: Lab) -> None:
    result = lab.assay(*TUNE, "--knob", "thredas=1..4")
    assert result.returncode == 1
    assert "DuckDB has no setting 'thredas'" in result.stderr
    result = lab.assay(*TUNE, "--knob", "threads=1..4", "--objective", "speed")
    assert result.returncode == 1
    assert "no such metric" in result.stderr
    assert not lab.runs.exists()
