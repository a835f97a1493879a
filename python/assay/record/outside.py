"""Refuses to write a command's result into the record of a run or of a study."""

from __future__ import annotations

import os
from pathlib import Path

from assay.model.errors import UsageError
from assay.record.layout import RAW_DIR, RUN_FILE, SEAL_FILE
from assay.record.studies import STUDIES_DIR, STUDY_FILE

# A record that lost one of these entries still has two of them.
ENTRIES = (RUN_FILE, SEAL_FILE, RAW_DIR)
ENTRIES_MIN = 2


def refuse_inside_record(place: Path, option: str) -> None:
    """Refuse to write to a place in any record, which would be damaged or mixed with other files.

    Links are followed.

    Args:
        place: File or directory that a command would write. It need not exist.
        option: Option or argument that named the place, such as `--out`.

    Raises:
        UsageError: If the place is a record or lies inside one.
    """
    real = Path(os.path.realpath(place))
    for directory in (real, *real.parents):
        kind = _kind(directory)
        if kind is not None:
            raise UsageError(
                f"{option} lies inside the record of a {kind}: {place} is in {directory}. Name a "
                "place outside of it."
            )


def _kind(directory: Path) -> str | None:
    """Return the kind of record that a directory is, `run` or `study`; None for any other."""
    if sum(_exists(directory / name) for name in ENTRIES) >= ENTRIES_MIN:
        return "run"
    is_study = directory.parent.name == STUDIES_DIR and _exists(directory / STUDY_FILE)
    return "study" if is_study else None


def _exists(path: Path) -> bool:
    """Return True if a path exists; False also if its directory cannot be searched."""
    return os.path.exists(path)  # noqa: PTH110 - the method of a path raises an error there
