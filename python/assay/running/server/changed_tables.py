"""Changes tables of a running server for one run, and reverts that however it ends.

Only a request that says how to revert each change has changes; `assay try` and `assay diagnose`
make such requests with `--allow-changes`. A separate process makes the change and waits. It reverts
the change on request, and also when the run's process has ended, even by `kill -9`. If that process
is killed as well, the next run of the same study reverts the change before it begins.
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
    """Make the requested table changes during the block, and revert them at its end.

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
    """Change tables, then wait for the request to revert that or for the run's end.

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
    begun: dict[str, str] = {}
    try:
        for label, sql in job["make"].items():
            log.info("changes the server's tables: %s: %s", label, sql)
            begun[label] = job["undo"][label]
            _make(engine, instance, sql, label, begun)
        channel.send(CHANGED)
        channel.receive()
    finally:
        # Reverting must not be interrupted, neither by Ctrl-C nor by the guardian's first signal.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        take_back(engine, instance, begun)
    with suppress(OSError):
        channel.send(UNDONE)


def _make(engine: Engine, instance: Instance, sql: str, label: str, begun: dict[str, str]) -> None:
    """Make one change. If the server refuses, revert what it made of it.

    Args:
        engine: Engine of the server.
        instance: Connected instance of the server.
        sql: Statements that make the change.
        label: Label of the change.
        begun: Statements that revert begun changes, by label. A refused change is removed.

    Raises:
        EngineError: If the server refuses; the message names what may have to be run by hand.
    """
    try:
        run_statements(engine, instance, sql)
    except EngineError as refused:
        undo = begun.pop(label)
        try:
            run_statements(engine, instance, undo)
        except EngineError:
            # Nothing was made, or the server cannot be reached.
            raise EngineError(
                f"{refused}\nIf a part of the change stayed, run: {undo}"
            ) from refused
        raise


def make_changes(request: RunRequest) -> None:
    """Make the requested changes permanently, on a server or in a database file.

    Raises:
        UsageError: If the engine cannot run SQL for Assay.
        EngineError: If the server cannot be reached, or refuses a change.
    """
    engine = find_engine(request.engine).engine()
    if request.dsn is not None and isinstance(engine, OpensFiles):
        run_on_file(request.engine, engine.file(request.dsn), request.changes.values())
        return
    if request.dsn is None or not isinstance(engine, Server):
        raise UsageError("a change can be kept on a running server or in a database file only")
    instance = engine.attach(engine.address(request.dsn))
    try:
        for sql in request.changes.values():
            run_statements(engine, instance, sql)
    finally:
        engine.detach(instance)


def take_back(engine: Engine, instance: Instance, undo: Mapping[str, str]) -> None:
    """Revert the changes of a user's tables, the last first.

    A change that cannot be reverted does not keep the others.

    Raises:
        RunFailedError: If the server refuses; the message names the statements to run by hand.
    """
    left: list[tuple[str, EngineError]] = []
    for sql in reversed(list(undo.values())):
        try:
            run_statements(engine, instance, sql)
        except EngineError as error:
            left.append((sql, error))
    if left:
        _, why = left[0]
        by_hand = " ".join(sql for sql, _ in left)
        raise RunFailedError(
            f"the change could not be reverted ({why}); revert it by hand: {by_hand}"
        ) from why


def run_statements(engine: Engine, instance: Instance, sql: str) -> None:
    """Run SQL statements on the administration connection.

    Raises:
        UsageError: If the engine cannot run SQL for Assay.
        EngineError: If the server refuses a statement.
    """
    if not isinstance(engine, Prepares):
        raise UsageError("Assay cannot run SQL on this engine: make the change by hand")
    engine.prepare(instance, sql)
