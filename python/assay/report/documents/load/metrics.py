"""Types of a run's document on the metrics of the whole run."""

from __future__ import annotations

from typing_extensions import TypedDict

from assay.report.documents.figures import MeasuredValue


class RunMetrics(TypedDict):
    """Metrics of a run as a whole, such as throughput."""

    total_seconds: MeasuredValue
    """Sum of the operations' median times, in seconds."""
    geometric_mean_seconds: MeasuredValue
    """Geometric mean of the operations' median times, in seconds."""
    passes: MeasuredValue
    """Minimum number of measurements of any operation."""
    measured_seconds: MeasuredValue
    """Length of the measured part in seconds."""
    memory_peak_bytes: MeasuredValue
    """Highest resident memory of the engine in the measured part, in bytes. Memory that its
    processes share counts once."""
    memory_peak_pss_bytes: MeasuredValue
    """Highest measured sum of the proportional memory (PSS) of the engine's processes."""
    engine_memory_bytes: MeasuredValue
    """Highest memory of one operation that the engine reported with a plan."""
    operations: MeasuredValue
    """Number of operations of a load that became due."""
    throughput_per_s: MeasuredValue
    """Successful operations a second under a load."""
    statements_per_s: MeasuredValue
    """Answered statements a second under a load, including those of attempts that failed and were
    retried."""
    latency_seconds_p50: MeasuredValue
    """Latency under a load, from the time an operation was due to its last row, over all successful
    operations; nearest rank."""
    latency_seconds_p90: MeasuredValue
    latency_seconds_p95: MeasuredValue
    latency_seconds_p99: MeasuredValue
    latency_seconds_p999: MeasuredValue
    """99.9th percentile of latency under a load; null for fewer than 1,000 operations."""
    latency_seconds_max: MeasuredValue
    latency_with_failed_seconds_p50: MeasuredValue
    """Latency over all operations of a load with `--timeout`. Failed and skipped operations count
    with the timeout, or with their time if it was longer; null if there were none."""
    latency_with_failed_seconds_p95: MeasuredValue
    latency_with_failed_seconds_p99: MeasuredValue
    latency_with_failed_seconds_p999: MeasuredValue
    driver_lag_seconds_p50: MeasuredValue
    """Part of an operation's latency under a load in which the load generator was busy with other
    operations, over all successful ones; null in older records."""
    driver_lag_seconds_p99: MeasuredValue
    driver_lag_seconds_max: MeasuredValue
    failed_share: MeasuredValue
    """Failed operations of a load, as a share of those that were due."""
    skipped_share: MeasuredValue
    """Operations of a load that were due and never started, as a share of the due operations."""
    retries: MeasuredValue
    """Number of attempts beyond the first under a load."""
    wasted_share: MeasuredValue
    """Time in failed attempts under a load, as a share of the time of all operations."""
    waiting_end: MeasuredValue
    """Number of operations of an open load that were due and not started at its end."""
    on_time_share: MeasuredValue
    """Share of operations of an open load that started less than a second after they were due."""
    mixes_per_s: MeasuredValue
    """Mixes a second of clients that each execute a fixed order. For one client, only the time of
    operations counts; for more clients, the elapsed time."""
    engine_cpu_seconds_per_operation: MeasuredValue
    """CPU time of the engine's processes for each issued operation of a load."""
    driver_cpu_seconds_per_operation: MeasuredValue
    """CPU time of the load generator's process for each issued operation of a load."""
