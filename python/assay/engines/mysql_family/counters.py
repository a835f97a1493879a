"""Reads a server's own counters, raw, on a connection of its own."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from assay.engines.contract import EngineError
from assay.engines.mysql_family.connecting import connect, error_text
from assay.engines.mysql_family.loading import execute

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.engines.contract import Address

log = logging.getLogger(__name__)

# What counters are of that are told without an object.
OBJECT = "server"
PAIR = 2
# What a server says of tables that this user may not read.
NOT_ALLOWED = {1044, 1142, 1143, 1227, 1370}


class FamilyCounters:
    """Reads counters of MySQL's family; implements `CounterReader`. Belongs to one thread.

    `statements` are what is asked, by the name of the source: rows of name and value, or of
    object, name and value.
    """

    def __init__(self, address: Address, statements: Mapping[str, str]) -> None:
        self.connection = connect(address)
        self._statements = {
            source: statement for source, statement in statements.items() if self.may(statement)
        }

    def read(self) -> list[tuple[str, str, str, float]]:
        """Rows of (source, object, counter, value), as the server has them now.

        Raises:
            OSError: If the server does not answer.
        """
        rows: list[tuple[str, str, str, float]] = []
        try:
            for source, statement in self._statements.items():
                for row in execute(self.connection, statement):
                    of, name, value = (OBJECT, *row) if len(row) == PAIR else row
                    rows.append((source, str(of), str(name).lower(), float(value)))
        except EngineError as error:
            raise OSError(f"the server's counters cannot be read: {error}") from error
        return rows

    def may(self, statement: str) -> bool:
        """Return True if this user may read a table of counters, which others' servers may deny."""
        try:
            execute(self.connection, statement)
        except EngineError as error:
            cause = error.__cause__
            if not isinstance(cause, Exception) or cause.args[0] not in NOT_ALLOWED:
                raise
            log.warning("some of the server's counters are not measured: %s", error_text(cause))
            return False
        return True

    def close(self) -> None:
        """Ends the connection."""
        if self.connection.open:
            self.connection.close()
