"""MariaDB: obtained, started, asked; see `assay.engines.contract`."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from assay.engines.contract import EngineError
from assay.engines.mariadb.plans import normalised
from assay.engines.mariadb.programs import find_program
from assay.engines.mariadb.server import start_server
from assay.engines.mysql_family import loading
from assay.engines.mysql_family.configuration import read_configuration
from assay.engines.mysql_family.engine import FamilyEngine
from assay.engines.mysql_family.server import refuse_ours
from assay.engines.obtaining import obtain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.engines.contract import (
        Address,
        Cached,
        EngineFacts,
        Instance,
        Launcher,
        Place,
        Product,
        Tell,
        Wanted,
    )
    from assay.model.plan import Plan

CONF = Path(__file__).parent / "conf"
VERSION_MIN = (10, 5)
# Before the version, so that clients of MySQL's replication take it for a young one.
PREFIX = "5.5.5-"


class MariaEngine(FamilyEngine):
    """See `assay.engines.contract`: `Server`, `BulkLoads`, `HasKeys`, `HasCounters` and more."""

    conf = CONF
    programs = ("mariadbd", "mysqld")

    def obtain(self, wanted: Wanted, tell: Tell) -> Product:
        """The product, with the version that its own program tells."""
        product = obtain(self._facts, wanted, tell)
        return replace(product, version=find_program(_home(product)).version())

    def check_settings(self, product: Product, settings: Mapping[str, str]) -> None:
        """Lets the server's program read the settings; nothing is started."""
        refuse_ours(settings)
        find_program(_home(product)).check({**self._facts.settings, **settings})

    def load_settings(self) -> Mapping[str, str]:
        """See `conf/load.cnf`."""
        return read_configuration(CONF / "load.cnf")

    def start(
        self, product: Product, place: Place, settings: Mapping[str, str], launcher: Launcher
    ) -> Address:
        """Starts a private server, on a new data directory if `place.data` is empty."""
        refuse_ours(settings)
        program = find_program(_home(product))
        return start_server(program, place, {**self._facts.settings, **settings}, launcher)

    def read_version(self, told: str) -> str:
        """The version without what a distribution adds. Raises `EngineError` if it is too old."""
        told = told.removeprefix(PREFIX)
        found = re.match(r"(\d+)\.(\d+)", told)
        young = found is not None and (int(found[1]), int(found[2])) >= VERSION_MIN
        if "MariaDB" not in told or not young:
            raise EngineError(
                f"the server is {told}, and this engine speaks to MariaDB"
                f" {'.'.join(map(str, VERSION_MIN))} and later: name another server in --dsn, or"
                " another --engine."
            )
        return told.partition("-")[0]

    def cached(self, instance: Instance) -> list[Cached]:
        """Pages of InnoDB's buffer pool; what is not read at the moment is not waited for."""
        return loading.cached(instance)

    def plan(self, told: str, operation: str, statement: int, native: str) -> Plan:
        """What ANALYZE or EXPLAIN told."""
        return normalised(told, operation, statement, native)


def _home(product: Product) -> Path:
    if product.home is None:
        raise EngineError("MariaDB has no programs here: obtain it before it is started.")
    return product.home


def engine(facts: EngineFacts) -> MariaEngine:
    """The engine of this folder."""
    return MariaEngine(facts)
