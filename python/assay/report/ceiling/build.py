"""Builds the document and the page of a hardware ceiling, and stores them in its directory."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from assay.record.writer import write_json
from assay.report.ceiling.document import ceiling_document
from assay.report.ceiling.page import ceiling_page

if TYPE_CHECKING:
    from pathlib import Path

    from assay.record.reader import Run
    from assay.report.documents.ceiling import CeilingDocument

log = logging.getLogger(__name__)


def build_ceiling(run: Run, page: Path, summary: Path) -> CeilingDocument:
    """Return the document of a hardware ceiling; write page and summary if possible."""
    document = ceiling_document(run, run.dir, page)
    try:
        run.derived.mkdir(exist_ok=True)
        page.write_text(ceiling_page(document), encoding="utf-8")
        document["report"] = str(page)
        write_json(summary, document)
    except OSError as error:
        log.warning(
            ("the report of %s was not stored: cannot write %s: %s"), run.id, run.derived, error
        )
        document["report"] = None
    return document
