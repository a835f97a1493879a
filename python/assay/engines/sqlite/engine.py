"""The engine SQLite, embedded in the driver's process and loaded from Arrow streams."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

import apsw

from assay.engines.checking import named_file
from assay.engines.contract import EngineError, Instance, Place, Product
from assay.engines.sqlite import loading, preflight
from assay.engines.sqlite import settings as pragmas
from assay.engines.sqlite.counters import SqliteCounters
from assay.engines.sqlite.database import (
    DATABASE_FILE,
    Database,
    opened,
    opened_file,
    quoted,
    script,
    statements,
)
from assay.engines.sqlite.explaining import SqlitePlans
from assay.engines.sqlite.plans import normalised
from assay.engines.sqlite.undoing import exact_undo

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from assay.engines.checking import KnownTable, Trial, Tried
    from assay.engines.contract import Tell, Wanted
    from assay.engines.facts import EngineFacts
    from assay.engines.loading import ArrowStream
    from assay.model.declared import DeclaredColumns
    from assay.model.plan import Plan
    from assay.model.script import Script

SCHEME = "sqlite"
# Time that a session waits for locks; the only setting that Assay applies to a user's file.
PATIENCE = "busy_timeout"


class SqliteEngine:
    """The engine SQLite; implements `Engine`, `Embedded`, `BulkLoads`, `HasKeys` and more."""

    reads_only_by = "the file is opened for reading, query_only=1"

    def __init__(self, facts: EngineFacts) -> None:
        self._facts = facts

    def obtain(self, wanted: Wanted, tell: Tell) -> Product:
        """Check that SQLite has the pinned and requested version."""
        del tell
        version = apsw.sqlite_lib_version()
        if version != self._facts.version_pinned:
            raise EngineError(
                f"apsw contains SQLite {version}, and Assay needs version "
                f"{self._facts.version_pinned}: run `make setup` again."
            )
        if wanted.version is not None and not f"{version}.".startswith(f"{wanted.version}."):
            raise EngineError(
                f"Assay contains SQLite {version}, so version {wanted.version} is not "
                "available. It is part of a Python package: install the other version in a "
                "separate Python environment."
            )
        return Product(version, origin={"package": f"apsw {apsw.apsw_version()}"})

    def check_settings(self, product: Product, settings: Mapping[str, str]) -> None:
        """Check names and values of SQLite settings."""
        del product
        pragmas.checked(settings)

    def start(self, place: Place, settings: Mapping[str, str]) -> Instance:
        """Open the SQLite database file, which is created if it does not exist."""
        if place.file is not None:
            return self._on_file(place, place.file, settings)
        asked = pragmas.checked({**self._facts.settings, **settings})
        database = opened(place.data / DATABASE_FILE, asked, place.scratch)
        return Instance(dict(settings), database, place)

    def _on_file(self, place: Place, file: Path, settings: Mapping[str, str]) -> Instance:
        """Open a user's own file with only the requested settings."""
        if strange := sorted(set(settings) & {pragmas.JOURNAL_MODE, *pragmas.OF_THE_FILE}):
            raise EngineError(
                f"--set {strange[0]} would change the file {file}: remove this option."
            )
        patience = {PATIENCE: self._facts.settings[PATIENCE]}
        asked = pragmas.checked({**patience, **settings})
        database = opened_file(file, asked, place.scratch, reads_only=place.reads_only)
        return Instance(dict(settings), database, place)

    def file(self, dsn: str) -> Path:
        """Return the SQLite database file that a user's DSN (data source name) refers to."""
        return named_file(dsn, SCHEME)

    def exact_undo(self, instance: Instance, make: str, undo: str) -> str:
        """Return SQL that restores replaced SQLite statistics exactly, or the given undo SQL."""
        return exact_undo(_database(instance).own, make, undo)

    def try_statements(
        self, instance: Instance, operations: Sequence[Sequence[Trial]]
    ) -> list[list[Tried]]:
        """Check that SQLite accepts statements, by EXPLAIN, which executes nothing."""
        return preflight.try_statements(_database(instance).own, operations)

    def known_tables(self, instance: Instance) -> list[KnownTable]:
        """Return the tables of the SQLite database file."""
        return preflight.known_tables(_database(instance).own)

    def declared_tables(
        self, instance: Instance, names: Collection[str]
    ) -> dict[str, DeclaredColumns]:
        """Return the tables and views of the database file."""
        return preflight.declared_tables(_database(instance).own, names)

    def stop(self, instance: Instance) -> None:
        """Close all connections, the last of which writes a checkpoint."""
        _database(instance).close()

    def effective_settings(self, instance: Instance) -> dict[str, str]:
        """Return every setting of the engine's own connection, which sessions share."""
        return pragmas.effective(_database(instance).own)

    def sessions(self, instance: Instance, script: Script, seed: int, clients: int) -> list[object]:
        """Return one SQLite session per client."""
        database, facts = _database(instance), json.dumps(script.facts())
        return [database.session(facts, seed, number) for number in range(clients)]

    def plan_reader(self, instance: Instance) -> SqlitePlans:
        """Return a reader with its own connection."""
        database, place = _database(instance), instance.place
        copied = None
        if database.reads_only and place is not None:
            copied = partial(database.copy, place.scratch)
        return SqlitePlans(database.connection(), copied)

    def plan(self, text: str, operation: str, statement: int, native: str) -> Plan:
        """Parse the text of EXPLAIN QUERY PLAN."""
        return normalised(text, operation, statement, native)

    def counters(self, instance: Instance) -> SqliteCounters:
        """Return a reader of the counters of the sessions' connections."""
        return SqliteCounters(_database(instance))

    def run_script(self, instance: Instance, sql: str) -> None:
        """Run the SQL statements of a workload's schema on SQLite."""
        for statement in statements(sql):
            loading.run(_database(instance), statement)

    def make_keys(self, instance: Instance, sql: str, streams: int, tell: Tell) -> None:
        """Make keys and indexes one after another: SQLite allows one writer."""
        del streams
        expected = sum(1 for _ in statements(sql))
        for done, _ in enumerate(loading.make_keys(_database(instance), sql), start=1):
            tell("keys and indexes", done, expected, "statements")

    def prepare(self, instance: Instance, sql: str) -> None:
        """Run SQL statements on SQLite one by one."""
        self.run_script(instance, sql)

    def settle(self, instance: Instance) -> None:
        """Write a checkpoint so that nothing is written while queries are timed."""
        try:
            loading.checkpoint(_database(instance))
        except apsw.Error as error:
            raise EngineError(f"SQLite cannot write a checkpoint: {error}") from error

    def load(self, instance: Instance, table: str, rows: ArrowStream, streams: int) -> None:
        """Append an Arrow stream to a table on one connection: SQLite allows one writer."""
        del streams
        loading.fill(_database(instance), table, rows)

    def count(self, instance: Instance, table: str) -> int:
        """Return the number of rows of a SQLite table."""
        asked = _database(instance).own.execute(script("count.sql", table=quoted(table)))
        rows: int = asked.get
        return rows

    def finish_load(self, instance: Instance) -> None:
        """Gather SQLite's table statistics after a load, and make the database file durable."""
        loading.finish(_database(instance))


def _database(instance: Instance) -> Database:
    database: Database = instance.handle
    return database


def engine(facts: EngineFacts) -> SqliteEngine:
    """Return the engine `sqlite`, with the facts of its `engine.toml`."""
    return SqliteEngine(facts)
