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
    """Begin where the one before ended; the three shares add up to 1. Null with fewer than two
    reads."""
    near_share: MeasuredValue
    """Begin within 128 KiB of it."""
    random_share: MeasuredValue
    near_recent_share: MeasuredValue
    """Begin within 128 KiB of the end of one of the 16 before."""
    mean_read_bytes: MeasuredValue
    read_ahead_share: MeasuredValue
    """By way of the kernel's read-ahead, which reads the page that was asked for, too."""
    mean_run_reads: MeasuredValue
    mean_run_bytes: MeasuredValue
    runs: int
    """Of sequential reads."""


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
    """Reads that begin so far from the end of the one before."""

    forward: bool
    at_most_bytes: int | None
    """Null: any farther; 0: sequential."""
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
    """Whose requests are told: the data's device, or the disks below it."""
    operations: list[RequestsRow]
    """One an operation, and `all` together."""
    distances: list[DistanceRow]
    """Reads by how far they begin from the end of the one before."""
    run_lengths: list[RunLengthRow]
    """Sequential runs by how many reads they have, in powers of two."""
    others_reads: CountedValue
    """Reads that processes which are not the engine's had done, which are not in these figures;
    null: its processes are not known."""
    notes: list[str]
    """What is missing: a sentence each."""


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
    """Null where nothing was read."""
    reads_per_s: MeasuredValue
    """While it ran."""
    read_bytes_per_s: MeasuredValue
    writes: MeasuredValue
    write_bytes: MeasuredValue
    util_share: MeasuredValue
    """Of the time, a request was under way."""
    usr_share: MeasuredValue
    """Of the time of all CPUs; so are those below."""
    sys_share: MeasuredValue
    iowait_share: MeasuredValue
    idle_share: MeasuredValue
    steal_share: MeasuredValue
    samples: MeasuredValue
    """Looks at the device within one execution; figures of few are rough unless they are
    metered."""
    metered: bool
    """Whether the device was read at the edges of every execution."""


class StorageSection(TypedDict):
    """The data's block device and the host's CPUs."""

    requests: RequestsSection | None
    """How contiguous the reads of the device were, request by request. Null: requests_reason says
    why."""
    requests_reason: str | None
    """Why requests are null."""
    device: str
    """The kernel's name of it."""
    interval_s: float
    """About how long an interval of the series is."""
    disk: DiskSeries
    """Over time; time_s is the end of an interval, since the measured part began, seconds its
    length. An await or a size without a request is null."""
    cpu: CpuSeries
    """Over time, percent of the time of all CPUs."""
    measured: MeasuredPart
    """The measured part as one interval."""
    operations: list[StorageRow]
    """Medians over executions, in the order of the first. Empty where operations overlap."""
