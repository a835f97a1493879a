"""Connects to a running server, through a bridge if its engine needs one."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.engines.contract import Bridged, Bridging, Server
from assay.engines.loading import TellsIfItLoads
from assay.record.writer import new_run_id
from assay.running.host.places import engines_dir
from assay.running.processes.launcher import Guardian
from assay.running.server.serving import ServerLauncher

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from assay.engines.contract import Address, Instance
    from assay.running.asked.request import RunRequest

    Guarding = Callable[[Address], Address]


@dataclass(frozen=True)
class Reached:
    """The address at which a running server can be queried, perhaps through a bridge.

    Attributes:
        address: Address of the server, which may hold a password.
        bridge_pids: Process ids of the bridge to the server.
        last_words: Returns None while the bridge runs; otherwise how a process of it ended.
    """

    address: Address
    bridge_pids: tuple[int, ...]
    last_words: Callable[[], str | None]


@contextmanager
def reached(
    engine: Server,
    dsn: str,
    request: RunRequest,
    guardian: Guardian,
    log: Path,
    guarding: Guarding = lambda address: address,
) -> Iterator[Reached]:
    """Yield a running server's address; a bridge started for it ends with the block.

    `dsn` includes the requested settings; `guarding` adds settings that make connections read only.
    The bridge's output is in a file named after `log`.
    """
    address = guarding(engine.address(dsn))
    if not isinstance(engine, Bridged):
        yield Reached(address, (), lambda: None)
        return
    launcher = ServerLauncher(guardian, log, cpus_beside=request.pin.get("client", []))
    bridging = Bridging(launcher, engines_dir(), tuple(request.drivers))
    try:
        address = engine.bridged(address, bridging)
        yield Reached(address, launcher.attending, launcher.last_words)
    finally:
        launcher.stop()


@contextmanager
def reached_before(
    engine: Server, dsn: str, request: RunRequest, guarding: Guarding
) -> Iterator[Address]:
    """Yield a server's address before a run exists, with a temporary guardian and log.

    `guarding` is the same as for `reached`.
    """
    if not isinstance(engine, Bridged):
        yield guarding(engine.address(dsn))
        return
    with (
        Guardian(new_run_id("look", request.engine)) as guardian,
        reached(engine, dsn, request, guardian, guardian.directory / "look.log", guarding) as there,
    ):
        yield there.address


def loads(engine: Server, instance: Instance) -> bool:
    """Return True if data can be loaded into a running server of this kind."""
    return not isinstance(engine, TellsIfItLoads) or engine.loads(instance)
