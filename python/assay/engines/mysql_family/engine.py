"""The behaviour that all engines with MySQL's protocol share."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from assay._core import MysqlSession, mysql_load
from assay.engines.contract import EngineError, Instance
from assay.engines.mysql_family import loading
from assay.engines.mysql_family.activity import ACTIVITY, ThreadCounters
from assay.engines.mysql_family.connecting import (
    connect_first,
    on_one_server,
    read_dsn,
    servers_of_sessions,
    session_config,
    with_settings,
)
from assay.engines.mysql_family.counters import FamilyCounters
from assay.engines.mysql_family.explaining import FamilyPlans
from assay.engines.mysql_family.processes import root_process
from assay.engines.mysql_family.schemas import FamilySchemas
from assay.engines.mysql_family.statements import file_text, split
from assay.model.secrets import is_secret, without_secrets

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from assay.engines.contract import Address, CounterReader, Tell
    from assay.engines.facts import EngineFacts
    from assay.engines.loading import ArrowStream
    from assay.model.script import Script


class FamilyEngine(FamilySchemas):
    """Base class of engines with MySQL's protocol.

    An instance's `handle` is a connection that belongs to one thread. The address of an instance
    has the keys of `connecting.read_dsn`, and for private servers `pid`, `data` and `scratch`.

    Attributes:
        conf: The engine's own SQL: `counters/*.sql`, one file per source, and the files of
            `FamilyPlans`.
        programs: Possible names of the server's program.
    """

    conf: Path
    programs: tuple[str, ...]

    def __init__(self, facts: EngineFacts) -> None:
        self._facts = facts

    def read_version(self, version_text: str) -> str:
        """Parse the server's version text, and refuse other products.

        Raises `EngineError` for a server of another product.
        """
        raise NotImplementedError

    def address(self, dsn: str) -> Address:
        """Return the address of a running server from a URL."""
        return read_dsn(dsn, self._facts.schemes)

    def with_settings(self, dsn: str, settings: Mapping[str, str]) -> str:
        """Return the DSN with settings, which every new connection applies."""
        return with_settings(dsn, settings, self._facts.schemes)

    def attach(self, address: Address) -> Instance:
        """Connect to the MySQL server.

        Raises `EngineError` for a server that is another product, or too old.
        """
        connection, server = connect_first(address)
        instance = Instance({}, connection, address=server)
        try:
            self.version(instance)
        except EngineError:
            instance.handle.close()
            raise
        return instance

    def detach(self, instance: Instance) -> None:
        """Close the connection to the MySQL server, which releases its locks."""
        if instance.handle.open:
            instance.handle.close()

    def version(self, instance: Instance) -> str:
        """Return the version, such as `10.11.19`, without a distribution's suffix."""
        rows = loading.execute(instance.handle, file_text("version.sql"))
        if len(rows) != 1 or len(rows[0]) != 1:
            raise EngineError(
                "the server does not answer a query for its version: is it MySQL or MariaDB?"
            )
        return self.read_version(str(rows[0][0]))

    def effective_settings(self, instance: Instance) -> dict[str, str]:
        """Return the MySQL server's settings, without those that may hold a secret."""
        rows = loading.execute(instance.handle, file_text("effective_settings.sql"))
        return {name: without_secrets(value) for name, value in rows if not is_secret(name)}

    def processes(self, instance: Instance) -> tuple[int, ...]:
        """Return the server's pid: its connections are threads of one process."""
        pid = root_process(instance.handle, instance.address, self.programs)
        return () if pid is None else (pid,)

    def has_other_servers(self, instance: Instance) -> bool:
        """Return True if the DSN of the sessions names several servers."""
        return len(servers_of_sessions(instance.address)) > 1

    def port(self, instance: Instance) -> int | None:
        """Return the server's port; None for a connection by Unix socket."""
        return None if instance.address["unix_socket"] else int(instance.address["port"])

    def run_script(self, instance: Instance, sql: str) -> None:
        """Run a script's statements on MySQL one by one, each in its own transaction."""
        for statement in split(sql):
            loading.execute(instance.handle, statement)

    def prepare(self, instance: Instance, sql: str) -> None:
        """Run SQL statements on MySQL one by one."""
        self.run_script(instance, sql)

    def settle(self, instance: Instance) -> None:
        """Raise an error if statements before a run left a MySQL transaction open."""
        loading.refuse_open_transaction(instance)

    def load(self, instance: Instance, table: str, rows: ArrowStream, streams: int) -> None:
        """Load rows by LOAD DATA LOCAL, or by INSERT if the server does not allow it."""
        del streams
        address = on_one_server(instance.address)
        config = session_config(address, init=(file_text("load_session.sql"),))
        try:
            # InnoDB builds an empty table in bulk only for a single LOAD DATA.
            mysql_load(config, table, rows, 1)
        except (OSError, RuntimeError, ValueError) as error:
            raise EngineError(f"table {table} cannot be loaded: {error}") from error

    def tables_at_once(self, streams: int) -> int:
        """Return `streams`, because one connection loads one table."""
        return streams

    def count(self, instance: Instance, table: str) -> int:
        """Return the number of rows of a table, counted by MySQL."""
        return loading.count(instance, table)

    def make_keys(self, instance: Instance, sql: str, streams: int, tell: Tell) -> None:
        """Make primary keys, then indexes in parallel by table, then foreign keys."""
        loading.make_keys(instance, sql, streams, tell)

    def finish_load(self, instance: Instance) -> None:
        """Gather optimiser statistics of the loaded tables."""
        loading.finish(instance)

    def counters(self, instance: Instance) -> CounterReader:
        """Return a reader of MySQL's counters, with its own connection to the server."""
        files = sorted((self.conf / "counters").glob("*.sql"))
        asked = {file.stem: file_text(file.name, file.parent) for file in files}
        if not (self.conf / ACTIVITY).exists():
            return FamilyCounters(instance.address, asked)
        pid = next(iter(self.processes(instance)), None)
        return ThreadCounters(instance.address, asked, self.conf, pid)

    def plan_reader(self, instance: Instance) -> FamilyPlans:
        """Return a reader of MySQL plans, with its own connection to the engine."""
        return FamilyPlans(instance.address, self.conf)

    def sessions(self, instance: Instance, script: Script, seed: int, clients: int) -> list[object]:
        """Return one MySQL session per client."""
        return self.share_of_sessions(instance, script, seed, range(clients))

    def share_of_sessions(
        self, instance: Instance, script: Script, seed: int, numbers: range
    ) -> list[object]:
        """Return the MySQL sessions with the given numbers out of all clients' sessions."""
        facts = json.dumps(script.facts())
        config = session_config(instance.address)
        return [MysqlSession(config, facts, seed, number) for number in numbers]
