"""Writes the document of a diagnosis into its study's directory, and reads it back."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, cast

from assay.record.writer import write_json
from assay.report.diagnosis.page import diagnosis_page

if TYPE_CHECKING:
    from pathlib import Path

    from assay.report.documents.diagnose import DiagnoseDocument, PlacedDiagnosis

PAGE_FILE, DOCUMENT_FILE = "diagnosis.html", "diagnosis.json"
log = logging.getLogger(__name__)


def build_diagnosis(document: DiagnoseDocument, directory: Path) -> PlacedDiagnosis:
    """Return the document of a diagnosis with its directory, and write document and page."""
    placed: PlacedDiagnosis = {**document, "study": str(directory), "page": None}
    page = directory / PAGE_FILE
    try:
        page.write_text(diagnosis_page(document), encoding="utf-8")
        placed["page"] = str(page)
        write_json(directory / DOCUMENT_FILE, placed)
    except OSError as error:
        log.warning("the page was not stored: cannot write %s: %s", directory, error)
    return placed


def kept_diagnosis(directory: Path) -> PlacedDiagnosis | None:
    """Return the stored document of a diagnosis; None if missing, or for another kind of study."""
    file = directory / DOCUMENT_FILE
    try:
        return cast("PlacedDiagnosis", json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return None
