"""Builds the document of a study, its article in three formats, and its tables.

The files are stored beside `study.toml`. The function returns the document even if the directory is
read-only.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from assay.record.studies import read_study
from assay.record.writer import write_json
from assay.report.study.document import study_document
from assay.report.study.markdown import markdown_lines
from assay.report.study.tables import write_tables

if TYPE_CHECKING:
    from pathlib import Path

    from assay.report.documents.study import StudyDocument

log = logging.getLogger(__name__)

ARTICLE_FILE, MARKDOWN_FILE, DOCUMENT_FILE = "article.html", "article.md", "article.json"


def build_study(directory: Path) -> StudyDocument:
    """Return the document of a study, and write its article into the study's directory.

    Raises:
        RecordUnreadableError: If the directory is not that of a study.
    """
    from assay.report.study.page import study_page

    document = study_document(read_study(directory))
    page = directory / ARTICLE_FILE
    try:
        page.write_text(study_page(document), encoding="utf-8")
        markdown = "\n".join(markdown_lines(document))
        (directory / MARKDOWN_FILE).write_text(f"{markdown}\n", encoding="utf-8")
        write_tables(directory, document)
        document["report"] = str(page)
        write_json(directory / DOCUMENT_FILE, document)
    except OSError as error:
        log.warning("the article of study %s was not stored: %s", directory.name, error)
        document["report"] = None
    return document
