"""Reads how much memory the host has available."""

from __future__ import annotations

from pathlib import Path

from assay.engines.resources import memory_bytes
from assay.model.errors import RunFailedError

MEMINFO = Path("/proc/meminfo")
KIB = 1024


def available_bytes(meminfo: Path = MEMINFO) -> int:
    """Return the bytes of memory that are available without swapping.

    Raises:
        RunFailedError: If the kernel does not report it.
    """
    for line in meminfo.read_text(encoding="ascii").splitlines():
        name, _, amount = line.partition(":")
        if name == "MemAvailable":
            return min(int(amount.split()[0]) * KIB, memory_bytes())
    raise RunFailedError(f"{meminfo} does not report how much memory is available")
