"""MySQL: obtained, started, asked; see `assay.engines.contract`."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.engines.contract import EngineError
from assay.engines.mysql.explaining import MysqlPlans
from assay.engines.mysql.plans import normalised
from assay.engines.mysql.programs import find_program
from assay.engines.mysql.server import CONF, start_server
from assay.engines.mysql_family import loading
from assay.engines.mysql_family.configuration import read_configuration
from assay.engines.mysql_family.engine import FamilyEngine
from assay.engines.mysql_family.server import refuse_ours
from assay.engines.obtaining import obtain

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

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

# From which on EXPLAIN ANALYZE tells its tree as JSON.
VERSION_MIN = (8, 3)
# What others that speak MySQL's protocol say of themselves.
OTHERS = re.compile(r"(?i)mariadb|dolt|tidb")


class MysqlEngine(FamilyEngine):
    """See `assay.engines.contract`: `Server`, `BulkLoads`, `HasKeys`, `HasCounters` and more."""

    conf = CONF
    programs = ("mysqld",)

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
        found = re.match(r"(\d+)\.(\d+)[\d.]*", told)
        if OTHERS.search(told) or found is None or (int(found[1]), int(found[2])) < VERSION_MIN:
            raise EngineError(
                f"the server is {told}, and this engine speaks to MySQL"
                f" {'.'.join(map(str, VERSION_MIN))} and later: name another server in --dsn, or"
                " another --engine."
            )
        return found[0]

    def cached(self, instance: Instance) -> list[Cached]:
        """Pages of InnoDB's buffer pool; what is not read at the moment is not waited for."""
        return loading.cached(instance)

    def plan_reader(self, instance: Instance) -> MysqlPlans:
        """A reader on a connection of its own."""
        return MysqlPlans(instance.address, CONF)

    def plan(self, told: str, operation: str, statement: int, native: str) -> Plan:
        """What EXPLAIN told."""
        return normalised(told, operation, statement, native)


def _home(product: Product) -> Path:
    if product.home is None:
        raise EngineError("MySQL has no programs here: obtain it before it is started.")
    return product.home


def engine(facts: EngineFacts) -> MysqlEngine:
    """The engine of this folder."""
    return MysqlEngine(facts)
