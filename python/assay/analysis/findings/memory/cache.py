"""Cache hits and misses of an engine, and the misses that were read from storage."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.findings.size import CAUSE_SHARE_MIN
from assay.analysis.operations import is_measured
from assay.analysis.time.operation_tree import COMPUTING, FOR_CPU, KERNEL, UNEXPLAINED
from assay.analysis.time.plan_share import DISK

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from assay.analysis.findings.case import Case

# Names of the counters by which an engine declares the hits and misses of its cache.
HITS, MISSES, MISSED_BYTES = "buffer_hits", "buffer_reads", "buffer_read_bytes"
# Data that take a smaller share of a memory limit stay in memory beside what the engine needs.
DATA_SHARE_MIN = 0.5
# The kernel copies bytes to files and sockets at this rate or faster.
COPIED_BYTES_PER_S = 200e6
QUEUE = FOR_CPU["run_queue"]
# Some engines count cache requests instead of hits.
REQUESTS = "buffer_requests"


def missed_share(case: Case) -> float | None:
    """Return the share of page requests that missed the engine's cache; None if not counted."""
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
    """Return the thread-seconds (elapsed time summed over threads) of all measured executions."""
    return sum(thread_seconds(case).values())


def thread_seconds(case: Case) -> dict[str, float]:
    """Return each operation's thread-seconds in its measured executions, which may overlap."""
    seconds = case.executions.filter(is_measured(case.executions))
    threads = {op.name: max(1.0, op.threads_at_work or 1.0) for op in case.operations}
    by_operation = seconds.group_by("operation", maintain_order=True).agg(pl.col("seconds").sum())
    return {name: threads.get(name, 1.0) * (took or 0.0) for name, took in by_operation.iter_rows()}


def copying_share(case: Case, copied_bytes: float) -> float:
    """Return an upper limit of the share of the operations' time that copying bytes takes.

    The share is 1 if the operations' time is not known.
    """
    whole_s = sum((op.seconds or 0.0) * op.passes for op in case.operations)
    return min(1.0, copied_bytes / COPIED_BYTES_PER_S / whole_s) if whole_s else 1.0


def waited_for_disk(case: Case, operations: Iterable[str]) -> bool:
    """Return True if operations with temporary files waited for a disk for a relevant time.

    Files that stay in the page cache cost a copy, and an operator does the same work on rows in
    memory. Some sorts are faster in small pieces.
    """
    waits = case.part(*DISK)
    waited = {name: waits[name] for name in operations if name in waits}
    return case.of_run(waited) >= CAUSE_SHARE_MIN


def unnamed_reads(case: Case) -> tuple[str, ...]:
    """Return the cause for disk waits of unknown direction, if the run mostly reads."""
    written = sum(op.write_bytes or 0.0 for op in case.operations)
    read = sum(op.read_bytes or 0.0 for op in case.operations)
    return ("disk",) if read > written else ()


def evicts(case: Case) -> bool:
    """Return True if a memory limit evicted pages, because the data do not fit in memory.

    A run that was asked to begin without its data in memory reads them with any limit.
    """
    limit = case.memory_limit
    if limit is None or not limit.felt or case.asked_to_read:
        return False
    return case.data_bytes is None or case.data_bytes >= DATA_SHARE_MIN * limit.asked


def saved_by_cache(case: Case, waits: Mapping[str, float]) -> tuple[float, float]:
    """Return the least and the greatest share of the run's time that data in memory would save.

    The least is the waiting for reads alone. For each read, the kernel also makes room in memory,
    starts the transfer and copies the pages; then the thread waits for a CPU. Short waits are often
    between two samples, so that they are not explained. The greatest saving contains all this time.

    Args:
        case: The run.
        waits: Share of each operation's time that it waited for reads.
    """
    beside = (f"{COMPUTING}/{KERNEL}", f"{COMPUTING}/{QUEUE}", UNEXPLAINED)
    most = {
        name: waited + sum(case.trees[name].share_of(part) for part in beside)
        for name, waited in waits.items()
        if name in case.trees
    }
    least = case.of_run(waits)
    return least, max(least, case.of_run(most))


def power_of_two(needed_bytes: float, most_bytes: float | None) -> int:
    """Return the smallest power of two that is enough bytes, but at most the allowed number."""
    value = 1 << (math.ceil(needed_bytes) - 1).bit_length()
    if most_bytes is None:
        return value
    return min(value, 1 << (int(most_bytes).bit_length() - 1))
