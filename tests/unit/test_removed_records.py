"""A record that somebody removes during its run: one message, with the first reason."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from assay.cli.main import run_command
from assay.model.errors import RecordRemovedError, RunFailedError
from assay.running import execute

COMMAND = "run point-select --engine null --time 100ms --warmup 0s --json --runs"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (None, "was removed while it was written: nothing of it is kept"),
        (RunFailedError("the server ended.\nIts log is empty."), "the server ended. Its log is"),
        (KeyboardInterrupt("SIGTERM"), "stopped by SIGTERM. The record"),
    ],
    ids=["writing", "server", "signal"],
)
def test_the_first_reason_is_the_only_message(
    error: BaseException | None,
    reason: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def carry_out(execution: Any) -> None:
        shutil.rmtree(tmp_path / "runs")
        if error is not None:
            raise error
        execution._run.update(more=1)

    monkeypatch.setattr(execute._Execution, "carry_out", carry_out)
    assert run_command([*COMMAND.split(), str(tmp_path / "runs")]) == RecordRemovedError.exit_code
    told = capsys.readouterr()
    (message,) = [line for line in told.err.splitlines() if line.startswith("assay:")]
    assert reason in message
    assert "nothing of it is kept" in message
    assert "assay show" not in message
    assert json.loads(told.out) == {"error": message.removeprefix("assay: "), "exit_code": 2}
    assert not (tmp_path / "runs").exists()
