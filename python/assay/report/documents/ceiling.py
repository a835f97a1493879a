"""The document of a host's maximum hardware speed, printed by `assay ceiling --json`.

`report/ceiling/document.schema.json` is generated from `CeilingDocument`. A figure that was not
measured is null.
"""

# The schema generator evaluates these annotations, so the names must exist at run time.
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from assay.model.verdict import VerdictWord

CeilingStatus = Literal["running", "complete", "failed", "interrupted"]
TrialKind = Literal["disk", "memory", "core"]
DiskOperation = Literal["read", "write", "fsync", "fdatasync"]
AccessPattern = Literal["sequential", "random"]
CacheUse = Literal["direct", "buffered"]
ReadMethod = Literal["pread", "io_uring"]


class CeilingRequestEntry(TypedDict):
    """The options with which a host's maximum hardware speed was measured."""

    directory: str
    size_bytes: int
    time_s: float
    rounds: int
    seed: int
    quick: bool
    parts: Sequence[TrialKind]


class CeilingHost(TypedDict):
    """The machine whose maximum hardware speed was measured."""

    name: str | None
    kernel: str | None
    cpus: int | None
    cpu_model: str | None
    memory_bytes: int | None
    last_cache_bytes: Annotated[int | None, Field(description="Size of a CPU's largest cache.")]
    filesystem: str | None


class DiskMedium(TypedDict):
    """The disk's own description of its medium."""

    name: str
    model: str | None
    driver: str | None
    write_cache: str | None
    logical_block_bytes: int | None
    physical_block_bytes: int | None
    queue_requests: int | None


class TrialFile(TypedDict):
    """The file that the hardware trials read and wrote; null without one."""

    size_bytes: int
    direct_align_bytes: Annotated[
        int, Field(description="Alignment of O_DIRECT requests: sizes must be multiples of it.")
    ]


class CeilingCheck(TypedDict):
    """The result of one check of a hardware ceiling's record."""

    check: Annotated[str, Field(description="Name of the check.")]
    verdict: VerdictWord
    reason: str
    measured: bool
    value: Annotated[float | None, Field(description="The number that was compared.")]
    threshold: Annotated[float | None, Field(description="Limit that the value was compared with.")]


class HidingSigns(TypedDict):
    """Signs that a cache, not the medium, answered disk requests."""

    virtual: Annotated[bool, Field(description="Whether the disk reports that it is virtual.")]
    signs: Sequence[str]


class EstimateEntry(TypedDict):
    """The geometric mean of a speed over rounds, with its 95 % interval."""

    value: float
    low: Annotated[float | None, Field(description="null for a single round")]
    high: float | None
    rounds: int


class LatencyQuantiles(TypedDict):
    """Quantiles of the disk request time, each as the median over rounds, and the longest time."""

    p50: float
    p90: float
    p99: float
    p999: float
    max: float


class DiskPointEntry(TypedDict):
    """The measured speed and latency of one kind of disk request."""

    operation: DiskOperation
    pattern: AccessPattern
    cache: CacheUse
    method: ReadMethod
    depth: Annotated[int, Field(description="Number of concurrent requests.")]
    size_bytes: int
    iops: Annotated[EstimateEntry, Field(description="Requests a second.")]
    bytes_per_s: EstimateEntry
    cpu_s: Annotated[
        EstimateEntry | None, Field(description=("CPU time of Assay's threads per request."))
    ]
    latency_s: LatencyQuantiles
    device_requests: Annotated[
        float | None,
        Field(description="Number of device requests for each issued request; null if not known."),
    ]


class MachinePointEntry(TypedDict):
    """The measured speed of one kind of memory access or computation."""

    kernel: str
    threads: int
    array_bytes: int | None


class BandwidthEntry(MachinePointEntry):
    """Memory bandwidth by loop kernel and number of threads."""

    bytes_per_s: Annotated[
        EstimateEntry, Field(description="Bytes that all threads read and write a second.")
    ]


class LoadTimeEntry(MachinePointEntry):
    """Latency of a load from memory by size of the array."""

    seconds: Annotated[EstimateEntry, Field(description="Time of one load.")]


class CoreSpeedEntry(MachinePointEntry):
    """Speed of cores by loop kernel and number of threads."""

    steps_per_s: Annotated[EstimateEntry, Field(description="Steps of all threads a second.")]


class CeilingDocument(TypedDict):
    """The document of `assay ceiling --json`: a host's maximum disk, memory and core speed.

    A figure that was not measured is null.
    """

    schema: Literal[1]
    kind: Literal["ceiling"]
    assay_version: str
    run: Annotated[str, Field(description="The record's id.")]
    path: Annotated[str, Field(description="Its directory.")]
    status: CeilingStatus
    status_reason: str | None
    started_utc: str | None
    request: CeilingRequestEntry
    host: CeilingHost
    device: Annotated[
        Mapping[str, object] | None,
        Field(description="The block device below the file; null without one."),
    ]
    medium: DiskMedium | None
    file: TrialFile | None
    io_uring_refusal: Annotated[
        str | None,
        Field(description=("Reason why the kernel permitted no io_uring; null if it did.")),
    ]
    verdict: VerdictWord
    checks: Sequence[CeilingCheck]
    hiding: HidingSigns
    disk: Annotated[
        Sequence[DiskPointEntry], Field(description="Every kind of request that was tried.")
    ]
    memory: Annotated[Sequence[BandwidthEntry], Field(description="Memory bandwidth.")]
    loads: Annotated[
        Sequence[LoadTimeEntry],
        Field(description="Loads that each depend on the previous load."),
    ]
    cores: Annotated[Sequence[CoreSpeedEntry], Field(description="Speed of cores.")]
    report: Annotated[str | None, Field(description="The page; null if it could not be written.")]
