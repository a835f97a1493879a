"""An HTTP connection for administration, whose answers end in time and have a bounded size.

The timeout of Python's own client restarts with each byte that comes, and its answers have any
size: a server that sends a byte now and then, or without end, would keep Assay busy until memory
ends.
"""

from __future__ import annotations

import http.client
import io
import time
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

if TYPE_CHECKING:
    import socket
    import ssl
    from collections.abc import Mapping
    from email.message import Message

# No answer that administration asks for has as many bytes.
ANSWER_BYTES_MAX = 64 << 20
PIECE_BYTES = 1 << 18
REASON_MAX = 200


class Answer(NamedTuple):
    """One answer of a server, complete.

    Attributes:
        status: HTTP status.
        reason: The status in the server's words, at most 200 characters of them.
        headers: Header fields.
        body: All bytes of the body.
    """

    status: int
    reason: str
    headers: Message
    body: bytes


class HttpLine:
    """A connection to one server, opened by its first request and after an error.

    Args:
        host, port: Address of the server.
        patience_s: Maximum seconds from a request to the last byte of its answer.
        tls: How to encrypt; None without encryption.
        connect_patience_s: Maximum seconds for connecting, and for the TLS handshake; `patience_s`
            if None.
    """

    def __init__(
        self,
        host: str,
        port: int | None,
        patience_s: float,
        *,
        tls: ssl.SSLContext | None = None,
        connect_patience_s: float | None = None,
    ) -> None:
        connect_s = patience_s if connect_patience_s is None else connect_patience_s
        self._patience_s = patience_s
        if tls is None:
            self._line = http.client.HTTPConnection(host, port, timeout=connect_s)
        else:
            self._line = http.client.HTTPSConnection(host, port, timeout=connect_s, context=tls)
        self._bounded: _BoundedSocket | None = None
        self.host, self.port = self._line.host, self._line.port

    @property
    def is_open(self) -> bool:
        """Return True if the next request uses a connection that served another one."""
        return self._line.sock is not None

    def ask(
        self, method: str, target: str, body: bytes | None, headers: Mapping[str, str]
    ) -> Answer:
        """Send a request, and return its answer.

        Raises:
            OSError: If the server cannot be reached, or no complete answer in HTTP comes in time,
                or the answer is larger than 64 MiB.
        """
        try:
            self._begin()
            self._line.request(method, target, body, dict(headers))
            # An answer that ends its connection is known to nobody else: it must be closed here.
            with self._line.getresponse() as response:
                content = _content(response)
        except OSError:
            self.close()
            raise
        except http.client.HTTPException as error:
            self.close()
            raise OSError(_reason(error)) from error
        return Answer(response.status, response.reason[:REASON_MAX], response.headers, content)

    def send(self, requests: bytes) -> BinaryIO:
        """Send several requests together, and return a stream of their answers.

        All answers together have the time and the size of one. Raises `OSError`, and reading from
        the stream does.
        """
        bounded = self._begin()
        bounded.sendall(requests)
        return bounded.makefile("rb")

    def close(self) -> None:
        """Close the connection; the next request opens another one."""
        self._line.close()

    def _begin(self) -> _BoundedSocket:
        if self._line.sock is None or self._bounded is None:
            self._line.connect()
            self._bounded = _BoundedSocket(self._line.sock)
            self._line.sock = self._bounded
        self._bounded.begin(self._patience_s)
        return self._bounded


class _BoundedSocket:
    """A connected socket that ends an answer which takes too long, or is too large."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self._patience_s = 0.0
        self._deadline_s = 0.0
        self._left_bytes = 0

    def begin(self, patience_s: float) -> None:
        """Await the next answer."""
        self._patience_s = patience_s
        self._deadline_s = time.monotonic() + patience_s
        self._left_bytes = ANSWER_BYTES_MAX

    def sendall(self, data: bytes) -> None:
        """Send all bytes of a request.

        Raises `OSError`.
        """
        self.limit()
        try:
            self._line.sendall(data)
        except TimeoutError:
            raise self.late() from None

    def makefile(self, *_: object, **__: object) -> BinaryIO:
        """Return a stream that reads the answer."""
        return io.BufferedReader(_BoundedReader(self, self._line.makefile("rb", buffering=0)))

    def close(self) -> None:
        """Close the socket."""
        self._line.close()

    def limit(self) -> None:
        """Let the next read or write end at the deadline.

        Raises `OSError` if the deadline has passed.
        """
        left_s = self._deadline_s - time.monotonic()
        if left_s <= 0:
            raise self.late()
        self._line.settimeout(left_s)

    def received(self, count: int) -> None:
        """Count the bytes of an answer.

        Raises `OSError` if they are too many.
        """
        self._left_bytes -= count
        if self._left_bytes < 0:
            raise OSError(f"its answer is larger than {ANSWER_BYTES_MAX >> 20} MiB")

    def late(self) -> TimeoutError:
        """Return the error of an answer that takes too long."""
        return TimeoutError(f"no complete answer came within {self._patience_s:g} s")


class _BoundedReader(io.RawIOBase):
    """Reads from a bounded socket."""

    def __init__(self, bounded: _BoundedSocket, raw: io.RawIOBase) -> None:
        self._bounded = bounded
        self._raw = raw

    def readable(self) -> bool:
        """Return True: an answer is read."""
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int | None:  # type: ignore[override]
        """Read once into a buffer, and return the number of bytes.

        Raises `OSError`.
        """
        self._bounded.limit()
        try:
            count = self._raw.readinto(buffer)
        except TimeoutError:
            raise self._bounded.late() from None
        self._bounded.received(count or 0)
        return count

    def close(self) -> None:
        """Close the stream, and the socket if its connection was closed before."""
        self._raw.close()
        super().close()


def _reason(error: http.client.HTTPException) -> str:
    """Return what is wrong with an answer, as one line of printable characters."""
    if isinstance(error, http.client.BadStatusLine):
        # The error's text is the line itself.
        return f"its answer is not HTTP: {str(error)[:REASON_MAX]!r}"
    return str(error) or type(error).__name__


def _content(response: http.client.HTTPResponse) -> bytes:
    """Return the body of a response, read in pieces: a length that it states is not believed.

    Raises `OSError` if the connection ends within it.
    """
    pieces = []
    while piece := response.read(PIECE_BYTES):
        pieces.append(piece)
    if response.length:
        raise OSError(f"the connection ended {response.length} bytes before the end of its answer")
    return b"".join(pieces)
