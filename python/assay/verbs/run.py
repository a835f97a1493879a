"""`assay run`: one run of a workload on an engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.record.places import runs_dir
from assay.report.build import build
from assay.report.notebook import LoadedRun, load_run
from assay.running.asked.options import options_of
from assay.running.asked.understanding import request_of
from assay.running.execute import execute
from assay.verbs.watching import Logged

if TYPE_CHECKING:
    from pathlib import Path

    from assay.running.telling import Teller


def run(
    workload: str, *, runs: Path | str | None = None, teller: Teller | None = None, **options: Any
) -> LoadedRun:
    """Runs a workload on an engine, checks and explains it, and writes a report.

    Args:
        workload: Its name, or a folder of `.sql` or `.rq` files.
        runs: Directory of runs; `$ASSAY_RUNS`, else `./runs`, unless given.
        teller: Hears how far it is.
        options: Of the run, by the keys of a study's file.

    Raises:
        UsageError: If an option has no meaning, or names what is not there; nothing was written.
        RunFailedError: If it ended early; its partial record is kept.
    """
    asked = options_of({"workload": workload, **options})
    place = runs_dir(runs)
    directory = execute(request_of(asked, list(options)), place, teller or Logged())
    build(directory)
    return load_run(str(directory), place)
