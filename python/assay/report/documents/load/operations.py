"""Operations in the document of a run, and the causes of their time."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from assay.report.documents.figures import MeasuredValue, TimeDistribution

OperationKey = Literal[
    "name",
    "title",
    "seconds",
    "seconds_min",
    "seconds_max",
    "share",
    "parallelism",
    "threads_at_work",
    "memory_peak_bytes",
    "memory_growth_bytes",
    "memory_peak_pss_bytes",
    "engine_memory_bytes",
    "read_bytes",
    "write_bytes",
    "minor_faults",
    "rows",
    "passes",
    "throughput_per_s",
    "failed",
    "skipped",
    "retries",
    "coverage",
]

PeakKey = Literal[
    "engine_memory_bytes", "memory_peak_pss_bytes", "memory_peak_bytes", "memory_growth_bytes"
]


class CauseShares(TypedDict):
    """The causes of an operation's time: shares that add up to 1."""

    cpu_user: MeasuredValue
    """Running on a CPU, in the engine's code."""
    cpu_system: MeasuredValue
    """Running on a CPU, in the kernel."""
    run_queue: MeasuredValue
    """Ready and waiting for a CPU."""
    throttled: MeasuredValue
    """Held back by a CPU limit."""
    stolen: MeasuredValue
    """Stolen by the hypervisor while it ran."""
    disk_read: MeasuredValue
    """Waiting for a disk read."""
    disk_write: MeasuredValue
    """Waiting for a disk write or sync."""
    disk: MeasuredValue
    """Waiting for disk, if reads and writes cannot be distinguished; disk_method says how it was
    measured."""
    log: MeasuredValue
    """Waiting until the log was written and synced, or for space in it."""
    lock: MeasuredValue
    """Waiting for a lock of another session."""
    latch: MeasuredValue
    """Waiting for an internal lock (latch) of the engine or the kernel."""
    client: MeasuredValue
    """Waiting for the network or the client."""
    workers: MeasuredValue
    """Waiting for other workers of the operation."""
    idle: MeasuredValue
    """Idle time of a worker that belongs to the operation."""
    paused: MeasuredValue
    """Deliberate sleep, or stopped."""
    uncovered: MeasuredValue
    """Time of the threads at work that no source accounts for."""


class OperationRow(TypedDict):
    """One operation of the measured part."""

    name: str
    title: str
    """Short description of the operation."""
    seconds: MeasuredValue
    """Median service time over the successful passes."""
    seconds_min: MeasuredValue
    seconds_max: MeasuredValue
    share: MeasuredValue
    """Share of the sum of all medians; under a load, share of all service time."""
    outcome: Literal["ok", "failed", "skipped"]
    """Outcome of the passes; `ok` if every pass succeeded."""
    error: str | None
    """Class of the first error."""
    passes: int
    rows: int | None
    where: CauseShares
    coverage: MeasuredValue
    """Accounted share of thread time before scaling; may be above 1."""
    parallelism: MeasuredValue
    """CPU seconds used per second."""
    threads_at_work: MeasuredValue
    """Mean number of engine threads at work."""
    memory_peak_bytes: MeasuredValue
    """Highest resident memory of the engine during the operation. Memory that its processes share
    counts once."""
    memory_peak_pss_bytes: MeasuredValue
    """Highest measured sum of the proportional memory (PSS) of the engine's processes during the
    operation."""
    engine_memory_bytes: MeasuredValue
    """Memory that the engine reported with the operation's plan."""
    memory_growth_bytes: MeasuredValue
    """Highest resident memory minus the resident memory before the operation."""
    read_bytes: MeasuredValue
    """Read from storage by one execution, median."""
    write_bytes: MeasuredValue
    """Written to storage by one execution, median."""
    minor_faults: MeasuredValue
    """Page faults of one execution, median."""
    disk_method: str
    """How waiting for disk was measured."""
    failed: int
    skipped: int
    """Number of operations that were due and never started."""
    retries: int
    """Number of attempts beyond the first."""
    retries_by_class: dict[str, int]
    """Retries under a load by class of the error."""
    throughput_per_s: MeasuredValue
    """Successful executions a second under a load."""
    latency: TimeDistribution | None
    """Latency under a load, from the due time to the last row."""
    service: TimeDistribution | None
    """Service time under a load, from the start to the last row."""


class WhereSection(TypedDict):
    """The split of the run's time, and how much of it is accounted for."""

    shares: CauseShares
    coverage: MeasuredValue
    """Accounted share of thread time before scaling, including operations that are not split; may
    be above 1."""
    uncovered: list[CoverageDoubt]
    """Operations with more than 5 % of their time unaccounted for, largest share first."""
    overcounted: list[CoverageDoubt]
    """Operations with more than 105 % of their time accounted for, largest share first. Above 120 %
    they are not split."""


class CoverageDoubt(TypedDict):
    """An operation with too little or too much accounted time."""

    operation: str
    share: float
    """Missing or excess time, as a share of the time of its threads at work."""
    is_split: bool
    """Whether its time is split into parts nevertheless."""
