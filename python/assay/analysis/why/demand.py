"""Measures service demand: an operation's resource use without limits.

A limit of the disk is compared with the rate at which the operation reads *while it reads*.
Compared with the mean rate over its whole time, any limit would seem to bind, and an operation
that computes would seem bound by the disk.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.host.operation_reads import operation_reads
from assay.analysis.host.task_counters import readings
from assay.analysis.time.where import where_time_went

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.record.reader import Run

WAITING = ("disk_read", "disk_write", "disk")
ON_CPU = ("cpu_user", "cpu_system")


@dataclass(frozen=True)
class Demand:
    """The resource use of one execution of an operation: medians over executions.

    Attributes:
        seconds: Service time.
        cores: CPU seconds per second.
        shares: Shares of its threads' time by cause; empty if not sampled.
        read_bytes: Bytes read from storage; None if not counted.
        mean_read_bytes: Mean size of a read of the data's device; None without reads.
    """

    seconds: float
    cores: float | None
    shares: Mapping[str, float]
    read_bytes: float | None
    mean_read_bytes: float | None

    @property
    def reads(self) -> float | None:
        """The number of disk reads of the operation; None if not known."""
        if self.read_bytes is None or not self.mean_read_bytes:
            return 0.0 if self.read_bytes == 0 else None
        return self.read_bytes / self.mean_read_bytes

    @property
    def reading_share(self) -> float | None:
        """The share of time spent on reading: disk waits and kernel time, at most 1.

        All CPU time in the kernel counts, because an operation that reads from disk does little
        else there.
        """
        if not self.shares:
            return None
        waiting = sum(self.shares.get(cause, 0.0) for cause in WAITING)
        return min(1.0, waiting + self.shares.get("cpu_system", 0.0))

    @property
    def kernel_share(self) -> float | None:
        """The kernel's share of the operation's CPU time; None without samples."""
        user, system = (self.shares.get(cause, 0.0) for cause in ON_CPU)
        return system / (user + system) if user + system > 0 else None

    @property
    def reads_per_s(self) -> float | None:
        """The disk reads per second over the whole operation; None if not known."""
        return self.reads / self.seconds if self.reads is not None else None

    @property
    def reads_per_s_reading(self) -> float | None:
        """The disk reads per second during the time spent reading; None if not known."""
        share = self.reading_share
        return self.reads / (self.seconds * share) if self.reads and share else None


def demand_of(runs: Sequence[Run], operation: str) -> Demand | None:
    """Return the median resource use of an operation over runs; None if none succeeded.

    Args:
        runs: Runs in which no resource was made scarce.
        operation: Name of the operation.
    """
    demands = [demand for run in runs if (demand := _run_demand(run, operation)) is not None]
    if not demands:
        return None
    causes = {cause for demand in demands for cause in demand.shares}
    return Demand(
        median(demand.seconds for demand in demands),
        _median([demand.cores for demand in demands]),
        {cause: median(demand.shares.get(cause, 0.0) for demand in demands) for cause in causes},
        _median([demand.read_bytes for demand in demands]),
        _median([demand.mean_read_bytes for demand in demands]),
    )


def _run_demand(run: Run, operation: str) -> Demand | None:
    own = pl.col("operation") == operation
    executions = operation_reads(run).filter(own)
    if executions.is_empty():
        return None
    split = where_time_went(run)[0].get(operation, {}).get("where", {})
    shares = {cause: share for cause, share in split.items() if share is not None}
    counted = _counted(run, operation)
    cores = counted.select(pl.col("on_cpu_ns") / pl.col("wall_ns")).to_series()
    # The kernel counts reads of the engine's processes only; a device counts all programs'
    # reads.
    own_bytes = _middle(counted["read_bytes"])
    read_bytes = _middle(executions["read_bytes"]) if own_bytes is None else own_bytes
    size = _middle(executions["mean_read_bytes"])
    return Demand(_middle(executions["seconds"]) or 0.0, _middle(cores), shares, read_bytes, size)


def _counted(run: Run, operation: str) -> pl.DataFrame:
    """Return the engine's counters around each execution; empty if they were not recorded."""
    if not run.has("tasks"):
        return pl.DataFrame(schema=dict.fromkeys(("on_cpu_ns", "wall_ns", "read_bytes"), pl.Int64))
    rows = readings(run.table("events"), run.table("tasks"))
    return rows.filter(pl.col("operation") == operation)


def _middle(values: pl.Series) -> float | None:
    middle = values.drop_nulls().median()
    return float(middle) if isinstance(middle, int | float) else None


def _median(values: Sequence[float | None]) -> float | None:
    numbers = [value for value in values if value is not None]
    return median(numbers) if numbers else None
