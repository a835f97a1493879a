"""Reads garbage collections from the log that a Java server writes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from assay.engines.server_files import READ_BYTES_MAX, open_server_file
from assay.model.units import NS_PER_S

if TYPE_CHECKING:
    from pathlib import Path

LOG = "collections.log"
SOURCE, HEAP = "jvm", "heap"
NS_PER_MS = NS_PER_S / 1_000
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}

# Example of a pause: `GC(7) Pause Young (Normal) (G1 Evacuation Pause) 24M->4M(256M) 3.123ms`.
_PAUSE = re.compile(r"\bPause .*?(\d+)[KMG]->(\d+)([KMG])\((\d+)([KMG])\) ([\d.]+)ms")


def log_options(log: Path) -> list[str]:
    """Return the Java options that log one line per pause to a file."""
    return [f"-Xlog:gc:file={log}:uptime:filecount=0"]


class CollectionsReader:
    """Reads garbage collection pauses from a growing log of a Java server.

    The reader implements `assay.probes.contract.CounterReader`. A log file that does not exist yet
    has no rows. The log is a direct entry of the server's directory.
    """

    def __init__(self, log: Path) -> None:
        self._log = log
        self._read_bytes = 0
        self._pauses = 0
        self._paused_ns = 0.0
        self._used_bytes, self._size_bytes = 0, 0

    def read(self) -> list[tuple[str, str, str, float]]:
        """Return the counters of garbage collection as rows of (source, object, counter, value)."""
        try:
            with open_server_file(self._log, self._log.parent) as source:
                source.seek(self._read_bytes)
                text = source.read(READ_BYTES_MAX)
        except FileNotFoundError:
            return []
        whole = text[: text.rfind(b"\n") + 1]
        self._read_bytes += len(whole)
        for pause in _PAUSE.finditer(whole.decode(errors="replace")):
            self._pauses += 1
            self._paused_ns += float(pause[6]) * NS_PER_MS
            self._used_bytes = int(pause[2]) * UNITS[pause[3]]
            self._size_bytes = int(pause[4]) * UNITS[pause[5]]
        rows = {
            "pauses": self._pauses,
            "paused_ns": self._paused_ns,
            "used_after_bytes": self._used_bytes,
            "size_bytes": self._size_bytes,
        }
        return [(SOURCE, HEAP, counter, float(value)) for counter, value in rows.items()]

    def close(self) -> None:
        """Close nothing: the log is opened at each reading."""
