"""Measures the traffic of the disk that holds the data, in the measured part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.counters.engine_counters import around
from assay.analysis.host.disk_series import KIB, UTIL, data_device, iostat
from assay.analysis.host.slots import SECONDS
from assay.analysis.operations import window_of

if TYPE_CHECKING:
    from assay.record.reader import Run


@dataclass(frozen=True)
class DiskUse:
    """The use of the disk that holds the data in the measured part, by all programs.

    Attributes:
        device: The kernel's name of the disk.
        seconds: Time between the two samples around the measured part.
        moved_bytes: Bytes read and written by all programs.
        busy_share: Share of the time in which a request was in progress.
    """

    device: str
    seconds: float
    moved_bytes: float
    busy_share: float


def disk_use_of(run: Run) -> DiskUse | None:
    """Return the traffic of the disk that holds the data; None if it was not sampled."""
    device, window = data_device(run), window_of(run)
    if device is None or window is None or not run.has("disks"):
        return None
    disks = run.table("disks").with_columns(pl.col("device", "kind").cast(pl.String))
    own = around(disks.filter(pl.col("device") == device), *window)
    edges = own.filter(pl.col("time_ns").is_in([own["time_ns"].min(), own["time_ns"].max()]))
    spans = iostat(edges, window[0])
    if spans.is_empty():
        return None
    row = spans.row(-1, named=True)
    moved_bytes = (row["rkB/s"] + row["wkB/s"]) * KIB * row[SECONDS]
    return DiskUse(device, row[SECONDS], moved_bytes, row[UTIL] / 100)
