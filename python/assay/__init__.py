"""Assay measures database engines and explains the measurement.

`assay.load("latest").charts` gives a run's charts in a notebook.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from pathlib import Path

    from assay.report.notebook import LoadedRun


def load(run: str = "latest", runs: str | Path | None = None) -> LoadedRun:
    """Opens a finished run for a notebook: its tables, its summary and its charts.

    Args:
        run: `latest`, an id, the beginning of one, or a path.
        runs: The directory of runs; `ASSAY_RUNS`, else `./runs`, unless given.

    Raises:
        RecordUnreadableError: If there is no such run or its record is damaged.
    """
    from assay.report.notebook import load_run

    return load_run(run, runs)
