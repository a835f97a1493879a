"""The engine Spark: how it is obtained, started and queried."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from assay import _core
from assay.engines.bridge.addresses import session_config
from assay.engines.bridge.beside import start_bridge
from assay.engines.bridge.drivers import find_driver
from assay.engines.bridge.errors import BridgeError
from assay.engines.bridge.jre import find_java
from assay.engines.bridge.link import GUEST_PATIENCE_S, PATIENCE_S, Link
from assay.engines.bridge.statements import marked_script
from assay.engines.contract import EngineError, Instance, Node, Wanted, tell_nobody
from assay.engines.obtaining import obtain
from assay.engines.own_tables import OwnTables
from assay.engines.spark import configuration, tables
from assay.engines.spark.classes import with_classes
from assay.engines.spark.connecting import TOKEN, UI, file_text, read_dsn
from assay.engines.spark.counters import SparkCounters
from assay.engines.spark.executors import DRIVER, workers_of
from assay.engines.spark.explaining import SparkPlans
from assay.engines.spark.plans import normalised
from assay.engines.spark.programs import HOST, Programs, find_home
from assay.engines.spark.rest import fetch
from assay.engines.spark.server import MASTER, start_cluster

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.engines.contract import (
        Address,
        Bridging,
        CounterReader,
        Launcher,
        Place,
        Product,
        Tell,
    )
    from assay.engines.facts import EngineFacts
    from assay.engines.loading import ArrowStream
    from assay.engines.plan_reading import PlanReader
    from assay.model.plan import Plan
    from assay.model.script import Script


UNREACHED = (
    "Check that Spark's Thrift server runs and accepts this user, and that host, port, database and"
    " settings in --dsn are right"
)


class SparkEngine(OwnTables):
    """The engine Spark; implements `Server`, `Clustered`, `BulkLoads`, `Bridged` and more.

    An instance's `handle` is a `Link`, which belongs to one thread.
    """

    def __init__(self, facts: EngineFacts) -> None:
        self._facts = facts
        self._programs: Programs | None = None

    def obtain(self, wanted: Wanted, tell: Tell) -> Product:
        """Return the product, with Java and an archive of its classes for a fast start."""
        product = obtain(self._facts, wanted, tell)
        java = find_java(wanted.cache, tell, "Spark")
        plain = Programs(find_home(product), java)
        self._programs = with_classes(plain, wanted.cache / self._facts.name, tell)
        return replace(product, version=plain.version)

    def check_settings(self, product: Product, settings: Mapping[str, str]) -> None:
        """Raise an error for settings that the installed Spark does not have."""
        # The names are read from Spark's jars, without running Java.
        configuration.check(settings, Programs(find_home(product), Path("java")))

    def start(
        self, product: Product, place: Place, settings: Mapping[str, str], launcher: Launcher
    ) -> Address:
        """Start a private Spark cluster, and register its existing tables."""
        del product
        programs = self._obtained()
        configuration.check(settings, programs)
        given = {**self._facts.settings, **settings}
        return start_cluster(programs, place, given, launcher)

    def address(self, dsn: str) -> Address:
        """Return the address of a running Thrift server."""
        return read_dsn(dsn)

    def with_settings(self, dsn: str, settings: Mapping[str, str]) -> str:
        """Return a Spark DSN with additional settings for its sessions."""
        return f"{dsn}{'&' if '?' in dsn else '?'}{urlencode(settings)}" if settings else dsn

    def bridged(self, address: Address, bridging: Bridging) -> Address:
        """Start a bridge with Spark's own JDBC driver, or with the requested one."""
        java = find_java(bridging.cache)
        if bridging.drivers:
            drivers = [find_driver(named, bridging.cache) for named in bridging.drivers]
        else:
            home = find_home(obtain(self._facts, Wanted(bridging.cache), tell_nobody))
            drivers = Programs(home, java).jdbc()
        return {**address, "socket": str(start_bridge(bridging.launcher, java, drivers))}

    def attach(self, address: Address) -> Instance:
        """Connect to the Spark server.

        Raises `EngineError` with the server's message and what to do about it.
        """
        try:
            link = Link.connect(address, PATIENCE_S if address["ours"] else GUEST_PATIENCE_S)
        except BridgeError as error:
            raise EngineError(f"{error}. {UNREACHED}") from error
        return Instance({}, link, address=dict(address))

    def detach(self, instance: Instance) -> None:
        """Close the connection to Spark."""
        instance.handle.close()

    def version(self, instance: Instance) -> str:
        """Return the running Spark's version, such as `4.3.0`."""
        ((version,),) = instance.handle.text(file_text("version.sql"))
        return str(version).split()[0]

    def loads(self, instance: Instance) -> bool:
        """Return True for a private Spark cluster, because data of others are only queried."""
        return bool(instance.address["ours"])

    def effective_settings(self, instance: Instance) -> dict[str, str]:
        """Return the SQL settings of a session, and all other settings of the driver."""
        rows = instance.handle.text(file_text("settings.sql"))
        of_session = {str(row[0]): str(row[1]) for row in rows}
        environment = _fetched(instance, "environment") or {}
        given = dict(environment.get("sparkProperties", []))
        shape = instance.address.get("shape", {})
        return {**given, **of_session, **{name: str(value) for name, value in shape.items()}}

    def processes(self, instance: Instance) -> tuple[int, ...]:
        """Return pids of driver, master and workers; executors are children of workers."""
        return tuple(instance.address.get("pids", {}).values())

    def nodes(self, instance: Instance) -> tuple[Node, ...]:
        """Return the driver, with the master of a private cluster, and then the workers."""
        pids: dict[str, int] = dict(instance.address.get("pids", {}))
        if not pids:
            return _nodes_of_others(instance)
        first = Node(DRIVER, "coordinator", HOST, (pids.pop(DRIVER), pids.pop(MASTER)))
        return (first, *(Node(name, "worker", HOST, (pid,)) for name, pid in pids.items()))

    def run_script(self, instance: Instance, sql: str) -> None:
        """Run SQL statements on Spark one by one."""
        tables.run_script(instance, sql)

    def load(self, instance: Instance, table: str, rows: ArrowStream, streams: int) -> None:
        """Write a table's Parquet files, one for each core that reads them."""
        del streams
        tables.load(instance, table, rows)

    def count(self, instance: Instance, table: str) -> int:
        """Return a table's rows, counted by Spark and compared with its files."""
        return tables.count(instance, table)

    def finish_load(self, instance: Instance) -> None:
        """Flush the Parquet files of all tables to disk.

        The files give table sizes; see README for statistics.
        """
        tables.write_out(instance)

    def sessions(self, instance: Instance, script: Script, seed: int, clients: int) -> list[object]:
        """Return one session of the driver per client, all through one bridge."""
        config, facts = session_config(instance.address), json.dumps(marked_script(script).facts())
        return [_core.JdbcSession(config, facts, seed, number) for number in range(clients)]

    def counters(self, instance: Instance) -> CounterReader:
        """Return a reader of executors' counters, by worker."""
        return SparkCounters(instance.address)

    def plan_reader(self, instance: Instance) -> PlanReader:
        """Return a reader that executes statements and takes plans from the driver."""
        return SparkPlans(instance.address)

    def plan(self, text: str, operation: str, statement: int, native: str) -> Plan:
        """Parse the driver's report of one execution."""
        return normalised(text, operation, statement, native)

    def _obtained(self) -> Programs:
        if self._programs is None:
            raise EngineError("Spark is not installed: install it with `assay engines install`.")
        return self._programs


