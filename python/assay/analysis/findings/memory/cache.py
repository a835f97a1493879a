"""Cache hits and misses of an engine, and the misses that were read from storage."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.operations import is_measured

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case

# Names of the counters by which an engine declares the hits and misses of its cache.
HITS, MISSES, MISSED_BYTES = "buffer_hits", "buffer_reads", "buffer_read_bytes"
# Some engines count cache requests instead of hits.
REQUESTS = "buffer_requests"


def missed_share(case: Case) -> float | None:
    """Return the miss share of the engine's cache; None if not counted."""
    hits, misses = case.total(HITS), case.total(MISSES)
    requests = case.total(REQUESTS)
    if hits is None and requests is not None and misses is not None:
        hits = max(0.0, requests - misses)
    if hits is None or misses is None or hits + misses <= 0:
        return None
    return misses / (hits + misses)


def storage_bytes(case: Case) -> float | None:
    """Return the bytes that measured executions read from storage; None if not measured."""
    measured = case.executions.filter(is_measured(case.executions))["read_bytes"].drop_nulls()
    return float(measured.sum()) if len(measured) else None


def measured_thread_seconds(case: Case) -> float:
    """Return the thread-seconds of all measured executions."""
    seconds = case.executions.filter(is_measured(case.executions))
    threads = {op.name: max(1.0, op.threads_at_work or 1.0) for op in case.operations}
    by_operation = seconds.group_by("operation", maintain_order=True).agg(pl.col("seconds").sum())
    return sum(threads.get(name, 1.0) * (took or 0.0) for name, took in by_operation.iter_rows())
