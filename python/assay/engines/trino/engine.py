"""The engine Trino: how it is obtained, started and queried."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from assay import _core
from assay.engines.bridge.addresses import session_config
from assay.engines.bridge.beside import start_bridge
from assay.engines.bridge.drivers import obtain_driver
from assay.engines.bridge.errors import BridgeError
from assay.engines.bridge.jre import find_java
from assay.engines.bridge.link import GUEST_PATIENCE_S, PATIENCE_S, Link
from assay.engines.bridge.statements import marked_script
from assay.engines.contract import EngineError, Instance, Node
from assay.engines.obtaining import obtain
from assay.engines.own_tables import OwnTables
from assay.engines.trino import configuration, loading
from assay.engines.trino.connecting import (
    DRIVER,
    DRIVER_SHA256,
    PASSWORD_VARIABLE,
    Rest,
    file_text,
    read_dsn,
    with_session,
)
from assay.engines.trino.counters import TrinoCounters
from assay.engines.trino.explaining import TrinoPlans
from assay.engines.trino.plans import normalised
from assay.engines.trino.programs import check_java, find_programs
from assay.engines.trino.server import properties_in_effect, start_cluster

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from assay.engines.contract import (
        Address,
        Bridging,
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
    from assay.model.plan import Plan
    from assay.model.script import Script

WHOSE = "Trino"
REFUSALS = ("Unauthorized", "Authentication failed", "Access Denied", "authenticat")
Role = Literal["coordinator", "worker", "both"]


class TrinoEngine(OwnTables):
    """The engine Trino; implements `Server`, `Clustered`, `BulkLoads`, `Prepares` and more.

    An instance's `handle` is a `Link`, which belongs to one thread.
    """

    def __init__(self, facts: EngineFacts) -> None:
        self._facts = facts
        # Paths of Java and of the JDBC driver's directory.
        self._bridge: tuple[Path, Path] | None = None

    def obtain(self, wanted: Wanted, tell: Tell) -> Product:
        """Return the product, after obtaining Java and its JDBC driver."""
        java = find_java(wanted.cache, tell, WHOSE)
        check_java(java)
        product = obtain(self._facts, wanted, tell)
        self._bridge = java, obtain_driver(DRIVER, wanted.cache, DRIVER_SHA256, tell)
        version = find_programs(product).version
        return replace(product, version=version, origin={**product.origin, "driver": DRIVER})

    def check_settings(self, product: Product, settings: Mapping[str, str]) -> None:
        """Check Trino's settings before a node is started."""
        configuration.check(self._facts.settings | dict(settings), find_programs(product))

    def load_settings(self) -> Mapping[str, str]:
        """Return settings with one worker, enough to make empty tables and gather statistics."""
        return self._facts.settings | {configuration.WORKERS: "1"}

    def start(
        self, product: Product, place: Place, settings: Mapping[str, str], launcher: Launcher
    ) -> Address:
        """Start a private Trino cluster, on new data if its directory is empty."""
        if self._bridge is None:
            raise EngineError(
                "Trino's JDBC driver is not installed: install it with `assay engines install`."
            )
        wanted = self._facts.settings | dict(settings)
        programs = find_programs(product)
        configuration.check(wanted, programs)
        java, driver = self._bridge
        return start_cluster(programs, java, driver, place, wanted, launcher)

    def address(self, dsn: str) -> Address:
        """Return the address of a running cluster."""
        return read_dsn(dsn)

    def with_settings(self, dsn: str, settings: Mapping[str, str]) -> str:
        """Return a Trino DSN with session properties, such as `join_distribution_type`."""
        return with_session(dsn, settings)

    def bridged(self, address: Address, bridging: Bridging) -> Address:
        """Start a Java process that connects to Trino by its JDBC driver."""
        java = find_java(bridging.cache)
        driver = obtain_driver(DRIVER, bridging.cache, DRIVER_SHA256)
        return {**address, "socket": str(start_bridge(bridging.launcher, java, [driver]))}

    def attach(self, address: Address) -> Instance:
        """Connect to the Trino cluster, and query its nodes.

        Raises:
            EngineError: If the cluster is absent or refuses; the message distinguishes both, with a
                remedy.
        """
        # The driver would retry for minutes.
        _greet(address)
        patience_s = PATIENCE_S if "pids" in address else GUEST_PATIENCE_S
        link = Link.connect(address, patience_s)
        instance = Instance({}, link, address=dict(address))
        try:
            self.nodes(instance)
        except BaseException:
            link.close()
            raise
        return instance

    def detach(self, instance: Instance) -> None:
        """Close the connection to Trino."""
        instance.handle.close()

    def version(self, instance: Instance) -> str:
        """Return the running Trino's version, such as `368`."""
        return str(instance.handle.ask(file_text("version.sql"))[0][0].as_py())

    def nodes(self, instance: Instance) -> tuple[Node, ...]:
        """Return the active Trino nodes, the coordinator first."""
        try:
            rows = instance.handle.ask(file_text("nodes.sql")).to_pylist()
        except BridgeError as error:
            raise EngineError(_refused(instance.address, error)) from error
        pids: Mapping[str, int] = instance.address.get("pids", {})
        return tuple(_node(row, pids, alone=len(rows) == 1) for row in rows)

    def processes(self, instance: Instance) -> tuple[int, ...]:
        """Return the root processes of a private cluster's nodes; empty for other clusters."""
        return tuple(instance.address.get("pids", {}).values())

    def effective_settings(self, instance: Instance) -> dict[str, str]:
        """Return the properties in a Trino worker's log, and those of a session.

        Session properties are distinguished by `_` where node properties have `-`.
        """
        properties = (
            {} if "logs" not in instance.address else properties_in_effect(instance.address)
        )
        ours = _ours(instance, self.nodes(instance))
        session = {
            str(row[0]): str(row[1] or "") for row in instance.handle.text(file_text("session.sql"))
        }
        return {**session, **properties, **ours}

    def loads(self, instance: Instance) -> bool:
        """Return True for a private cluster, because only there tables are made."""
        return "lake" in instance.address

    def run_script(self, instance: Instance, sql: str) -> None:
        """Run a script's SQL statements on Trino one by one, in the schema that Assay made."""
        loading.run_script(instance, sql)

    def prepare(self, instance: Instance, sql: str) -> None:
        """Run SQL statements on Trino one by one."""
        loading.run_script(instance, sql)

    def settle(self, instance: Instance) -> None:
        """Do nothing: each statement ends only after its files are written."""

    def load(self, instance: Instance, table: str, rows: ArrowStream, streams: int) -> None:
        """Write the rows as files of the table."""
        del streams
        loading.load(instance, table, rows)

    def count(self, instance: Instance, table: str) -> int:
        """Return the number of rows of a table, from its files."""
        return loading.count(instance, table)

    def finish_load(self, instance: Instance) -> None:
        """Gather statistics of all columns of the loaded tables."""
        loading.finish(instance)

    def sessions(self, instance: Instance, script: Script, seed: int, clients: int) -> list[object]:
        """Return one Trino connection per client, all through one JDBC bridge process."""
        config, facts = session_config(instance.address), json.dumps(marked_script(script).facts())
        return [_core.JdbcSession(config, facts, seed, number) for number in range(clients)]

    def counters(self, instance: Instance) -> CounterReader:
        """Return a reader of each node's counters, including its tasks."""
        return TrinoCounters(instance.address, self._places(instance))

    def plan_reader(self, instance: Instance) -> PlanReader:
        """Return a plan reader that executes statements and reads their operators' counters."""
        return TrinoPlans(instance.address)

    def plan(self, text: str, operation: str, statement: int, native: str) -> Plan:
        """Parse the coordinator's report of a query."""
        return normalised(text, operation, statement, native)

    def _places(self, instance: Instance) -> dict[str, str]:
        """Return the address of each node, by its name."""
        rows = instance.handle.ask(file_text("nodes.sql")).to_pylist()
        return {str(row["node_id"]): str(row["http_uri"]) for row in rows}


