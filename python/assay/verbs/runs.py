"""`assay runs`: the runs that there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.record.places import runs_dir
from assay.record.reader import list_runs
from assay.report.kept import stored

if TYPE_CHECKING:
    from pathlib import Path


def runs(runs: Path | str | None = None) -> list[dict[str, Any]]:
    """Lists the runs of a directory, oldest first.

    Args:
        runs: Directory of runs; `$ASSAY_RUNS`, else `./runs`, unless given.

    Returns:
        The document of each run as it was built last; of a run that was never judged its id,
        `run`, and the `verdict` None.
    """
    return [
        stored(path) or {"run": path.name, "verdict": None} for path in list_runs(runs_dir(runs))
    ]
