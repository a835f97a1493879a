"""Reads the counters of a Virtuoso server on a separate connection, as totals.

`db_activity` is not used for SQL, because it reports only the reading connection. Under the name
`http` it reports the web server's threads, if there are any, to all connections.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from assay.engines.bridge.errors import BridgeError
from assay.engines.virtuoso.activity import read_activity
from assay.engines.virtuoso.connecting import file_text
from assay.engines.virtuoso.status import parse_status

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from assay.engines.bridge.link import Link

SERVER, INDEXES, HTTP, STATUS = "server", "indexes", "http", "status"
# Object of the sum over all indexes; an index that was never used has no row.
ALL = "all indexes"
BY_INDEX = ("touches", "reads")
POOLED = ("n_dirty", "n_buffers")
# Maximum share of time for counters that require a search of the server's whole buffer pool.
POOL_SHARE_MAX = 0.01

Row = tuple[str, str, str, float]


class VirtuosoCounters:
    """Reads Virtuoso's counters.

    Closing the reader closes its link.

    Args:
        link: Separate connection of this reader.
        activity: File with sums of the web server's activity; None without a web server.
    """

    def __init__(self, link: Link, activity: Path | None) -> None:
        self._link = link
        self._activity = activity
        self._pool_due_s = 0.0

    def read(self) -> list[Row]:
        """Return Virtuoso's current counters as rows of (source, object, counter, value).

        Raises:
            OSError: If the server does not answer, or its answer cannot be parsed.
        """
        try:
            rows = [*self._server(), *self._indexes(), *self._http()]
            return [*rows, *self._pool()]
        except (BridgeError, ValueError) as error:
            raise OSError(f"the server's counters cannot be read: {error}") from error

    def status(self) -> tuple[list[Row], str]:
        """Return counters from `status()` and `sys_d_stat`, and the text of `status()`.

        Raises:
            OSError: If the server does not answer.
        """
        try:
            lines = self._link.text(file_text("counters/status.sql"))
            text = "".join(f"{line[0] or ''}\n" for line in lines)
            return [*_status_rows(text), *self._pages()], text
        except BridgeError as error:
            raise OSError(f"the server's status cannot be read: {error}") from error

    def reset(self) -> None:
        """Restart the counts of rows and pages of indexes. Raises `OSError`."""
        try:
            self._link.run(file_text("reset_counters.sql"))
        except BridgeError as error:
            raise OSError(f"the server's counters cannot be reset: {error}") from error

    def close(self) -> None:
        """Close the connection to Virtuoso."""
        self._link.close()

    def _server(self) -> Iterator[Row]:
        counters = self._link.ask(file_text("counters/server.sql")).to_pylist()[0]
        for counter, value in counters.items():
            yield SERVER, SERVER, str(counter), float(value)

    def _indexes(self) -> Iterator[Row]:
        sums = dict.fromkeys(BY_INDEX, 0.0)
        for row in self._link.ask(file_text("counters/indexes.sql")).to_pylist():
            for counter in BY_INDEX:
                value = float(row[counter])
                sums[counter] += value
                yield INDEXES, _name(row), counter, value
        for counter, value in sums.items():
            yield INDEXES, ALL, counter, value

    def _pages(self) -> Iterator[Row]:
        for row in self._link.ask(file_text("counters/pages.sql")).to_pylist():
            for counter in (*BY_INDEX, *POOLED):
                yield INDEXES, _name(row), counter, float(row[counter])

    def _pool(self) -> list[Row]:
        """Return pages of the buffer pool by index, read only at some samples."""
        begun_s = time.monotonic()
        if begun_s < self._pool_due_s:
            return []
        rows = [row for row in self._pages() if row[2] in POOLED]
        ended_s = time.monotonic()
        self._pool_due_s = ended_s + (ended_s - begun_s) * (1 / POOL_SHARE_MAX - 1)
        return rows

    def _http(self) -> Iterator[Row]:
        if self._activity is not None:
            for counter, value in read_activity(self._link, self._activity).items():
                yield HTTP, HTTP, counter, value


def _name(row: dict[str, Any]) -> str:
    """Return a Virtuoso index's name with its table, such as `lineitem.l_pk_sk`."""
    table, index = str(row["key_of"]), str(row["index_of"])
    return table if index == table else f"{table}.{index}"


def _status_rows(text: str) -> Iterator[Row]:
    for counter, value in parse_status(text).items():
        yield STATUS, STATUS, counter, value
