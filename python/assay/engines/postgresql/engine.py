"""The engine PostgreSQL: how it is obtained, started and queried."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from assay import _core
from assay.engines.contract import EngineError, Instance
from assay.engines.obtaining import obtain
from assay.engines.postgresql import capturing, loading, logs, preflight, reading_only
from assay.engines.postgresql.connecting import read_dsn, with_options
from assay.engines.postgresql.constants import PostgresConstants
from assay.engines.postgresql.counters import PostgresCounters
from assay.engines.postgresql.explaining import PostgresPlans
from assay.engines.postgresql.hosts import (
    SESSIONS,
    administration_dsn,
    dsn_of_sessions,
    names_several,
    session_dsn,
)
from assay.engines.postgresql.plans import normalised
from assay.engines.postgresql.pooled import is_pooled
from assay.engines.postgresql.processes import root_process
from assay.engines.postgresql.programs import find_programs, read_configuration
from assay.engines.postgresql.schemas import PostgresSchemas
from assay.engines.postgresql.server import CONF, refuse_ours, start_server
from assay.engines.postgresql.statements import file_text, split
from assay.engines.postgresql.watching import PostgresWatcher, WatchedPlans, guest_dsn
from assay.model.secrets import is_secret, without_secrets

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path

    from assay.engines.checking import KnownTable, Trial, Tried
    from assay.engines.contract import Address, Cached, Launcher, Place, Product, Tell, Wanted
    from assay.engines.facts import EngineFacts
    from assay.engines.loading import ArrowStream
    from assay.model.captured import Counted, ReadLog
    from assay.model.declared import DeclaredColumns
    from assay.model.plan import Plan
    from assay.model.script import Script

ADMINISTRATION = "assay administration"
MAX_CONNECTIONS = "max_connections"
# The source of counters that the watcher of statements reads itself.
STATEMENTS = "statements"
# Settings that are shell command lines, which may contain secrets.
COMMANDS = "_command"


class PostgresEngine(PostgresSchemas):
    """The engine PostgreSQL; implements `Server`, `BulkLoads`, `HasKeys` and more.

    An instance's `handle` is a connection that belongs to one thread. The address of an instance
    has `dsn`, the server that administration uses. For a user's servers it also has `dsn_sessions`,
    with all servers that sessions choose from. For private servers it also has `dsn_tcp` for TCP,
    `pid` and `data`.
    """

    reads_only_by = f"{reading_only.SETTING}={reading_only.VALUE}"

    def __init__(self, facts: EngineFacts) -> None:
        self._facts = facts

    def obtain(self, wanted: Wanted, tell: Tell) -> Product:
        """Return the installed product with the version that its program reports."""
        product = obtain(self._facts, wanted, tell)
        return replace(product, version=find_programs(_home(product)).version())

    def check_settings(self, product: Product, settings: Mapping[str, str]) -> None:
        """Have the server's program check the settings without starting a server."""
        refuse_ours(settings)
        find_programs(_home(product)).check({**self._facts.settings, **settings})

    def connections_limit(self, settings: Mapping[str, str]) -> tuple[str, str]:
        """Return `max_connections` with its value of `--set` or of `run.conf`."""
        given = {name.lower(): value for name, value in settings.items()}
        return MAX_CONNECTIONS, (read_configuration(CONF / "run.conf") | given)[MAX_CONNECTIONS]

    def load_settings(self) -> Mapping[str, str]:
        """Return the settings for loading, from `conf/load.conf`."""
        return read_configuration(CONF / "load.conf")

    def start(
        self, product: Product, place: Place, settings: Mapping[str, str], launcher: Launcher
    ) -> Address:
        """Start a private PostgreSQL server, on new data if its directory is empty."""
        refuse_ours(settings)
        programs = find_programs(_home(product))
        return start_server(programs, place, {**self._facts.settings, **settings}, launcher)

    def address(self, dsn: str) -> Address:
        """Return the address of a running server from a URL or keywords."""
        return read_dsn(dsn)

    def with_settings(self, dsn: str, settings: Mapping[str, str]) -> str:
        """Return the DSN with settings in its `options`, where a setting's last value is used."""
        return with_options(dsn, settings)

    def read_only(self, address: Address) -> Address:
        """Return the address of read-only sessions; behind a pooler, of read-only transactions."""
        return reading_only.read_only(address)

    def read_only_transaction(self, instance: Instance) -> str | None:
        """Return the statement that begins a read-only transaction, for servers behind a pooler."""
        return reading_only.BEGIN if self._reads_by_transaction(instance) else None

    def try_statements(
        self, instance: Instance, operations: Sequence[Sequence[Trial]]
    ) -> list[list[Tried]]:
        """Try statements with EXPLAIN and one set of values, in a read-only transaction."""
        return preflight.try_statements(instance, operations)

    def known_tables(self, instance: Instance) -> list[KnownTable]:
        """Return the tables of all schemas that the role may see."""
        return preflight.known_tables(instance)

    def declared_tables(
        self, instance: Instance, names: Collection[str]
    ) -> dict[str, DeclaredColumns]:
        """Return the tables and views on the role's search path."""
        return preflight.declared_tables(instance, names)

    def attach(self, address: Address) -> Instance:
        """Connect to the server; add Assay's extensions to a private server's database.

        For a user's servers, administration stays with the server that answered. Sessions keep the
        list of servers.
        """
        connection, address = reading_only.connected(address, ADMINISTRATION)
        if "data" in address:
            instance = Instance({}, connection, address=address)
            loading.add_extensions(instance)
            return instance
        dsn = address["dsn"]
        of_sessions = address.get(SESSIONS) or session_dsn(dsn, connection)
        reached = {**address, "dsn": administration_dsn(dsn, connection), SESSIONS: of_sessions}
        return Instance({}, connection, address=reached)

    def detach(self, instance: Instance) -> None:
        """Close the connection to PostgreSQL."""
        instance.handle.close()

    def version(self, instance: Instance) -> str:
        """Return the PostgreSQL server version, such as `18.6`, without a distribution suffix."""
        version = cast("str", instance.handle.info.parameter_status("server_version"))
        return version.partition(" ")[0]

    def effective_settings(self, instance: Instance) -> dict[str, str]:
        """Return the PostgreSQL server's settings, without those that may hold a secret."""
        rows = loading.execute(instance.handle, file_text("effective_settings.sql")).fetchall()
        return {
            name: without_secrets(value)
            for name, value in cast("list[tuple[str, str | None]]", rows)
            if value is not None and not _may_hold_a_secret(name)
        }

    def processes(self, instance: Instance) -> tuple[int, ...]:
        """Return the pid of the postmaster; all other processes of the server are its children."""
        pid = root_process(instance.handle)
        return () if pid is None else (pid,)

    def is_pooled(self, instance: Instance) -> bool:
        """Return True if a pooler stands between the connection and the server."""
        return is_pooled(instance.handle)

    def has_other_servers(self, instance: Instance) -> bool:
        """Return True if the DSN of the sessions names several servers."""
        return names_several(dsn_of_sessions(instance.address))

    def port(self, instance: Instance) -> int | None:
        """Return the server's port, which the name of a Unix socket contains as well."""
        return int(instance.handle.info.port)

    def read_logs(self, files: Sequence[Path]) -> ReadLog | None:
        """Return the statements in PostgreSQL's CSV or JSON log files."""
        return logs.read_logs(files)

    def count_statements(self, dsn: str, seconds: float, sleep: Callable[[float], None]) -> Counted:
        """Count statements by `pg_stat_statements`, with samples of sessions."""
        return capturing.count_statements(dsn, seconds, sleep)

    def constants(self) -> PostgresConstants:
        """Return the syntax of constants in the engine's statements."""
        return PostgresConstants()

    def run_script(self, instance: Instance, sql: str) -> None:
        """Run a script's statements on PostgreSQL one by one, each in its own transaction."""
        for statement in split(sql):
            loading.execute(instance.handle, statement)

    def prepare(self, instance: Instance, sql: str) -> None:
        """Run SQL statements on PostgreSQL one by one; they end if this process is killed."""
        loading.end_with_client(instance.handle)
        self.run_script(instance, sql)

    def settle(self, instance: Instance) -> None:
        """Write a checkpoint before the timed part, if this user may.

        Raises `EngineError` in an open transaction.
        """
        loading.refuse_open_transaction(instance)
        loading.checkpoint(instance)

    def load(self, instance: Instance, table: str, rows: ArrowStream, streams: int) -> None:
        """Copy rows in binary format, on connections as in `loading.FROZEN_STREAMS_MAX`."""
        few = streams <= loading.FROZEN_STREAMS_MAX
        try:
            frozen = few and loading.can_be_frozen(instance, table)
            _core.postgres_copy(instance.address["dsn"], table, rows, None if frozen else streams)
        except (EngineError, OSError, RuntimeError, ValueError) as error:
            raise EngineError(f"table {table} cannot be loaded: {error}") from error

    def tables_at_once(self, streams: int) -> int:
        """Return `streams`, because one connection loads most tables."""
        return streams

    def count(self, instance: Instance, table: str) -> int:
        """Return the number of rows of a table, counted by PostgreSQL."""
        return loading.count(instance, table)

    def make_keys(self, instance: Instance, sql: str, streams: int, tell: Tell) -> None:
        """Make primary keys, then indexes, then foreign keys, in parallel within each kind."""
        loading.make_keys(instance, sql, streams, tell)

    def finish_load(self, instance: Instance) -> None:
        """Freeze rows, gather statistics, write a checkpoint."""
        loading.finish(instance)

    def cached(self, instance: Instance) -> list[Cached]:
        """Return cached tables and indexes by pg_buffercache, with the sizes of their files."""
        return loading.cached(instance)

    def counters(self, instance: Instance) -> PostgresCounters:
        """Return a reader of PostgreSQL's counters, with its own connection to the server."""
        return PostgresCounters(instance.address["dsn"])

    def guest(self, dsn: str) -> Address:
        """Return the address of a PostgreSQL server that the user runs, for read-only sessions."""
        return read_dsn(guest_dsn(dsn))

    def watcher(self, instance: Instance) -> PostgresWatcher:
        """Return a watcher of the statements of PostgreSQL sessions, with its own connection."""
        return PostgresWatcher(instance.address["dsn"])

    def counters_beside(self, instance: Instance) -> PostgresCounters:
        """Return a reader of all counters except those of statements."""
        return PostgresCounters(instance.address["dsn"], without=(STATEMENTS,))

    def watched_plans(self, instance: Instance) -> WatchedPlans:
        """Return a plan reader that executes nothing, with its own connection."""
        return WatchedPlans(instance.address["dsn"])

    def plan_reader(self, instance: Instance) -> PostgresPlans:
        """Return a reader of PostgreSQL plans, with its own connection to the engine."""
        dsn = instance.address["dsn"]
        return PostgresPlans(dsn, reads_only=self._reads_by_transaction(instance))

    def plan(self, text: str, operation: str, statement: int, native: str) -> Plan:
        """Return the plan in the output of PostgreSQL's EXPLAIN."""
        return normalised(text, operation, statement, native)

    def sessions(self, instance: Instance, script: Script, seed: int, clients: int) -> list[object]:
        """Return one PostgreSQL session per client."""
        return self.share_of_sessions(instance, script, seed, range(clients))

    def share_of_sessions(
        self, instance: Instance, script: Script, seed: int, numbers: range
    ) -> list[object]:
        """Return the PostgreSQL sessions with the given numbers out of all clients' sessions."""
        dsn, facts = dsn_of_sessions(instance.address), json.dumps(script.facts())
        passing = self._facts.passing_errors
        return [_core.PostgresSession(dsn, facts, seed, number, passing) for number in numbers]

    @staticmethod
    def _reads_by_transaction(instance: Instance) -> bool:
        return bool(instance.address.get(reading_only.BY_TRANSACTION))


def _may_hold_a_secret(name: str) -> bool:
    return is_secret(name) or name.endswith(COMMANDS)


def _home(product: Product) -> Path:
    if product.home is None:
        raise EngineError("PostgreSQL is not installed: install it with `assay engines install`.")
    return product.home


def engine(facts: EngineFacts) -> PostgresEngine:
    """Return the engine `postgresql`, with the facts of its `engine.toml`."""
    return PostgresEngine(facts)
