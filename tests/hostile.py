"""Servers that do one thing to whoever connects, such as to say nothing."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

Serve = Callable[[socket.socket], None]


@contextmanager
def serving(serve: Serve, patience_s: float) -> Iterator[int]:
    """The port of a server that does one thing to each connection, one after another."""
    ended = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.1)

        def run() -> None:
            while not ended.is_set():
                with suppress(TimeoutError):
                    line, _ = listener.accept()
                    line.settimeout(patience_s)
                    with line, suppress(OSError):
                        serve(line)

        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            ended.set()
            thread.join()
