"""Terminal output of a list of runs: state, workload, engine, main metric, id."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from assay.record.layout import KIND_CEILING
from assay.report.ceiling.terminal import ceiling_line
from assay.report.kept import stored, stored_line
from assay.report.results.runs import STATES, UNKNOWN, unjudged_row
from assay.report.terminal.load import run_figure
from assay.report.words.run import title

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from assay.report.documents.ceiling import CeilingDocument
    from assay.report.documents.run import RunDocument


def record_line(directory: Path) -> str:
    """Return the line of a record, even if it is damaged or has no document."""
    row = unjudged_row(directory)
    if row["state"] not in UNKNOWN:
        if (line := stored_line(directory)) is not None:
            return line
        if (document := stored(directory)) is not None:
            return document_line(document)
    return _line(row["state"], row["title"] or row["workload"] or "", "", row["run"])


def document_line(document: Mapping[str, Any]) -> str:
    """Return the line of a run's or a ceiling's document."""
    if document.get("kind") == KIND_CEILING:
        return ceiling_line(cast("CeilingDocument", document))
    return run_line(cast("RunDocument", document))


def run_line(document: RunDocument) -> str:
    """Return a terminal line for a run: state, workload, engine, main metric, id."""
    state = STATES.get(document["status"], document["verdict"])
    return _line(state, title(document), run_figure(document), document["run"])


def _line(state: str, subject: str, figure: str, run: str) -> str:
    # The longest state, `unreadable`, takes two columns of a subject that is not known.
    return f"{f'{state:<8} {subject}':<43} {figure:>12}  {run}"
