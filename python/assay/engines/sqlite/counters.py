"""Reads counters of SQLite's sessions, and the size of the write-ahead log."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.engines.sqlite.database import Database

CONNECTIONS, LOG = "connections", "log"
MISSES, MISSED_BYTES = "cache_miss", "cache_miss_bytes"
# Suffix of the write-ahead log's file name.
LOG_SUFFIX = "-wal"


class SqliteCounters:
    """Reads SQLite's counters, summed over the sessions' connections.

    Each connection counts separately. The figures are sums over the sessions' connections, as of
    the end of each session's last operation.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._log = Path(f"{database.path}{LOG_SUFFIX}")
        self._page_bytes = int(database.own.pragma("page_size"))

    def read(self) -> list[tuple[str, str, str, float]]:
        """Return SQLite's current counters as rows of (source, object, counter, value)."""
        counted: Counter[str] = Counter()
        for session in self._database.sessions:
            counted.update(dict(session.counts()))
        counted[MISSED_BYTES] = counted[MISSES] * self._page_bytes
        rows = [(CONNECTIONS, "", counter, float(value)) for counter, value in counted.items()]
        return rows + self._of_log()

    def _of_log(self) -> list[tuple[str, str, str, float]]:
        """Return the bytes of SQLite's write-ahead log.

        The log is not opened: committing sessions report its content.
        """
        try:
            return [(LOG, "", "bytes", float(self._log.stat().st_size))]
        except FileNotFoundError:
            return []

    def close(self) -> None:
        """Close nothing: the sessions close their SQLite connections."""
