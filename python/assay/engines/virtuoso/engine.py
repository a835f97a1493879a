"""The engine Virtuoso: how it is obtained, started and queried."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from assay import _core
from assay.engines.bridge.addresses import session_config
from assay.engines.bridge.drivers import obtain_driver
from assay.engines.bridge.jre import find_java
from assay.engines.bridge.link import Link
from assay.engines.bridge.statements import marked_script
from assay.engines.contract import EngineError, Instance
from assay.engines.obtaining import obtain
from assay.engines.own_tables import OwnTables
from assay.engines.virtuoso import configuration, loading, reported, statistics, triples
from assay.engines.virtuoso.activity import FILE as ACTIVITY_FILE
from assay.engines.virtuoso.connecting import DRIVER, DRIVER_SHA256, endpoint
from assay.engines.virtuoso.counters import VirtuosoCounters
from assay.engines.virtuoso.explaining import VirtuosoPlans
from assay.engines.virtuoso.explaining_sparql import SparqlPlans
from assay.engines.virtuoso.plans import normalised
from assay.engines.virtuoso.programs import find_programs
from assay.engines.virtuoso.server import restart_server, start_server
from assay.model.language import SPARQL, SQL

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.engines.contract import (
        Address,
        Cached,
        CounterReader,
        Launcher,
        Place,
        Product,
        Tell,
        Wanted,
    )
    from assay.engines.facts import EngineFacts
    from assay.engines.loading import ArrowStream
    from assay.engines.plan_reading import PlanReader
    from assay.model.language import Language
    from assay.model.plan import Plan
    from assay.model.script import Script


# A property that the bridge reads: how long a measured client waits for a server that died and is
# restarted.
PATIENCE = "assay.patience_s"
RETURN_PATIENCE_S = 120


class VirtuosoEngine(OwnTables):
    """The engine Virtuoso; implements `Server`, `BulkLoads`, `HasKeys`, `Prepares` and more.

    An instance's `handle` is a `Link`, which belongs to one thread.
    """

    no_tables = (
        "the engine virtuoso starts servers of its own. One that runs already is asked with"
        " --dsn jdbc:virtuoso://HOST:PORT and its driver in --driver, without making tables on it"
    )

    def __init__(self, facts: EngineFacts) -> None:
        self._facts = facts
        # Paths of Java and of the JDBC driver's directory.
        self._bridge: tuple[Path, Path] | None = None
        self._language: Language = SQL

    def speak(self, language: Language) -> None:
        """Set the query language of servers started from now on; SPARQL is sent over HTTP."""
        self._language = language

    def obtain(self, wanted: Wanted, tell: Tell) -> Product:
        """Return the product, after obtaining its JDBC driver and Java."""
        product = obtain(self._facts, wanted, tell)
        driver = obtain_driver(DRIVER, wanted.cache, DRIVER_SHA256, tell)
        self._bridge = find_java(wanted.cache, tell), driver
        version = find_programs(_home(product)).version()
        return replace(product, version=version, origin={**product.origin, "driver": DRIVER})

    def check_settings(self, product: Product, settings: Mapping[str, str]) -> None:
        """Check names and values of settings, because the server itself accepts any."""
        configuration.check(settings, find_programs(_home(product)))
        kind = settings.get(configuration.STATISTICS)
        if self._language == SPARQL and kind == statistics.ANALYZE:
            raise EngineError(
                "statistics=analyze: Virtuoso cannot answer SPARQL queries after a restart with "
                "these statistics: remove the setting."
            )

    def load_settings(self) -> Mapping[str, str]:
        """Return the settings for loading, from `conf/load.ini`."""
        return configuration.for_loading()

    def start(
        self, product: Product, place: Place, settings: Mapping[str, str], launcher: Launcher
    ) -> Address:
        """Start a private Virtuoso server, on new data if its directory is empty."""
        programs = find_programs(_home(product))
        configuration.check(settings, programs)
        if self._bridge is None:
            raise EngineError(
                "Virtuoso's JDBC driver is not installed: install it with `assay engines install`."
            )
        return start_server(programs, place, settings, launcher, self._bridge, self._language)

    def restart(
        self,
        product: Product,
        place: Place,
        settings: Mapping[str, str],
        launcher: Launcher,
        address: Address,
    ) -> None:
        """Restart a server that died, which recovers committed and logged transactions."""
        del place
        restart_server(find_programs(_home(product)), settings, launcher, address)

    def address(self, dsn: str) -> Address:
        """Raise `EngineError`: a running server is measured with the engine `jdbc`."""
        self._refuse(dsn)

    def attach(self, address: Address) -> Instance:
        """Connect to the Virtuoso server.

        Raises `BridgeError` with the server's message.
        """
        return Instance({}, Link.connect(address), address=dict(address))

    def detach(self, instance: Instance) -> None:
        """Close the connection to Virtuoso."""
        instance.handle.close()

    def version(self, instance: Instance) -> str:
        """Return the running Virtuoso's version, such as `07.20.3229`."""
        return reported.version(instance.handle)

    def effective_settings(self, instance: Instance) -> dict[str, str]:
        """Return the settings that the server reports, and the kind of its statistics."""
        settings = reported.settings(instance.handle)
        return {**settings, configuration.STATISTICS: statistics.in_effect(instance.handle)}

    def processes(self, instance: Instance) -> tuple[int, ...]:
        """Return the server's pid: its connections are threads of one process."""
        return (instance.address["pid"],)

    def run_script(self, instance: Instance, sql: str) -> None:
        """Run a script's statements on Virtuoso one by one, each in its own transaction."""
        loading.run_script(instance, sql)

    def prepare(self, instance: Instance, sql: str) -> None:
        """Run a script's statements on Virtuoso one by one, each in its own transaction."""
        loading.run_script(instance, sql)

    def settle(self, instance: Instance) -> None:
        """Flush all changed pages before the timed part."""
        loading.checkpoint(instance)

    def load(self, instance: Instance, table: str, rows: ArrowStream, streams: int) -> None:
        """Load rows in the server's own binary format of values, over several connections."""
        try:
            loading.load(instance, table, rows, streams)
        except (EngineError, OSError, RuntimeError, ValueError) as error:
            raise EngineError(f"table {table} cannot be loaded: {error}") from error

    def count(self, instance: Instance, table: str) -> int:
        """Return the number of rows of a table, counted by Virtuoso."""
        return loading.count(instance, table)

    def make_keys(self, instance: Instance, sql: str, streams: int, tell: Tell) -> None:
        """Make keys and indexes one after another; primary keys are made with the tables."""
        del streams
        loading.make_keys(instance, sql, tell)

    def finish_load(self, instance: Instance) -> None:
        """Gather and save Virtuoso's statistics, and flush everything to disk."""
        statistics.gather(instance.handle)
        loading.checkpoint(instance)

    def load_triples(self, instance: Instance, rows: ArrowStream, streams: int, tell: Tell) -> None:
        """Have the server load files of triples, over several connections."""
        del tell
        try:
            triples.load(instance, rows, streams)
        except (EngineError, OSError, RuntimeError, ValueError) as error:
            raise EngineError(f"the triples cannot be loaded: {error}") from error

    def count_triples(self, instance: Instance) -> int:
        """Count the distinct triples of Assay's graph."""
        return triples.count(instance)

    def finish_triples(self, instance: Instance) -> None:
        """Gather and save Virtuoso's statistics, and flush everything to disk."""
        self.finish_load(instance)

    def sessions(self, instance: Instance, script: Script, seed: int, clients: int) -> list[object]:
        """Return one connection per client: through one bridge, or for SPARQL to the web server."""
        if port := instance.address["web_port"]:
            asked = json.dumps(endpoint(port, instance.address["authorization"]))
            facts = json.dumps(script.facts())
            return [_core.SparqlSession(asked, facts, seed, number) for number in range(clients)]
        properties = {**instance.address["properties"], PATIENCE: str(RETURN_PATIENCE_S)}
        config = session_config(instance.address | {"properties": properties})
        facts = json.dumps(marked_script(script).facts())
        return [_core.JdbcSession(config, facts, seed, number) for number in range(clients)]

    def cached(self, instance: Instance) -> list[Cached]:
        """Return pages of the buffer pool, by index."""
        return reported.cached(instance.handle)

    def counters(self, instance: Instance) -> CounterReader:
        """Return a reader of counters of the server, its indexes and its web server's threads."""
        address = instance.address
        file = Path(address["scratch"]) / ACTIVITY_FILE if address["web_port"] else None
        return VirtuosoCounters(Link.connect(address), file)

    def plan_reader(self, instance: Instance) -> PlanReader:
        """Return a reader that executes statements while the server counts each step's work."""
        link, log = Link.connect(instance.address), instance.address["query_log"]
        if instance.address["web_port"]:
            return SparqlPlans(link, log, _core.sparql_text)
        return VirtuosoPlans(link, log)

    def plan(self, text: str, operation: str, statement: int, native: str) -> Plan:
        """Parse a plan of the query log."""
        return normalised(text, operation, statement, native)


def _home(product: Product) -> Path:
    if product.home is None:
        raise EngineError("Virtuoso is not installed: install it with `assay engines install`.")
    return product.home


def engine(facts: EngineFacts) -> VirtuosoEngine:
    """Return the engine `virtuoso`, with the facts of its `engine.toml`."""
    return VirtuosoEngine(facts)
