"""A directory of runs, one line each: how it ended, what was run on what, its figure, its id."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from assay.model.errors import RecordUnreadableError
from assay.record.layout import (
    KIND_CEILING,
    KIND_RUN,
    STATUS_COMPLETE,
    STATUS_FAILED,
    STATUS_INTERRUPTED,
    STATUS_RUNNING,
)
from assay.record.reader import Run
from assay.report.ceiling.terminal import ceiling_line
from assay.report.terminal.load import run_figure
from assay.report.words.run import title

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from assay.report.documents.ceiling import CeilingDocument
    from assay.report.documents.run import RunDocument

# A run that ended early is called so, whatever its checks say of what there is.
STATES = {STATUS_FAILED: "failed", STATUS_INTERRUPTED: "stopped", STATUS_RUNNING: "unended"}
UNJUDGED, UNREADABLE = "unjudged", "damaged"


def listed_line(directory: Path, document: Mapping[str, Any] | None) -> str:
    """One record in one line, also of a run that was stopped, or not judged since.

    Args:
        directory: Of the record.
        document: As it was last built; None: it is read from what the run wrote.
    """
    if document is None:
        row = unjudged_row(directory)
        return _line(row["state"], row["title"] or row["workload"] or "", "", directory.name)
    if document.get("kind") == KIND_CEILING:
        return ceiling_line(cast("CeilingDocument", document))
    return run_line(cast("RunDocument", document))


def run_line(document: RunDocument) -> str:
    """A run that was judged, in one line: state, what was run, total, id."""
    state = STATES.get(document["status"], document["verdict"])
    return _line(state, title(document), run_figure(document), document["run"])


def unjudged_row(directory: Path) -> dict[str, Any]:
    """Return a record that has no document as its own file has it: a row of `assay runs --json`."""
    row: dict[str, Any] = {"run": directory.name, "verdict": None, "path": str(directory)}
    try:
        facts = Run(directory).facts
    except RecordUnreadableError:
        return row | dict.fromkeys(("workload", "engine", "title")) | {"state": UNREADABLE}
    kind, status = facts.get("kind", KIND_RUN), str(facts.get("status"))
    state = UNJUDGED if status == STATUS_COMPLETE else STATES.get(status, UNREADABLE)
    return row | _subject(facts, kind) | {"state": state, "status": status}


def _subject(facts: Mapping[str, Any], kind: str) -> dict[str, str | None]:
    """What was run on what."""
    workload, engine = facts.get("workload"), facts.get("engine")
    if not workload or not engine:
        return {"workload": kind, "engine": None, "title": None}
    what = f"{workload['title']} {workload['scale_name']} {facts['request']['scale']:g}"
    return {
        "workload": workload["name"],
        "engine": engine["name"],
        "title": f"{what} on {engine['title']} {engine['version']}",
    }


def _line(state: str, subject: str, figure: str, run: str) -> str:
    return f"{state:<8} {subject:<34} {figure:>12}  {run}"