def _node(row: Mapping[str, Any], pids: Mapping[str, int], *, alone: bool) -> Node:
    name = str(row["node_id"])
    role: Role = "worker" if not row["coordinator"] else "both" if alone else "coordinator"
    host = urlsplit(str(row["http_uri"])).hostname or ""
    return Node(name, role, host, (pids[name],) if name in pids else ())


def _ours(instance: Instance, nodes: tuple[Node, ...]) -> dict[str, str]:
    """Return the number of Trino workers, and their heap if known."""
    workers = sum(node.role != "coordinator" for node in nodes)
    heap = instance.address.get("heap")
    return {configuration.WORKERS: str(workers)} | ({configuration.HEAP: heap} if heap else {})


def _greet(address: Address) -> None:
    """Raise `EngineError` unless a coordinator answers and is ready."""
    place, asked = address["rest"], Rest.of(address)
    try:
        info = asked.get("/v1/info")
        is_there = bool(info["coordinator"])
        is_ready = not info["starting"]
    except (OSError, KeyError, TypeError) as error:
        raise EngineError(
            f"the server at {place} does not respond like a Trino coordinator ({error}): check "
            "that it is running, and that the DSN names its host and port."
        ) from error
    finally:
        asked.close()
    if not is_there:
        raise EngineError(
            f"the server at {place} is a Trino worker: name the coordinator in --dsn."
        )
    if not is_ready:
        raise EngineError(f"the coordinator at {place} is still starting: try again in a moment.")


def _refused(address: Address, error: BridgeError) -> str:
    """Return why a Trino cluster refuses a statement, and the remedy."""
    place, said = address["rest"], str(error)
    if any(word in said for word in REFUSALS):
        return (
            f"{place} refuses this user or password: name them in the DSN, or the password in"
            f" {PASSWORD_VARIABLE}. Trino said: {said}"
        )
    return f"{place} does not answer a question for its nodes: {said}"


def engine(facts: EngineFacts) -> TrinoEngine:
    """Return the engine `trino`, with the facts of its `engine.toml`."""
    return TrinoEngine(facts)
