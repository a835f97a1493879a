"""The engine under load: embedded, a private server, or a running server.

The rest of a run treats all three alike: facts for the host's job, processes to follow, and whether
the engine still runs.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from assay.engines.contract import Clustered
from assay.record.layout import (
    ACCOUNT_BRIDGE,
    ACCOUNT_DRIVER,
    ACCOUNT_ENGINE,
    ACCOUNT_ENGINE_AND_DRIVER,
)
from assay.running.processes.control import METERED_HOST

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from assay.engines.contract import Address, Node, Server


@dataclass(frozen=True)
class Subject:
    """An engine that can be put under load.

    Attributes:
        engine: Name of the engine.
        reached: Means by which a host reaches the engine: `data`, `scratch` and `settings`, or
            `address`. The values of `reached` may hold a password, so they are neither recorded nor
            logged.
        pids: Root processes of a server on this host; empty for an embedded engine, and for a
            server on another host.
        embedded: Whether the engine runs in the driver's host process.
        bridge_pids: Processes of Assay between a server and its clients.
        reachable: Whether other hosts may reach it, like a running server.
        port: Port of a running server; None if not known.
        nodes: Nodes of a cluster; empty if not a cluster.
        last_words: Returns None while the engine runs; otherwise how it ended. `last_words` exists
            only for private servers.
        revive: Restarts a private server that died, at the same address; None if that is not
            supported.
        anew: Context that starts the stopped engine with the run's settings on existing data, its
            own or a snapshot, and stops it at the end; None for a user's server.
    """

    engine: str
    reached: dict[str, Any] = field(repr=False)
    pids: tuple[int, ...] = ()
    embedded: bool = False
    bridge_pids: tuple[int, ...] = ()
    reachable: bool = False
    port: int | None = None
    nodes: tuple[Node, ...] = ()
    last_words: Callable[[], str | None] = lambda: None
    revive: Callable[[], None] | None = None
    anew: Callable[[Path], AbstractContextManager[Subject]] | None = None

    def job(self) -> dict[str, Any]:
        """Return the facts that the driver's process needs to connect to the engine."""
        return {"engine": self.engine, **self.reached}

    @property
    def address(self) -> Address:
        """The address of the server."""
        address: Address = self.reached["address"]
        return address

    @property
    def metered(self) -> str | list[int] | None:
        """The processes whose counters are read around operations."""
        if self.embedded:
            return METERED_HOST
        return list(self.pids) or None

    @property
    def readers(self) -> str | list[int]:
        """The processes whose reads count as the engine's."""
        return METERED_HOST if self.embedded else list(self.pids)

    def accounts(self, host_pids: Sequence[int]) -> dict[int, str]:
        """Return the account (engine, driver, helper) of each process by pid."""
        if self.embedded:
            return dict.fromkeys(host_pids, ACCOUNT_ENGINE_AND_DRIVER)
        bridges = dict.fromkeys(self.bridge_pids, ACCOUNT_BRIDGE)
        drivers = dict.fromkeys(host_pids, ACCOUNT_DRIVER)
        return {**dict.fromkeys(self.pids, ACCOUNT_ENGINE), **drivers, **bridges}


def nodes_of(engine: Server, address: Address) -> tuple[Node, ...]:
    """Return the nodes of a cluster; empty for a server that is not a cluster.

    Raises `EngineError`.
    """
    if not isinstance(engine, Clustered):
        return ()
    instance = engine.attach(address)
    try:
        return engine.nodes(instance)
    finally:
        engine.detach(instance)


def embedded(engine: str, data: Path, scratch: Path, settings: dict[str, str]) -> Subject:
    """Return an engine that runs embedded in the driver's process."""
    reached: dict[str, Any] = {"data": str(data), "scratch": str(scratch), "settings": settings}

    def anew(there: Path) -> AbstractContextManager[Subject]:
        return nullcontext(embedded(engine, there, scratch, settings))

    return Subject(engine, reached, embedded=True, anew=anew)


def on_file(
    engine: str, scratch: Path, settings: dict[str, str], *, file: Path, reads_only: bool
) -> Subject:
    """Return an embedded engine that opens a user's database file."""
    of_file = {"file": str(file), "reads_only": reads_only}
    reached = {"data": str(scratch), "scratch": str(scratch), "settings": settings} | of_file
    return Subject(engine, reached, embedded=True)
