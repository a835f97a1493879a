"""A change that saves time but harms: wrong answers, other rows, failed operations."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from assay.analysis.answers.changed import changed_answers
from assay.record.reader import Run
from assay.record.seal import write_seal
from assay.report.diagnosis.spoiling import spoiled_by_change
from tests.conftest import write_result
from tests.records import write_run

OTHER = 8


def rewritten(directory: Path, values: list[object], *, remove: bool = True) -> Run:
    """The run with other rows of q01, as a rewritten query may return them."""
    results = directory / "raw" / "results"
    for file in results.glob("q01-*.arrow"):
        file.unlink()
    write_result(results / f"q01-{OTHER:016x}-{0:016x}.arrow", pa.table({"n": values}))
    facts = json.loads((directory / "run.json").read_text("utf-8"))
    facts["request"]["remove"] = ["q01/stored-values"] if remove else []
    (directory / "run.json").write_text(json.dumps(facts), "utf-8")
    write_seal(directory)
    return Run(directory)


@pytest.fixture
def before(tmp_path: Path) -> Run:
    return Run(write_run(tmp_path, run_id="before"))


def test_other_rows_of_a_rewritten_query_spoil_it(tmp_path: Path, before: Run) -> None:
    after = rewritten(write_run(tmp_path, run_id="after"), [2])
    assert changed_answers(before, after) == ("q01",)
    assert spoiled_by_change([(before, after)]) == "with the change, q01 returned other rows"


@pytest.mark.parametrize("values", [[1], [1.0 + 1e-12]])
def test_the_same_rows_in_other_digits_spoil_nothing(
    tmp_path: Path, before: Run, values: list[object]
) -> None:
    after = rewritten(write_run(tmp_path, run_id="after"), values)
    assert changed_answers(before, after) == ()
    assert spoiled_by_change([(before, after)]) is None


def test_rows_that_differ_without_a_change_are_not_compared(tmp_path: Path, before: Run) -> None:
    results = before.dir / "raw" / "results"
    write_result(results / f"q01-{OTHER + 1:016x}-{0:016x}.arrow", pa.table({"n": [3]}))
    after = rewritten(write_run(tmp_path, run_id="after"), [2])
    assert changed_answers(before, after) == ()


def test_operations_that_fail_only_with_the_change_spoil_it(tmp_path: Path, before: Run) -> None:
    failing = Run(write_run(tmp_path, run_id="after", failing="q02"))
    assert spoiled_by_change([(before, failing)]) == "operations fail with the change"
    assert spoiled_by_change([(failing, failing)]) is None
    assert spoiled_by_change([(before, before)]) is None
