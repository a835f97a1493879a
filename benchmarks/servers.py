"""A server of our own for a benchmark, started and removed as a run does it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.engines.contract import Address, Place, Product, Wanted, tell_nobody
from assay.engines.discovery import find_engine
from assay.engines.postgresql.programs import find_programs
from assay.model.language import SQL
from assay.record.writer import new_run_id
from assay.running.host.places import engines_dir
from assay.running.processes.launcher import Guardian
from assay.running.server.serving import ServerLauncher
from assay.workloads.contract import Workload

STREAMS = os.cpu_count() or 1


@dataclass(frozen=True)
class Server:
    """A PostgreSQL server at work.

    Attributes:
        dsn: How it is reached, over its socket.
        bin: Directory of its programs.
        pid: Its root process.
        version: In full.
    """

    dsn: str
    bin: Path
    pid: int
    version: str

    @property
    def env(self) -> dict[str, str]:
        """The environment of its own clients."""
        parts = dict(part.split("=", 1) for part in self.dsn.split())
        names = {
            "host": "PGHOST",
            "port": "PGPORT",
            "user": "PGUSER",
            "password": "PGPASSWORD",
            "dbname": "PGDATABASE",
        }
        return {
            **os.environ,
            **{
                variable: parts[name].strip("'")
                for name, variable in names.items()
                if name in parts
            },
        }

    @property
    def client_options(self) -> list[str]:
        """What its clients need on their command lines: nothing, all is in the environment."""
        return []

    def pin(self, cpu: int) -> None:
        """Binds all its processes to a CPU; those to come inherit it."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        for pid in (self.pid, *map(int, children)):
            os.sched_setaffinity(pid, [cpu])


@dataclass(frozen=True)
class Started:
    """A private server of any engine.

    Attributes:
        behaviour: Its engine.
        product: What was started.
        address: As its engine has it.
        pid: Its root process.
    """

    behaviour: Any
    product: Product
    address: Address
    pid: int


@contextmanager
def started(engine: str, settings: dict[str, str]) -> Iterator[Started]:
    """Starts a server with an empty database; gone when the block is left."""
    name, _, version = engine.partition("@")
    behaviour: Any = find_engine(name).engine()
    product = behaviour.obtain(Wanted(engines_dir(), version or None), tell_nobody)
    with Guardian(new_run_id("benchmark", name)) as guardian:
        data = guardian.directory / "data"
        data.mkdir(mode=0o700)
        launcher = ServerLauncher(guardian, guardian.directory / "server.log", [])
        launcher.own(data)
        address = behaviour.start(product, Place(data, launcher.scratch), settings, launcher)
        assert launcher.server is not None
        yield Started(behaviour, product, address, launcher.server.pid)
        launcher.stop()


@contextmanager
def server(engine: str, settings: dict[str, str], transport: str = "socket") -> Iterator[Server]:
    """Starts a PostgreSQL server with an empty database, reached over its `socket` or over `tcp`; gone when the block is left."""
    with started(engine, settings) as running:
        yield Server(
            running.address["dsn" if transport == "socket" else "dsn_tcp"],
            find_programs(running.product.home).bin_dir,
            running.pid,
            running.product.version,
        )


def filling_of(workload: Workload, dialects: Sequence[str], scale: float) -> dict[str, Any]:
    """Return what a host has to know of a workload's tables to load them, in the order of their keys."""
    return {
        "setup": workload.setup(dialects, scale),
        "keys": list(workload.keys(dialects, scale).values()),
        "tables": list(workload.facts.tables),
        **workload.row_facts(scale),
        "streams": STREAMS,
        "sorted_by": {},
        "load_order": [],
        "language": SQL,
        "spill": None,
    }
