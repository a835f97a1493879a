"""A run that failed says first why it did, on the terminal, on the page and in its document."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from rich.console import Console

from assay.record.reader import Run
from assay.report.document import document
from assay.report.page.run import page
from assay.report.terminal.summary import render
from assay.report.words.doubts import doubts
from tests.records import write_run

if TYPE_CHECKING:
    from pathlib import Path

WHY = 'relation "productz" does not exist'


def failed_early(runs: Path) -> Path:
    """A run that failed before its first operation, so that no stream of it was recorded."""
    directory = write_run(runs, probes=False)
    facts = json.loads((directory / "run.json").read_text())
    (directory / "run.json").write_text(json.dumps(facts | {"status": "failed", "reason": WHY}))
    for name in ("SEAL", "raw/events.arrows", "raw/tasks.arrows", "raw/driver.json"):
        (directory / name).unlink()
    return directory


def failed_throughout(runs: Path) -> Path:
    """A complete run of which every operation failed."""
    directory = write_run(runs, failing="q01", message=WHY)
    path = directory / "raw" / "events.arrows"
    events = pl.read_ipc_stream(path)
    first = events.filter(pl.col("outcome").cast(pl.String) == "failed")
    first.write_ipc_stream(path, compat_level=pl.CompatLevel.oldest())
    return directory


def document_of(directory: Path) -> dict[str, Any]:
    return document(Run(directory), directory)


def terminal_lines(made: dict[str, Any]) -> list[str]:
    out = io.StringIO()
    render(made, all_operations=False, console=Console(file=out, width=90))
    return out.getvalue().splitlines()


@pytest.mark.parametrize("write", [failed_early, failed_throughout])
def test_the_terminal_says_first_why_a_run_failed(tmp_path: Path, write: Any) -> None:
    assert WHY in " ".join(terminal_lines(document_of(write(tmp_path)))[1:3])


@pytest.mark.parametrize("write", [failed_early, failed_throughout])
def test_the_document_says_why_a_run_failed(tmp_path: Path, write: Any) -> None:
    assert WHY in document_of(write(tmp_path))["status_reason"]


@pytest.mark.parametrize("write", [failed_early, failed_throughout])
def test_the_page_says_first_why_a_run_failed(tmp_path: Path, write: Any) -> None:
    directory = write(tmp_path)
    text = page(Run(directory), document_of(directory))
    first = text.partition('<div class="doubt')[2].partition("</div>")[0]
    assert "productz" in first


def test_checks_without_a_stream_share_one_line_behind_the_failure(tmp_path: Path) -> None:
    made = document_of(failed_early(tmp_path))
    reasons = [doubt["reason"] for doubt in doubts(made)]
    assert reasons[0].startswith("the run failed: ")
    assert sum("not checked" in reason for reason in reasons) == 1
    assert "outcomes" in reasons[-1]
    assert not any("arrows" in reason for reason in reasons)


def test_a_run_with_one_failed_operation_has_no_reason_of_its_own(tmp_path: Path) -> None:
    assert document_of(write_run(tmp_path, failing="q01"))["status_reason"] is None
