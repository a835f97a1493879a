"""Opens the SQLite database file, and connections to it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

import apsw

from assay import _core
from assay.engines.contract import EngineError
from assay.engines.sqlite import settings as pragmas
from assay.model.units import bytes_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from assay.model.errors import RunFailedError

DATABASE_FILE = "assay.sqlite"
# Copy of a file that must not be written; statistics are gathered in it. Larger files take too long
# to copy.
COPY_FILE = "copy.sqlite"
COPIED_BYTES_MAX = 1 << 30
# Entry point of Assay's core that SQLite calls to pass its functions.
CORE_ENTRY = "sqlite3_assay_init"
# Names of SQLite's result codes, including extended codes.
RESULT_NAMES = {
    code: name
    for names in (apsw.mapping_result_codes, apsw.mapping_extended_result_codes)
    for code, name in names.items()
    if isinstance(code, int)
}
# The core opens files for writing; this pragma makes a connection read only.
QUERY_ONLY = "pragma query_only = 1"
BLANK = " \t\r\n;"
CONF = Path(__file__).parent / "conf"
MADE_WHERE_MISSING = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE


@dataclass
class Database:
    """One SQLite database file with its connections.

    The first connection is the engine's; each session has its own.

    Attributes:
        settings: Validated settings, including Assay's defaults.
        reads_only: Whether no connection may write.
        connections: Other connections from Python, which are closed with the database.
        sessions: Connections of the driver.
        before_loading: Settings to restore after loading; while loading, nothing is durable.
        failure: Reason why loading failed.
    """

    path: Path
    settings: Mapping[str, str]
    own: apsw.Connection
    reads_only: bool = False
    connections: list[apsw.Connection] = field(default_factory=list)
    sessions: list[_core.SqliteSession] = field(default_factory=list)
    before_loading: dict[str, str] | None = None
    failure: RunFailedError | None = None

    @property
    def flags(self) -> int:
        """Return the flags with which later connections open the existing file."""
        return apsw.SQLITE_OPEN_READONLY if self.reads_only else apsw.SQLITE_OPEN_READWRITE

    def connection(self) -> apsw.Connection:
        """Return a further SQLite connection, which is closed with the database."""
        made = connected(self.path, self.settings, self.flags)
        self.connections.append(made)
        return made

    def copy(self, directory: Path) -> apsw.Connection:
        """Return a writable connection to a copy of the database file.

        Raises:
            EngineError: If the file is too large or cannot be copied.
        """
        if self.path.stat().st_size > COPIED_BYTES_MAX:
            raise EngineError(f"the file {self.path} is larger than {bytes_text(COPIED_BYTES_MAX)}")
        made = connected(directory / COPY_FILE, self.settings)
        try:
            with made.backup("main", self.own, "main") as backup:
                backup.step()
        except apsw.Error as error:
            made.close()
            raise EngineError(f"SQLite cannot copy {self.path}: {error}") from error
        return made

    def session(self, script: str, seed: int, number: int) -> _core.SqliteSession:
        """Open a SQLite session of the driver that executes a script.

        Raises `SessionOpenError`.
        """
        made = _core.SqliteSession(self.native(self.settings), script, seed, number)
        self.sessions.append(made)
        return made

    def native(self, settings: Mapping[str, str]) -> str:
        """Return how the Rust core opens the database file, as JSON."""
        own = [name for name in settings if name not in pragmas.OF_THE_FILE]
        init = [f"pragma {name} = {settings[name]}" for name in own]
        return json.dumps(
            {
                "path": str(self.path),
                "init": [*init, QUERY_ONLY] if self.reads_only else init,
                "names": RESULT_NAMES,
            }
        )

    def close(self) -> None:
        """Close all connections; the last one writes a checkpoint."""
        for session in self.sessions:
            session.close()
        for connection in (*self.connections, self.own):
            connection.close()


def opened(path: Path, settings: Mapping[str, str], scratch: Path) -> Database:
    """Open Assay's own SQLite database file, which is created if it does not exist.

    Raises:
        EngineError: If the file cannot be opened, or a setting has no effect.
    """
    own = connected(path, settings)
    return _shared(Database(path, settings, own), scratch)


def opened_file(
    path: Path, settings: Mapping[str, str], scratch: Path, *, reads_only: bool
) -> Database:
    """Open a user's own SQLite database file.

    Raises the errors of `opened`.
    """
    flags = apsw.SQLITE_OPEN_READONLY if reads_only else apsw.SQLITE_OPEN_READWRITE
    own = connected(path, settings, flags)
    return _shared(Database(path, settings, own, reads_only), scratch)


def _shared(database: Database, scratch: Path) -> Database:
    give_to_core(database.own)
    # The setting is for the whole process; SQLite would put temporary files of sorts into /var/tmp.
    database.own.pragma("temp_store_directory", str(scratch))
    return database


def give_to_core(connection: apsw.Connection) -> None:
    """Have SQLite pass its functions to Assay's Rust core.

    Two copies of SQLite in a process would release each other's file locks.
    """
    connection.enable_load_extension(enable=True)
    connection.load_extension(_core.__file__, CORE_ENTRY)
    connection.enable_load_extension(enable=False)


def connected(
    path: Path, settings: Mapping[str, str], flags: int = MADE_WHERE_MISSING
) -> apsw.Connection:
    """Return a SQLite connection with settings applied.

    Raises `EngineError`.
    """
    connection = None
    try:
        connection = apsw.Connection(str(path), flags=flags)
        pragmas.apply(connection, settings)
    except (apsw.Error, EngineError) as error:
        if connection is not None:
            connection.close()
        if isinstance(error, EngineError):
            raise
        raise EngineError(f"SQLite cannot open {path}: {error}") from error
    return connection


def script(name: str, **names: str) -> str:
    """Return the text of a file in `conf/`, with quoted table names filled in."""
    text = (CONF / name).read_text(encoding="utf-8")
    return Template(text).substitute(names)


def quoted(name: str) -> str:
    """Return a name quoted for SQL, whatever its characters."""
    return '"' + name.replace('"', '""') + '"'


def statements(sql: str) -> Iterator[str]:
    """Yield statements one by one, each with a semicolon; SQLite itself finds their ends."""
    begun = ""
    for part in sql.split(";"):
        begun += f"{part};"
        if apsw.complete(begun):
            yield from _without_blank(begun)
            begun = ""
    yield from _without_blank(begun.removesuffix(";"))


def _without_blank(statement: str) -> list[str]:
    return [statement.strip()] if statement.strip(BLANK) else []
