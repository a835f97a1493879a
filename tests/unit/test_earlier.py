"""Which run before a run was asked for in the same way."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from assay.record.earlier import earlier_run
from assay.record.layout import SEAL_FILE
from assay.record.reader import Run, said
from tests.records import write_run

FIRST, SECOND = "20260101T000000000Z-tpch-duckdb-aaaaaa", "20260101T000100000Z-tpch-duckdb-bbbbbb"


def placed(written: Path, name: str, **request: Any) -> Path:
    directory = written.parent / name
    shutil.copytree(written, directory)
    # Another id is another content.
    (directory / SEAL_FILE).unlink()
    file = directory / "run.json"
    facts = json.loads(file.read_text())
    facts["request"] |= request
    file.write_text(json.dumps(facts | {"id": name}))
    return directory


@pytest.mark.parametrize(
    ("before", "after", "is_found"),
    [
        ({}, {}, True),
        ({"min_time_s": 1.0, "seed": 3}, {"min_time_s": 9.0, "seed": 4}, True),
        # An option that is younger than the record, and was not given.
        ({}, {"younger": None, "younger_too": False, "youngest": []}, True),
        ({}, {"younger": "given"}, False),
        # A run of `assay try` as it was, and one with the change made.
        ({"undo": {"index": "drop"}}, {}, True),
        ({"undo": {"index": "drop"}, "changes": {"index": "create"}}, {}, False),
        ({"settings": {"work_mem": "1MB"}}, {"settings": {"work_mem": "2MB"}}, False),
    ],
)
def test_a_run_that_was_asked_for_in_the_same_way_is_found(
    tmp_path: Path, before: dict[str, Any], after: dict[str, Any], is_found: bool
) -> None:
    written = write_run(tmp_path)
    first, second = placed(written, FIRST, **before), placed(written, SECOND, **after)
    found = earlier_run(Run(second), tmp_path)
    assert (None if found is None else found.id) == (first.name if is_found else None)
    assert earlier_run(Run(first), tmp_path) is None


def test_what_is_off_zero_or_empty_says_nothing() -> None:
    assert said({"copies": 0, "rate": None, "set": {}, "plans": True}) == {"plans": True}
