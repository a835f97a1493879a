"""The engine Dolt: how it is obtained, started and queried."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pymysql

from assay.engines.contract import EngineError
from assay.engines.dolt.configuration import refuse_ours
from assay.engines.dolt.counters import DoltCounters
from assay.engines.dolt.explaining import DoltPlans
from assay.engines.dolt.loading import gather_statistics, refuse_words, settle_history
from assay.engines.dolt.plans import normalised
from assay.engines.dolt.programs import CONF, find_program, home_of
from assay.engines.dolt.server import default_settings, is_old, start_server
from assay.engines.mysql_family.configuration import read_configuration
from assay.engines.mysql_family.connecting import error_text
from assay.engines.mysql_family.engine import FamilyEngine
from assay.engines.mysql_family.statements import file_text
from assay.engines.obtaining import obtain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.engines.contract import Address, Instance, Launcher, Place, Product, Tell, Wanted
    from assay.engines.facts import EngineFacts
    from assay.engines.loading import ArrowStream
    from assay.model.plan import Plan

MAX_CONNECTIONS = "listener.max_connections"


class DoltEngine(FamilyEngine):
    """The engine Dolt; implements `Server`, `BulkLoads`, `HasKeys`, `HasCounters` and more."""

    conf = CONF
    programs = ("dolt",)

    def obtain(self, wanted: Wanted, tell: Tell) -> Product:
        """Return Dolt's installed product, after checking that its version is the requested one."""
        product = obtain(self._facts, wanted, tell)
        version = find_program(home_of(product)).version()
        if product.version not in {"", version}:
            raise EngineError(
                f"{product.home} should contain Dolt {product.version}, but the program reports "
                f"version {version}: remove the directory and try again."
            )
        return replace(product, version=version)

    def check_settings(self, product: Product, settings: Mapping[str, str]) -> None:
        """Check settings with Dolt's program, without starting a server."""
        refuse_ours(settings)
        given = default_settings(product.version) | dict(self._facts.settings) | dict(settings)
        find_program(home_of(product)).check(given)

    def connections_limit(self, settings: Mapping[str, str]) -> tuple[str, str]:
        """Return `listener.max_connections` with its value of `--set` or of `run.cnf`."""
        given = {**read_configuration(CONF / "run.cnf"), **settings}
        return MAX_CONNECTIONS, given[MAX_CONNECTIONS]

    def start(
        self, product: Product, place: Place, settings: Mapping[str, str], launcher: Launcher
    ) -> Address:
        """Start a private Dolt server, on new data if its directory is empty."""
        refuse_ours(settings)
        return start_server(product, place, {**self._facts.settings, **settings}, launcher)

    def version(self, instance: Instance) -> str:
        """Return Dolt's own version, such as `2.2.0`; to MySQL clients it reports 8.0.31."""
        try:
            with instance.handle.cursor() as cursor:
                cursor.execute(file_text("version.sql", CONF))
                ((version,),) = cursor.fetchall()
        except pymysql.Error as error:
            raise EngineError(
                "the server is not Dolt: name another server in --dsn, or another --engine. "
                f"The server reported: {error_text(error)}"
            ) from error
        return str(version)

    def load(self, instance: Instance, table: str, rows: ArrowStream, streams: int) -> None:
        """Load rows into a table by LOAD DATA."""
        super().load(instance, table, refuse_words(table, rows), streams)

    def tables_at_once(self, streams: int) -> int:
        """Return 1, because parallel loads only share the CPUs and are no faster."""
        del streams
        return 1

    def finish_load(self, instance: Instance) -> None:
        """Gather statistics, commit the data to Dolt's history, and collect garbage."""
        # An old version crashes when statistics are requested, and its optimiser does not use them.
        if not is_old(self.version(instance)):
            gather_statistics(instance)
        settle_history(instance)

    def counters(self, instance: Instance) -> DoltCounters:
        """Return a reader of Dolt's counters."""
        return DoltCounters(super().counters(instance), instance.address)

    def plan_reader(self, instance: Instance) -> DoltPlans:
        """Return a reader of Dolt plans, with its own connection to the engine."""
        return DoltPlans(instance.address, self.conf, is_old=is_old(self.version(instance)))

    def plan(self, text: str, operation: str, statement: int, native: str) -> Plan:
        """Return the plan in a text of Dolt's EXPLAIN."""
        return normalised(text, operation, statement, native)


def engine(facts: EngineFacts) -> DoltEngine:
    """Return the engine `dolt`, with the facts of its `engine.toml`."""
    return DoltEngine(facts)
