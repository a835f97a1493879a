"""Builds the JSON document and the HTML page of a run's record, and stores both.

The functions return the document even if `derived/` is missing or read-only.
"""

from __future__ import annotations

import json
import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from assay.record.layout import KIND_CEILING
from assay.record.reader import Run, damage_reported
from assay.record.writer import write_json
from assay.report.document import document
from assay.report.kept import (
    LINE_FILE,
    MADE_FROM_FILE,
    REPORT_FILE,
    SUMMARY_FILE,
    current,
    line_document,
    made_from,
)
from assay.report.terminal.lists.runs import document_line

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from assay.report.documents.run import RunDocument

log = logging.getLogger(__name__)


def run_document(run: Run) -> RunDocument:
    """Return the document of a run: the stored one if it is up to date, else a new one."""
    kept = current(run.dir)
    with damage_reported(run):
        return document(run, run.dir) if kept is None else cast("RunDocument", kept)


def build(run_dir: Path, *, with_page: bool = True) -> dict[str, Any]:
    """Make a record's document of results, write it and the page, and return the document.

    Args:
        run_dir: Directory of the record.
        with_page: Whether to write the page of a run, which takes most of the time. Otherwise the
            command `assay report` writes it later.

    Raises:
        RecordUnreadableError: If `run_dir` is not the directory of a run.
    """
    run = Run(run_dir)
    with damage_reported(run):
        return _built(run, run_dir, with_page=with_page)


def _built(run: Run, run_dir: Path, *, with_page: bool) -> dict[str, Any]:
    if run.kind == KIND_CEILING:
        from assay.report.ceiling.build import build_ceiling

        ceiling = build_ceiling(run, run.derived / REPORT_FILE, run.derived / SUMMARY_FILE)
        _keep_beside(run, ceiling)
        return dict(ceiling)
    summary = document(run, run_dir)
    try:
        run.derived.mkdir(exist_ok=True)
        if with_page:
            from assay.report.page.run import page

            (run.derived / REPORT_FILE).write_text(page(run, summary), encoding="utf-8")
            summary["report"] = str(run.derived / REPORT_FILE)
        write_json(run.derived / SUMMARY_FILE, summary)
    except OSError as error:
        log.warning(
            ("the report of run %s was not stored: cannot write %s: %s"), run.id, run.derived, error
        )
        summary["report"] = None
        return cast("dict[str, Any]", summary)
    _keep_beside(run, summary)
    return cast("dict[str, Any]", summary)


def _keep_beside(run: Run, document: Mapping[str, Any]) -> None:
    """Store the document's line of `assay runs`, and its sources.

    Without the line, `assay runs` reads the document. Without the sources, it is made again.
    """
    with suppress(OSError):
        line = line_document(document, document_line(document))
        (run.derived / LINE_FILE).write_text(json.dumps(line), encoding="utf-8")
        write_json(run.derived / MADE_FROM_FILE, made_from(run.dir))
