"""Writes what is derived from a diagnosis beside its study: the document and the page."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from assay.record.writer import write_json
from assay.report.diagnosis.page import diagnosis_page

if TYPE_CHECKING:
    from pathlib import Path

    from assay.report.documents.diagnose import DiagnoseDocument

PAGE_FILE, DOCUMENT_FILE = "diagnosis.html", "diagnosis.json"
log = logging.getLogger(__name__)


def build_diagnosis(document: DiagnoseDocument, directory: Path) -> Path | None:
    """The page of a diagnosis; None where it could not be written."""
    page = directory / PAGE_FILE
    try:
        write_json(directory / DOCUMENT_FILE, document)
        page.write_text(diagnosis_page(document), encoding="utf-8")
    except OSError as error:
        log.warning("no page is kept: cannot write %s: %s", directory, error)
        return None
    return page
