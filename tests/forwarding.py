"""Lines that lead to a server in another way than its own address."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress

import pytest

LOOPBACK = "127.0.0.1"


def _own_address() -> str | None:
    """An address of this host that is not its loopback."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer, suppress(OSError):
        # Nothing is sent: only the route is looked up.
        peer.connect(("192.0.2.1", 9))
        address = str(peer.getsockname()[0])
        return None if address.startswith("127.") else address
    return None


AWAY = _own_address()
needs_address = pytest.mark.skipif(AWAY is None, reason="this host has only its loopback")


class Forwarder:
    """Passes connections on to a port: a server behind it is not the process that listens."""

    def __init__(self, port: int, host: str = LOOPBACK) -> None:
        self.port = port
        self.listener = socket.create_server((host, 0))
        self.ends: list[socket.socket] = []
        self.is_silent = False
        self.silent_lines = 0

    def __enter__(self) -> int:
        threading.Thread(target=self._accept, daemon=True).start()
        port: int = self.listener.getsockname()[1]
        return port

    def __exit__(self, *_: object) -> None:
        for end in [self.listener, *self.ends]:
            # Wakes the thread that waits there.
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def fall_silent(self) -> None:
        """End all connections; later ones are accepted, and nobody answers."""
        self.is_silent = True
        for end in self.ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                ours, _ = self.listener.accept()
                self.ends.append(ours)
                if self.is_silent:
                    self.silent_lines += 1
                    continue
                theirs = socket.create_connection((LOOPBACK, self.port))
                self.ends.append(theirs)
                for source, sink in ((ours, theirs), (theirs, ours)):
                    threading.Thread(target=self._pass, args=(source, sink), daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while block := source.recv(4096):
                sink.sendall(block)
            sink.shutdown(socket.SHUT_WR)
