"""One connection of the driver: operations in, Arrow rows out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import apsw
import apsw.ext
import pyarrow

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.model.script import Script, ScriptStatement

# Names, and types where they are declared; none: a statement has no rows.
Columns = tuple[tuple[str, pyarrow.DataType | None], ...]

NO_ROWS = pyarrow.table({})
# Beginnings of declared types whose values are numbers with a fraction.
FRACTIONS = ("real", "floa", "doub", "deci", "nume")
# Another connection has what this one asked for.
TEMPORARY = (apsw.BusyError, apsw.LockedError)
RESULT_BYTE = 0xFF


class SqliteSession:
    """One connection. The driver calls `execute` from a thread of its own."""

    def __init__(
        self, connection: apsw.Connection, script: Script, columns: Mapping[str, Columns]
    ) -> None:
        """`columns` are the `described` ones of this script."""
        self._connection = connection
        self._operations = script.operations
        self._may_cache = script.prepared
        self._columns = columns

    def execute(self, operation: int, values: Sequence[object]) -> object:
        """Runs an operation; all rows of its last statement that has any, as an Arrow table.

        A transaction that is open then, or that failed, is rolled back.

        Raises:
            apsw.Error: With `sqlstate`, SQLite's name of the error, and `retryable`.
        """
        rows: object = NO_ROWS
        try:
            for statement in self._operations[operation].statements:
                fetched = self._fetched(statement, values)
                rows = rows if fetched is None else fetched
        except apsw.Error as error:
            _tell(error)
            raise
        finally:
            if self._connection.in_transaction:
                self._connection.execute("rollback")
        return rows

    def _fetched(self, statement: ScriptStatement, values: Sequence[object]) -> object | None:
        bound: Any = [values[draw] for draw in statement.values]
        cursor = self._connection.execute(statement.text, bound, can_cache=self._may_cache)
        rows = cursor.fetchall()
        columns = self._columns[statement.text]
        return table(columns, rows) if columns else None

    def interrupt(self) -> None:
        """Ends a running `execute`, from any thread."""
        self._connection.interrupt()


def described(connection: apsw.Connection, script: Script) -> dict[str, Columns]:
    """Columns of every statement by its text, and the types that are declared of them."""
    texts = {one.text for asked in script.operations for one in asked.statements}
    return {text: _described(connection, text) for text in texts}


def _described(connection: apsw.Connection, text: str) -> Columns:
    try:
        told = apsw.ext.query_info(connection, text).description
    except apsw.Error:  # It fails where it is executed, and is told there.
        return ()
    return tuple((name, _declared(kind)) for name, kind in told)


def table(columns: Columns, rows: Sequence[tuple[Any, ...]]) -> pyarrow.Table:
    """Rows as an Arrow table: a column has its declared type where all its values fit it."""
    cells: Any = zip(*rows, strict=True) if rows else [()] * len(columns)
    arrays = [_array(values, kind) for values, (_, kind) in zip(cells, columns, strict=True)]
    return pyarrow.Table.from_arrays(arrays, names=[name for name, _ in columns])


def _array(values: Sequence[object], kind: pyarrow.DataType | None) -> pyarrow.Array:
    try:
        return pyarrow.array(values, kind)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError):
        # SQLite's types are of values, so a column may hold numbers and texts.
        return pyarrow.array([None if value is None else str(value) for value in values])


def _declared(kind: str | None) -> pyarrow.DataType | None:
    return pyarrow.float64() if (kind or "").lower().startswith(FRACTIONS) else None


def _tell(error: apsw.Error) -> None:
    """Gives an error what the driver asks of it: SQLite's own name, and whether to try again."""
    code: int | None = getattr(error, "extendedresult", None)
    told: Any = error
    if code is not None:
        names = apsw.mapping_extended_result_codes, apsw.mapping_result_codes
        told.sqlstate = names[0].get(code) or names[1].get(code & RESULT_BYTE)
    told.retryable = isinstance(error, TEMPORARY)
