"""Messages between a run and its driver process: JSON lines over a socket."""

from __future__ import annotations

import json
import select
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import socket

READ_BYTES = 1 << 16
# Placeholder for a process id in a job: the process of the driver's host is metered.
METERED_HOST = "host"


class Channel:
    """One end of the control socket between a run and its driver process.

    `receive` returns None after the other end closed.

    Several threads may send; only one receives.
    """

    def __init__(self, end: socket.socket) -> None:
        self._socket = end
        self._sending = threading.Lock()
        self._buffer = b""

    def send(self, kind: str, **facts: object) -> None:
        """Send one message over the control socket.

        Raises `OSError` (BrokenPipeError) if the other end has closed.
        """
        line = json.dumps({"kind": kind, **facts}).encode() + b"\n"
        with self._sending:
            self._socket.sendall(line)

    def receive(self, timeout_s: float | None = None) -> dict[str, Any] | None:
        """Return the next message from the control socket; None at its end.

        Raises:
            TimeoutError: If no message arrived in time.
        """
        while b"\n" not in self._buffer:
            if not select.select([self._socket], [], [], timeout_s)[0]:
                raise TimeoutError
            try:
                received = self._socket.recv(READ_BYTES)
            except ConnectionResetError:
                return None
            if not received:
                return None
            self._buffer += received
        line, _, self._buffer = self._buffer.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message

    def close(self) -> None:
        """Close this end of the control socket."""
        self._socket.close()
