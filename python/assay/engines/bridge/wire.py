"""Messages of the JDBC bridge: a tag, a length, and a body.

Numbers are big-endian; texts and bytes are preceded by their length in four bytes.
"""

from __future__ import annotations

import struct
import time
from typing import TYPE_CHECKING

from assay.engines.bridge.errors import gone, silent

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator, Sequence

PROTOCOL = 1
HEADER = struct.Struct(">BI")
LENGTH = struct.Struct(">I")
INTEGER = struct.Struct(">i")
LONG = struct.Struct(">q")
RECEIVE_BYTES = 1 << 18


def text(value: str) -> bytes:
    """Return a text encoded for the JDBC bridge."""
    encoded = value.encode()
    return LENGTH.pack(len(encoded)) + encoded


def message(tag: bytes, *parts: bytes | memoryview) -> list[bytes | memoryview]:
    """Return a message to the JDBC bridge as pieces, so that large ones are not copied."""
    size = sum(len(part) for part in parts)
    return [HEADER.pack(tag[0], size + LENGTH.size), *parts]


class Body:
    """Reads the fields of a bridge message in order."""

    def __init__(self, held: bytes | memoryview) -> None:
        self._held = memoryview(held)
        self._at = 0

    def byte(self) -> int:
        """Read an unsigned byte from a bridge message."""
        self._at += 1
        return self._held[self._at - 1]

    def integer(self) -> int:
        """Read an integer of four bytes from a bridge message."""
        (value,) = INTEGER.unpack_from(self._held, self._at)
        self._at += INTEGER.size
        return int(value)

    def long(self) -> int:
        """Read an integer of eight bytes from a bridge message."""
        (value,) = LONG.unpack_from(self._held, self._at)
        self._at += LONG.size
        return int(value)

    def blob(self) -> bytes:
        """Read bytes with a preceding length from a bridge message."""
        size = self.integer()
        self._at += size
        return bytes(self._held[self._at - size : self._at])

    def text(self) -> str:
        """Read a text with its length before it."""
        return self.blob().decode()


class Line:
    """A socket connected to the JDBC bridge, used by one thread at a time."""

    def __init__(self, peer: socket.socket) -> None:
        self._peer = peer
        self._held = bytearray()
        self._at = 0
        self._patience_s: float | None = None
        self._deadline_s = 0.0

    def limit(self, patience_s: float | None) -> None:
        """Limit the seconds until all further answers have come; None ends the limit.

        After the limit, `receive` raises `BridgeError`: the database takes no connection.
        """
        self._patience_s = patience_s
        self._deadline_s = time.monotonic() + (patience_s or 0.0)
        self._peer.settimeout(None)

    def send(self, pieces: Sequence[bytes | memoryview]) -> None:
        """Send messages to the JDBC bridge.

        Raises `BridgeError` if the connection is closed.
        """
        try:
            for piece in _gathered(pieces):
                self._peer.sendall(piece)
        except OSError as error:
            raise gone(error.strerror or error) from error

    def receive(self) -> tuple[bytes, bytes]:
        """Wait for a message from the JDBC bridge, and return its tag and body.

        Raises `BridgeError` if the connection ends.
        """
        self._fill(HEADER.size)
        tag, length = HEADER.unpack_from(self._held, self._at)
        size = 1 + length
        self._fill(size)
        begin = self._at + HEADER.size
        self._at += size
        return bytes((tag,)), bytes(self._held[begin : self._at])

    def close(self) -> None:
        """Close the socket to the JDBC bridge."""
        self._peer.close()

    def _fill(self, size: int) -> None:
        if len(self._held) - self._at >= size:
            return
        del self._held[: self._at]
        self._at = 0
        while len(self._held) < size:
            try:
                if self._patience_s is not None:
                    # Zero would not wait at all.
                    self._peer.settimeout(max(self._deadline_s - time.monotonic(), 0.001))
                more = self._peer.recv(RECEIVE_BYTES)
            except TimeoutError:
                raise silent(self._patience_s or 0.0) from None
            except OSError as error:
                raise gone(error.strerror or error) from error
            if not more:
                raise gone("it closed the line")
            self._held += more


def _gathered(pieces: Sequence[bytes | memoryview]) -> Iterator[bytes | memoryview]:
    """Yield small message pieces joined together, and large ones alone."""
    small = bytearray()
    for piece in pieces:
        if len(piece) < HEADER.size << 10:
            small += piece
            continue
        yield bytes(small)
        small.clear()
        yield piece
    yield bytes(small)
