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
    """On a CPU, in the engine's code."""
    cpu_system: MeasuredValue
    """On a CPU, in the kernel."""
    run_queue: MeasuredValue
    """Ready, waiting for a CPU."""
    throttled: MeasuredValue
    """Held back by a CPU limit."""
    stolen: MeasuredValue
    """Stolen by the hypervisor while it ran."""
    disk_read: MeasuredValue
    """Asleep until a disk had read."""
    disk_write: MeasuredValue
    """Asleep until a disk had written or synced."""
    disk: MeasuredValue
    """Waiting for disk where read and write cannot be told; disk_method says how it is known."""
    log: MeasuredValue
    """Asleep until the log was written and synced, or for room in it."""
    lock: MeasuredValue
    """Asleep for a lock that another held."""
    latch: MeasuredValue
    """Asleep for a short lock inside of the engine or the kernel."""
    client: MeasuredValue
    """Asleep for the network or the client."""
    workers: MeasuredValue
    """Asleep until other workers of the operation had done their part."""
    idle: MeasuredValue
    """A worker at work that had nothing to do."""
    paused: MeasuredValue
    """Asleep because it was told to, or stopped."""
    uncovered: MeasuredValue
    """Time of the threads at work that no source accounts for."""


class OperationRow(TypedDict):
    """One operation of the measured part."""

    name: str
    title: str
    """What it asks for, in a few words."""
    seconds: MeasuredValue
    """Median service time over the passes that succeeded."""
    seconds_min: MeasuredValue
    seconds_max: MeasuredValue
    share: MeasuredValue
    """Of the sum of all medians; under a load of all service time."""
    outcome: Literal["ok", "failed", "skipped"]
    """ok: every pass succeeded."""
    error: str | None
    """Class of the first error."""
    passes: int
    rows: int | None
    where: CauseShares
    coverage: MeasuredValue
    """Accounted share of thread time before scaling; may be above 1."""
    parallelism: MeasuredValue
    """CPU seconds a second."""
    threads_at_work: MeasuredValue
    """Engine threads at work, mean."""
    memory_peak_bytes: MeasuredValue
    """Highest resident memory of the engine during it, what its processes share counted once."""
    memory_peak_pss_bytes: MeasuredValue
    """Highest sum of its processes' proportional memory that was read during it."""
    engine_memory_bytes: MeasuredValue
    """By the engine's own account, when it was asked for its plan."""
    memory_growth_bytes: MeasuredValue
    """By how much that was above what was resident before it."""
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
    """Due and never started."""
    retries: int
    """Attempts beyond the first."""
    retries_by_class: dict[str, int]
    """Of a load: the same by class of the error that each came of."""
    throughput_per_s: MeasuredValue
    """Of a load: how often it succeeded, a second."""
    latency: TimeDistribution | None
    """Of a load: from when it was due to its last row."""
    service: TimeDistribution | None
    """Of a load: from when it was started to its last row."""


class WhereSection(TypedDict):
    """The split of the run's time, and how much of it is accounted for."""

    shares: CauseShares
    coverage: MeasuredValue
    """Accounted share of thread time before scaling, of operations that are not split, too; may be
    above 1."""
    uncovered: list[CoverageDoubt]
    """Operations of which more than 5 % is not accounted for, most first."""
    overcounted: list[CoverageDoubt]
    """Operations of which more than 105 % is accounted for, most first. Above 120 % they are not
    split."""


class CoverageDoubt(TypedDict):
    """An operation of which too little or too much is accounted for."""

    operation: str
    share: float
    """How much is missing, or too much, of the time of its threads at work."""
    is_split: bool
    """Whether its parts are told all the same."""
