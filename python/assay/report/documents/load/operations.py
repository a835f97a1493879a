"""Types of a run's document on operations and the causes of their time."""

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
    """The causes of an operation's time, as shares that add up to 1."""

    cpu_user: MeasuredValue
    """Share of time on a CPU in the engine's code."""
    cpu_system: MeasuredValue
    """Share of time on a CPU in the kernel."""
    run_queue: MeasuredValue
    """Share of time ready to run and waiting for a CPU."""
    throttled: MeasuredValue
    """Share of time in which a CPU limit held the engine back."""
    stolen: MeasuredValue
    """Share of time that the hypervisor took while the operation ran."""
    disk_read: MeasuredValue
    """Share of time waiting for a disk read."""
    disk_write: MeasuredValue
    """Share of time waiting for a disk write or sync."""
    disk: MeasuredValue
    """Share of time waiting for a disk, if reads and writes cannot be distinguished; `disk_method`
    says how it was measured."""
    log: MeasuredValue
    """Share of time waiting until the log was written and synced, or for space in the log."""
    lock: MeasuredValue
    """Share of time waiting for a lock that another session holds."""
    latch: MeasuredValue
    """Share of time waiting for an internal lock (latch) of the engine or the kernel."""
    client: MeasuredValue
    """Share of time waiting for the network or the client."""
    workers: MeasuredValue
    """Share of time waiting for other workers of the operation."""
    idle: MeasuredValue
    """Share of time in which a worker of the operation was idle."""
    paused: MeasuredValue
    """Share of time in a deliberate sleep, or stopped."""
    uncovered: MeasuredValue
    """Share of time of the threads at work that no source accounts for."""


class OperationRow(TypedDict):
    """Times and resource use of one operation in the measured part."""

    name: str
    title: str
    """Short description of the operation."""
    seconds: MeasuredValue
    """Median service time over the successful passes, in seconds."""
    seconds_min: MeasuredValue
    seconds_max: MeasuredValue
    share: MeasuredValue
    """The operation's share of the sum of all medians; under a load, its share of all service
    time."""
    outcome: Literal["ok", "failed", "skipped"]
    """Outcome of the operation's passes; `ok` if every pass succeeded."""
    error: str | None
    """Class of the operation's first error; null without an error."""
    passes: int
    rows: int | None
    where: CauseShares
    coverage: MeasuredValue
    """Accounted share of the operation's thread time before scaling; may be above 1."""
    parallelism: MeasuredValue
    """CPU seconds that the operation used per second."""
    threads_at_work: MeasuredValue
    """Mean number of engine threads at work for the operation."""
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
    """Median number of bytes read from storage by one execution."""
    write_bytes: MeasuredValue
    """Median number of bytes written to storage by one execution."""
    minor_faults: MeasuredValue
    """Median number of page faults of one execution."""
    disk_method: str
    """Method by which waiting for disk was measured."""
    failed: int
    skipped: int
    """Number of executions that were due and never started."""
    retries: int
    """Number of attempts of the operation beyond the first."""
    retries_by_class: dict[str, int]
    """Number of retries under a load, by class of the error."""
    throughput_per_s: MeasuredValue
    """Successful executions of the operation a second, under a load."""
    latency: TimeDistribution | None
    """Latency of the operation under a load, from the due time to the last row."""
    service: TimeDistribution | None
    """Service time of the operation under a load, from the start to the last row."""


class WhereSection(TypedDict):
    """The split of the run's time by cause, and the share of it that is accounted for."""

    shares: CauseShares
    coverage: MeasuredValue
    """Accounted share of thread time before scaling, including operations whose time is not split;
    may be above 1."""
    uncovered: list[CoverageDoubt]
    """Operations with more than 5 % of their time unaccounted for, largest share first."""
    overcounted: list[CoverageDoubt]
    """Operations with more than 105 % of their time accounted for, largest share first. Above 120
    %, the operation's time is not split."""


class CoverageDoubt(TypedDict):
    """An operation of which too little or too much time is accounted for."""

    operation: str
    share: float
    """Missing or excess time, as a share of the time of the operation's threads at work."""
    is_split: bool
    """Whether the operation's time is split into parts nevertheless."""
