"""DuckDB: opened in the host process, loaded from Arrow streams, asked by its relational API."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pyarrow

from assay.engines.contract import ArrowStream, EngineError, EngineFacts, Instance, Place
from assay.model.errors import suggestion
from assay.model.secrets import is_secret, without_secrets

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DATABASE_FILE = "assay.duckdb"
CONF = Path(__file__).parent / "conf"


class DuckSession:
    """One connection. The driver calls `execute` from a thread of its own."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, statements: Sequence[str]) -> None:
        self._connection = connection
        self._statements = statements

    def execute(self, operation: int) -> object:
        """Runs an operation and fetches all its rows, as an Arrow table."""
        # Of DuckDB's ways this one plans a query once; a relation binds it once more.
        result = self._connection.execute(self._statements[operation])
        return pyarrow.RecordBatchReader.from_stream(result.to_arrow_reader()).read_all()

    def interrupt(self) -> None:
        """Ends a running `execute`, from any thread."""
        self._connection.interrupt()


class DuckEngine:
    """See `assay.engines.contract.Engine` and `BulkLoads`."""

    def __init__(self, facts: EngineFacts) -> None:
        self._facts = facts

    def obtain(self) -> str:
        """Checks that the wheel is the pinned one."""
        version: str = duckdb.__version__
        if version != self._facts.version_pinned:
            raise EngineError(
                f"duckdb {version} is installed, and {self._facts.version_pinned} is pinned:"
                " run `make setup` again."
            )
        return version

    def check_settings(self, settings: Mapping[str, str]) -> None:
        """Opens an empty database in memory with the settings."""
        try:
            duckdb.connect(":memory:", config=dict(settings)).close()
        except duckdb.Error as error:
            raise EngineError(_setting_error(error, settings)) from error

    def start(self, place: Place, settings: Mapping[str, str]) -> Instance:
        """Opens the database file of `place`, making it if it is not there."""
        config: dict[str, str | bool | int | float | list[str]] = {
            **self._facts.settings,
            "temp_directory": str(place.scratch),
            **settings,
        }
        try:
            connection = duckdb.connect(place.data / DATABASE_FILE, config=config)
        except duckdb.Error as error:
            raise EngineError(
                f"DuckDB cannot open {place.data / DATABASE_FILE}: {error}"
            ) from error
        return Instance(place, dict(settings), connection)

    def stop(self, instance: Instance) -> None:
        """Closes the database, which writes a checkpoint."""
        instance.handle.close()

    def effective_settings(self, instance: Instance) -> dict[str, str]:
        """What DuckDB reports of its configuration, without anything that may be a secret."""
        rows = instance.handle.execute(_script("effective_settings.sql")).fetchall()
        return {name: str(value) for name, value in rows if not is_secret(name)}

    def sessions(self, instance: Instance, statements: Sequence[str], clients: int) -> list[object]:
        """One cursor a client, all on one database."""
        # Measured, and faster all the same: see README.md.
        warnings.filterwarnings("ignore", "Arrow output on a DB-API result", UserWarning)
        return [DuckSession(instance.handle.cursor(), statements) for _ in range(clients)]

    def create_tables(self, instance: Instance, ddl: str) -> None:
        """Runs a schema."""
        instance.handle.execute(ddl)

    def load(self, instance: Instance, table: str, rows: ArrowStream) -> None:
        """Appends an Arrow stream to a table."""
        # DuckDB asks a bare stream for its schema and then finds it used up; a reader keeps it.
        reader = pyarrow.RecordBatchReader.from_stream(rows)
        instance.handle.from_arrow(reader).insert_into(table)

    def count(self, instance: Instance, table: str) -> int:
        """Rows of a table."""
        rows = instance.handle.table(table).count("*").fetchall()
        return int(rows[0][0])

    def finish_load(self, instance: Instance) -> None:
        """Gathers statistics and writes everything into the database file."""
        instance.handle.execute(_script("finish_load.sql"))


def _script(name: str) -> str:
    return (CONF / name).read_text(encoding="utf-8")


def _setting_error(error: duckdb.Error, settings: Mapping[str, str]) -> str:
    """DuckDB's words, with the nearest setting where a name is unknown."""
    with duckdb.connect() as connection:
        known = [row[0] for row in connection.execute(_script("effective_settings.sql")).fetchall()]
    unknown = [key for key in settings if key not in known]
    if unknown:
        hint = suggestion(unknown[0], known)
        return f"DuckDB has no setting {unknown[0]!r}; {hint}"
    given = " ".join(f"--set {key}={value}" for key, value in settings.items())
    return f"DuckDB refuses {without_secrets(given)}: {error}"


def engine(facts: EngineFacts) -> DuckEngine:
    """The engine of this folder."""
    return DuckEngine(facts)
