"""What a host has for a server of ours: a port, and memory to size its caches by."""

from __future__ import annotations

import os
import socket
from pathlib import Path


def free_port(host: str) -> int:
    """A TCP port of this address that nobody listens on now; another may take it meanwhile."""
    with socket.socket() as probe:
        probe.bind((host, 0))
        port: int = probe.getsockname()[1]
        return port


def memory_bytes() -> int:
    """The host's memory, or what our group of processes may have of it."""
    limits = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for file in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            text = Path(file).read_text(encoding="ascii").strip()
        except OSError:
            continue
        if text.isdigit():
            limits.append(int(text))
    return min(limits)
