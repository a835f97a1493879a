"""Makes the document section `state`: the data in caches at the start of a run."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, cast

from assay.analysis.host.state import starting_state
from assay.checks.state import NAME
from assay.model.errors import RecordUnreadableError
from assay.model.verdict import CheckResult, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.record.reader import Run
    from assay.report.documents.host.state import StateSection


def state_section(run: Run, checks: Sequence[CheckResult]) -> StateSection | None:
    """Return the document section `state`; None if the cache state was not recorded."""
    try:
        state = starting_state(run)
    except RecordUnreadableError:
        return None
    if state is None:
        return None
    reached = all(check.verdict is Verdict.VALID for check in checks if check.check == NAME)
    values = asdict(state)
    for inner in ("first_scans", "earlier_read_bytes", "page_cache", "loaded_by_measured"):
        del values[inner]
    cached = state.engine_cache
    section = values | {
        "engine_cache": None
        if cached is None
        else [dict(cached_object) for cached_object in cached],
        "engine_cached_bytes": state.engine_cached_bytes,
        "how": list(state.how),
        "left": list(state.left),
        "host_changes": list(state.host_changes),
        "words": state.text if reached else f"{state.text} (not reached)",
        "reached": reached,
        "resident_share": state.resident_share,
    }
    return cast("StateSection", section)
