"""The subject of a run: an embedded engine, a server of ours, or one that runs already.

All three are the same to the rest of a run: facts for the host's job, processes to follow, and
whether it is still there.
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
    """An engine that can be driven.

    Attributes:
        engine: Name of the engine.
        reached: How a host reaches it: `data`, `scratch` and `settings`, or `address`. May hold a
            password, so it is neither recorded nor logged.
        pids: Root processes of a server on this host; empty for an embedded engine, and for a
            server that is elsewhere.
        embedded: Whether it lives in the host.
        bridge_pids: Processes of ours between a server and those who ask it.
        reachable: Whether other hosts may reach it, as a server that runs already.
        port: Port of a server that runs already; None if not known.
        nodes: Nodes of a cluster; empty if not a cluster.
        last_words: Returns None while it runs; otherwise how it ended. Only for Assay's servers.
        revive: Starts a server of ours that died again, at the same address; None if that cannot
            be.
        anew: Starts the engine as for the run on data that are there, its own or a copy of them,
            when nothing of it runs any more, and takes it down; None means a server that is not
            ours.
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
        """Return the facts that a driver's process needs to connect."""
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
        """The account of each process, when these hosts drive."""
        if self.embedded:
            return dict.fromkeys(host_pids, ACCOUNT_ENGINE_AND_DRIVER)
        bridges = dict.fromkeys(self.bridge_pids, ACCOUNT_BRIDGE)
        drivers = dict.fromkeys(host_pids, ACCOUNT_DRIVER)
        return {**dict.fromkeys(self.pids, ACCOUNT_ENGINE), **drivers, **bridges}


def nodes_of(engine: Server, address: Address) -> tuple[Node, ...]:
    """The nodes of a cluster; none of a server that is no such. Raises `EngineError`."""
    if not isinstance(engine, Clustered):
        return ()
    instance = engine.attach(address)
    try:
        return engine.nodes(instance)
    finally:
        engine.detach(instance)


def embedded(engine: str, data: Path, scratch: Path, settings: dict[str, str]) -> Subject:
    """An engine that lives in the host."""
    reached: dict[str, Any] = {"data": str(data), "scratch": str(scratch), "settings": settings}

    def anew(there: Path) -> AbstractContextManager[Subject]:
        return nullcontext(embedded(engine, there, scratch, settings))

    return Subject(engine, reached, embedded=True, anew=anew)


def on_file(
    engine: str, scratch: Path, settings: dict[str, str], *, file: Path, reads_only: bool
) -> Subject:
    """An engine that lives in the host and opens a file of somebody's; `data` has nothing then."""
    of_file = {"file": str(file), "reads_only": reads_only}
    reached = {"data": str(scratch), "scratch": str(scratch), "settings": settings} | of_file
    return Subject(engine, reached, embedded=True)
