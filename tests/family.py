"""A private server of MySQL's kin, started for a test as a run starts one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from assay.engines.contract import Address, Instance, Place
from assay.engines.discovery import find_engine
from assay.running.processes.launcher import Guardian
from assay.running.server.serving import ServerLauncher
from tests.products import obtained


class Started:
    """One server, its launcher and its guardian."""

    def __init__(self, root: Path, name: str, run_id: str = "run") -> None:
        self.engine: Any = find_engine(name).engine()
        self.product = obtained(name, engine=self.engine)
        self.guardian = Guardian(run_id, root / "instances")
        self.log = root / f"{run_id}.log"
        self.launcher = ServerLauncher(self.guardian, self.log)
        self.place = Place(self.guardian.directory / "data", self.guardian.directory / "scratch")
        self.place.data.mkdir()
        self.address: Address = {}

    def start(self, settings: dict[str, str] | None = None) -> Address:
        self.address = self.engine.start(self.product, self.place, settings or {}, self.launcher)
        return self.address

    def attach(self) -> Instance:
        made: Instance = self.engine.attach(dict(self.address))
        return made

    @property
    def dsn(self) -> str:
        address = self.address
        scheme = self.engine.conf.parent.name
        return (
            f"{scheme}://{address['user']}:{address['password']}@127.0.0.1:{address['port']}/assay"
        )
