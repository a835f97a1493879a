"""Selects the host's counters over time, in the form of an engine's counters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from assay.analysis.host.cpu_series import cpu_series
from assay.analysis.host.disk_series import data_device, disk_series
from assay.model.units import BYTES, SECONDS

if TYPE_CHECKING:
    from assay.record.reader import Run

KIB = 1 << 10
MS = 1e-3
GAUGE, COUNTER = "gauge", "counter"


class Figure(NamedTuple):
    """A host counter for display: a column of a time series, with title, unit and factor."""

    name: str
    title: str
    unit: str
    kind: str
    column: str
    scale: float


OF_DEVICE = (
    Figure("host_written", "Written to the data's device", BYTES, COUNTER, "wkB/s", KIB),
    Figure("host_write_time", "Time of a write to the device", SECONDS, GAUGE, "w_await", MS),
    Figure("host_flush_time", "Time of a flush of the device", SECONDS, GAUGE, "f_await", MS),
    Figure("host_read", "Read from the data's device", BYTES, COUNTER, "rkB/s", KIB),
)
OF_CPUS = (Figure("host_steal", "CPU time that the hypervisor took", "%", GAUGE, "%steal", 1.0),)


def host_figures(run: Run) -> dict[str, Any]:
    """Return the host's counters, their rates and time series, in the form of engine counters.

    The lists are empty if nothing was sampled. Values of counters are rates per second; values
    of gauges are those of the interval.
    """
    device = data_device(run)
    parts: list[tuple[pl.DataFrame, tuple[Figure, ...]]] = [(cpu_series(run, None), OF_CPUS)]
    if device is not None:
        disks = disk_series(run, None, device)
        parts.append((disks.filter(pl.col("device") == device), OF_DEVICE))
    document: dict[str, Any] = {"counters": [], "series": []}
    for series, figures in parts:
        for figure in figures:
            if series.is_empty():
                continue
            names = {key: getattr(figure, key) for key in ("name", "title", "unit", "kind")}
            values = (series[figure.column] * figure.scale).to_list()
            document["counters"].append(names)
            document["series"].append(
                {"name": figure.name, "time_s": series["time_s"].to_list(), "values": values}
            )
    return document
