"""MariaDB: obtained, started, asked; see `assay.engines.contract`."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from assay._core import PythonSession
from assay.engines.contract import EngineError, Instance
from assay.engines.mariadb import loading, schemas
from assay.engines.mariadb.connecting import connect, read_dsn, with_settings
from assay.engines.mariadb.counters import MariaCounters
from assay.engines.mariadb.explaining import MariaPlans
from assay.engines.mariadb.plans import normalised
from assay.engines.mariadb.processes import root_process
from assay.engines.mariadb.programs import find_programs, read_configuration
from assay.engines.mariadb.server import refuse_ours, start_server
from assay.engines.mariadb.session import MariaSession
from assay.engines.mariadb.statements import CONF, file_text, split
from assay.engines.obtaining import obtain
from assay.model.secrets import is_secret, without_secrets

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from assay.engines.contract import (
        Address,
        ArrowStream,
        Cached,
        EngineFacts,
        Launcher,
        Place,
        Product,
        Tell,
        Wanted,
    )
    from assay.model.plan import Plan
    from assay.model.script import Script

# From which on a database can have a comment, which says whose it is.
VERSION_MIN = (10, 5)
# Before the version, so that clients of MySQL's replication take it for a young one.
PREFIX = "5.5.5-"


class MariaEngine:
    """See `assay.engines.contract`: `Server`, `BulkLoads`, `HasKeys`, `HasCounters` and more.

    An instance's `handle` is a connection that belongs to one thread. Its address has what
    `connecting.read_dsn` tells and for private servers `pid`, `data` and `scratch`.
    """

    def __init__(self, facts: EngineFacts) -> None:
        self._facts = facts

    def obtain(self, wanted: Wanted, tell: Tell) -> Product:
        """The product, with the version that its own program tells."""
        product = obtain(self._facts, wanted, tell)
        return replace(product, version=find_programs(_home(product)).version())

    def check_settings(self, product: Product, settings: Mapping[str, str]) -> None:
        """Lets the server's program read the settings; nothing is started."""
        refuse_ours(settings)
        find_programs(_home(product)).check({**self._facts.settings, **settings})

    def load_settings(self) -> Mapping[str, str]:
        """See `conf/load.cnf`."""
        return read_configuration(CONF / "load.cnf")

    def start(
        self, product: Product, place: Place, settings: Mapping[str, str], launcher: Launcher
    ) -> Address:
        """Starts a private server, on a new data directory if `place.data` is empty."""
        refuse_ours(settings)
        programs = find_programs(_home(product))
        return start_server(programs, place, {**self._facts.settings, **settings}, launcher)

    def address(self, dsn: str) -> Address:
        """The address of a running server, a URL."""
        return read_dsn(dsn)

    def with_settings(self, dsn: str, settings: Mapping[str, str]) -> str:
        """By words of the DSN, which every connection sets when it is made."""
        return with_settings(dsn, settings)

    def attach(self, address: Address) -> Instance:
        """Connects. Raises `EngineError` for a server that is no MariaDB, or too old a one."""
        instance = Instance({}, connect(address), address=dict(address))
        try:
            _check_version(_version_text(instance))
        except EngineError:
            instance.handle.close()
            raise
        return instance

    def detach(self, instance: Instance) -> None:
        """Closes the connection, with all locks that it holds."""
        if instance.handle.open:
            instance.handle.close()

    def version(self, instance: Instance) -> str:
        """Such as `10.11.19`, without what a distribution adds."""
        return _version_text(instance).partition("-")[0]

    def effective_settings(self, instance: Instance) -> dict[str, str]:
        """What the server reports of itself, without anything that may be a secret."""
        rows = loading.execute(instance.handle, file_text("effective_settings.sql"))
        return {name: without_secrets(value) for name, value in rows if not is_secret(name)}

    def processes(self, instance: Instance) -> tuple[int, ...]:
        """The server: connections are threads of it."""
        pid = root_process(instance.handle, instance.address)
        return () if pid is None else (pid,)

    def schema_mark(self, instance: Instance, name: str) -> str | None:
        """The comment of the database, which is what MariaDB calls a schema."""
        return schemas.mark(instance, name)

    def lock_schema(self, instance: Instance, name: str) -> bool:
        """By a lock of a name that the server releases when this connection ends."""
        return schemas.lock(instance, name)

    def make_schema(self, instance: Instance, name: str, mark: str) -> None:
        """Makes a database whose comment is the mark."""
        schemas.make(instance, name, mark)

    def mark_schema(self, instance: Instance, name: str, mark: str) -> None:
        """Changes the database's comment."""
        schemas.note(instance, name, mark)

    def use_schema(self, instance: Instance, name: str) -> None:
        """Makes it the database of this connection and of later ones."""
        schemas.use(instance, name)

    def drop_schema(self, instance: Instance, name: str) -> None:
        """Drops the database with all that is in it."""
        schemas.drop(instance, name)

    def run_script(self, instance: Instance, sql: str) -> None:
        """Runs the statements one by one, each in a transaction of its own."""
        for statement in split(sql):
            loading.execute(instance.handle, statement)

    def prepare(self, instance: Instance, sql: str) -> None:
        """Runs the statements one by one, each in a transaction of its own unless they `begin`."""
        self.run_script(instance, sql)

    def settle(self, instance: Instance) -> None:
        """Refuses a transaction that was left open; InnoDB writes pages when it sees fit."""
        loading.refuse_open_transaction(instance)

    def load(self, instance: Instance, table: str, rows: ArrowStream, streams: int) -> None:
        """Loads rows by one LOAD DATA: only then InnoDB builds a table as a whole."""
        del streams
        try:
            loading.load(instance, table, rows)
        except (EngineError, OSError, RuntimeError, ValueError) as error:
            raise EngineError(f"table {table} cannot be loaded: {error}") from error

    def tables_at_once(self, streams: int) -> int:
        """As many as there are streams: each table takes one."""
        return streams

    def count(self, instance: Instance, table: str) -> int:
        """Rows of a table, counted."""
        return loading.count(instance, table)

    def make_keys(self, instance: Instance, sql: str, streams: int, tell: Tell) -> None:
        """Makes primary keys, then indexes, tables side by side, then foreign keys."""
        loading.make_keys(instance, sql, streams, tell)

    def finish_load(self, instance: Instance) -> None:
        """Gathers statistics; an orderly stop of a private server then writes everything."""
        loading.finish(instance)

    def cached(self, instance: Instance) -> list[Cached]:
        """Pages of InnoDB's buffer pool; what is not read at the moment is not waited for."""
        return loading.cached(instance)

    def counters(self, instance: Instance) -> MariaCounters:
        """A reader on a connection of its own."""
        return MariaCounters(instance.address)

    def plan_reader(self, instance: Instance) -> MariaPlans:
        """A reader on a connection of its own."""
        return MariaPlans(instance.address)

    def plan(self, told: str, operation: str, statement: int, native: str) -> Plan:
        """What ANALYZE or EXPLAIN told."""
        return normalised(told, operation, statement, native)

    def sessions(self, instance: Instance, script: Script, seed: int, clients: int) -> list[object]:
        """One connection a client."""
        told = json.dumps(script.facts())
        return [
            PythonSession(MariaSession(instance.address, script), told, seed, number)
            for number in range(clients)
        ]


def _version_text(instance: Instance) -> str:
    ((told,),) = loading.execute(instance.handle, file_text("version.sql"))
    return str(told).removeprefix(PREFIX)


def _check_version(told: str) -> None:
    found = re.match(r"(\d+)\.(\d+)", told)
    young = found is not None and (int(found[1]), int(found[2])) >= VERSION_MIN
    if "MariaDB" not in told or not young:
        raise EngineError(
            f"the server is {told}, and this engine speaks to MariaDB"
            f" {'.'.join(map(str, VERSION_MIN))} and later: name another server in --dsn."
        )


def _home(product: Product) -> Path:
    if product.home is None:
        raise EngineError("MariaDB has no programs here: obtain it before it is started.")
    return product.home


def engine(facts: EngineFacts) -> MariaEngine:
    """The engine of this folder."""
    return MariaEngine(facts)
