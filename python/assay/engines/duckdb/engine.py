"""The engine DuckDB, embedded in the driver's process and loaded from Arrow streams."""

from __future__ import annotations

import contextlib
import json
import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pyarrow

from assay._core import PythonSession
from assay.engines.checking import named_file
from assay.engines.contract import Cached, EngineError, Instance, Place, Product
from assay.engines.duckdb import preflight
from assay.engines.duckdb.explaining import DuckPlans
from assay.engines.duckdb.plans import normalised
from assay.model.errors import suggestion
from assay.model.secrets import is_secret, without_secrets
from assay.model.sql import quoted

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from assay.engines.checking import KnownTable, Trial, Tried
    from assay.engines.contract import Tell, Wanted
    from assay.engines.facts import EngineFacts
    from assay.engines.loading import ArrowStream
    from assay.model.declared import DeclaredColumns
    from assay.model.plan import Plan
    from assay.model.script import Script, ScriptStatement

DATABASE_FILE = "assay.duckdb"
SCHEME = "duckdb"
CONF = Path(__file__).parent / "conf"
# Settings that are numbers of threads. DuckDB starts all of them when a database is opened.
THREADS = ("threads", "worker_threads", "async_threads")
THREADS_MAX_PER_CPU = 100
NO_ROWS = pyarrow.table({})


class DuckSession:
    """A DuckDB connection of the driver.

    The driver calls `execute` from a separate thread.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, script: Script) -> None:
        self._connection = connection
        self._operations = script.operations
        texts = [statement.text for asked in script.operations for statement in asked.statements]
        self._returning = {text for text in texts if self._returns_rows(text)}

    def _returns_rows(self, text: str) -> bool:
        try:
            parsed = self._connection.extract_statements(text)
        except duckdb.Error:  # The statement fails again, visibly, at its execution.
            return True
        query = duckdb.ExpectedResultType.QUERY_RESULT
        return any(query in statement.expected_result_type for statement in parsed)

    def execute(self, operation: int, values: Sequence[object]) -> object:
        """Execute an operation; return the rows of its last statement as an Arrow table."""
        rows: object = NO_ROWS
        try:
            for statement in self._operations[operation].statements:
                fetched = self._fetched(statement, values)
                rows = rows if fetched is None else fetched
        except duckdb.Error:
            # A transaction that an operation left open must not affect the next operation.
            with contextlib.suppress(duckdb.Error):
                self._connection.rollback()
            raise
        return rows

    def _fetched(self, statement: ScriptStatement, values: Sequence[object]) -> object | None:
        """Return all rows of a statement; None for a statement that only counts changed rows."""
        bound = [values[draw] for draw in statement.values]
        # This call plans a query once; DuckDB's relation API would bind it a second time.
        result = self._connection.execute(statement.text, bound or None)
        if statement.text not in self._returning:
            return None
        rows: object = pyarrow.RecordBatchReader.from_stream(result.to_arrow_reader()).read_all()
        return rows

    def interrupt(self) -> None:
        """Cancel a running `execute`, from any thread."""
        self._connection.interrupt()


class DuckEngine:
    """The engine DuckDB; implements `Engine`, `Embedded`, `BulkLoads`, `Prepares` and more."""

    reads_only_by = "the file is opened for reading, access_mode=read_only"

    def __init__(self, facts: EngineFacts) -> None:
        self._facts = facts

    def obtain(self, wanted: Wanted, tell: Tell) -> Product:
        """Check that DuckDB's installed Python package has the pinned and requested version."""
        del tell
        version: str = duckdb.__version__
        if version != self._facts.version_pinned:
            raise EngineError(
                f"duckdb {version} is installed, and Assay needs version "
                f"{self._facts.version_pinned}: run `make setup` again."
            )
        if wanted.version is not None and not f"{version}.".startswith(f"{wanted.version}."):
            raise EngineError(
                f"Assay contains duckdb {version}, so version {wanted.version} is not "
                "available. It is a Python package: install the other version in a separate "
                "Python environment."
            )
        return Product(version)

    def check_settings(self, product: Product, settings: Mapping[str, str]) -> None:
        """Check settings by opening an empty DuckDB database in memory."""
        del product
        _refuse_threads(settings)
        try:
            duckdb.connect(":memory:", config=dict(settings)).close()
        except duckdb.Error as error:
            raise EngineError(_setting_error(error, settings)) from error

    def start(self, place: Place, settings: Mapping[str, str]) -> Instance:
        """Open the DuckDB database file, which is created if it does not exist."""
        _refuse_threads(settings)
        config: dict[str, str | bool | int | float | list[str]] = {
            **self._facts.settings,
            "temp_directory": str(place.scratch),
            **settings,
        }
        file = place.file or place.data / DATABASE_FILE
        try:
            connection = duckdb.connect(file, read_only=place.reads_only, config=config)
        except duckdb.Error as error:
            # After an empty line, DuckDB's message advises its own settings instead of Assay's
            # options.
            message = str(error).partition("\n\n")[0]
            raise EngineError(f"DuckDB cannot open {file}: {message}") from error
        if place.reads_only:
            connection.execute(_script("reading_only.sql"))
        return Instance(dict(settings), connection, place)

    def file(self, dsn: str) -> Path:
        """Return the DuckDB database file that a user's DSN (data source name) refers to."""
        return named_file(dsn, SCHEME)

    def exact_undo(self, instance: Instance, make: str, undo: str) -> str:
        """Return the given undo statements, unless they would drop an existing index."""
        del make
        names = instance.handle.execute(_script("preflight/indexes.sql")).fetchall()
        for (name,) in names:
            if quoted(name) in undo:
                raise EngineError(f"DuckDB reports an error: an index {name} exists already")
        return undo

    def try_statements(
        self, instance: Instance, operations: Sequence[Sequence[Trial]]
    ) -> list[list[Tried]]:
        """Check that DuckDB accepts statements, by EXPLAIN, which executes nothing."""
        return preflight.try_statements(instance.handle.cursor(), operations)

    def known_tables(self, instance: Instance) -> list[KnownTable]:
        """Return the tables in all schemas of the database file."""
        return preflight.known_tables(instance.handle, _script("preflight/tables.sql"))

    def declared_tables(
        self, instance: Instance, names: Collection[str]
    ) -> dict[str, DeclaredColumns]:
        """Return the tables and views in the current schema of the database file."""
        texts = [_script(f"preflight/{name}.sql") for name in ("columns", "keys", "views")]
        return preflight.declared_tables(instance.handle, names, texts)

    def stop(self, instance: Instance) -> None:
        """Close the database, which writes a checkpoint."""
        instance.handle.close()

    def effective_settings(self, instance: Instance) -> dict[str, str]:
        """Return DuckDB's configuration, without settings that may hold a secret."""
        rows = instance.handle.execute(_script("effective_settings.sql")).fetchall()
        return {name: str(value) for name, value in rows if not is_secret(name)}

    def sessions(self, instance: Instance, script: Script, seed: int, clients: int) -> list[object]:
        """Return one cursor per client, all on one database."""
        # This call is faster than the recommended one by measurement: see README.md.
        warnings.filterwarnings("ignore", "Arrow output on a DB-API result", UserWarning)
        facts = json.dumps(script.facts())
        return [
            PythonSession(DuckSession(instance.handle.cursor(), script), facts, seed, number)
            for number in range(clients)
        ]

    def plan_reader(self, instance: Instance) -> DuckPlans:
        """Return a plan reader with its own cursor."""
        return DuckPlans(instance.handle.cursor())

    def plan(self, text: str, operation: str, statement: int, native: str) -> Plan:
        """Return the plan in the output of DuckDB's EXPLAIN."""
        return normalised(text, operation, statement, native)

    def run_script(self, instance: Instance, sql: str) -> None:
        """Run the SQL statements of a workload's schema."""
        try:
            instance.handle.execute(sql)
        except duckdb.Error as error:
            raise EngineError(f"DuckDB reports an error: {error}") from error

    def prepare(self, instance: Instance, sql: str) -> None:
        """Run SQL statements on DuckDB one by one."""
        try:
            statements = instance.handle.extract_statements(sql)
        except duckdb.Error as error:
            raise EngineError(f"DuckDB cannot parse the statement: {error}") from error
        for statement in statements:
            try:
                instance.handle.execute(statement)
            except duckdb.Error as error:
                text = statement.query.strip()
                raise EngineError(
                    f"DuckDB reports an error: {error}\nThe statement: {text}"
                ) from error

    def settle(self, instance: Instance) -> None:
        """Write a checkpoint so that nothing is written while queries are timed."""
        try:
            instance.handle.execute(_script("checkpoint.sql"))
        except duckdb.Error as error:
            raise EngineError(f"DuckDB cannot write a checkpoint: {error}") from error

    def load(self, instance: Instance, table: str, rows: ArrowStream, streams: int) -> None:
        """Append an Arrow stream to a DuckDB table."""
        del streams
        # DuckDB reads the schema of a bare stream and then finds the stream consumed; a reader
        # keeps it.
        reader = pyarrow.RecordBatchReader.from_stream(rows)
        instance.handle.from_arrow(reader).insert_into(table)

    def count(self, instance: Instance, table: str) -> int:
        """Return the number of rows of a DuckDB table."""
        rows = instance.handle.table(table).count("*").fetchall()
        return int(rows[0][0])

    def cached(self, instance: Instance) -> list[Cached]:
        """Return the cached bytes of all tables together."""
        rows = instance.handle.execute(_script("cached.sql")).fetchall()
        return [Cached("", int(cached_bytes)) for (cached_bytes,) in rows]

    def finish_load(self, instance: Instance) -> None:
        """Gather statistics and write everything into the database file."""
        instance.handle.execute(_script("finish_load.sql"))


