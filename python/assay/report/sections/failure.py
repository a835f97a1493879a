"""Determines the reason why a run failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.checks.outcomes import failure_of_all
from assay.model.errors import RecordUnreadableError
from assay.record.layout import STATUS_COMPLETE

if TYPE_CHECKING:
    from assay.record.reader import Run


def status_reason(run: Run) -> str | None:
    """Return the reason why a run failed or was stopped, or why no operation succeeded."""
    reason = run.facts.get("reason")
    if reason is not None or run.facts["status"] != STATUS_COMPLETE:
        return reason
    try:
        return failure_of_all(run)
    except RecordUnreadableError:
        return None
