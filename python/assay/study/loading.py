"""Fills an engine with a workload's data.

It is done in a host of its own: memory that loading took would stand in the peaks of queries.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from assay.study.hosting import host

if TYPE_CHECKING:
    from pathlib import Path

    from assay.study.asking import Asked
    from assay.study.launcher import Guardian
    from assay.study.subject import Subject
    from assay.study.telling import Teller


class Loading:
    """Loads one run's data; `raw` takes the host's log."""

    def __init__(self, asked: Asked, raw: Path, teller: Teller) -> None:
        self._asked = asked
        self._log = raw / "host-load.log"
        self.teller = teller

    def fill(self, guardian: Guardian, subject: Subject) -> dict[str, Any]:
        """Makes and loads all tables; rows, checksum and time of each, and what they are of."""
        workload, scale = self._asked.workload, self._asked.request.scale
        dialects, sets = self._asked.dialects, self._asked.refresh_sets
        setup, keys = workload.setup(dialects, scale), workload.keys(dialects, scale)
        tables = list(workload.facts.tables)
        if sets and workload.facts.refresh is not None:
            setup |= workload.refresh_setup(dialects, scale, sets)
            keys |= workload.refresh_keys(dialects, scale, sets)
            tables += workload.facts.refresh.tables
        job = subject.job() | {
            "setup": list(setup.values()),
            "keys": list(keys.values()),
            "tables": tables,
            "sets": sets,
            "generator": workload.facts.generator,
            "queries": workload.row_queries(scale, sets),
            "scale": scale,
            "streams": os.cpu_count() or 1,
        }
        with host(guardian, "load", job, self._log) as loader:
            while (message := loader.next())["kind"] != "loaded":
                self._tell(message)
        return {"tables": message["tables"], "key": self._made_from()}

    def _tell(self, message: dict[str, Any]) -> None:
        self.teller.phase(message["phase"])
        if message["unit"]:
            self.teller.amount(message["done"], message["expected"], message["unit"])

    def _made_from(self) -> dict[str, Any]:
        workload = self._asked.workload
        return {
            "workload": workload.facts.name,
            "content_sha256": workload.content_hash,
            "generator": workload.facts.generator,
            "scale": self._asked.request.scale,
            "refresh_sets": self._asked.refresh_sets,
            "engine": self._asked.engine.facts.name,
        }
