"""Reads the server's own counters, raw, on a connection of its own.

`db_activity` is no such counter for SQL: it tells each connection of itself only. Under the name
`http` it tells of the threads of the web server, from all connections alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.meters import parse_activity
from assay.engines.bridge.errors import BridgeError
from assay.engines.virtuoso.connecting import file_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engines.bridge.link import Link

SERVER, INDEXES, HTTP = "server", "indexes", "http"
# The sum over all indexes: one that was never used is in no reading.
ALL = "all indexes"
BY_INDEX = ("touches", "reads")

Row = tuple[str, str, str, float]


class VirtuosoCounters:
    """See `assay.engines.contract.CounterReader`. Belongs to one thread; closes its link."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def read(self) -> list[Row]:
        """Rows of (source, object, counter, value), as the server has them now.

        Raises:
            OSError: If the server does not answer, or has words that are not understood.
        """
        try:
            return [*self._server(), *self._indexes(), *self._http()]
        except (BridgeError, ValueError) as error:
            raise OSError(f"the server's counters cannot be read: {error}") from error

    def reset(self) -> None:
        """Has the server count rows and pages of indexes anew. Raises `OSError`."""
        try:
            self._link.run(file_text("reset_counters.sql"))
        except BridgeError as error:
            raise OSError(f"the server's counters cannot be reset: {error}") from error

    def close(self) -> None:
        """Ends the connection."""
        self._link.close()

    def _server(self) -> Iterator[Row]:
        told = self._link.ask(file_text("counters/server.sql")).to_pylist()[0]
        for counter, value in told.items():
            yield SERVER, SERVER, str(counter), float(value)

    def _indexes(self) -> Iterator[Row]:
        sums = dict.fromkeys(BY_INDEX, 0.0)
        for told in self._link.ask(file_text("counters/indexes.sql")).to_pylist():
            table, index = str(told["key_of"]), str(told["index_of"])
            name = table if index == table else f"{table}.{index}"
            for counter in BY_INDEX:
                value = float(told[counter])
                sums[counter] += value
                yield INDEXES, name, counter, value
        for counter, value in sums.items():
            yield INDEXES, ALL, counter, value

    def _http(self) -> Iterator[Row]:
        (line,) = self._link.ask(file_text("counters/http.sql")).column(0).to_pylist()
        for counter, value in parse_activity(str(line)).items():
            yield HTTP, HTTP, counter, value
