"""Measures waits of statements: time in which an engine thread that serves them slept.

If a server has a process per session, the session's process is measured. Threads of one process
do not show whom they work for. The thread that worked most then counts as the session's. Of all
other threads, which may write its log, only waits for a disk count. Run queue time is counted by
the kernel between samples, and assumed to be evenly distributed between them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.operations import NS
from assay.analysis.profile.samples import owners_of
from assay.analysis.profile.statement_work import KEYS, executed
from assay.analysis.server.sessions import BESIDE
from assay.analysis.time.waiting import named_spans
from assay.analysis.waits import threads
from assay.analysis.waits.naming import DISK_STATE, slept
from assay.analysis.waits.spans import RUNNING, existed, growth, lives_of, looked, spans_of

if TYPE_CHECKING:
    from assay.record.reader import Run

# Other reasons of sleep show nothing about the statement.
WAITS = ("disk_read", "disk_write", "disk", "log", "lock", "latch")
RUN_QUEUE = "run_queue"


@lru_cache(maxsize=16)
def statement_waits(run: Run) -> pl.DataFrame | None:
    """Return the seconds that an execution of each statement waited, by cause.

    None for a run without samples of threads, with several sessions, or with overlapping
    statements.
    """
    executions = executed(run)
    if executions is None or executions["session"].n_unique() != 1:
        return None
    if not run.has("waits") or run.table("waits").is_empty():
        return None
    spans = _of_session(run, spans_of(run.table("waits")))
    if spans.is_empty():
        return None
    asleep = named_spans(run, spans.with_columns(pl.lit(value=False).alias("with_workers"))).filter(
        pl.col("state") != RUNNING
    )
    is_known = pl.col("by_kernel").is_in(WAITS) | pl.col("by_word").is_not_null()
    if owners_of(run) is None:
        worked = pl.col("on_cpu_ns").max() - pl.col("on_cpu_ns").min()
        most = spans.group_by("life", maintain_order=True).agg(worked).sort("on_cpu_ns")["life"][-1]
        is_known &= (pl.col("life") == most) | (pl.col("state") == DISK_STATE)
    passes = executions.select(
        pl.int_range(pl.len(), dtype=pl.UInt64).alias("sequence"),
        pl.struct(KEYS).rank("dense").cast(pl.String).alias("operation"),
        "started_ns",
        "finished_ns",
    )
    placed = looked(asleep.filter(is_known), passes).with_columns(
        pl.lit(threads.LEADER).alias("kind")
    )
    sleeps = (
        slept(placed).filter(pl.col("cause").is_in(WAITS)).select("operation", "cause", "looked_ns")
    )
    queued = (
        growth(spans, existed(lives_of(spans), passes))
        .group_by("operation", maintain_order=True)
        .agg(pl.col("run_delay_grown_ns").sum().alias("looked_ns"))
        .select("operation", pl.lit(RUN_QUEUE).alias("cause"), "looked_ns")
    )
    names = (
        executions.with_columns(pl.struct(KEYS).rank("dense").cast(pl.String).alias("key"))
        .group_by("key", *KEYS, maintain_order=True)
        .agg(pl.len().alias("executions"))
    )
    return (
        pl.concat([sleeps, queued])
        .rename({"operation": "key"})
        .join(names, on="key")
        .group_by(*KEYS, "cause", maintain_order=True)
        .agg((pl.col("looked_ns").sum() * NS / pl.col("executions").first()).alias("seconds"))
    )


def _of_session(run: Run, spans: pl.DataFrame) -> pl.DataFrame:
    """Return the thread states of processes that serve a session, if sessions are processes."""
    served = owners_of(run)
    if served is None:
        return spans
    pids = served.filter(~pl.col("owner").is_in(BESIDE))["pid"].cast(pl.UInt32)
    return spans.filter(pl.col("pid").cast(pl.UInt32).is_in(pids.implode()))
