"""Finds resources of the host for a private server: a free port, and memory."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from assay.engines.contract import EngineError

# Number of times a private server is started with another port, because a free port may be taken
# meanwhile.
PORT_TRIES = 5


def free_port(host: str) -> int:
    """Return a TCP port of an address that is currently free.

    Another process may still take the port.
    """
    with socket.socket() as probe:
        probe.bind((host, 0))
        port: int = probe.getsockname()[1]
        return port


def ports_taken(title: str) -> EngineError:
    """Return the error for a server that found no free port in all tries."""
    return EngineError(
        f"{title} could not use any of {PORT_TRIES} ports, because other programs took them "
        "first: try again when fewer programs open connections."
    )


def memory_bytes() -> int:
    """Return the bytes of the host's memory, or of the control group's memory limit."""
    limits = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for file in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            text = Path(file).read_text(encoding="ascii").strip()
        except OSError:
            continue
        if text.isdigit():
            limits.append(int(text))
    return min(limits)
