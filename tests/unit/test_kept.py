"""A kept document is shown again only where one made anew would be the same."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from assay.cli.main import run_command
from assay.report import kept
from assay.report.build import build
from assay.report.kept import (
    LINE_FILE,
    MADE_FROM_FILE,
    SUMMARY_FILE,
    current,
    made_from,
    stored,
)
from assay.report.terminal.lists.runs import document_line, record_line
from tests.records import write_run


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    directory = write_run(tmp_path)
    build(directory)
    return directory


def touched(file: Path) -> None:
    about = file.stat()
    os.utime(file, ns=(about.st_atime_ns, about.st_mtime_ns + 1))


def test_it_is_what_was_built(run_dir: Path) -> None:
    assert current(run_dir) == stored(run_dir) == json.loads(json.dumps(build(run_dir)))


def test_a_list_of_runs_reads_the_kept_line_and_no_document(run_dir: Path) -> None:
    line = record_line(run_dir)
    assert line == document_line(stored(run_dir) or {})
    (run_dir / "derived" / SUMMARY_FILE).write_text("{")
    assert record_line(run_dir) == line


@pytest.mark.parametrize("content", ["", "{", '{"schema": 0, "kind": "run", "line": "old"}'])
def test_without_a_kept_line_the_document_is_listed(run_dir: Path, content: str) -> None:
    line = record_line(run_dir)
    (run_dir / "derived" / LINE_FILE).write_text(content)
    assert record_line(run_dir) == line


def test_a_damaged_record_is_listed_as_such_although_its_line_was_kept(run_dir: Path) -> None:
    (run_dir / "run.json").write_text("{")
    assert record_line(run_dir).startswith("damaged")


def test_a_changed_record_is_judged_anew(run_dir: Path) -> None:
    (run_dir / "raw" / "events.arrows").write_bytes(b"torn")
    assert current(run_dir) is None
    assert stored(run_dir) is not None


def test_other_code_makes_it_anew(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "_code", lambda: "of another day")
    assert current(run_dir) is None


def test_a_file_of_ours_that_changed_is_other_code(tmp_path: Path) -> None:
    (tmp_path / "rooms").mkdir()
    file = tmp_path / "rooms" / "rules.toml"
    file.write_text("a = 1")
    before = kept._known_by(tmp_path, "__pycache__")
    touched(file)
    assert kept._known_by(tmp_path, "__pycache__") != before
    (tmp_path / "__pycache__").mkdir()
    again = kept._known_by(tmp_path, "__pycache__")
    (tmp_path / "__pycache__" / "x.pyc").write_bytes(b"x")
    assert kept._known_by(tmp_path, "__pycache__") == again


@pytest.mark.parametrize("file", [SUMMARY_FILE, MADE_FROM_FILE])
def test_a_torn_file_is_as_none(run_dir: Path, file: str) -> None:
    (run_dir / "derived" / file).write_text("{")
    assert current(run_dir) is None


def test_a_record_that_was_moved_is_made_anew(run_dir: Path) -> None:
    before = made_from(run_dir)
    moved = run_dir.rename(run_dir.with_name("moved"))
    assert made_from(moved)["record"] != before["record"]


def test_show_builds_once(
    run_dir: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["show", str(run_dir), "--json"]
    run_command(command)
    first = capsys.readouterr().out

    def refused(*_: object) -> None:
        raise AssertionError("it is kept")

    monkeypatch.setattr("assay.report.build.document", refused)
    run_command(command)
    assert capsys.readouterr().out == first
