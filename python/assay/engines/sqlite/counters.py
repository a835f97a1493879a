"""What SQLite counts of the sessions' connections: its page cache, and memory of the process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw

if TYPE_CHECKING:
    from assay.engines.sqlite.database import Database

CONNECTIONS, PROCESS = "connections", "process"
# Counted since a connection was opened; SQLite tells them as the highest or the current value.
OF_CONNECTIONS = {
    "cache_hit": apsw.SQLITE_DBSTATUS_CACHE_HIT,
    "cache_miss": apsw.SQLITE_DBSTATUS_CACHE_MISS,
    "cache_write": apsw.SQLITE_DBSTATUS_CACHE_WRITE,
    "cache_spill": apsw.SQLITE_DBSTATUS_CACHE_SPILL,
    "temporary_spill": apsw.SQLITE_DBSTATUS_TEMPBUF_SPILL,
}


class SqliteCounters:
    """See `assay.engines.contract.CounterReader`. It has no connection of its own to close.

    Each connection counts by itself, so the figures are sums over those of the sessions; they are
    read while no session is at work.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def read(self) -> list[tuple[str, str, str, float]]:
        """Rows of (source, object, counter, value), as they are now.

        Raises:
            OSError: If a connection does not tell.
        """
        try:
            return [
                (CONNECTIONS, "", counter, float(sum(self._of(code))))
                for counter, code in OF_CONNECTIONS.items()
            ]
        except apsw.Error as error:
            raise OSError(f"SQLite does not tell its counters: {error}") from error

    def _of(self, code: int) -> list[int]:
        return [session.status(code)[0] for session in self._database.sessions]

    def close(self) -> None:
        """Ends nothing: the connections are the sessions'."""
