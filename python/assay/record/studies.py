"""Files of studies, `<runs>/studies/<id>/study.toml`: what was asked and what became of it."""

from __future__ import annotations

import os
import tomllib
from typing import TYPE_CHECKING, Any

from assay.model.errors import RecordUnreadableError, RunFailedError
from assay.record.toml_text import toml_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

STUDIES_DIR = "studies"
STUDY_FILE = "study.toml"


def write_study(directory: Path, document: Mapping[str, Any]) -> None:
    """Replaces a study's file as a whole; its question is also its first line.

    Raises:
        RunFailedError: If the disk does not take it.
    """
    file = directory / STUDY_FILE
    partial = file.with_name(f"{STUDY_FILE}.partial")
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with partial.open("w", encoding="utf-8") as writing:
            writing.write(toml_text(document, comment=str(document.get("question", ""))))
            writing.flush()
            os.fsync(writing.fileno())
        partial.rename(file)
    except OSError as error:
        raise RunFailedError(
            f"cannot write {file}: {error.strerror}. The runs so far are kept; free some space, or"
            " name another place with --runs DIR."
        ) from error


def read_study_file(file: Path) -> dict[str, Any]:
    """A study's file as it stands. Raises `RecordUnreadableError` with the mend."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise RecordUnreadableError(f"{file} is missing: this is no study.") from error
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise RecordUnreadableError(f"{file} cannot be read: {error}") from error
