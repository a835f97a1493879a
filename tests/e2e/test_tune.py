"""`assay tune` on a real engine: from knobs to a conclusion, with points that fail; going on."""

from __future__ import annotations

import json
from typing import Any

from assay.record.reader import Run
from tests.e2e.conftest import Lab

TUNE = ["tune", "tpch", "-o", "q01", "--engine", "duckdb", "--scale", "0.01", "--min-time", "0.1s"]
# Less than an open database takes: such a run fails.
KNOBS = ["--knob", "memory_limit=1MB,1GB", "--knob", "threads=1,2"]
# A first run is expected to take twelve seconds, where nothing is known of it.
BUDGET = ["--budget", "13s"]
NOTHING = 5


def rows(document: dict[str, Any], table: str) -> list[dict[str, Any]]:
    (figure,) = document["figures"]
    found = next((one for one in figure["tables"] if one["name"] == table), None)
    if found is None:
        return []
    heads = [column["name"] for column in found["columns"]]
    return [dict(zip(heads, row, strict=True)) for row in found["rows"]]


def test_settings_are_searched_and_the_conclusion_follows_from_its_runs(lab: Lab) -> None:
    told = lab.assay(*TUNE, *KNOBS, *BUDGET, "--json")
    assert told.returncode in (0, NOTHING), told.stderr
    document = json.loads(told.stdout)
    (figure,) = document["figures"]
    assert figure["kind"] == "tuning"
    first, trials = figure["says"][0], rows(document, "trials")
    decided = [one["recommended"] == "yes" for one in rows(document, "conclusion")]
    assert (told.returncode == 0) == any(decided)
    assert first.startswith("Recommended: " if any(decided) else "Nothing is recommended: ")
    assert trials[0]["setting"] == "default"
    for one in trials:
        run = Run(lab.runs / one["run"])
        assert run.complete
        asked = run.facts["request"]["settings"]
        words = ", ".join(f"{name}={value}" for name, value in asked.items())
        assert (words or "default") == one["setting"]
    failed = {one["variant"] for one in document["missing"] if one["status"] == "failed"}
    assert failed
    assert all("memory_limit=1MB" in one for one in failed)
    goes_on(lab, document)
    lab.assert_nothing_left()


def goes_on(lab: Lab, before: dict[str, Any]) -> None:
    """The same command makes no run again, and no second study."""
    told = lab.assay(*TUNE, *KNOBS, *BUDGET, "--json")
    assert told.returncode in (0, NOTHING), told.stderr
    assert f"going on with {before['study']}" in told.stderr
    after = json.loads(told.stdout)
    assert after["study"] == before["study"]
    ids = [one["run"] for one in rows(before, "trials")]
    assert [one["run"] for one in rows(after, "trials")][: len(ids)] == ids


def test_what_cannot_be_searched_is_refused_before_anything_runs(lab: Lab) -> None:
    for knob, words in (
        ("thredas=1..4", "DuckDB has no setting 'thredas'"),
        ("threads=4..1", "4 is not below 1"),
        ("threads=1..none", "no number"),
    ):
        told = lab.assay(*TUNE, "--knob", knob)
        assert told.returncode == 1
        assert words in told.stderr
    told = lab.assay(*TUNE, "--knob", "threads=1..4", "--objective", "speed")
    assert told.returncode == 1
    assert "no such metric" in told.stderr
    assert not lab.runs.exists()
