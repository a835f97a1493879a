"""Loads a workload's data into an engine, in a process of its own.

Loading has its own process, because its memory would count in the peak memory of queries. An
embedded engine is loaded in the driver's process only if the run begins in the state after loading.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from assay.model.units import NS_PER_S
from assay.running.processes.hosting import host
from assay.workloads.refreshing import refresh_keys, refresh_setup
from assay.workloads.scripts import statements

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from assay.running.asked.asked_run import Asked
    from assay.running.processes.hosting import Driver
    from assay.running.processes.launcher import Guardian
    from assay.running.server.subject import Subject
    from assay.running.telling import Teller

# Directory below the instance's for sorting rows that do not fit into memory.
SPILL = "sorting"


def loaded_now(fill: Callable[[], dict[str, Any]], pids: Sequence[int]) -> dict[str, Any]:
    """Load data now, and return its facts with the time and the processes that hold it."""
    begun_s = time.monotonic()
    loaded = fill()
    ended_ns = time.monotonic_ns()
    seconds = ended_ns / NS_PER_S - begun_s
    return loaded | {"seconds": seconds, "loaded_ns": ended_ns, "loaded_by_pids": list(pids)}


class Loading:
    """Loads the data of one run into its engine."""

    def __init__(self, asked: Asked, raw: Path, teller: Teller) -> None:
        self._asked = asked
        self.raw = raw
        self._log = raw / "host-load.log"
        self.teller = teller

    def fill(self, guardian: Guardian, subject: Subject) -> dict[str, Any]:
        """Load all tables; return rows, checksum and time of each."""
        job = subject.job() | {"filling": self.filling(guardian)}
        with host(guardian, "load", job, self._log) as loader:
            return self.filled(loader)

    def filling(self, guardian: Guardian) -> dict[str, Any]:
        """Return the facts that the loading process needs."""
        workload, scale = self._asked.workload, self._asked.request.scale
        dialects, sets = self._asked.dialects, self._asked.refresh_sets
        setup, keys = workload.setup(dialects, scale), workload.keys(dialects, scale)
        if sets and workload.facts.refresh is not None:
            setup |= refresh_setup(workload, dialects, scale, sets)
            keys |= refresh_keys(workload, dialects, scale, sets)
        order = self._asked.order
        return {
            "setup": setup,
            "keys": self._in_order(list(keys.values())),
            "tables": self._asked.tables,
            **workload.row_facts(scale, sets),
            "streams": os.cpu_count() or 1,
            "sorted_by": order.sorted_by,
            "load_order": order.tables,
            "language": self._asked.language,
            "spill": str(guardian.directory / SPILL),
        }

    def filled(self, loader: Driver) -> dict[str, Any]:
        """Follow a loading process to its end, and return the facts of the loaded data."""
        while (message := loader.next())["kind"] != "loaded":
            self._tell(message)
        loaded = {"tables": message["tables"], "load": message["load"]}
        return loaded | {"key": self._made_from()}

    def _in_order(self, keys: list[str]) -> list[str]:
        order = self._asked.order
        if not order.tables:
            return keys
        try:
            parts = statements("\n".join(keys), self._asked.dialects)
        except ValueError:  # The file is missing, or the engine reports its error.
            return keys
        return [f"{statement};" for statement in order.keys(parts)]

    def _tell(self, message: Mapping[str, Any]) -> None:
        self.teller.phase(message["phase"])
        if message["unit"]:
            self.teller.amount(message["done"], message["expected"], message["unit"])

    def _made_from(self) -> dict[str, Any]:
        data = self._asked.workload.data
        return {
            "workload": data.facts.name,
            "content_sha256": data.content_hash,
            "generator": data.facts.generator,
            "language": self._asked.language,
            "scale": self._asked.request.scale,
            "refresh_sets": self._asked.refresh_sets,
            "engine": self._asked.engine.facts.name,
            "foreign_keys": data.foreign_keys,
            **self._asked.order.identity(),
        }
