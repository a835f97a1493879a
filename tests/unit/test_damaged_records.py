"""Every command that reads a damaged record says so, and ends with exit code 3."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.cli.main import run_command
from assay.report.build import build
from tests.records import write_run

COMMANDS = ("report", "export", "explain")


def damaged(directory: Path) -> Path:
    """A record to whose driver's report a byte was added after the seal."""
    file = directory / "raw" / "driver.json"
    file.write_bytes(file.read_bytes() + b"\n")
    return directory


@pytest.mark.parametrize("verb", COMMANDS)
def test_a_damaged_record_is_told_on_stderr_and_ends_with_3(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    directory = write_run(tmp_path)
    assert run_command([verb, str(directory), "--json"]) == 0
    assert "sealed" not in capsys.readouterr().err
    damaged(directory)
    assert run_command([verb, str(directory), "--json"]) == 3
    told = capsys.readouterr()
    assert told.err.count("is not as it was sealed") == 1
    assert json.loads(told.out)


def test_a_record_without_facts_is_listed_without_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = write_run(tmp_path)
    build(directory)
    (directory / "run.json").write_text("", encoding="utf-8")
    assert run_command(["runs", "--runs", str(directory.parent), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["state"] == "damaged"
    assert "operations" not in row
