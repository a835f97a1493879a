"""Rows of `assay runs` for records without a document of results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.model.errors import (
    RecordDeniedError,
    RecordNewerError,
    RecordPathError,
    RecordUnreadableError,
)
from assay.model.foreign_text import visible
from assay.record.layout import (
    KIND_PLANNED,
    KIND_RUN,
    STATUS_COMPLETE,
    STATUS_FAILED,
    STATUS_INTERRUPTED,
    STATUS_RUNNING,
)
from assay.record.reader import Run

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

# A run that ended early has one of these states, whatever the verdict of its checks.
STATES = {STATUS_FAILED: "failed", STATUS_INTERRUPTED: "stopped", STATUS_RUNNING: "unended"}
UNJUDGED, REFUSED = "unjudged", "refused"
# States of records whose facts are not known: they have no figures, whatever report was stored.
DAMAGED, NEWER, UNREADABLE = "damaged", "newer", "unreadable"
UNKNOWN = frozenset((DAMAGED, NEWER, UNREADABLE))
# State of a complete record that has only plans.
PLANNED = "planned"


def unjudged_row(directory: Path) -> dict[str, Any]:
    """Return a row of `assay runs --json` for a record without a document."""
    names = {"run": visible(directory.name), "path": visible(str(directory))}
    row: dict[str, Any] = {**names, "verdict": None}
    try:
        facts = Run(directory).facts
    except RecordUnreadableError as error:
        state = _unknown_state(error)
        return row | dict.fromkeys(("workload", "engine", "title")) | {"state": state}
    kind, status = facts.get("kind", KIND_RUN), str(facts.get("status"))
    state = UNJUDGED if status == STATUS_COMPLETE else STATES.get(status, DAMAGED)
    if state == UNJUDGED and kind == KIND_PLANNED:
        state = PLANNED
    if facts.get("refused"):
        state = REFUSED
    return row | _subject(facts, kind) | {"state": state, "status": status}


def _unknown_state(error: RecordUnreadableError) -> str:
    """Return the state of a record that cannot be read, by the error of reading it."""
    match error:
        case RecordNewerError():
            return NEWER
        case RecordDeniedError() | RecordPathError():
            return UNREADABLE
        case _:
            return DAMAGED


def _subject(facts: Mapping[str, Any], kind: str) -> dict[str, str | None]:
    """Return the workload and the engine of a record as text."""
    workload, engine = facts.get("workload"), facts.get("engine")
    if not workload or not engine:
        return {"workload": kind, "engine": None, "title": None}
    what = workload["title"]
    if not workload.get("own_tables"):
        what += f" {workload['scale_name']} {facts['request']['scale']:g}"
    return {
        "workload": workload["name"],
        "engine": engine["name"],
        "title": f"{what} on {engine['title']} {engine['version']}",
    }
