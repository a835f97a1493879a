"""Changes a user's database file for one run, and reverts that however the run ends.

The statements that revert a change are in the run's journal before the change is made. The run
reverts the change at its end, its guardian after `kill -9`, and the next command after both died.
"""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING

from assay.engines.checking import ChangesFiles
from assay.model.errors import RunFailedError, UsageError
from assay.running.changes.undo import Step
from assay.running.processes.hosting import host
from assay.running.server.file_sql import opened_file, run_on_file

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from assay.running.asked.request import RunRequest
    from assay.running.changes.changing import Changes
    from assay.running.processes.control import Channel
    from assay.running.processes.launcher import Guardian

log = logging.getLogger(__name__)

UNDO, MAKE, CHANGED = "undo", "make", "changed"
JOB = "change_file"
LOG = "host-change.log"


def change_file(
    request: RunRequest, file: Path, guardian: Guardian, changes: Changes, raw: Path
) -> None:
    """Make the requested changes in a user's database file; the journal reverts them.

    Raises:
        EngineError: If the engine refuses a change.
        RunFailedError: If another run's change of the file is not reverted, or the journal cannot
            be written.
    """
    changes.check_free(file)
    if not request.changes:
        return
    job = {
        "engine": request.engine,
        "file": str(file),
        "make": request.changes,
        "undo": request.undo,
        "scratch": str(guardian.directory),
    }
    # The guardian ends this process before it reverts anything, so no change is made later.
    with host(guardian, JOB, job, raw / LOG) as changing:
        undo = changing.next()["undo"]
        text = json.dumps({"engine": request.engine, "sql": undo})
        step = Step("run_sql", str(file), f"{', '.join(request.changes)} in {file.name}", text)
        try:
            change = changes.note(step, "; ".join(map(str.strip, request.changes.values())))
        except OSError as error:
            raise RunFailedError(f"the run's journal cannot be written: {error}") from error
        changing.send(MAKE)
        changing.next()
        change.effective = change.asked


def serve_file_changes(channel: Channel, job: Mapping[str, Any], file: Path) -> None:
    """Send the SQL that reverts changes of a file; change it once this is recorded.

    Args:
        channel: Channel to the owner, which receives `undo` and `changed`.
        job: Job with `engine`, `scratch`, and `make` and `undo`: statements by label.
        file: Path of the database file.

    Raises:
        UsageError: If the engine does not support changes of files.
        EngineError: If the engine refuses a change.
    """
    scratch = Path(job["scratch"])
    with opened_file(job["engine"], file, reads_only=True, scratch=scratch) as (engine, instance):
        if not isinstance(engine, ChangesFiles):
            raise UsageError(f"{job['engine']} cannot revert a change of a database file")
        undo = [
            engine.exact_undo(instance, sql, job["undo"][label])
            for label, sql in job["make"].items()
        ]
    channel.send(UNDO, undo=undo[::-1])
    if channel.receive() is None:
        return
    log.info("changes %s: %s", file, job["make"])
    run_on_file(job["engine"], file, job["make"].values(), scratch=scratch)
    channel.send(CHANGED)
