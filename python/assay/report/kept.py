"""Stores reports beside their records, and decides whether they are up to date.

A document depends only on the record and on Assay's own code. `made_from.json` beside the document
has digests of the names, sizes and times of these files.
"""

from __future__ import annotations

import json
import os
import stat
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from assay.record.layout import DERIVED_DIR, KIND_CEILING, KIND_RUN

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

DOCUMENT_SCHEMA: Final = 2
CEILING_SCHEMA: Final = 1
SCHEMAS = {KIND_RUN: DOCUMENT_SCHEMA, KIND_CEILING: CEILING_SCHEMA}
REPORT_FILE, SUMMARY_FILE, MADE_FROM_FILE = "report.html", "summary.json", "made_from.json"
# The run's line in `assay runs`: a list of hundreds of runs need not read whole documents.
LINE_FILE: Final = "line.json"
# Folders of files that Python writes at run time, which are no source code.
NOT_CODE = "__pycache__"


def stored(run_dir: Path) -> dict[str, Any] | None:
    """Return the stored document of a run; None if there is none or it cannot be read."""
    return _of_this_schema(run_dir / DERIVED_DIR / SUMMARY_FILE)


def stored_line(run_dir: Path) -> str | None:
    """Return the stored line of `assay runs`; None if there is none or it cannot be read."""
    kept = _of_this_schema(run_dir / DERIVED_DIR / LINE_FILE)
    return None if kept is None else str(kept["line"])


def line_document(document: Mapping[str, Any], line: str) -> dict[str, Any]:
    """Return the content of the file that keeps a document's line of `assay runs`."""
    return {"schema": document["schema"], "kind": document.get("kind", KIND_RUN), "line": line}


def current(run_dir: Path) -> dict[str, Any] | None:
    """Return the stored document of a run if it is up to date, else None."""
    if _read(run_dir / DERIVED_DIR / MADE_FROM_FILE) != made_from(run_dir):
        return None
    return stored(run_dir)


def made_from(run_dir: Path) -> dict[str, Any]:
    """Return digests of a document's sources: Assay's code and the record's files."""
    return {"assay": _code(), "record": _known_by(run_dir.absolute(), DERIVED_DIR)}


@cache
def _code() -> str:
    return _known_by(Path(__file__).parents[1], NOT_CODE)


def _known_by(folder: Path, without: str) -> str:
    """Return a digest of the names, sizes and times of all files below a folder."""
    digest = sha256(str(folder).encode())
    for line in sorted(_files(str(folder), without)):
        digest.update(line.encode())
    return digest.hexdigest()


def _files(folder: str, without: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name == without:
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from _files(entry.path, without)
            else:
                about = entry.stat(follow_symlinks=False)
                yield f"{entry.path} {about.st_size} {about.st_mtime_ns}\n"


def _of_this_schema(file: Path) -> dict[str, Any] | None:
    """Return a stored document; None if it cannot be read or has another version's schema."""
    document = _read(file)
    if document is None or document.get("schema") != SCHEMAS.get(document.get("kind", KIND_RUN)):
        return None
    return document


def _read(file: Path) -> dict[str, Any] | None:
    try:
        if not stat.S_ISREG(file.lstat().st_mode):
            return None
        document: dict[str, Any] = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return None
    return document
