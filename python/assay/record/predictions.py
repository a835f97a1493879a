"""Reads and writes `predictions.jsonl`: predicted and measured savings of trials.

Lines are only appended to the file. Reading skips a line that a crash or a full disk cut short.
"""

from __future__ import annotations

import fcntl
import json
import os
from typing import TYPE_CHECKING, Any

from assay.model.errors import RecordUnreadableError, RunFailedError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PREDICTIONS_FILE = "predictions.jsonl"


def append_prediction(runs_dir: Path, facts: Mapping[str, Any]) -> None:
    """Append a line to `predictions.jsonl` in a single write.

    Raises:
        RunFailedError: If the file cannot be written.
    """
    file = runs_dir / PREDICTIONS_FILE
    line = json.dumps(facts, ensure_ascii=False).encode() + b"\n"
    try:
        with file.open("a+b") as appending:
            fcntl.flock(appending, fcntl.LOCK_EX)
            end = appending.seek(0, os.SEEK_END)
            if end and os.pread(appending.fileno(), 1, end - 1) != b"\n":
                line = b"\n" + line
            appending.write(line)
            appending.flush()
            os.fsync(appending.fileno())
    except OSError as error:
        raise RunFailedError(
            f"cannot write {file}: {error.strerror}. The runs are stored; free some space."
        ) from error


def read_predictions(runs_dir: Path) -> list[dict[str, Any]]:
    """Return all complete lines of `predictions.jsonl`, oldest first.

    Raises:
        RecordUnreadableError: If the file exists and cannot be read.
    """
    file = runs_dir / PREDICTIONS_FILE
    try:
        lines = file.read_bytes().splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise RecordUnreadableError(f"{file} cannot be read: {error.strerror}") from error
    return [row for line in lines if isinstance(row := _parsed(line), dict)]


def _parsed(line: bytes) -> object:
    try:
        return json.loads(line)
    except ValueError:
        return None
