"""Rates and latencies of a run's measured part under a mix of transactions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.load.latency import measured_times, succeeded
from assay.analysis.load.summary import summarise_load
from assay.analysis.load.transactions import transactions
from assay.analysis.operations import NS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.analysis.load.latency import Distribution
    from assay.analysis.load.transactions import Rate
    from assay.record.reader import Run


@dataclass(frozen=True)
class Mix:
    """Rates and latencies of a run's measured part; times include only successful operations.

    Attributes:
        per_s: Successful operations a second.
        mean_s: Mean latency of all operations; the inverse of the rate for one client without think
            time.
        means_s: Mean latency by operation, without operations that never succeeded.
        latency: Latency distribution by operation.
        retries: Number of retried attempts.
        failed: Operations that failed in all attempts.
        rate: Rate that the workload's specification defines; None without one.
    """

    per_s: float
    mean_s: float
    means_s: Mapping[str, float]
    latency: Mapping[str, Distribution]
    retries: int
    failed: int
    rate: Rate | None


@lru_cache(maxsize=512)
def mix_of(run: Run) -> Mix | None:
    """Return rates and latencies of a run under load; None if no operation succeeded."""
    load = summarise_load(run)
    if load is None or not load.all_operations.ok:
        return None
    done = succeeded(measured_times(run.table("events")))
    means = dict(
        done.group_by(pl.col("operation").cast(pl.String))
        .agg(pl.col("latency_ns").mean() * NS)
        .sort("operation")
        .iter_rows()
    )
    mix_figures = transactions(run, load)
    return Mix(
        per_s=load.all_operations.throughput_per_s,
        mean_s=float(done["latency_ns"].sum()) * NS / done.height,
        means_s=means,
        latency={name: operation.latency for name, operation in load.by_name.items()},
        retries=load.all_operations.retries,
        failed=load.all_operations.failed,
        rate=None if mix_figures is None else mix_figures.rate,
    )


def operations_of(run: Run) -> list[str]:
    """Return the names of a run's operations, in the order of its workload."""
    return [str(name) for name in run.facts["plan"]["operations"]]