def _fetched(instance: Instance, path: str) -> Any:  # noqa: ANN401 - JSON
    """Return a page of the Spark driver's API; None if its address is not known.

    Raises `EngineError`.
    """
    if "ui" not in instance.address:
        return None
    host, port = instance.address["ui"]
    try:
        return fetch(host, port, path, instance.address.get(TOKEN))
    except (OSError, ValueError) as error:
        raise EngineError(
            f"{error}. Check that Spark's driver serves its web interface at {host}:{port}, and "
            f"correct {UI}= in --dsn, or remove it: nodes and their counters are then unknown"
        ) from error


def _nodes_of_others(instance: Instance) -> tuple[Node, ...]:
    """Return the driver and workers of a running Spark cluster."""
    executors = [
        executor for executor in _fetched(instance, "executors") or [] if executor["isActive"]
    ]
    places = dict(workers_of(executors, instance.address).values())
    places.pop(DRIVER, None)
    workers = [Node(name, "worker", host, ()) for name, host in sorted(places.items())]
    if not executors:
        return ()
    return (Node(DRIVER, "coordinator", instance.address["ui"][0], ()), *workers)


def engine(facts: EngineFacts) -> SparkEngine:
    """Return the engine `spark`, with the facts of its `engine.toml`."""
    return SparkEngine(facts)
