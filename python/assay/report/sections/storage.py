"""Makes the document section `storage`: disk and CPU use over time.

The section's series have the names and units of iostat and mpstat.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, cast

import polars as pl

from assay.analysis.host.cpu_series import ALL, PARTS, cpu_series, mpstat
from assay.analysis.host.disk_series import data_device, disk_series, iostat
from assay.analysis.host.operation_reads import SHARES, operation_reads
from assay.analysis.host.slots import SECONDS, TIME, around
from assay.analysis.operations import NS, window_of
from assay.model.errors import RecordUnreadableError
from assay.report.sections.requests import requests_section, why_no_requests

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.record.reader import Run
    from assay.report.documents.host.storage import (
        CpuSeries,
        DiskSeries,
        MeasuredPart,
        StorageRow,
        StorageSection,
    )

log = logging.getLogger(__name__)

# No screen shows more points, and each point has 16 figures.
POINTS_MAX = 240
INTERVALS_S = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0)
DISK_WORDS = (
    *("r/s", "rkB/s", "rrqm/s", "r_await", "rareq-sz"),
    *("w/s", "wkB/s", "wrqm/s", "w_await", "wareq-sz"),
    *("f/s", "aqu-sz", "%util"),
)
CPU_WORDS = tuple(PARTS)
# Figures of an operation; each is the median over its executions.
FIGURES = (
    *("seconds", "reads", "read_bytes", "mean_read_bytes", "reads_per_s", "read_bytes_per_s"),
    *("writes", "write_bytes", "util_share", *SHARES, "samples"),
)
DIGITS = 3


def storage_section(run: Run) -> StorageSection | None:
    """Return the document section `storage`; None if the disk was not observed."""
    try:
        return _section(run)
    except RecordUnreadableError as error:
        log.info("the disk of run %s is not known: %s", run.id, error)
        return None


def interval_for(span_s: float, sampled_s: float) -> float:
    """Return the shortest round interval in seconds that gives few enough points."""
    fitting = (
        interval
        for interval in INTERVALS_S
        if interval >= sampled_s and span_s / interval <= POINTS_MAX
    )
    return next(fitting, INTERVALS_S[-1])


def _section(run: Run) -> StorageSection | None:
    device, window = data_device(run), window_of(run)
    if device is None or window is None or not (run.has("disks") and run.has("cpus")):
        return None
    span_s = (window[1] - window[0]) * NS
    interval_s = interval_for(span_s, run.facts["request"]["probe_interval_s"])
    disk = _within(disk_series(run, interval_s, device), span_s)
    if disk.is_empty():
        return None
    return {
        "device": device,
        "interval_s": interval_s,
        "disk": cast("DiskSeries", _columns(disk, DISK_WORDS)),
        "cpu": cast("CpuSeries", _columns(_within(cpu_series(run, interval_s), span_s), CPU_WORDS)),
        "measured": _measured(run, device, window),
        "operations": _operations(run, device),
        "requests": requests_section(run),
        "requests_reason": why_no_requests(run),
    }


def _within(series: pl.DataFrame, span_s: float) -> pl.DataFrame:
    """Return the intervals of a time series that overlap the measured part."""
    begun_s = pl.col(TIME) - pl.col(SECONDS)
    return series.filter((pl.col(TIME) > 0) & (begun_s < span_s))


def _columns(series: pl.DataFrame, names: Sequence[str]) -> dict[str, list[float | None]]:
    return series.select(pl.col(TIME, SECONDS, *names).round(DIGITS)).to_dict(as_series=False)


def _measured(run: Run, device: str, window: tuple[int, int]) -> MeasuredPart:
    """Return disk and CPU use of the whole measured part; None for streams without rows."""
    disks = run.table("disks").with_columns(pl.col("device", "kind").cast(pl.String))
    own = disks.filter(pl.col("device") == device)
    disk = iostat(around(own, *window), window[0])
    cpu = mpstat(around(run.table("cpus"), *window), window[0]).filter(pl.col("cpu") == ALL)
    figures = _last(cpu, CPU_WORDS) | _last(disk, (SECONDS, *DISK_WORDS))
    return cast("MeasuredPart", figures)


def _last(series: pl.DataFrame, names: Sequence[str]) -> dict[str, float | None]:
    if series.is_empty():
        return dict.fromkeys(names)
    row = series.select(names).row(-1, named=True)
    return {name: None if value is None else round(value, DIGITS) for name, value in row.items()}


def _operations(run: Run, device: str) -> list[StorageRow]:
    medians = [pl.col(name).median() for name in FIGURES]
    medians.append(pl.col("metered").all())
    rows = (
        operation_reads(run, device)
        .group_by("operation", maintain_order=True)
        .agg(pl.len().alias("executions"), *medians)
    )
    return cast("list[StorageRow]", rows.to_dicts())
