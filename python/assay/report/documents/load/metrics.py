"""Metrics in the document of a run."""

from __future__ import annotations

from typing_extensions import TypedDict

from assay.report.documents.figures import MeasuredValue


class RunMetrics(TypedDict):
    """Figures of the run as a whole."""

    total_seconds: MeasuredValue
    """Sum of the operations' medians."""
    geometric_mean_seconds: MeasuredValue
    """Geometric mean of the operations' medians."""
    passes: MeasuredValue
    """How often every operation was measured at least."""
    measured_seconds: MeasuredValue
    """Length of the measured part."""
    memory_peak_bytes: MeasuredValue
    """Highest resident memory of the engine in the measured part, what its processes share counted
    once."""
    memory_peak_pss_bytes: MeasuredValue
    """Highest sum of its processes' proportional memory that was read in it."""
    engine_memory_bytes: MeasuredValue
    """The most that the engine told of one operation when it was asked for its plan."""
    operations: MeasuredValue
    """Of a load: operations that were due."""
    throughput_per_s: MeasuredValue
    """Of a load: operations that succeeded, a second."""
    statements_per_s: MeasuredValue
    """Of a load: statements that were answered, a second: of operations that succeeded, and of
    attempts that failed and were made again."""
    latency_seconds_p50: MeasuredValue
    """Of a load: from when an operation was due to its last row, over all operations that
    succeeded; nearest rank."""
    latency_seconds_p90: MeasuredValue
    latency_seconds_p95: MeasuredValue
    latency_seconds_p99: MeasuredValue
    latency_seconds_p999: MeasuredValue
    """Null for fewer than 1,000 operations."""
    latency_seconds_max: MeasuredValue
    latency_with_failed_seconds_p50: MeasuredValue
    """Of a load with `--timeout` in which operations failed or never started: the same over all
    operations, with those at their time-out, or at the longer time that they took."""
    latency_with_failed_seconds_p95: MeasuredValue
    latency_with_failed_seconds_p99: MeasuredValue
    latency_with_failed_seconds_p999: MeasuredValue
    driver_lag_seconds_p50: MeasuredValue
    """Of a load: how much of an operation's latency the load generator was busy with other
    operations; over all that succeeded. Null in records from before it was measured."""
    driver_lag_seconds_p99: MeasuredValue
    driver_lag_seconds_max: MeasuredValue
    failed_share: MeasuredValue
    """Of a load: of the operations that were due."""
    skipped_share: MeasuredValue
    """Of a load: due and never started."""
    retries: MeasuredValue
    """Of a load: attempts beyond the first."""
    wasted_share: MeasuredValue
    """Of a load: of the time of all operations, that of attempts that failed."""
    waiting_end: MeasuredValue
    """Of an open load: operations due and not started at its end."""
    on_time_share: MeasuredValue
    """Of an open load: started less than a second after they were due."""
    mixes_per_s: MeasuredValue
    """Of clients that play an order by themselves: mixes a second, of the time of operations with
    one client, else by the clock."""
    engine_cpu_seconds_per_operation: MeasuredValue
    """Of a load: CPU time of the engine's processes for each operation that was issued."""
    driver_cpu_seconds_per_operation: MeasuredValue
    """Of a load: the same of the load generator's process."""
