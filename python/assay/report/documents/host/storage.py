"""Types of a run's document on the disk with the data, and on the CPUs."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from assay.report.documents.figures import CountedValue, MeasuredValue


class RequestsRow(TypedDict):
    """Traced reads of one operation, or of all operations together."""

    operation: str
    reads: int
    read_bytes: int
    sequential_share: MeasuredValue
    """Share of reads that begin where the previous read ended. The sequential, near and random
    shares add up to 1; null with fewer than two reads."""
    near_share: MeasuredValue
    """Share of all reads that are near: not sequential, but within 128 KiB of the previous read's
    end."""
    random_share: MeasuredValue
    near_recent_share: MeasuredValue
    """Share of reads that begin within 128 KiB of the end of one of the 16 previous reads."""
    mean_read_bytes: MeasuredValue
    read_ahead_share: MeasuredValue
    """Share of reads by the kernel's read-ahead, which include the requested page."""
    mean_run_reads: MeasuredValue
    mean_run_bytes: MeasuredValue
    runs: int
    """Number of runs, in which each read continues where the previous one ended."""


RequestsFigure = Literal[
    "reads",
    "sequential_share",
    "near_share",
    "random_share",
    "near_recent_share",
    "mean_run_reads",
    "mean_run_bytes",
    "read_ahead_share",
]
StorageFigure = Literal[
    "reads",
    "reads_per_s",
    "read_bytes_per_s",
    "mean_read_bytes",
    "util_share",
    "usr_share",
    "sys_share",
    "iowait_share",
    "idle_share",
]
DeviceFigure = Literal["r/s", "rkB/s", "rareq-sz", "%util", "%usr", "%sys", "%iowait", "%idle"]


class DistanceRow(TypedDict):
    """Number of reads by distance from the end of the previous read."""

    forward: bool
    at_most_bytes: int | None
    """Upper end of the distance in bytes; null without limit, 0 for sequential reads."""
    reads: int


class RunLengthRow(TypedDict):
    """Number of sequential runs of disk reads in one class of length."""

    at_most_reads: int
    runs: int
    reads: int
    read_bytes: int


class RequestsSection(TypedDict):
    """The contiguity of the reads from the disk."""

    devices: list[str]
    """Devices whose requests were traced: the data's device, or the disks below it."""
    operations: list[RequestsRow]
    """Traced reads of each operation, and an entry named `all`."""
    distances: list[DistanceRow]
    """Number of reads by distance from the end of the previous read."""
    run_lengths: list[RunLengthRow]
    """Number of sequential runs by their number of reads, in powers of two."""
    others_reads: CountedValue
    """Number of reads by processes other than the engine's, which these figures exclude; null if
    the engine's processes are not known."""
    notes: list[str]
    """Sentences on data that are missing from the trace."""


DiskSeries = TypedDict(
    "DiskSeries",
    {
        "time_s": list[MeasuredValue],
        "seconds": list[MeasuredValue],
        "r/s": list[MeasuredValue],
        "rkB/s": list[MeasuredValue],
        "rrqm/s": list[MeasuredValue],
        "r_await": list[MeasuredValue],
        "rareq-sz": list[MeasuredValue],
        "w/s": list[MeasuredValue],
        "wkB/s": list[MeasuredValue],
        "wrqm/s": list[MeasuredValue],
        "w_await": list[MeasuredValue],
        "wareq-sz": list[MeasuredValue],
        "f/s": list[MeasuredValue],
        "aqu-sz": list[MeasuredValue],
        "%util": list[MeasuredValue],
    },
)


CpuSeries = TypedDict(
    "CpuSeries",
    {
        "time_s": list[MeasuredValue],
        "seconds": list[MeasuredValue],
        "%usr": list[MeasuredValue],
        "%nice": list[MeasuredValue],
        "%sys": list[MeasuredValue],
        "%iowait": list[MeasuredValue],
        "%irq": list[MeasuredValue],
        "%soft": list[MeasuredValue],
        "%steal": list[MeasuredValue],
        "%guest": list[MeasuredValue],
        "%gnice": list[MeasuredValue],
        "%idle": list[MeasuredValue],
    },
)


MeasuredPart = TypedDict(
    "MeasuredPart",
    {
        "seconds": MeasuredValue,
        "%usr": MeasuredValue,
        "%nice": MeasuredValue,
        "%sys": MeasuredValue,
        "%iowait": MeasuredValue,
        "%irq": MeasuredValue,
        "%soft": MeasuredValue,
        "%steal": MeasuredValue,
        "%guest": MeasuredValue,
        "%gnice": MeasuredValue,
        "%idle": MeasuredValue,
        "r/s": MeasuredValue,
        "rkB/s": MeasuredValue,
        "rrqm/s": MeasuredValue,
        "r_await": MeasuredValue,
        "rareq-sz": MeasuredValue,
        "w/s": MeasuredValue,
        "wkB/s": MeasuredValue,
        "wrqm/s": MeasuredValue,
        "w_await": MeasuredValue,
        "wareq-sz": MeasuredValue,
        "f/s": MeasuredValue,
        "aqu-sz": MeasuredValue,
        "%util": MeasuredValue,
    },
)


class StorageRow(TypedDict):
    """Use of the disk and the CPUs in one execution of an operation."""

    operation: str
    executions: int
    seconds: MeasuredValue
    """Service time of the execution in seconds."""
    reads: MeasuredValue
    """Number of device reads in one execution."""
    read_bytes: MeasuredValue
    mean_read_bytes: MeasuredValue
    """Mean size of a device read in bytes; null if nothing was read."""
    reads_per_s: MeasuredValue
    """Device reads a second while the operation ran."""
    read_bytes_per_s: MeasuredValue
    writes: MeasuredValue
    write_bytes: MeasuredValue
    util_share: MeasuredValue
    """Share of the execution's time in which a device request was in progress."""
    usr_share: MeasuredValue
    """Share of the time of all CPUs in user mode. The following shares refer to the same time."""
    sys_share: MeasuredValue
    iowait_share: MeasuredValue
    idle_share: MeasuredValue
    steal_share: MeasuredValue
    samples: MeasuredValue
    """Number of device samples within one execution. With few samples, the figures are rough unless
    `metered` is true."""
    metered: bool
    """Whether the device was read at the begin and end of every execution."""


class StorageSection(TypedDict):
    """Use of the disk with the data and of the host's CPUs."""

    requests: RequestsSection | None
    """Contiguity of the device's reads by traced requests; null if not traced, with the reason in
    `requests_reason`."""
    requests_reason: str | None
    """Reason why requests were not traced; null if they were."""
    device: str
    """Name of the device in the kernel."""
    interval_s: float
    """Approximate length of the series' intervals in seconds."""
    disk: DiskSeries
    """Device figures over time. `time_s` is the end of an interval since the measured part began,
    `seconds` is its length. The await and size of an interval without requests are null."""
    cpu: CpuSeries
    """CPU figures over time, in percent of the time of all CPUs."""
    measured: MeasuredPart
    """Device and CPU figures of the measured part as one interval."""
    operations: list[StorageRow]
    """Device and CPU figures of each operation as medians over its executions, in the order of
    first executions; empty if operations overlap."""
