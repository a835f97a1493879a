"""The connections to one chDB database: one for administration, and one per session.

The library serves one directory per process, as long as it has a connection.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import pyarrow

from assay.engines.chdb.statements import file_text
from assay.engines.contract import EngineError
from assay.model.errors import suggestion
from assay.model.secrets import without_secrets

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from chdb.state.sqlitelike import Connection

MEMORY = ":memory:"
OWN = "assay"
# Characters that end a value, because settings are passed like parameters of a URL.
SEPARATORS = "&?#"


class Database:
    """An open chDB database directory.

    Args:
        path: The directory.
        settings: Settings of the library and of each query; their names are not checked here.

    Raises:
        EngineError: If the library refuses. The error message is the library's.
    """

    def __init__(self, path: Path, settings: Mapping[str, str]) -> None:
        self.path = path
        self._settings = dict(settings)
        self._sessions = 0
        self._open: list[Connection] = []
        self.own = self.connection(OWN)

    def connection(self, comment: str) -> Connection:
        """Return a further chDB connection, whose queries carry a distinguishing comment."""
        made = connected(str(self.path), {**self._settings, "log_comment": comment})
        self._open.append(made)
        return made

    def again(self, connection: Connection, comment: str) -> Connection:
        """Return a new chDB connection in place of one that can no longer be used."""
        self._open.remove(connection)
        made = self.connection(comment)
        connection.close()
        return made

    def session_comment(self) -> str:
        """Return the comment for the queries of the next session."""
        self._sessions += 1
        return f"{OWN}-{self._sessions}"

    def close(self) -> None:
        """Close all connections, so that chDB releases the directory."""
        for connection in self._open:
            connection.close()
        self._open.clear()


def connected(path: str, settings: Mapping[str, str]) -> Connection:
    """Return a chDB connection to a directory, or to a database in memory.

    Raises:
        EngineError: If the library refuses. The error message is the library's.
    """
    from chdb import ChdbError
    from chdb.state.sqlitelike import Connection

    address = path + "?" + "&".join(f"{name}={value}" for name, value in settings.items())
    try:
        return Connection(address)
    except (ChdbError, RuntimeError) as error:
        given = " ".join(f"--set {name}={value}" for name, value in settings.items())
        raise EngineError(f"chDB cannot open {without_secrets(given)}: {error}") from error


def asked(
    connection: Connection, text: str, values: dict[str, Any] | None = None
) -> pyarrow.Table | None:
    """Return all rows of a statement as an Arrow table; None without a result.

    Raises:
        ChdbError: If ClickHouse refuses the statement. The error message is ClickHouse's.
    """
    result = connection.query(text, "ArrowStream", params=values)
    if not len(result):
        return None
    return pyarrow.ipc.open_stream(result.bytes()).read_all()


def checked(settings: Mapping[str, str]) -> None:
    """Raise an error for settings that chDB would silently ignore or misread.

    Raises:
        EngineError: If a setting is unknown. The error message names it and the most similar
            setting.
    """
    if not settings:
        return
    for name, value in settings.items():
        if any(character in value for character in SEPARATORS):
            raise EngineError(
                f"the chDB setting {name} contains one of the forbidden characters {SEPARATORS!r}"
            )
    with closing(connected(MEMORY, {})) as connection:
        table = asked(connection, file_text("known_settings.sql"))
    names: list[str] = [] if table is None else table["name"].to_pylist()
    for name in settings:
        if name not in names:
            raise EngineError(f"chDB has no setting {name!r}; {suggestion(name, names)}")
    # A connection with a wrong value fails.
    connected(MEMORY, settings).close()
