"""Reads the server's own counters, raw, on a connection of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engines.contract import EngineError
from assay.engines.mariadb.connecting import connect
from assay.engines.mariadb.loading import execute
from assay.engines.mariadb.statements import file_text

if TYPE_CHECKING:
    from assay.engines.contract import Address

# Where the counters come from, and what they are of: all of the server.
SOURCE, OBJECT = "status", "server"


class MariaCounters:
    """See `assay.engines.contract.CounterReader`. Belongs to one thread."""

    def __init__(self, address: Address) -> None:
        self._connection = connect(address)

    def read(self) -> list[tuple[str, str, str, float]]:
        """Rows of (source, object, counter, value), as the server has them now.

        Raises:
            OSError: If the server does not answer.
        """
        try:
            rows = execute(self._connection, file_text(f"counters/{SOURCE}.sql"))
        except EngineError as error:
            raise OSError(f"the server's counters cannot be read: {error}") from error
        return [(SOURCE, OBJECT, name.lower(), float(value)) for name, value in rows]

    def close(self) -> None:
        """Ends the connection."""
        if self._connection.open:
            self._connection.close()
