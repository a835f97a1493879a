"""Interfaces of an engine whose statements are observed while other clients use it."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from assay.engines.plan_reading import Explained

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from assay.engines.contract import Address, CounterReader, Instance
    from assay.engines.plan_reading import PlanReader
    from assay.model.watched import SessionLook, StatementText


@dataclass(frozen=True)
class Sight:
    """The statements of a server that the monitoring role can see.

    Attributes:
        source: Source of the calls and times of statements; None if no source is readable.
        limits: Sentences on what is not observed or counted, with the remedy.
    """

    source: str | None
    limits: tuple[str, ...] = ()


class PlannedOnly(ABC):
    """Interface of a plan reader that executes nothing, for other clients' statements."""

    def explain(
        self, statements: Sequence[tuple[str, Sequence[object]]], limit_s: float
    ) -> Iterator[Explained]:
        """Yield a plan with estimates for each statement."""
        del limit_s
        for text, _ in statements:
            begun_s = time.monotonic()
            native, reason = self.planned(text)
            yield Explained(native, reason, time.monotonic() - begun_s)

    @abstractmethod
    def planned(self, text: str) -> tuple[str | None, str]:
        """Return a statement's plan, and the reason if it is incomplete or missing."""
        ...


class StatementWatcher(Protocol):
    """Interface that reads which statements a server executes for other clients.

    A watcher is for one thread only.
    """

    sight: Sight

    def looks(self) -> Sequence[SessionLook]:
        """Return the server's sessions that execute a statement now, except Assay's own.

        Raises `OSError`.
        """
        ...

    def counts(self) -> list[tuple[str, Mapping[str, float]]]:
        """Return the total calls and times of each statement, by its key.

        The names of counts are those in `docs/reference/record-format.md`; times are in seconds.
        The result is empty if `sight` has no source.
        """
        ...

    def texts(self, keys: Collection[str]) -> dict[str, StatementText]:
        """Return the texts of the given statements that the role may see.

        Raises `OSError`.
        """
        ...

    def aliases(self) -> dict[str, str]:
        """Return other keys of statements in samples, each with the key of its text."""
        ...

    def close(self) -> None:
        """Close the connection that watches statements."""
        ...


@runtime_checkable
class WatchesStatements(Protocol):
    """Interface of servers that report the statements of other clients."""

    def guest(self, dsn: str) -> Address:
        """Return the address of a server for sessions that cannot write. Raises `EngineError`."""
        ...

    def watcher(self, instance: Instance) -> StatementWatcher:
        """Return a watcher of the statements of other sessions, with its own connection.

        Raises `EngineError`.
        """
        ...

    def counters_beside(self, instance: Instance) -> CounterReader:
        """Return a reader of the engine's counters, except those that the watcher reads.

        Raises:
            EngineError: If the server refuses the connection.
        """
        ...

    def watched_plans(self, instance: Instance) -> PlanReader:
        """Return a plan reader that executes nothing.

        Raises `EngineError`.
        """
        ...
