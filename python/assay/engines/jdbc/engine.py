"""The engine `jdbc`: any running database that has a JDBC driver."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Never

from assay import _core
from assay.engines.bridge.addresses import read_dsn, session_config
from assay.engines.bridge.beside import start_bridge
from assay.engines.bridge.drivers import find_driver
from assay.engines.bridge.jre import find_java
from assay.engines.bridge.link import GUEST_PATIENCE_S, Link
from assay.engines.bridge.statements import marked_script
from assay.engines.contract import EngineError, Instance
from assay.engines.jdbc import preflight

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.engines.checking import KnownTable, Trial, Tried
    from assay.engines.contract import Address, Bridging, Launcher, Place, Product, Tell, Wanted
    from assay.engines.facts import EngineFacts
    from assay.model.script import Script

# A property that the bridge removes, see `java/Client.java`.
READS_ONLY = {"assay.readOnly": "true"}
# Additional properties for read-only sessions: one per driver that needs one.
READS_ONLY_OF = {
    "jdbc:postgresql:": {"readOnlyMode": "always"},
    "jdbc:sqlite:": {"open_mode": "1"},
}


class JdbcEngine:
    """Any database behind a JDBC driver; implements `Server` and `Bridged`.

    An instance's `handle` is a `Link`. The engine makes no tables, because every database does so
    differently.
    """

    reads_only_by = "Connection.setReadOnly(true)"

    def __init__(self, facts: EngineFacts) -> None:
        self._facts = facts

    def obtain(self, wanted: Wanted, tell: Tell) -> Product:
        """Raise `EngineError`: a database behind JDBC cannot be obtained."""
        del wanted, tell
        raise EngineError(
            "JDBC needs a running database: name it with --dsn jdbc:... and its driver with "
            "--driver FILE.jar"
        )

    def start(
        self, product: Product, place: Place, settings: Mapping[str, str], launcher: Launcher
    ) -> Address:
        """Raise `EngineError`: a database behind JDBC is started by its owner."""
        del product, place, settings, launcher
        raise EngineError("Assay cannot start a database that it connects to by JDBC.")

    def address(self, dsn: str) -> Address:
        """Return the address of a running database from a JDBC URL."""
        return read_dsn(dsn)

    def dialects_at(self, dsn: str) -> tuple[str, ...]:
        """Return the SQL dialects of the product that a JDBC URL names."""
        return preflight.dialects_at(dsn)

    def read_only(self, address: Address) -> Address:
        """Return the address with read-only sessions, by the JDBC driver's own property."""
        properties = {**address.get("properties", {}), **READS_ONLY}
        for url, more in READS_ONLY_OF.items():
            if address["url"].startswith(url):
                properties |= more
        return {**address, "properties": properties}

    def try_statements(
        self, instance: Instance, operations: Sequence[Sequence[Trial]]
    ) -> list[list[Tried]]:
        """Prepare statements with EXPLAIN, on products that support it."""
        return preflight.try_statements(instance.handle, operations)

    def known_tables(self, instance: Instance) -> list[KnownTable]:
        """Return no tables, because they are not read by JDBC."""
        del instance
        return []

    def bridged(self, address: Address, bridging: Bridging) -> Address:
        """Start a Java process that connects to a database by the requested JDBC drivers."""
        if not bridging.drivers:
            raise EngineError(
                "no JDBC driver is named: add --driver FILE.jar with the driver for the DSN"
            )
        drivers = [find_driver(named, bridging.cache) for named in bridging.drivers]
        socket = start_bridge(bridging.launcher, find_java(bridging.cache), drivers)
        return {**address, "socket": str(socket)}

    def attach(self, address: Address) -> Instance:
        """Connect to a database by JDBC.

        Raises `BridgeError` with the message of the database or its driver.
        """
        return Instance({}, Link.connect(address, GUEST_PATIENCE_S), address=dict(address))

    def detach(self, instance: Instance) -> None:
        """Close the JDBC connection."""
        instance.handle.close()

    def version(self, instance: Instance) -> str:
        """Return the product and its version, as the JDBC driver reports them."""
        link: Link = instance.handle
        return f"{link.product} {' '.join(link.version.split())}"

    def effective_settings(self, instance: Instance) -> dict[str, str]:
        """Return product and driver names, because JDBC reports no settings."""
        link: Link = instance.handle
        return {"product": link.product, "version": link.version, "driver": link.driver}

    def processes(self, instance: Instance) -> tuple[int, ...]:
        """Return no process, because JDBC reports none."""
        del instance
        return ()

    def schema_mark(self, instance: Instance, name: str) -> str | None:
        """Return None, because Assay makes no schema by JDBC."""
        del instance, name
        return None

    def lock_schema(self, instance: Instance, name: str) -> bool:
        """Raise `EngineError`, because Assay makes no tables by JDBC."""
        _makes_no_tables(instance, name)

    def make_schema(self, instance: Instance, name: str, mark: str) -> None:
        """Raise `EngineError`, because Assay makes no tables by JDBC."""
        _makes_no_tables(instance, name, mark)

    def mark_schema(self, instance: Instance, name: str, mark: str) -> None:
        """Raise `EngineError`, because Assay makes no tables by JDBC."""
        _makes_no_tables(instance, name, mark)

    def use_schema(self, instance: Instance, name: str) -> None:
        """Raise `EngineError`, because Assay makes no tables by JDBC."""
        _makes_no_tables(instance, name)

    def drop_schema(self, instance: Instance, name: str) -> None:
        """Raise `EngineError`, because Assay makes no tables by JDBC."""
        _makes_no_tables(instance, name)

    def sessions(self, instance: Instance, script: Script, seed: int, clients: int) -> list[object]:
        """Return one JDBC connection per client, all through one JDBC bridge process."""
        config, facts = session_config(instance.address), json.dumps(marked_script(script).facts())
        return [_core.JdbcSession(config, facts, seed, number) for number in range(clients)]


def _makes_no_tables(*_: object) -> Never:
    raise EngineError(
        "Assay cannot create tables through JDBC, because databases differ too much: name a "
        "workload that queries existing tables, such as a folder of .sql files"
    )


def engine(facts: EngineFacts) -> JdbcEngine:
    """Return the engine `jdbc`, with the facts of its `engine.toml`."""
    return JdbcEngine(facts)
