"""The engine chDB, embedded in the driver's process and loaded from Arrow streams."""

from __future__ import annotations

import importlib.metadata
import json
from typing import TYPE_CHECKING

from assay._core import PythonSession
from assay.engines.chdb.database import Database, asked, checked
from assay.engines.chdb.plans import normalised
from assay.engines.chdb.statements import file_text, quoted
from assay.engines.contract import EngineError, Instance, Place, Product
from assay.model.secrets import is_secret

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.engines.chdb.explaining import ChdbPlans
    from assay.engines.contract import Tell, Wanted
    from assay.engines.facts import EngineFacts
    from assay.engines.loading import ArrowStream
    from assay.model.plan import Plan
    from assay.model.script import Script

PACKAGE = "chdb-core"


class ChdbEngine:
    """The engine chDB; implements `Engine`, `Embedded`, `BulkLoads`, `Prepares` and more.

    The library has half a gigabyte of code, so it is imported only where it is used.
    """

    def __init__(self, facts: EngineFacts) -> None:
        self._facts = facts

    def obtain(self, wanted: Wanted, tell: Tell) -> Product:
        """Check that chDB's installed Python package has the pinned and requested version."""
        del tell
        try:
            version = importlib.metadata.version(PACKAGE)
        except importlib.metadata.PackageNotFoundError:
            version = "none"
        if version != self._facts.version_pinned:
            raise EngineError(
                f"{PACKAGE} {version} is installed, and Assay needs version "
                f"{self._facts.version_pinned}: install {PACKAGE}=={self._facts.version_pinned} "
                "into Assay's Python environment."
            )
        if wanted.version is not None and not f"{version}.".startswith(f"{wanted.version}."):
            raise EngineError(
                f"Assay contains chDB {version}, so version {wanted.version} is not available. "
                "chDB is a Python package: install the other version in a separate Python "
                "environment."
            )
        return Product(version, origin={"package": f"{PACKAGE} {version}"})

    def check_settings(self, product: Product, settings: Mapping[str, str]) -> None:
        """Check settings by opening an empty chDB database in memory."""
        del product
        checked(settings)

    def start(self, place: Place, settings: Mapping[str, str]) -> Instance:
        """Open the chDB database in the directory, and create it if it is empty."""
        checked(settings)
        all_settings = {**self._facts.settings, "tmp_path": str(place.scratch), **settings}
        return Instance(dict(settings), Database(place.data, all_settings), place)

    def stop(self, instance: Instance) -> None:
        """Close all connections."""
        _database(instance).close()

    def effective_settings(self, instance: Instance) -> dict[str, str]:
        """Return the settings that differ from ClickHouse's defaults, and some others."""
        rows = asked(_database(instance).own, file_text("effective_settings.sql"))
        settings = [] if rows is None else rows.to_pylist()
        return {row["name"]: row["value"] for row in settings if not is_secret(row["name"])}

    def sessions(self, instance: Instance, script: Script, seed: int, clients: int) -> list[object]:
        """Return one chDB session per client."""
        from assay.engines.chdb.session import ChdbSession

        database, facts = _database(instance), json.dumps(script.facts())
        return [
            PythonSession(ChdbSession(database, script), facts, seed, number)
            for number in range(clients)
        ]

    def plan_reader(self, instance: Instance) -> ChdbPlans:
        """Return a reader of chDB plans, with its own connection to the engine."""
        from assay.engines.chdb.explaining import ChdbPlans

        return ChdbPlans(_database(instance))

    def plan(self, text: str, operation: str, statement: int, native: str) -> Plan:
        """Return the plan in the output of ClickHouse's EXPLAIN ANALYZE."""
        return normalised(text, operation, statement, native)

    def run_script(self, instance: Instance, sql: str) -> None:
        """Run the SQL statements of a workload's schema on chDB."""
        from assay.engines.chdb import loading

        loading.run(_database(instance), sql)

    def prepare(self, instance: Instance, sql: str) -> None:
        """Run statements one by one; each statement completes before the next one begins."""
        self.run_script(instance, sql)

    def settle(self, instance: Instance) -> None:
        """Flush chDB's files to disk, without merging table parts."""
        from assay.engines.chdb import loading

        loading.write_out(_database(instance).path)

    def load(self, instance: Instance, table: str, rows: ArrowStream, streams: int) -> None:
        """Append an Arrow stream to a table on one connection, so that rows keep their order."""
        from assay.engines.chdb import loading

        del streams
        loading.fill(_database(instance), table, rows)

    def count(self, instance: Instance, table: str) -> int:
        """Return the number of rows of a chDB table."""
        counted = asked(_database(instance).own, file_text("count.sql", table=quoted(table)))
        return 0 if counted is None else int(counted["rows"][0].as_py())

    def finish_load(self, instance: Instance) -> None:
        """Merge each table into one part with statistics, and flush it to disk."""
        from assay.engines.chdb import loading

        loading.merge(_database(instance))
        loading.write_out(_database(instance).path)


def _database(instance: Instance) -> Database:
    database: Database = instance.handle
    return database


def engine(facts: EngineFacts) -> ChdbEngine:
    """Return the engine `chdb`, with the facts of its `engine.toml`."""
    return ChdbEngine(facts)
