"""Finds the previous run with an equal request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.errors import AssayError
from assay.model.request_keys import DURATION, INCIDENTAL
from assay.record.damage import damage_of
from assay.record.layout import KIND_RUN, STATUS_COMPLETE
from assay.record.reader import Run, list_runs, said

if TYPE_CHECKING:
    from pathlib import Path

# Maximum number of earlier runs of the same workload that are searched.
LOOKED_AT_MAX = 20
# Options that may differ between runs of the same request, such as the duration.
IGNORED_KEYS = frozenset((*INCIDENTAL, *DURATION))


def earlier_run(run: Run, runs_dir: Path) -> Run | None:
    """Return the latest complete earlier run with an equal request; None without one.

    The statements of the two runs may differ. The comparison of the two runs reports changed
    statements for each operation.

    Args:
        run: The later run.
        runs_dir: Directory of runs.
    """
    same_name = _name_of(run.id)
    earlier = [
        path
        for path in list_runs(runs_dir)
        if path.name < run.id and _name_of(path.name) == same_name
    ]
    for path in reversed(earlier[-LOOKED_AT_MAX:]):
        try:
            other = Run(path)
            if other.kind == KIND_RUN and _asks_the_same(run, other) and not damage_of(path):
                return other
        except AssayError:
            # A damaged record is reported when a user opens it by name.
            continue
    return None


def _name_of(run_id: str) -> str:
    """Return the workload and engine in a run's id."""
    return run_id.partition("-")[2].rpartition("-")[0]


def _asks_the_same(run: Run, other: Run) -> bool:
    requests = [
        {name: value for name, value in said(facts["request"]).items() if name not in IGNORED_KEYS}
        for facts in (run.facts, other.facts)
    ]
    return other.facts.get("status") == STATUS_COMPLETE and requests[0] == requests[1]
