"""Low limits of files and memory are one message, also while a failed run is reported."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Never

import pytest
import typer
from rich.console import Console

from assay.cli.main import run_command
from assay.cli.shared.executing import executed
from assay.cli.shared.progress import Progress
from assay.model.errors import RunFailedError
from assay.running.host.ability import Ability, known

LIMITS = [
    (OSError(errno.EMFILE, os.strerror(errno.EMFILE), "/a"), 1, "Too many open files: allow"),
    (MemoryError(), 2, "too little memory: free some, or raise this process's limit"),
    (ImportError("lib.so: failed to map segment from shared object"), 2, "too little memory"),
]


def raising(error: BaseException) -> Never:
    raise error


@pytest.mark.parametrize(("error", "code", "words"), LIMITS, ids=lambda value: type(value).__name__)
def test_a_limit_is_one_message(
    error: Exception,
    code: int,
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("assay.record.reader.list_runs", lambda *_, **__: raising(error))
    assert run_command(["runs"]) == code
    said = capsys.readouterr().err
    assert said.startswith(f"assay: {words}")
    assert said.count("\n") == 1


def test_a_failed_run_is_reported_with_its_reason_without_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("assay.report.build.build", lambda *_, **__: raising(MemoryError()))

    def make(progress: Progress) -> None:
        (tmp_path / "run.json").touch()
        progress.record(tmp_path)
        raise RunFailedError("the driver was ended by signal 6")

    with pytest.raises(typer.Exit) as ended:
        executed(make, Progress(Console(stderr=True)), as_json=True)
    assert ended.value.exit_code == RunFailedError.exit_code
    said = capsys.readouterr()
    assert json.loads(said.out) == {"error": "the driver was ended by signal 6", "exit_code": 2}
    assert "Traceback" not in said.err
    assert "too little memory" in said.err


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (PermissionError(errno.EACCES, "Permission denied", "/a"), "/a: Permission denied"),
        (ValueError("no number"), "ValueError: no number"),
    ],
)
def test_an_ability_that_cannot_be_examined_says_why(error: Exception, why: str) -> None:
    assert known("a", lambda: raising(error)) == [Ability("a", "no", f"not known: {why}")]
