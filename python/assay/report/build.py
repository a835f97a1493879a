"""Builds the document and the page of a record, and stores them in its directory.

The functions return the document even if `derived/` is missing or read-only.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from assay.record.layout import KIND_CEILING
from assay.record.reader import Run, damage_told
from assay.record.writer import write_json
from assay.report.document import document
from assay.report.kept import MADE_FROM_FILE, REPORT_FILE, SUMMARY_FILE, current, made_from

if TYPE_CHECKING:
    from pathlib import Path

    from assay.report.documents.run import RunDocument

log = logging.getLogger(__name__)


def run_document(run: Run) -> RunDocument:
    """Return the document of a run: the stored one if it is up to date, else a new one."""
    kept = current(run.dir)
    with damage_told(run):
        return document(run, run.dir) if kept is None else cast("RunDocument", kept)


def build(run_dir: Path, *, with_page: bool = True) -> dict[str, Any]:
    """Make a record's document, write it and the page into `derived/`, and return the document.

    Args:
        run_dir: Directory of the record.
        with_page: Whether to write the page of a run, which takes most of the time. Otherwise the
            command `assay report` writes it later.

    Raises:
        RecordUnreadableError: If `run_dir` is not the directory of a run.
    """
    run = Run(run_dir)
    with damage_told(run):
        return _built(run, run_dir, with_page=with_page)


def _built(run: Run, run_dir: Path, *, with_page: bool) -> dict[str, Any]:
    if run.kind == KIND_CEILING:
        from assay.report.ceiling.build import build_ceiling

        ceiling = build_ceiling(run, run.derived / REPORT_FILE, run.derived / SUMMARY_FILE)
        _keep_made_from(run)
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
        log.warning("no report is kept of run %s: cannot write %s: %s", run.id, run.derived, error)
        summary["report"] = None
        return cast("dict[str, Any]", summary)
    _keep_made_from(run)
    return cast("dict[str, Any]", summary)


def _keep_made_from(run: Run) -> None:
    """Record the sources of the stored document. Without them, the document is made again."""
    with suppress(OSError):
        write_json(run.derived / MADE_FROM_FILE, made_from(run.dir))
