"""`assay run`: one run of a workload on an engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from assay.record.places import runs_dir
from assay.running.asked.options import options_of
from assay.running.asked.understanding import request_of
from assay.verbs.shared.watching import Logged

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from assay.report.documents.run import RunDocument
    from assay.report.notebook import LoadedRun
    from assay.running.telling import Teller


def run(
    workload: str,
    *,
    page: bool = True,
    runs: Path | str | None = None,
    teller: Teller | None = None,
    given: Collection[str] | None = None,
    **options: Any,
) -> LoadedRun:
    """Runs a workload on an engine, checks and explains it, and writes a report.

    Args:
        workload: Name of the workload, or a folder of `.sql` or `.rq` files.
        page: Write the report's page now; otherwise `assay.report` can write it later.
        runs: Directory of runs. Default: `$ASSAY_RUNS`, else `./runs`.
        teller: Receives the progress.
        given: Options that raise an error if they have no effect; None means all. The other options
            are defaults, which are ignored if they have no effect.
        options: Options of the run, by the keys of a study's file.

    Raises:
        UsageError: If an option has no meaning, or names something that does not exist. In this
            case nothing was written.
        RunFailedError: If the run ended early. The partial record is kept.
    """
    asked = options_of({"workload": workload, **options})
    request = request_of(asked, list(options) if given is None else given)
    # Modules that run and explain are imported late, because refused requests do not need them.
    from assay.running.execute import execute

    progress = teller or Logged()
    directory = execute(request, runs_dir(runs), progress)
    progress.phase("checks and report")
    from assay.record.reader import Run
    from assay.report.build import build
    from assay.report.notebook import LoadedRun

    document = build(directory, with_page=page)
    return LoadedRun(Run(directory), cast("RunDocument", document))
