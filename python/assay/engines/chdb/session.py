"""A chDB connection of the driver, which executes operations."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pyarrow
from chdb import ChdbError

from assay.engines.chdb.database import asked
from assay.engines.chdb.statements import file_text, named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engines.chdb.database import Database
    from assay.model.script import Script

NO_ROWS = pyarrow.table({})
# ClickHouse's error messages end with the name of the error.
NAME = re.compile(r"\(([A-Z][A-Z0-9_]+)\)\s*$")


class ChdbSession:
    """A chDB connection of the driver.

    The driver calls `execute` from a separate thread.
    """

    def __init__(self, database: Database, script: Script) -> None:
        self._database = database
        self._comment = database.session_comment()
        self._connection = database.connection(self._comment)
        self._kill = file_text("kill.sql", session=self._comment)
        self._operations = [
            [(named(statement, operation), statement.values) for statement in operation.statements]
            for operation in script.operations
        ]

    def execute(self, operation: int, values: Sequence[object]) -> object:
        """Execute an operation; return the rows of its last statement as an Arrow table.

        Raises:
            ChdbError: If the query fails. `sqlstate` is ClickHouse's name of the error.
        """
        rows: object = NO_ROWS
        try:
            for text, draws in self._operations[operation]:
                fetched = asked(self._connection, text, bound([values[draw] for draw in draws]))
                rows = rows if fetched is None else fetched
        except ChdbError as error:
            # Partial output of a failed query would precede the next query's result.
            self._connection = self._database.again(self._connection, self._comment)
            raise _driver_error(error) from error
        return rows

    def interrupt(self) -> None:
        """Cancel a running `execute`, from any thread."""
        asked(self._database.own, self._kill)


def bound(values: Sequence[object]) -> dict[str, Any]:
    """Return a statement's values by their parameter names `value1`, `value2`, ...."""
    return {f"value{number}": value for number, value in enumerate(values, start=1)}


def _driver_error(error: ChdbError) -> Exception:
    """Return an error with the attributes that the driver reads, such as its code."""
    message = " ".join(str(error).split())
    name = NAME.search(message)
    raised = ChdbError(message)
    facts: Any = raised
    facts.sqlstate = name[1] if name else None
    facts.retryable = False
    return raised
