"""Measures how much a run was slowed by the stops that make a resource slower."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from assay.record.reader import Run

STREAM = "slowing"
NS = 1e-9
COUNTERS = ("cpu_ns", "all_cpu_ns", "owed_ns", "stopped_ns", "read_bytes", "ahead_bytes")


@dataclass(frozen=True)
class Slowing:
    """The time in which a resource was used, and the stops that made the resource slower.

    Attributes:
        asked: Requested factor by resource.
        cpu_s: Seconds in which the engine computed. Parallel threads count once.
        all_cpu_s: CPU seconds of all its tasks.
        owed_s: Seconds for which the engine had to be stopped.
        stopped_s: Seconds in which the engine was stopped.
        read_bytes: Bytes that the data's device read for all programs; None if not counted.
        ahead_bytes: Part of `read_bytes` that was read during stops.
    """

    asked: dict[str, float]
    cpu_s: float
    all_cpu_s: float
    owed_s: float
    stopped_s: float
    read_bytes: int | None
    ahead_bytes: int | None

    @property
    def paid_share(self) -> float | None:
        """The stop time divided by the stop time required by the slowing; None if none was."""
        return self.stopped_s / self.owed_s if self.owed_s > 0 else None

    @property
    def achieved(self) -> dict[str, float]:
        """The achieved slowing factor of each resource, if all got the same share of stops."""
        share = self.paid_share
        return {
            name: factor if share is None else 1.0 + (factor - 1.0) * share
            for name, factor in self.asked.items()
        }

    @property
    def ahead_share(self) -> float | None:
        """The share of the disk reads that fell into stops of the engine; None if not counted."""
        if self.ahead_bytes is None or not self.read_bytes:
            return None
        return self.ahead_bytes / self.read_bytes


def is_stopped(run: Run) -> bool:
    """Return True if the engine was stopped repeatedly to slow a resource."""
    asked: dict[str, float] = run.facts["request"].get("slow") or {}
    return any(factor > 1.0 for factor in asked.values())


def slowing(run: Run, window_ns: tuple[int, int] | None = None) -> Slowing | None:
    """Return the use of a slowed resource and the stops of a run; None if it was not slowed.

    Args:
        run: The run.
        window_ns: Begin and end of a part of the run; None means the whole run. Rows are some
            milliseconds apart during stops, otherwise 100 ms.
    """
    asked: dict[str, float] = run.facts["request"].get("slow") or {}
    if not asked or not run.has(STREAM):
        return None
    rows = run.table(STREAM).sort("until_ns")
    if rows.is_empty():
        return None
    grown = _growth(rows, window_ns)
    return Slowing(
        asked,
        cpu_s=grown["cpu_ns"] * NS,
        all_cpu_s=grown["all_cpu_ns"] * NS,
        owed_s=grown["owed_ns"] * NS,
        stopped_s=grown["stopped_ns"] * NS,
        read_bytes=grown["read_bytes"],
        ahead_bytes=grown["ahead_bytes"],
    )


def _growth(rows: pl.DataFrame, window_ns: tuple[int, int] | None) -> dict[str, Any]:
    """Return the growth of each counter of stops between two rows; null if not counted."""
    first, last = rows.row(0, named=True), rows.row(-1, named=True)
    if window_ns is not None:
        begun, ended = window_ns
        before = rows.filter(pl.col("until_ns") <= begun)
        until = rows.filter(pl.col("until_ns") <= ended)
        first = before.row(-1, named=True) if before.height else first
        last = until.row(-1, named=True) if until.height else first
    grown = {name: (first[name], last[name]) for name in COUNTERS}
    return {name: None if None in pair else pair[1] - pair[0] for name, pair in grown.items()}
