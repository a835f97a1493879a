"""Changes of tables of a running server: made for one run, and taken back however it ends.

Only a request that says how each change is taken back has any, and only `assay try
--allow-changes` makes such a request. A host of its own makes the change and waits: it takes the
change back when it is told to, and also when the run's process is gone, `kill -9` included. What
stays if that host is killed as well is taken back before the next run of the same study begins.
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
# Dropping an index waits until statements that may use it have ended.
TAKING_BACK_S = 120.0
LOG = "host-change.log"


@contextmanager
def changed_tables(
    request: RunRequest, address: Address, guardian: Guardian, raw: Path, teller: Teller
) -> Iterator[None]:
    """Makes the changes of a request; takes them back when the block is left.

    Raises:
        EngineError: If the server refuses a change; what it left of it is taken back.
        RunFailedError: If a change was made and cannot be taken back: names the statement to run.
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
    """Makes changes, waits for the word to take them back or for the end of whoever asked.

    Args:
        channel: To whoever asked; hears `changed` and `undone`.
        job: `make` and `undo`: statements by label.
        engine: Engine of the server.
        instance: Attached.

    Raises:
        EngineError: If the server refuses a change.
        RunFailedError: If a change cannot be taken back.
    """
    for sql in job["undo"].values():
        # There is something to take back only if a run was killed.
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
        # Nothing may interrupt it now: not Ctrl-C, and not the guardian's first word to end.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        take_back(engine, instance, job["undo"])
    with suppress(OSError):
        channel.send(UNDONE)


def make_changes(request: RunRequest) -> None:
    """Makes the changes of a request on its server or in its file, where they then stay.

    Raises:
        UsageError: If the engine runs no SQL of ours.
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
    """Takes changes back.

    Raises:
        RunFailedError: If the server refuses it: names the statement to run by hand.
    """
    for sql in undo.values():
        try:
            run_statements(engine, instance, sql)
        except EngineError as error:
            raise RunFailedError(
                f"the change could not be taken back ({error}); run this by hand: {sql}"
            ) from error


def run_statements(engine: Engine, instance: Instance, sql: str) -> None:
    """Runs statements on the administration connection.

    Raises:
        UsageError: If the engine runs no SQL of ours.
        EngineError: If the server refuses one.
    """
    if not isinstance(engine, Prepares):
        raise UsageError("Assay cannot run SQL on this engine: make the change by hand")
    engine.prepare(instance, sql)
