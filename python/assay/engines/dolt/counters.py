"""Reads Dolt's counters by SQL, from its metrics page, and from its files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from assay.engines.mysql_family.counters import OBJECT
from assay.engines.network.http_line import HttpLine
from assay.engines.server_files import read_server_file

if TYPE_CHECKING:
    from assay.engines.contract import Address, CounterReader

PATIENCE_S = 5.0
METRICS, STORAGE = "metrics", "storage"
# Metrics about the host, the endpoint itself and settings are not counters of the engine.
LEFT_OUT = ("promhttp_", "sys_", "process_", "go_info", "go_gc_gogc", "go_gc_gomemlimit")
# Database files: chunks, a journal with this name, and below them the directory of the history.
CHUNKS, JOURNAL, HISTORY, MANIFEST = ".dolt/noms", "v" * 32, "oldgen", "manifest"
# Position in the manifest of the value that changes with each garbage collection.
GENERATION_FIELD = 4


class DoltCounters:
    """Reads Dolt's counters from one thread; implements `CounterReader`."""

    def __init__(self, asked: CounterReader, address: Address) -> None:
        self._asked = asked
        port = address.get("metrics_port")
        self._metrics = None
        if port is not None:
            self._metrics = HttpLine(address["host"], port, PATIENCE_S)
        data = address.get("data")
        self._databases = None if data is None else Path(data)
        self._generations: dict[str, str] = {}
        self._collections: dict[str, int] = {}

    def read(self) -> list[tuple[str, str, str, float]]:
        """Return Dolt's current counters as rows of (source, object, counter, value).

        Raises:
            OSError: If the server does not answer.
        """
        return [*self._asked.read(), *self._metric_rows(), *self._stored()]

    def close(self) -> None:
        """Close the connection to Dolt."""
        self._asked.close()
        if self._metrics is not None:
            self._metrics.close()

    def _metric_rows(self) -> list[tuple[str, str, str, float]]:
        if self._metrics is None:
            return []
        try:
            text = self._metrics.ask("GET", "/metrics", None, {}).body.decode("utf-8")
        except (OSError, ValueError) as error:
            raise OSError(f"the server's metrics cannot be read: {error!r}") from error
        return metrics(text)

    def _stored(self) -> list[tuple[str, str, str, float]]:
        """Return the bytes of each database's files, and the number of garbage collections."""
        if self._databases is None:
            return []
        rows = []
        for place in sorted(self._databases.glob(f"*/{CHUNKS}")):
            name = place.parents[1].name
            sizes = _sizes(place)
            journal = sizes.pop(JOURNAL, 0)
            history = sum(_sizes(place / HISTORY).values())
            counters = {
                "journal_bytes": journal,
                "table_bytes": sum(sizes.values()),
                "history_bytes": history,
                "collections": self._collected(name, place),
            }
            rows += [(STORAGE, name, counter, float(value)) for counter, value in counters.items()]
        return rows

    def _collected(self, name: str, place: Path) -> int:
        """Return the number of garbage collections since the first sample."""
        try:
            fields = read_server_file(place / MANIFEST, place).split(":")
        except OSError:
            return self._collections.get(name, 0)
        generation = fields[GENERATION_FIELD] if len(fields) > GENERATION_FIELD else ""
        before = self._generations.get(name, generation)
        self._generations[name] = generation
        self._collections[name] = self._collections.get(name, 0) + (before != generation)
        return self._collections[name]


def metrics(text: str) -> list[tuple[str, str, str, float]]:
    """Return the counters in a Prometheus metrics text, without those with labels."""
    rows = []
    for line in text.splitlines():
        name, _, value = line.partition(" ")
        if line.startswith("#") or "{" in name or name.startswith(LEFT_OUT):
            continue
        rows.append((METRICS, OBJECT, name, float(value)))
    return rows


def _sizes(place: Path) -> dict[str, int]:
    """Return the sizes of a directory's files in bytes by name; a vanished file is skipped."""
    sizes = {}
    try:
        with os.scandir(place) as entries:
            for entry in entries:
                try:
                    if entry.is_file(follow_symlinks=False):
                        sizes[entry.name] = entry.stat().st_size
                except FileNotFoundError:
                    continue
    except FileNotFoundError:
        return {}
    return sizes
