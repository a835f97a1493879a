"""`assay runs`: lists all runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.record.places import runs_dir
from assay.record.reader import list_runs
from assay.report.kept import stored
from assay.report.results.runs import UNKNOWN, unjudged_row

if TYPE_CHECKING:
    from pathlib import Path


def runs(runs: Path | str | None = None) -> list[dict[str, Any]]:
    """Lists the runs of a directory, oldest first.

    Args:
        runs: Directory of runs. Default: `$ASSAY_RUNS`, else `./runs`.

    Returns:
        The latest document of each run. If a run has no document, its `verdict` is None and the
        other keys come from its `run.json`: `run`, `path`, `workload`, `engine`, `title`, `state`
        and `status`.
    """
    return [_row(path) for path in list_runs(runs_dir(runs))]


def _row(directory: Path) -> dict[str, Any]:
    """Return the stored document of a readable record, or a row from its own file."""
    row = unjudged_row(directory)
    return row if row["state"] in UNKNOWN else stored(directory) or row
