"""Statements a second and wasted work, on records whose every statement and attempt is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from assay.analysis.load.attempts import FailedAttempts, failed_attempts
from assay.analysis.load.wasted_work import Work, work_of
from assay.analysis.summarise import summarise
from assay.record.reader import Run
from tests.conftest import write_stream
from tests.loads import an_operation, closed, write_load
from tests.records import BEGUN_NS, MS


def statement(sequence: int, name: str) -> dict[str, Any]:
    at = {"started_ns": BEGUN_NS, "finished_ns": BEGUN_NS + MS}
    return {"sequence": sequence, "operation": "update", "statement": name, "rows": 1} | at


def attempt(sequence: int, number: int, ms: int, **more: Any) -> dict[str, Any]:
    at = {"started_ns": BEGUN_NS, "finished_ns": BEGUN_NS + ms * MS}
    return (
        {"sequence": sequence, "operation": "update", "attempt": number, "error": "40001"}
        | at
        | more
    )


def without_counts(stream: Path) -> None:
    """As a record of before had it."""
    with pa.ipc.open_stream(stream.read_bytes()) as reader:
        table = reader.read_all().drop_columns(["statements"])
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)


def written(path: Path, *, counted: bool = True) -> Run:
    """Three selects of one statement; three updates: well at once, at the third attempt, never."""
    events = [an_operation(n, 10 * n * MS, 0, 2 * MS, operation="select") for n in range(3)]
    events += [
        an_operation(3, 30 * MS, 0, 10 * MS, operation="update"),
        an_operation(4, 40 * MS, 0, 40 * MS, operation="update", retries=2),
        an_operation(5, 50 * MS, 0, 44 * MS, operation="update", retries=1)
        | {"outcome": "failed", "error": "40001", "rows": None, "digest": None},
        an_operation(6, 60 * MS, 0, 90 * MS, operation="update")
        | {"outcome": "failed", "error": "cancelled", "rows": None, "digest": None},
        an_operation(7, 0, 0, 5 * MS, operation="update", phase="warmup"),
    ]
    directory = write_load(path, closed(2), events, 0.5)
    raw = directory / "raw"
    noted = [statement(n, name) for n in (3, 4, 7) for name in ("read", "write", "commit")]
    write_stream(raw / "statements.arrows", noted)
    made = ((4, 0, 12), (4, 1, 18), (5, 0, 20), (7, 0, 3))
    write_stream(raw / "attempts.arrows", [attempt(*tried, statements=2) for tried in made])
    if not counted:
        without_counts(raw / "attempts.arrows")
    return Run(directory)


def test_what_was_answered_and_what_was_in_vain(tmp_path: Path) -> None:
    work = work_of(written(tmp_path))
    assert work.statements == 3 + 2 * 3
    # Of the operation that failed for good nothing is noted, and the warm-up is not measured.
    assert work.statements_again == 2 * 2
    assert work.answered == 13
    assert (work.attempts, work.attempts_s) == (2, {"update": pytest.approx(0.030)})
    assert work.failed_s == pytest.approx(0.044)
    assert work.service_s == pytest.approx(0.006 + 0.010 + 0.040 + 0.044)
    assert work.wasted_share == pytest.approx(0.074 / 0.100)


def test_they_are_metrics_of_a_load(tmp_path: Path) -> None:
    run = written(tmp_path)
    metrics = summarise(run).metrics
    assert metrics["throughput_per_s"] == pytest.approx(5 / 0.5)
    assert metrics["statements_per_s"] == pytest.approx(13 / 0.5)
    assert metrics["wasted_share"] == pytest.approx(0.74)


def test_attempts_of_older_records_do_not_say_what_they_had(tmp_path: Path) -> None:
    work = work_of(written(tmp_path, counted=False))
    assert (work.statements_again, work.answered) == (None, 9)
    assert work.attempts == 2


def test_without_statements_each_operation_is_one(tmp_path: Path) -> None:
    events = [an_operation(n, n * MS, 0, MS) for n in range(8)]
    work = work_of(Run(write_load(tmp_path, closed(1), events, 0.01)))
    assert (work.answered, work.attempts, work.wasted_share) == (8, 0, 0.0)


def test_without_any_time_there_is_no_share() -> None:
    assert Work(0, None, 0, {}, 0.0, 0.0).wasted_share is None


@pytest.mark.parametrize("counted", [True, False])
def test_failed_attempts_are_counted_and_timed_by_class(tmp_path: Path, *, counted: bool) -> None:
    """Two attempts of 12 ms and 18 ms, and an operation of 44 ms that failed for good."""
    found = failed_attempts(written(tmp_path, counted=counted))
    share = pytest.approx(0.074 / (0.010 + 0.040 + 0.044))
    statement = 3 if counted else None
    assert found == {
        "update": {"40001": FailedAttempts(3, share, pytest.approx(0.018), statement)}  # type: ignore[arg-type]
    }
