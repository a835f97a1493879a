"""Host resources for a private server: a free port, and memory for its caches."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from assay.engines.contract import EngineError

# Number of times a private server is started with another port, because a free port may be taken
# meanwhile.
PORT_TRIES = 5


def free_port(host: str) -> int:
    """Return a TCP port of this address that is currently free.

    Another process may still take the port.
    """
    with socket.socket() as probe:
        probe.bind((host, 0))
        port: int = probe.getsockname()[1]
        return port


def ports_taken(title: str) -> EngineError:
    """Return the error for a server that found no free port in all tries."""
    return EngineError(
        f"{title} found {PORT_TRIES} ports taken that had been free a moment before: try again when"
        " fewer programs open connections."
    )


def memory_bytes() -> int:
    """Return the host's memory, or the memory limit of this process's control group."""
    limits = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for file in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            text = Path(file).read_text(encoding="ascii").strip()
        except OSError:
            continue
        if text.isdigit():
            limits.append(int(text))
    return min(limits)
