"""Changes of tables of a running server: made for one run, and taken back however it ends.

Only a request that says how each change is taken back has any, and only `assay try
--allow-changes` makes such a request. What a killed run left is taken back before the next run of
the same study begins.
"""

from __future__ import annotations

import logging
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from assay.engines.contract import EngineError, Prepares, Server
from assay.engines.discovery import find_engine
from assay.model.errors import RunFailedError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from assay.engines.contract import Instance
    from assay.running.asked.request import RunRequest
    from assay.running.telling import Teller

log = logging.getLogger(__name__)


@contextmanager
def changed_tables(
    request: RunRequest, engine: Server, instance: Instance, teller: Teller
) -> Iterator[None]:
    """Makes the changes of a request; takes them back when the block is left.

    Raises:
        UsageError: If the engine runs no SQL of ours.
        RunFailedError: If a change was made and cannot be taken back: names the statement to run.
        EngineError: If the server refuses a change; what it left of it is taken back.
    """
    if not request.undo:
        yield
        return
    for sql in request.undo.values():
        # There is something to take back only if a run was killed.
        with suppress(EngineError):
            run_statements(engine, instance, sql)
    if not request.changes:
        yield
        return
    teller.phase("change")
    try:
        for label, sql in request.changes.items():
            log.info("changes the server's tables: %s: %s", label, sql)
            run_statements(engine, instance, sql)
        yield
    finally:
        teller.phase("take back")
        take_back(engine, instance, request.undo)


def make_changes(request: RunRequest) -> None:
    """Makes the changes of a request on its server, which then stay.

    Raises:
        UsageError: If the engine runs no SQL of ours.
        EngineError: If the server cannot be reached, or refuses a change.
    """
    engine = find_engine(request.engine).engine()
    if request.dsn is None or not isinstance(engine, Server):
        raise UsageError("only a running server keeps a change")
    instance = engine.attach(engine.address(request.dsn))
    try:
        for sql in request.changes.values():
            run_statements(engine, instance, sql)
    finally:
        engine.detach(instance)


def take_back(engine: Server, instance: Instance, undo: Mapping[str, str]) -> None:
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


def run_statements(engine: Server, instance: Instance, sql: str) -> None:
    """Runs statements on the administration connection.

    Raises:
        UsageError: If the engine runs no SQL of ours.
        EngineError: If the server refuses one.
    """
    if not isinstance(engine, Prepares):
        raise UsageError("this engine runs no SQL of ours: make the change by hand")
    engine.prepare(instance, sql)
