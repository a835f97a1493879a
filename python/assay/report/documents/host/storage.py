"""The data's device and the CPUs in the document of a run."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from assay.report.documents.figures import CountedValue, MeasuredValue


class RequestsRow(TypedDict):
    """Traced reads of one operation, or of all together."""

    operation: str
    reads: int
    read_bytes: int
    sequential_share: MeasuredValue
    """Share of reads that begin where the previous one ended. The three shares add up to 1; null
    with fewer than two reads."""
    near_share: MeasuredValue
    """Share of reads that begin within 128 KiB of the previous one's end."""
    random_share: MeasuredValue
    near_recent_share: MeasuredValue
    """Share of reads that begin within 128 KiB of the end of one of the 16 previous reads."""
    mean_read_bytes: MeasuredValue
    read_ahead_share: MeasuredValue
    """Share of reads by the kernel's read-ahead, which include the requested page."""
    mean_run_reads: MeasuredValue
    mean_run_bytes: MeasuredValue
    runs: int
    """Number of runs of sequential reads."""


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
    """Number of reads by distance from the end of the previous one."""

    forward: bool
    at_most_bytes: int | None
    """Upper end of the distance; null without limit, 0 for sequential reads."""
    reads: int


class RunLengthRow(TypedDict):
    """The sequential runs of one length."""

    at_most_reads: int
    runs: int
    reads: int
    read_bytes: int


class RequestsSection(TypedDict):
    """The contiguity of reads from the device."""

    devices: list[str]
    """Devices whose requests were traced: the data's device, or the disks below it."""
    operations: list[RequestsRow]
    """One entry for each operation, and one named `all`."""
    distances: list[DistanceRow]
    """Reads by distance from the end of the previous one."""
    run_lengths: list[RunLengthRow]
    """Sequential runs by their number of reads, in powers of two."""
    others_reads: CountedValue
    """Reads of other processes than the engine's, which these figures exclude; null if the engine's
    processes are not known."""
    notes: list[str]
    """A sentence for each thing that is missing."""


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
    """The device and the CPUs in one execution of an operation."""

    operation: str
    executions: int
    seconds: MeasuredValue
    """Service time."""
    reads: MeasuredValue
    """Reads of the device in one execution."""
    read_bytes: MeasuredValue
    mean_read_bytes: MeasuredValue
    """Mean size of a read; null if nothing was read."""
    reads_per_s: MeasuredValue
    """Reads a second while the operation ran."""
    read_bytes_per_s: MeasuredValue
    writes: MeasuredValue
    write_bytes: MeasuredValue
    util_share: MeasuredValue
    """Share of the time in which a request was in progress."""
    usr_share: MeasuredValue
    """Share of the time of all CPUs, like the following shares."""
    sys_share: MeasuredValue
    iowait_share: MeasuredValue
    idle_share: MeasuredValue
    steal_share: MeasuredValue
    samples: MeasuredValue
    """Number of device samples within one execution. Few samples give rough figures unless metered
    is true."""
    metered: bool
    """Whether the device was read at the edges of every execution."""


class StorageSection(TypedDict):
    """The data's block device and the host's CPUs."""

    requests: RequestsSection | None
    """Contiguity of the device's reads, request by request. If null, requests_reason says why."""
    requests_reason: str | None
    """Why requests are null."""
    device: str
    """The kernel's name of the device."""
    interval_s: float
    """About how long an interval of the series is."""
    disk: DiskSeries
    """Device figures over time. time_s is the end of an interval since the measured part began,
    seconds its length. An await or size without a request is null."""
    cpu: CpuSeries
    """CPU figures over time, in percent of the time of all CPUs."""
    measured: MeasuredPart
    """The measured part as one interval."""
    operations: list[StorageRow]
    """Medians over the executions of each operation, in the order of their first execution; empty
    if operations overlap."""
