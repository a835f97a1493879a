"""Runs on a user's running server without changing the user's data.

Tables are made in Assay's own schema. The schema's note says that it is Assay's and whether it is
complete. The note distinguishes the schema of a killed run, one that was kept on purpose, and other
people's schemas.
"""

from __future__ import annotations

import logging
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from assay.engines.contract import ChoosesServers, TellsPort
from assay.model.errors import AssayError, UsageError
from assay.running.asked.writing import guarded
from assay.running.processes.process_table import read_process
from assay.running.server.bridging import loads, reached
from assay.running.server.changed_tables import changed_tables
from assay.running.server.subject import Subject, nodes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from assay.engines.contract import Instance, Server
    from assay.running.asked.asked_run import Asked
    from assay.running.data.loading import Loading
    from assay.running.processes.launcher import Guardian
    from assay.running.server.bridging import Reached

OURS = "made by Assay"
# Note of an incomplete schema, which the next run removes after a killed one.
PASSING = ", of a run under way"
# The output of helper processes of a running server is in files named after this one.
SERVER_LOG = "server.log"

log = logging.getLogger(__name__)


@contextmanager
def running(
    asked: Asked, engine: Server, guardian: Guardian, loading: Loading, raw: Path
) -> Iterator[tuple[Subject, dict[str, Any] | None]]:
    """Yield a running server with the workload's data; drop Assay's tables at the end.

    Raises:
        UsageError: If a schema of this name exists that Assay did not create.
    """
    with (
        reached(
            engine,
            asked.dsn,
            asked.request,
            guardian,
            raw / SERVER_LOG,
            partial(guarded, asked),
        ) as there,
        _on(asked, engine, there, guardian, loading) as subject_and_data,
    ):
        yield subject_and_data


@contextmanager
def _on(
    asked: Asked, engine: Server, there: Reached, guardian: Guardian, loading: Loading
) -> Iterator[tuple[Subject, dict[str, Any] | None]]:
    instance = engine.attach(there.address)
    schema = _Schema(asked, engine, instance)
    try:
        pids = engine.processes(instance)
        # Without its server, a session goes on with another one of the list.
        is_list = isinstance(engine, ChoosesServers) and engine.has_other_servers(instance)
        watch = _watch(() if is_list else pids)

        def last_words() -> str | None:
            return watch() or there.last_words()

        def subject() -> Subject:
            name, how = asked.engine.facts.name, {"address": instance.address}
            return Subject(
                name,
                how,
                pids,
                bridge_pids=there.bridge_pids,
                reachable=not there.bridge_pids,
                port=engine.port(instance) if isinstance(engine, TellsPort) else None,
                last_words=last_words,
                nodes=nodes_of(engine, instance.address),
            )

        if not asked.workload.makes_data or not loads(engine, instance):
            # Sessions only read; a requested change has its own connection.
            open_address = engine.address(asked.dsn)
            raw, teller = loading.raw, loading.teller
            with changed_tables(asked.request, open_address, guardian, raw, teller):
                yield subject(), None
            return
        loading.teller.phase("data")
        with schema.used() as is_whole:
            dataset = {"kept": schema.name}
            if not is_whole:
                dataset = loading.fill(guardian, subject())
                if asked.request.keep_data:
                    schema.finish()
            yield subject(), dataset
            loading.teller.phase("stop")
    finally:
        engine.detach(instance)


def _watch(pids: tuple[int, ...]) -> Callable[[], str | None]:
    """Return a function that reports the end of a server process on this host."""
    begun = {pid: process.start_ticks for pid in pids if (process := read_process(pid))}

    def last_words() -> str | None:
        for pid, start_ticks in begun.items():
            now = read_process(pid)
            if now is None or not now.alive or now.start_ticks != start_ticks:
                return f"its process {pid} ended; the server's own log has the cause"
        return None

    return last_words


class _Schema:
    """The database schema of one workload's data at one scale."""

    def __init__(self, asked: Asked, engine: Server, instance: Instance) -> None:
        data, scale = asked.workload.data, asked.request.scale
        # Tables that a run changes have another name than kept ones.
        changed = "_prepared" if asked.request.prepare else "_refreshed" * bool(asked.refresh_sets)
        readable = f"assay_{data.facts.name}_{scale:g}{changed}"
        self.name = "".join(char if char.isalnum() else "_" for char in readable.lower())
        self._engine = engine
        self._instance = instance
        linked = " with foreign keys" * data.foreign_keys
        self._mark = f"{OURS}: {data.facts.name} {scale:g} {data.data_hash}{linked}"

    @contextmanager
    def used(self) -> Iterator[bool]:
        """Make the schema unless it is complete already; yield True if it was.

        At the end of the block, the schema stays only if it is complete and was to be kept: by this
        run, which then called `finish`, or by the run that made it.
        """
        is_whole = self._begin()
        try:
            yield is_whole
        finally:
            self._leave()

    def finish(self) -> None:
        """Mark the schema as complete, so that later runs can use it."""
        self._engine.mark_schema(self._instance, self.name, self._mark)

    def _leave(self) -> None:
        try:
            mark = self._found_mark()
            if mark is not None and mark.startswith(OURS) and mark != self._mark:
                self._engine.drop_schema(self._instance, self.name)
        except AssayError as error:
            # The error that is being raised is more important than this one.
            log.warning(
                ("the schema %s may remain on the server; the next run removes it: %s"),
                self.name,
                error,
            )

    def _begin(self) -> bool:
        if not self._engine.lock_schema(self._instance, self.name):
            raise UsageError(
                f"another run uses the schema {self.name} of this server: wait for it, or name"
                " another database in --dsn"
            )
        mark = self._found_mark()
        if mark is not None and not mark.startswith(OURS):
            raise UsageError(
                f"the server has a schema {self.name} that Assay did not create, and Assay does "
                "not change it. Rename it, or name another database in --dsn."
            )
        if mark is not None and mark != self._mark:
            # The schema is of another content of the workload, or was left by a killed run.
            self._engine.drop_schema(self._instance, self.name)
        if mark != self._mark:
            self._engine.make_schema(self._instance, self.name, self._mark + PASSING)
        self._engine.use_schema(self._instance, self.name)
        return mark == self._mark

    def _found_mark(self) -> str | None:
        return self._engine.schema_mark(self._instance, self.name)
