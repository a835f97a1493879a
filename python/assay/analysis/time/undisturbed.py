"""Measures the time threads were ready to run while other programs had the CPU.

On a busy host that is most of the noise, and no part of what an engine takes. It is measured,
thread by thread, so it can be taken out of times that are compared. What a quota of CPU time holds
back counts as waiting for a CPU, too: such runs are compared as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.host.task_counters import readings
from assay.analysis.load_plan import load_of

if TYPE_CHECKING:
    from assay.record.reader import Run

# Where more than this seems to have been waiting, the counters tell more than there was.
WAITING_SHARE_MAX = 0.95


def waiting_shares(run: Run) -> dict[str, float]:
    """Return by operation the median share of time its thread was ready without a CPU.

    None of an operation with several threads: they take CPUs from one another, which is the
    engine's own affair, and nobody knows whom each of them waited for. Empty where nobody counted,
    and of a load, whose operations overlap.
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
