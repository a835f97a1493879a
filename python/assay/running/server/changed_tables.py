"""Changes tables of a running server for one run, and reverts the changes however the run ends.

Only a request that says how to revert each change has changes; only `assay try --allow-changes`
makes such requests. A separate process makes the change and waits. It reverts the change on
request, and also when the run's process has ended, even by `kill -9`. If that process is killed as
well, the next run of the same study reverts the change before it begins.
"""

from __future__ import annotations

import logging
import signal
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from assay.engines.checking import OpensFiles
from assay.engines.contract import EngineError, Server
from assay.engines.discovery import find_engine
from assay.engines.loading import Prepares
from assay.model.errors import RunFailedError, UsageError
from assay.running.processes.hosting import host
from assay.running.server.file_sql import run_on_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path
    from typing import Any

    from assay.engines.contract import Address, Engine, Instance
    from assay.running.asked.request import RunRequest
    from assay.running.processes.control import Channel
    from assay.running.processes.launcher import Guardian
    from assay.running.telling import Teller

log = logging.getLogger(__name__)

CHANGED, UNDO, UNDONE = "changed", "undo", "undone"
# Seconds for reverting: dropping an index waits for statements that may use it.
TAKING_BACK_S = 120.0
LOG = "host-change.log"


@contextmanager
def changed_tables(
    request: RunRequest, address: Address, guardian: Guardian, raw: Path, teller: Teller
) -> Iterator[None]:
    """Make the changes of a request, and revert them at the end of the block.

    Raises:
        EngineError: If the server refuses a change; a partial change is reverted.
        RunFailedError: If a change cannot be reverted; the message names the statement to run.
    """
    if not request.undo:
        yield
        return
    teller.phase("change")
    job = {
        "engine": request.engine,
        "address": address,
        "make": request.changes,
        "undo": request.undo,
    }
    with host(guardian, "change", job, raw / LOG, grace_s=TAKING_BACK_S) as changing:
        changing.next()
        try:
            yield
        finally:
            teller.phase("take back")
            changing.send(UNDO)
            changing.next()


def serve_changes(
    channel: Channel, job: Mapping[str, Any], engine: Engine, instance: Instance
) -> None:
    """Make changes, and wait for the request to revert them, or for the owner's end.

    Args:
        channel: Channel to the owner, which receives `changed` and `undone`.
        job: Job with `make` and `undo`: statements by label.
        engine: Engine of the server.
        instance: Connected instance of the server.

    Raises:
        EngineError: If the server refuses a change.
        RunFailedError: If a change cannot be reverted.
    """
    for sql in job["undo"].values():
        # A change is left only if an earlier run was killed.
        with suppress(EngineError):
            run_statements(engine, instance, sql)
    if not job["make"]:
        channel.send(CHANGED)
        channel.receive()
        channel.send(UNDONE)
        return
    try:
        for label, sql in job["make"].items():
            log.info("changes the server's tables: %s: %s", label, sql)
            run_statements(engine, instance, sql)
        channel.send(CHANGED)
        channel.receive()
    finally:
        # Reverting must not be interrupted, neither by Ctrl-C nor by the guardian's first signal.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        take_back(engine, instance, job["undo"])
    with suppress(OSError):
        channel.send(UNDONE)


def make_changes(request: RunRequest) -> None:
    """Make the changes of a request permanently, on its server or in its file.

    Raises:
        UsageError: If the engine cannot run SQL for Assay.
        EngineError: If the server cannot be reached, or refuses a change.
    """
    engine = find_engine(request.engine).engine()
    if request.dsn is not None and isinstance(engine, OpensFiles):
        run_on_file(request.engine, engine.file(request.dsn), request.changes.values())
        return
    if request.dsn is None or not isinstance(engine, Server):
        raise UsageError("only a running server or a database file keeps a change")
    instance = engine.attach(engine.address(request.dsn))
    try:
        for sql in request.changes.values():
            run_statements(engine, instance, sql)
    finally:
        engine.detach(instance)


def take_back(engine: Engine, instance: Instance, undo: Mapping[str, str]) -> None:
    """Revert changes of a user's tables.

    Raises:
        RunFailedError: If the server refuses; the message names the statement to run by hand.
    """
    for sql in undo.values():
        try:
            run_statements(engine, instance, sql)
        except EngineError as error:
            raise RunFailedError(
                f"the change could not be taken back ({error}); run this by hand: {sql}"
            ) from error


def run_statements(engine: Engine, instance: Instance, sql: str) -> None:
    """Run statements on the administration connection.

    Raises:
        UsageError: If the engine cannot run SQL for Assay.
        EngineError: If the server refuses a statement.
    """
    if not isinstance(engine, Prepares):
        raise UsageError("Assay cannot run SQL on this engine: make the change by hand")
    engine.prepare(instance, sql)
