"""`assay observe`: watches the statements that a running server executes for its clients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from assay.record.places import runs_dir
from assay.record.reader import Run
from assay.report.build import build
from assay.report.notebook import LoadedRun
from assay.running.asked.observe import observation_of, observe_options
from assay.running.observe import observe as looked
from assay.verbs.shared.watching import Logged

if TYPE_CHECKING:
    from pathlib import Path

    from assay.report.documents.run import RunDocument
    from assay.running.telling import Teller


def observe(
    dsn: str | None = None,
    *,
    page: bool = True,
    runs: Path | str | None = None,
    teller: Teller | None = None,
    **options: Any,
) -> LoadedRun:
    """Watches a running server without driving it, and explains what its statements wait for.

    Args:
        dsn: Address of the server, in the form that its own clients use.
        page: Write the report's page now; otherwise `assay.report` can write it later.
        runs: Directory of runs. Default: `$ASSAY_RUNS`, else `./runs`.
        teller: Receives the progress.
        options: Options of `assay observe`, such as `time="60s"`, `probe_interval="100ms"`.

    Raises:
        UsageError: If an option has no meaning, or the server cannot be reached or watched.
        RunFailedError: If the observation ended early. The partial record is kept.
    """
    observation = observation_of(observe_options({"dsn": dsn, **options}))
    progress = teller or Logged()
    directory = looked(observation, runs_dir(runs), progress)
    progress.phase("checks and report")
    document = build(directory, with_page=page)
    return LoadedRun(Run(directory), cast("RunDocument", document))
