"""Counters of SQLite's sessions: their own, their waits, and the write-ahead log."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.engines.sqlite.database import Database

CONNECTIONS, LOG = "connections", "log"
# What SQLite appends to a file's name for its log.
LOG_SUFFIX = "-wal"


class SqliteCounters:
    """Reads SQLite's counters; implements `CounterReader`. It opens no connection.

    Each connection counts by itself, so the figures are sums over those of the sessions, as they
    were when each ended its last operation.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._log = Path(f"{database.path}{LOG_SUFFIX}")

    def read(self) -> list[tuple[str, str, str, float]]:
        """Rows of (source, object, counter, value), as they are now."""
        counted: Counter[str] = Counter()
        for session in self._database.sessions:
            counted.update(dict(session.counts()))
        rows = [(CONNECTIONS, "", counter, float(value)) for counter, value in counted.items()]
        return rows + self._of_log()

    def _of_log(self) -> list[tuple[str, str, str, float]]:
        """The log's size. It is not opened: what it holds is said where transactions commit."""
        try:
            return [(LOG, "", "bytes", float(self._log.stat().st_size))]
        except FileNotFoundError:
            return []

    def close(self) -> None:
        """Ends nothing: the connections are the sessions'."""
