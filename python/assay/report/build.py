"""Makes what is derived from a record: the document and the page, kept beside it.

Invariant: `derived/` may be deleted or read-only. The document is returned all the same.
"""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

from assay.record.layout import DERIVED_DIR, KIND_CEILING, KIND_RUN
from assay.record.reader import Run
from assay.record.writer import write_json
from assay.report.ceiling.document import SCHEMA as CEILING_SCHEMA
from assay.report.document import REPORT_FILE, SCHEMA, document

if TYPE_CHECKING:
    from pathlib import Path

log = logging.getLogger(__name__)

SUMMARY_FILE = "summary.json"
SCHEMAS = {KIND_RUN: SCHEMA, KIND_CEILING: CEILING_SCHEMA}


def stored(run_dir: Path) -> dict[str, Any] | None:
    """The document as it was last built; None if it never was or cannot be read."""
    try:
        told: dict[str, Any] = json.loads((run_dir / DERIVED_DIR / SUMMARY_FILE).read_bytes())
    except (OSError, ValueError):
        return None
    return told if told.get("schema") == SCHEMAS.get(told.get("kind", KIND_RUN)) else None


def build(run_dir: Path) -> dict[str, Any]:
    """Judges and summarises a record, writes summary and page into `derived/`; the document.

    Raises:
        RecordUnreadableError: If there is no run in `run_dir`.
    """
    from assay.report.ceiling.build import build_ceiling
    from assay.report.page.run import page

    run = Run(run_dir)
    if run.kind == KIND_CEILING:
        return build_ceiling(run, run.derived / REPORT_FILE, run.derived / SUMMARY_FILE)
    told = document(run, run_dir)
    try:
        run.derived.mkdir(exist_ok=True)
        (run.derived / REPORT_FILE).write_text(page(run, told), encoding="utf-8")
        told["report"] = str(run.derived / REPORT_FILE)
        write_json(run.derived / SUMMARY_FILE, told)
    except OSError as error:
        log.warning("no report is kept of run %s: cannot write %s: %s", run.id, run.derived, error)
        told["report"] = None
    return told
