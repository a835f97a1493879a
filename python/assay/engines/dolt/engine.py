"""Dolt: obtained, started, queried; see `assay.engines.contract`."""

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


class DoltEngine(FamilyEngine):
    """The engine Dolt; implements `Server`, `BulkLoads`, `HasKeys`, `HasCounters` and more."""

    conf = CONF
    programs = ("dolt",)

    def obtain(self, wanted: Wanted, tell: Tell) -> Product:
        """Return the product with its program's version, which is the requested one."""
        product = obtain(self._facts, wanted, tell)
        version = find_program(home_of(product)).version()
        if product.version not in {"", version}:
            raise EngineError(
                f"{product.home} was obtained as Dolt {product.version} and says that it is"
                f" {version}: remove it and try again."
            )
        return replace(product, version=version)

    def check_settings(self, product: Product, settings: Mapping[str, str]) -> None:
        """Lets the program read the settings; nothing is served."""
        refuse_ours(settings)
        given = default_settings(product.version) | dict(self._facts.settings) | dict(settings)
        find_program(home_of(product)).check(given)

    def start(
        self, product: Product, place: Place, settings: Mapping[str, str], launcher: Launcher
    ) -> Address:
        """Starts a private server, on new data if `place.data` is empty."""
        refuse_ours(settings)
        return start_server(product, place, {**self._facts.settings, **settings}, launcher)

    def version(self, instance: Instance) -> str:
        """Dolt's own, such as `2.2.0`: to clients of MySQL it says that it is 8.0.31."""
        try:
            with instance.handle.cursor() as cursor:
                cursor.execute(file_text("version.sql", CONF))
                ((version,),) = cursor.fetchall()
        except pymysql.Error as error:
            raise EngineError(
                "the server is no Dolt: name another one in --dsn, or another --engine. It said:"
                f" {error_text(error)}"
            ) from error
        return str(version)

    def load(self, instance: Instance, table: str, rows: ArrowStream, streams: int) -> None:
        """Loads rows by LOAD DATA, into the tree that the table's primary key orders."""
        super().load(instance, table, refuse_words(table, rows), streams)

    def tables_at_once(self, streams: int) -> int:
        """One: a load is as good as its commit, and two at once only share the processors."""
        del streams
        return 1

    def finish_load(self, instance: Instance) -> None:
        """Gathers statistics, commits the data to the history, and collects what loading left."""
        # An old version dies of being asked for statistics, which its optimiser does not use.
        if not is_old(self.version(instance)):
            gather_statistics(instance)
        settle_history(instance)

    def counters(self, instance: Instance) -> DoltCounters:
        """Return a reader of SQL counters, and of metrics of a private server."""
        return DoltCounters(super().counters(instance), instance.address)

    def plan_reader(self, instance: Instance) -> DoltPlans:
        """Return a reader with its own connection."""
        return DoltPlans(instance.address, self.conf, is_old=is_old(self.version(instance)))

    def plan(self, text: str, operation: str, statement: int, native: str) -> Plan:
        """Parse the text of EXPLAIN."""
        return normalised(text, operation, statement, native)


def engine(facts: EngineFacts) -> DoltEngine:
    """The engine of this folder."""
    return DoltEngine(facts)
