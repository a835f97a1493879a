"""A run on a server that runs already: what is not ours is not touched.

Tables are made in a namespace of our own. Its mark says whose it is and whether it is whole: one
that a killed run left is told from one that was kept on purpose, and both from somebody else's.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from assay.model.errors import UsageError
from assay.study.subject import Subject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engines.contract import Instance, Server
    from assay.study.asking import Asked
    from assay.study.launcher import Guardian
    from assay.study.loading import Loading

OURS = "made by Assay"
UNFINISHED = ", unfinished"


@contextmanager
def running(
    asked: Asked, engine: Server, guardian: Guardian, loading: Loading
) -> Iterator[tuple[Subject, dict[str, Any] | None]]:
    """The server with the workload's data; our tables are dropped when the block is left.

    Raises:
        UsageError: If something is in the way that we did not make.
    """
    address = engine.address(asked.request.dsn or "")
    instance = engine.attach(address)
    schema = _Schema(asked, engine, instance)
    try:
        pids = engine.processes(instance)

        def subject() -> Subject:
            return Subject(asked.engine.facts.name, {"address": instance.address}, pids)

        if not asked.workload.makes_data:
            yield subject(), None
            return
        loading.teller.phase("data")
        with schema.used(keep=asked.request.keep_data) as is_whole:
            dataset = {"kept": schema.name}
            if not is_whole:
                dataset = loading.fill(guardian, subject())
                schema.finish()
            yield subject(), dataset
            loading.teller.phase("stop")
    finally:
        engine.detach(instance)


class _Schema:
    """The namespace of one workload's data at one scale."""

    def __init__(self, asked: Asked, engine: Server, instance: Instance) -> None:
        workload, scale = asked.workload, asked.request.scale
        readable = f"assay_{workload.facts.name}_{scale:g}"
        self.name = "".join(char if char.isalnum() else "_" for char in readable.lower())
        self._engine = engine
        self._instance = instance
        self._mark = f"{OURS}: {workload.facts.name} {scale:g} {workload.content_hash}"

    @contextmanager
    def used(self, *, keep: bool) -> Iterator[bool]:
        """Makes it unless it is there and whole; whether it is. Dropped at the end, unless kept.

        What is not whole when the block is left is dropped whatever is asked for.
        """
        is_whole = self._begin()
        try:
            yield is_whole
        finally:
            found = self._found()
            is_kept = keep and found == self._mark
            if found is not None and found.startswith(OURS) and not is_kept:
                self._engine.drop_schema(self._instance, self.name)

    def finish(self) -> None:
        """All data is in it."""
        self._engine.mark_schema(self._instance, self.name, self._mark)

    def _begin(self) -> bool:
        found = self._found()
        if found is not None and not found.startswith(OURS):
            raise UsageError(
                f"the server has a schema {self.name} that Assay did not make; it is not touched."
                " Rename it, or name another database in --dsn."
            )
        if found is not None and found != self._mark:
            # Of another content of the workload, or left by a run that was killed.
            self._engine.drop_schema(self._instance, self.name)
        if found != self._mark:
            self._engine.make_schema(self._instance, self.name, self._mark + UNFINISHED)
        self._engine.use_schema(self._instance, self.name)
        return found == self._mark

    def _found(self) -> str | None:
        return self._engine.schema_mark(self._instance, self.name)
