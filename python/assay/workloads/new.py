"""Writes a commented example of a workload for a user to change."""

from __future__ import annotations

import shutil
from pathlib import Path

from assay.model.errors import UsageError, error_words
from assay.model.whole_file import filled_directory
from assay.record.outside import refuse_inside_record

EXAMPLE = Path(__file__).parent / "templates" / "example"


def new_workload(folder: Path) -> list[Path]:
    """Write an example workload into a new folder; return the written files.

    Raises:
        UsageError: If the folder is not empty, lies inside a record or cannot be written.
    """
    refuse_inside_record(folder, "FOLDER")
    if folder.is_symlink() or folder.is_file() or (folder.is_dir() and any(folder.iterdir())):
        raise UsageError(f"{folder} exists already and is not overwritten: name another folder")
    try:
        with filled_directory(folder):
            shutil.copytree(EXAMPLE, folder, copy_function=shutil.copyfile, dirs_exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error_words(error)}") from error
    return sorted(path for path in folder.rglob("*") if path.is_file())
