"""Reads a server's own counters, raw, on a connection of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engines.contract import EngineError
from assay.engines.mysql_family.connecting import connect
from assay.engines.mysql_family.loading import execute

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.engines.contract import Address

# What counters are of that are told without an object.
OBJECT = "server"
PAIR = 2


class FamilyCounters:
    """See `assay.engines.contract.CounterReader`. Belongs to one thread.

    `statements` are what is asked, by the name of the source: rows of name and value, or of
    object, name and value.
    """

    def __init__(self, address: Address, statements: Mapping[str, str]) -> None:
        self._statements = dict(statements)
        self._connection = connect(address)

    def read(self) -> list[tuple[str, str, str, float]]:
        """Rows of (source, object, counter, value), as the server has them now.

        Raises:
            OSError: If the server does not answer.
        """
        found: list[tuple[str, str, str, float]] = []
        try:
            for source, statement in self._statements.items():
                for row in execute(self._connection, statement):
                    of, name, value = (OBJECT, *row) if len(row) == PAIR else row
                    found.append((source, str(of), str(name).lower(), float(value)))
        except EngineError as error:
            raise OSError(f"the server's counters cannot be read: {error}") from error
        return found

    def close(self) -> None:
        """Ends the connection."""
        if self._connection.open:
            self._connection.close()
