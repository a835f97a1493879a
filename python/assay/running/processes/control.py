"""Messages between the owner of a run and the driver's host: JSON lines over a socket."""

from __future__ import annotations

import json
import select
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import socket

READ_BYTES = 1 << 16
# In place of a process id in a job: the host itself is what is metered.
METERED_HOST = "host"


class Channel:
    """One end of the control socket. `receive` returns None once the other end is gone.

    Several threads may send; one receives.
    """

    def __init__(self, end: socket.socket) -> None:
        self._socket = end
        self._sending = threading.Lock()
        self._buffer = b""

    def send(self, kind: str, **facts: object) -> None:
        """Sends one message. Raises `OSError` (BrokenPipeError) if nobody listens any more."""
        line = json.dumps({"kind": kind, **facts}).encode() + b"\n"
        with self._sending:
            self._socket.sendall(line)

    def receive(self, timeout_s: float | None = None) -> dict[str, Any] | None:
        """The next message; None at the end of the channel.

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
        """Closes this end."""
        self._socket.close()
