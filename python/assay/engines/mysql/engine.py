"""The engine MySQL: how it is obtained, started and queried."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from assay.engines.contract import EngineError
from assay.engines.mysql.explaining import MysqlPlans
from assay.engines.mysql.plans import normalised
from assay.engines.mysql.programs import find_program
from assay.engines.mysql.server import CONF, make_data
from assay.engines.mysql_family.configured import ConfiguredEngine

if TYPE_CHECKING:
    from pathlib import Path

    from assay.engines.contract import Instance, Launcher
    from assay.engines.facts import EngineFacts
    from assay.engines.mysql_family.programs import Program
    from assay.model.plan import Plan

# The first version whose EXPLAIN ANALYZE prints its tree as JSON.
VERSION_MIN = (8, 3)
# Names that other products with MySQL's protocol report.
OTHERS = re.compile(r"(?i)mariadb|dolt|tidb")


class MysqlEngine(ConfiguredEngine):
    """The engine MySQL; implements `Server`, `BulkLoads`, `HasKeys`, `HasCounters` and more."""

    conf = CONF
    directory = "mysql"
    read_only_setting = "transaction_read_only"
    programs = ("mysqld",)
    guest_limits: ClassVar = {
        "lock_wait_timeout": "1",
        "max_execution_time": "5000",
    }

    def find_program(self, home: Path) -> Program:
        """Find MySQL's server program below a directory."""
        return find_program(home)

    def make_data(self, program: Program, data: Path, launcher: Launcher) -> None:
        """Make an empty data directory for a private server."""
        make_data(program, data, launcher)

    def read_version(self, version_text: str) -> str:
        """Return MySQL's version without a distribution's suffix.

        Raises `EngineError` if the version is too old.
        """
        match = re.match(r"(\d+)\.(\d+)[\d.]*", version_text)
        if (
            OTHERS.search(version_text)
            or match is None
            or (int(match[1]), int(match[2])) < VERSION_MIN
        ):
            raise EngineError(
                f"the server is {version_text}, and Assay supports MySQL "
                f"{'.'.join(map(str, VERSION_MIN))} and later: name another server in --dsn, or "
                "another --engine."
            )
        return match[0]

    def plan_reader(self, instance: Instance) -> MysqlPlans:
        """Return a reader of MySQL plans, with its own connection to the engine."""
        return MysqlPlans(instance.address, CONF)

    def plan(self, text: str, operation: str, statement: int, native: str) -> Plan:
        """Return the plan in the output of MySQL's EXPLAIN."""
        return normalised(text, operation, statement, native)


def engine(facts: EngineFacts) -> MysqlEngine:
    """Return the engine `mysql`, with the facts of its `engine.toml`."""
    return MysqlEngine(facts)
