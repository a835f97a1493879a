"""A command that fails removes the directories that it made, and no others."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Never

import pytest

from assay.cli.main import run_command
from assay.model.whole_file import filled_directory, made_directories
from assay.record.reader import Run
from assay.report import exports
from assay.report.exports import export
from tests.records import write_run

FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def raising(error: BaseException) -> Callable[..., Never]:
    def act(*_: Any, **__: Any) -> Never:
        raise error

    return act


def test_an_empty_directory_goes_with_its_parents(tmp_path: Path) -> None:
    with made_directories(tmp_path / "a" / "b"):
        assert (tmp_path / "a" / "b").is_dir()
    assert list(tmp_path.iterdir()) == []
    with made_directories(tmp_path):
        pass
    assert tmp_path.is_dir()


def test_a_directory_with_a_file_stays(tmp_path: Path) -> None:
    with made_directories(tmp_path / "a" / "b"):
        (tmp_path / "a" / "file").touch()
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["file"]


@pytest.mark.parametrize(
    ("place", "reason"), [("file", "Not a directory"), ("loop", "Too many levels")]
)
def test_what_has_the_name_is_the_reason(tmp_path: Path, place: str, reason: str) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OSError, match=reason), made_directories(tmp_path / place / "a"):
        pass
    with pytest.raises(OSError, match=reason), made_directories(tmp_path / place):
        pass


@pytest.mark.parametrize("exists", [False, True])
def test_a_directory_that_was_to_be_filled_is_as_before(tmp_path: Path, *, exists: bool) -> None:
    folder = tmp_path / "folder"
    if exists:
        folder.mkdir()

    def fill() -> None:
        with filled_directory(folder):
            (folder / "a" / "b").mkdir(parents=True)
            (folder / "file").touch()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fill()
    assert [path.name for path in tmp_path.rglob("*")] == ["folder"] * exists


@pytest.mark.parametrize("command", ["studies", "workloads"])
def test_an_example_that_cannot_be_written_leaves_nothing(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("assay.workloads.new.shutil.copyfile", raising(FULL))
    monkeypatch.setattr(Path, "write_text", raising(FULL))
    assert run_command([command, "new", str(tmp_path / "a" / "mine")]) == 1
    assert "No space left on device" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("to", ["csv", "parquet", "json"])
def test_a_stopped_export_leaves_earlier_files_only(
    to: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run(write_run(tmp_path / "runs"))
    out = tmp_path / "a" / "out"
    whole = [path.name for path in export(run, to, tmp_path / "whole")]
    monkeypatch.setattr(Run, "table", raising(KeyboardInterrupt()))
    monkeypatch.setattr(exports, "_document", raising(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        export(run, to, out)
    assert not (tmp_path / "a").exists()
    out.mkdir(parents=True)
    (out / whole[0]).write_text("mine", encoding="utf-8")
    with pytest.raises(KeyboardInterrupt):
        export(run, to, out)
    assert [path.name for path in out.iterdir()] == [whole[0]]


def test_samples_that_cannot_be_written_leave_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    formats = "assay.report.profile_exports.formats"
    run = Run(write_run(tmp_path / "runs"))
    monkeypatch.setattr(f"{formats}.read_source", lambda *_: None)
    monkeypatch.setattr(f"{formats}.folded.write", raising(KeyboardInterrupt()))
    monkeypatch.setattr(exports, "_check_samples", lambda *_: None)
    with pytest.raises(KeyboardInterrupt):
        export(run, "folded", tmp_path / "a" / "samples.txt")
    assert not (tmp_path / "a").exists()


def test_runs_in_a_loop_of_links_are_refused_with_the_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to("loop")
    reason = os.strerror(errno.ELOOP)
    run = ["run", "tpch", "--engine", "null", "--scale", "0.01"]
    for command in (["runs"], ["show", "latest"], run):
        assert run_command([*command, "--runs", str(loop)]) == 1
        said = capsys.readouterr().err
        assert reason in said
        assert "File exists" not in said
        assert said.count("\n") == 1
