"""Reads a MySQL server's own counters on a separate connection, as totals."""

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

# Object of counters that the server reports without one.
OBJECT = "server"
PAIR = 2
# Error numbers for tables that this user may not read.
NOT_ALLOWED = {1044, 1142, 1143, 1227, 1370}


class FamilyCounters:
    """Reads counters of MySQL's family from one thread; implements `CounterReader`.

    `statements` are queries by source name, which return rows of name and value, or of object, name
    and value.
    """

    def __init__(self, address: Address, statements: Mapping[str, str]) -> None:
        self.connection = connect(address)
        self._statements = {
            source: statement for source, statement in statements.items() if self.may(statement)
        }

    def read(self) -> list[tuple[str, str, str, float]]:
        """Return MySQL's current counters as rows of (source, object, counter, value).

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
        """Return True if this user may read a table of counters."""
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
        """Close the connection to MySQL."""
        if self.connection.open:
            self.connection.close()
