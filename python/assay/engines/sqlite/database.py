"""The database file of an instance, and the connections to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

import apsw

from assay.engines.contract import EngineError
from assay.engines.sqlite import settings as pragmas

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from assay.model.errors import RunFailedError

DATABASE_FILE = "assay.sqlite"
BLANK = " \t\r\n;"
CONF = Path(__file__).parent / "conf"


@dataclass
class Database:
    """One file. The first connection is the engine's own; sessions have theirs.

    Attributes:
        settings: Checked, with our defaults.
        before_loading: Settings to go back to while it is filled; nothing is durable then.
        failure: Why it could not be filled.
    """

    path: Path
    settings: Mapping[str, str]
    own: apsw.Connection
    sessions: list[apsw.Connection] = field(default_factory=list)
    before_loading: dict[str, str] | None = None
    failure: RunFailedError | None = None

    def session(self) -> apsw.Connection:
        """A connection more, which is closed with the database."""
        made = connected(self.path, self.settings)
        self.sessions.append(made)
        return made

    def close(self) -> None:
        """Closes all connections; the last one moves what is in the log into the file."""
        for connection in (*self.sessions, self.own):
            connection.close()


def opened(path: Path, settings: Mapping[str, str], scratch: Path) -> Database:
    """The database in a file, which is made if it is not there.

    Raises:
        EngineError: If it cannot be opened or has other settings then.
    """
    own = connected(path, settings)
    # Of the whole process; SQLite would put sorts and the like into /var/tmp.
    own.pragma("temp_store_directory", str(scratch))
    return Database(path, settings, own)


def connected(path: Path, settings: Mapping[str, str]) -> apsw.Connection:
    """A connection with its settings. Raises `EngineError`."""
    connection = None
    try:
        connection = apsw.Connection(str(path))
        pragmas.apply(connection, settings)
    except (apsw.Error, EngineError) as error:
        if connection is not None:
            connection.close()
        if isinstance(error, EngineError):
            raise
        raise EngineError(f"SQLite cannot open {path}: {error}") from error
    return connection


def script(name: str, **names: str) -> str:
    """The text of a file of `conf/`; tables in it are quoted."""
    text = (CONF / name).read_text(encoding="utf-8")
    return Template(text).substitute(names)


def quoted(name: str) -> str:
    """A name as it stands in SQL, whatever letters it has."""
    return '"' + name.replace('"', '""') + '"'


def statements(sql: str) -> Iterator[str]:
    """Statements one by one, each with a semicolon; SQLite itself says where one ends."""
    begun = ""
    for part in sql.split(";"):
        begun += f"{part};"
        if apsw.complete(begun):
            yield from _told(begun)
            begun = ""
    yield from _told(begun.removesuffix(";"))


def _told(statement: str) -> list[str]:
    return [statement.strip()] if statement.strip(BLANK) else []
