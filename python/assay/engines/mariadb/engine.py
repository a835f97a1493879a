"""The engine MariaDB: how it is obtained, started and queried."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from assay.engines.contract import EngineError
from assay.engines.mariadb.explaining import MariaPlans
from assay.engines.mariadb.plans import normalised
from assay.engines.mariadb.programs import find_program
from assay.engines.mariadb.server import CONF, make_data
from assay.engines.mysql_family.configured import ConfiguredEngine

if TYPE_CHECKING:
    from pathlib import Path

    from assay.engines.contract import Instance, Launcher
    from assay.engines.facts import EngineFacts
    from assay.engines.mysql_family.programs import Program
    from assay.model.plan import Plan

VERSION_MIN = (10, 5)
# Prefix of the version, with which MySQL replication clients take MariaDB for a recent server.
PREFIX = "5.5.5-"


class MariaEngine(ConfiguredEngine):
    """The engine MariaDB; implements `Server`, `BulkLoads`, `HasKeys`, `HasCounters` and more."""

    conf = CONF
    directory = "mariadb"
    read_only_setting = "tx_read_only"
    programs = ("mariadbd", "mysqld")
    guest_limits: ClassVar = {
        "lock_wait_timeout": "1",
        "max_statement_time": "5",
    }

    def find_program(self, home: Path) -> Program:
        """Find MariaDB's server program below a directory."""
        return find_program(home)

    def make_data(self, program: Program, data: Path, launcher: Launcher) -> None:
        """Make an empty data directory for a private server."""
        make_data(program, data, launcher)

    def read_version(self, version_text: str) -> str:
        """Return MariaDB's version without a distribution's suffix.

        Raises `EngineError` if the version is too old.
        """
        version_text = version_text.removeprefix(PREFIX)
        match = re.match(r"(\d+)\.(\d+)", version_text)
        young = match is not None and (int(match[1]), int(match[2])) >= VERSION_MIN
        if "MariaDB" not in version_text or not young:
            raise EngineError(
                f"the server is {version_text}, and Assay supports MariaDB "
                f"{'.'.join(map(str, VERSION_MIN))} and later: name another server in --dsn, or "
                "another --engine."
            )
        return version_text.partition("-")[0]

    def plan_reader(self, instance: Instance) -> MariaPlans:
        """Return a reader of MariaDB plans, with its own connection to the engine."""
        return MariaPlans(instance.address, CONF)

    def plan(self, text: str, operation: str, statement: int, native: str) -> Plan:
        """Return the plan in the output of MariaDB's ANALYZE or EXPLAIN."""
        return normalised(text, operation, statement, native)


def engine(facts: EngineFacts) -> MariaEngine:
    """Return the engine `mariadb`, with the facts of its `engine.toml`."""
    return MariaEngine(facts)
