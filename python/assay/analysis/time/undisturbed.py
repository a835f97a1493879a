"""Measures the time that threads waited for a CPU that other programs used.

On a busy host, waits for a CPU are most of the noise, and no part of the engine's own time. They
are measured per thread, so they can be subtracted from times that are compared. Time that a CPU
quota holds back counts as a wait for a CPU, too; runs with a quota are compared without
correction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.host.task_counters import readings
from assay.analysis.load_plan import load_of

if TYPE_CHECKING:
    from assay.record.reader import Run

# A larger waiting share means that the counters report more time than elapsed.
WAITING_SHARE_MAX = 0.95


def waiting_shares(run: Run) -> dict[str, float]:
    """Return the median share of time that each operation's thread waited for a CPU.

    Operations with several threads are left out: their threads compete with each other, and the
    counters do not show whom they waited for. The result is empty without counters, and for a
    load, whose operations overlap.
    """
    if load_of(run.facts) is not None or not run.has("tasks"):
        return {}
    rows = readings(run.table("events"), run.table("tasks"))
    share = (pl.col("run_delay_ns") / pl.col("wall_ns")).clip(0.0, WAITING_SHARE_MAX)
    shares = (
        rows.filter(
            (pl.col("threads_at_work").max().over("operation") == 1) & (pl.col("wall_ns") > 0)
        )
        .group_by("operation", maintain_order=True)
        .agg(share.drop_nulls().median().alias("share"))
        .drop_nulls()
    )
    return dict(shares.iter_rows())