def _script(name: str) -> str:
    return (CONF / name).read_text(encoding="utf-8")


def _refuse_threads(settings: Mapping[str, str]) -> None:
    """Raise `EngineError` for a number of threads that no host can use: opening would not end."""
    most = THREADS_MAX_PER_CPU * (os.cpu_count() or 1)
    for name, value in settings.items():
        if name.lower() not in THREADS:
            continue
        with duckdb.connect() as connection:
            rows = connection.execute(_script("preflight/whole_number.sql"), [value]).fetchall()
        ((number,),) = rows
        if number is not None and number > most:
            raise EngineError(
                f"{name}={value}: DuckDB starts all threads at once, and this host can use far"
                f" fewer: the maximum is {most:,}, that is, {THREADS_MAX_PER_CPU} for each CPU."
            )


def _setting_error(error: duckdb.Error, settings: Mapping[str, str]) -> str:
    """Return DuckDB's error on a setting, with the most similar name if unknown."""
    with duckdb.connect() as connection:
        names = [row[0] for row in connection.execute(_script("effective_settings.sql")).fetchall()]
    unknown = [key for key in settings if key not in names]
    if unknown:
        hint = suggestion(unknown[0], names)
        return f"DuckDB has no setting {unknown[0]!r}; {hint}"
    given = " ".join(f"--set {key}={value}" for key, value in settings.items())
    return f"DuckDB refuses {without_secrets(given)}: {error}"


def engine(facts: EngineFacts) -> DuckEngine:
    """Return the engine `duckdb`, with the facts of its `engine.toml`."""
    return DuckEngine(facts)
