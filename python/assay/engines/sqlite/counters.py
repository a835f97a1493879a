"""What SQLite counts of the sessions' connections."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.engines.sqlite.database import Database

CONNECTIONS = "connections"


class SqliteCounters:
    """See `assay.engines.contract.CounterReader`. It has no connection of its own to close.

    Each connection counts by itself, so the figures are sums over those of the sessions, as they
    were when each ended its last operation.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def read(self) -> list[tuple[str, str, str, float]]:
        """Rows of (source, object, counter, value), as they are now."""
        counted: Counter[str] = Counter()
        for session in self._database.sessions:
            counted.update(dict(session.counts()))
        return [(CONNECTIONS, "", counter, float(value)) for counter, value in counted.items()]

    def close(self) -> None:
        """Ends nothing: the connections are the sessions'."""
