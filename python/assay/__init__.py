"""Assay measures database engines and explains the measurement.

`assay.load("latest").charts` gives a run's charts in a notebook. Verbs of the command line are
functions, too: `assay.run("tpch", scale=0.1)`, `assay.sweep("tpcc", clients=[1, 2, 4])`; all of
them are in `assay.verbs`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.version import VERSION

__version__ = VERSION

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


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whichever verb
    """A verb of `assay.verbs`, imported when it is first asked for."""
    if name.startswith("_"):
        raise AttributeError(name)
    from importlib import import_module

    verbs = import_module("assay.verbs")
    if name not in verbs.__all__:
        raise AttributeError(f"assay has no {name!r}; its verbs are {', '.join(verbs.__all__)}")
    return getattr(verbs, name)
