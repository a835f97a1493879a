"""A connection to a database through the JDBC bridge, for administration and loading.

Calls of a link block.

Measured sessions are the driver's own (`_core.JdbcSession`) and use the same protocol.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Self

from assay.engines.bridge import values
from assay.engines.bridge.addresses import hidden
from assay.engines.bridge.errors import CONNECTION_LOST, GENERAL, BridgeError, gone
from assay.engines.bridge.loading import load
from assay.engines.bridge.process import connected
from assay.engines.bridge.wire import INTEGER, PROTOCOL, Body, Line, message, text
from assay.model.secrets import HIDDEN, without_secrets

if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping, Sequence
    from types import TracebackType

    import pyarrow as pa

    from assay.engines.contract import Address

# A server that Assay has just started may be busy with its own start.
PATIENCE_S = 300.0
# A session of the load waits as long, see `crates/assay-drive/src/session/jdbc/link.rs`.
GUEST_PATIENCE_S = 20.0
LOST, RETRYABLE = 1, 2
AS_TEXT = 2
# Number of the statement to execute, which is defined again for each call.
ASKED = 0
FIRST_OF_SEVERAL = 1


class Link:
    """One database connection through the JDBC bridge.

    Only one thread at a time may use it, except for `cancel`.

    Attributes:
        number: Number by which the bridge identifies this connection.
        product, version: Product and version of the database, as its driver reports them.
        driver: Name and version of the driver.
    """

    def __init__(self, address: Address, line: Line) -> None:
        self._address = address
        self._line = line
        self._hidden = hidden(address)
        greeting = self._hello()
        self.number = greeting.integer()
        self.product, self.version = greeting.text(), greeting.text()
        self.driver = f"{greeting.text()} {greeting.text()}"

    @classmethod
    def connect(cls, address: Address, patience_s: float = PATIENCE_S) -> Self:
        """Connect to a database through the JDBC bridge.

        Args:
            address: `socket` of the bridge, `url` of the database, and optionally `properties` (of
                the driver: `user`, `password`, ...) and `setup`, statements that every connection
                executes first.
            patience_s: Maximum seconds until the connection exists and has executed `setup`. Some
                drivers have no limit of their own.

        Raises:
            BridgeError: If the bridge does not run or has no driver for the URL, or if the database
                refuses or does not answer in time. The error message contains no password.
        """
        line = Line(reached(address))
        try:
            line.limit(patience_s)
            link = cls(address, line)
            for statement in address.get("setup", ()):
                link.run(statement)
            line.limit(None)
        except BaseException:
            line.close()
            raise
        return link

    def ask(self, sql: str, bound: Sequence[object] = ()) -> pa.Table:
        """Execute a statement with bound values, and return its rows as a table.

        Raises:
            BridgeError: If the database refuses it. The error message is the database's.
        """
        columns, rows = self._rows(sql, bound, 0)
        width = len(columns)
        return values.table(columns, [values.row(body, width) for body in rows])

    def run(self, sql: str, bound: Sequence[object] = ()) -> None:
        """Execute a statement without returning rows.

        Raises `BridgeError` with the database's message.
        """
        self._rows(sql, bound, 0)

    def together(self, statements: Sequence[tuple[str, Sequence[object]]]) -> None:
        """Execute several statements as one transaction, up to the first failure.

        `begin`, `commit` and `rollback` control its transaction, which is rolled back after a
        failure.

        Raises:
            BridgeError: If the database refuses a statement, or a transaction is still open at the
                end.
        """
        asked = [
            piece
            for number, (sql, _) in enumerate(statements, FIRST_OF_SEVERAL)
            for piece in message(b"S", INTEGER.pack(number), bytes((0,)), text(sql))
        ]
        executed = [
            part
            for number, (_, bound) in enumerate(statements, FIRST_OF_SEVERAL)
            for part in (INTEGER.pack(number), values.sent(bound))
        ]
        self.exchange([*asked, *message(b"X", INTEGER.pack(len(statements)), *executed)])

    def text(self, sql: str) -> list[list[str | None]]:
        """Execute a statement and return its rows with every value as text.

        Raises `BridgeError`.
        """
        columns, rows = self._rows(sql, (), AS_TEXT)
        typed_rows = [values.row(body, len(columns)) for body in rows]
        return [[values.printed(value) for value in row] for row in typed_rows]

    def load(
        self, insert_sql: str, reader: pa.RecordBatchReader, streams: int, at_once: int = 10_000
    ) -> int:
        """Insert all rows over several new connections, and return their number.

        Each batch of the reader is one transaction; `at_once` of its rows are one array insert.
        After a failure, some batches may be in the table.

        Args:
            insert_sql: Statement with a `?` for each column of the reader.
            reader: Rows of numbers, decimals, dates, timestamps, texts, bytes or booleans.
            streams: Number of connections; each executes the address's `setup` first.
            at_once: Number of rows in one array insert.

        Raises:
            BridgeError: If the database refuses it. The error message is the database's.
        """
        return load(lambda: Link.connect(self._address), insert_sql, reader, streams, at_once)

    def cancel(self) -> None:
        """Cancel the current statement of this connection, from any thread."""
        line = Line(reached(self._address))
        try:
            line.send(message(b"K", INTEGER.pack(self.number)))
            self._answered(line)
        finally:
            line.close()

    def close(self) -> None:
        """Close the database connection."""
        self._line.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def exchange(self, pieces: Sequence[bytes | memoryview]) -> list[tuple[bytes, bytes]]:
        """Send messages to the JDBC bridge, and return the messages of its answer."""
        self._line.send(pieces)
        return self._answered(self._line)

    def _rows(
        self, sql: str, bound: Sequence[object], flags: int
    ) -> tuple[list[tuple[str, int]], list[bytes]]:
        """Return the columns and rows of the last result that has any."""
        number = INTEGER.pack(ASKED)
        defined = message(b"S", number, bytes((flags,)), text(sql))
        asked = message(b"X", INTEGER.pack(1), number, values.sent(bound))
        columns: list[tuple[str, int]] = []
        rows: list[bytes] = []
        for tag, body in self.exchange([*defined, *asked]):
            if tag == b"T":
                columns, rows = values.described(body), []
            elif tag == b"D":
                rows.append(body)
        return columns, rows

    def _hello(self) -> Body:
        properties: Mapping[str, str] = self._address.get("properties", {})
        pairs = [text(word) for pair in properties.items() for word in pair]
        hello = message(
            b"H",
            INTEGER.pack(PROTOCOL),
            text(self._address["url"]),
            INTEGER.pack(len(properties)),
            *pairs,
        )
        answers = self.exchange(hello)
        return Body(answers[0][1])

    def _answered(self, line: Line) -> list[tuple[bytes, bytes]]:
        failed: BridgeError | None = None
        answers = []
        while True:
            tag, body = line.receive()
            if tag == b"Z":
                break
            if tag == b"E":
                failed = failed or self._failure(body)
            answers.append((tag, body))
        if failed is not None:
            raise failed
        return answers

    def _failure(self, body: bytes) -> BridgeError:
        failure = Body(body)
        state, code, flags = failure.text(), failure.integer(), failure.byte()
        error_text = failure.text()
        for secret in self._hidden:
            error_text = error_text.replace(secret, HIDDEN)
        error_text = " ".join(without_secrets(error_text).split())
        lost = bool(flags & LOST)
        state = state or (CONNECTION_LOST if lost else GENERAL)
        return BridgeError(error_text, state, code, lost=lost, retryable=bool(flags & RETRYABLE))


def reached(address: Address) -> socket.socket:
    """Return a connection to the JDBC bridge itself.

    Raises `BridgeError` if the bridge does not answer.
    """
    try:
        return connected(Path(address["socket"]))
    except OSError as error:
        raise gone(error.strerror or error) from error
