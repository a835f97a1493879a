"""Types of a run's document on CPU samples."""

from __future__ import annotations

from typing import NotRequired

from typing_extensions import TypedDict

from assay.report.documents.figures import CountedValue, MeasuredValue


class ArtefactRow(TypedDict):
    """CPU samples that say nothing about the engine, with the reason."""

    why: str
    samples: int


class SamplingSection(TypedDict):
    """The method of CPU sampling, and samples that are not part of any share."""

    event: str
    """Event that triggers a sample: hardware cycles, or cpu-clock."""
    frequency_hz: float
    """Samples a second of CPU time."""
    kernel: bool
    """Whether sampled stacks include kernel frames."""
    stacks: str
    """How stacks were read: copies or frame pointers."""
    copied_bytes: int | None
    """Bytes of each stack that the kernel copies; null with frame pointers."""
    symbols: bool
    """Whether functions have names."""
    notes: list[str]
    """Reasons why some sampling data are missing."""
    taken: int
    """Number of samples of all processes in the measured part."""
    lost: CountedValue
    """Number of samples that were lost because the buffer was full."""
    throttled: CountedValue
    """Number of times that the kernel paused sampling."""
    cut: CountedValue
    """Number of stacks that were deeper than the copied bytes."""
    broken: CountedValue
    """Number of stacks that ended at code without unwind rules."""
    elsewhere: NotRequired[CountedValue]
    """Number of discarded samples of other processes in the same buffer; null if not counted."""
    ours: int
    """Number of samples of Assay's own threads, which are left out."""
    others: int
    """Number of samples of processes other than the engine's, which are left out."""
    torn: int
    """Number of samples without a recorded stack, which a killed run can leave."""
    other_clients: int
    """Number of samples of the server's work for other clients during operations."""
    background: int
    """Number of samples of the engine outside of operations."""
    unplaced: int
    """Number of background samples that may belong to an operation which cannot be determined."""
    told_apart: bool
    """Whether samples are assigned to operations. If false, a single entry represents all
    operations.
    """
    artefacts: list[ArtefactRow]
    """Samples within operations that carry no information on the engine, by reason."""


class SymbolMember(TypedDict):
    """One of several functions that share a row of the profile."""

    symbol: str
    samples: int
    share: float


class SymbolRow(TypedDict):
    """One row of the profile: a function, or several related ones, with its CPU samples."""

    samples: int
    share: float
    seconds: float
    """CPU seconds of the function."""
    work: str
    symbol: str
    """Name of the function without its parameters, or its file and address range if it has no
    name."""
    module: str | None
    """Name of the function's file; null if no file was mapped there."""
    kind: str
    """Source of the function's name: symbol, dynamic, debug, kernel, jit, go, bounds (no name, but
    a known address range), none."""
    says: str | None
    """Description of the function's work from the matching rule; null if no rule matched."""
    operations: list[str]
    """Operations with a relevant share of the function's samples, largest share first."""
    operations_all: bool
    """Whether the function has samples in every operation."""
    members: list[SymbolMember]
    """The first functions that share this row; empty for a single function."""
    members_count: int
    """Number of functions that share this row."""


class SymbolRest(TypedDict):
    """Functions that are left out of `symbols`, summed up."""

    symbols: int
    samples: int
    share: float


class ProfileOperation(TypedDict):
    """One operation's CPU time by kind of work."""

    operation: str
    samples: int
    seconds: float
    """CPU seconds of all passes of the operation."""
    work: list[WorkRow]


class ProfileSection(TypedDict):
    """CPU time of the engine, by samples of its call stacks."""

    operation: str | None
    """The operation of this section in `assay explain --operation`; null for all operations."""
    samples: int
    """The engine's samples within operations, without artefacts."""
    seconds: float
    """CPU seconds that these samples represent."""
    passes: int
    """Number of passes of the operation that was measured most often."""
    sampling: SamplingSection
    classified: MeasuredValue
    """Share of samples within all operations that have a kind of work."""
    named: MeasuredValue
    """Share of samples within all operations whose innermost function has a name."""
    sampled_s: float
    """CPU seconds by samples in operations with a measured CPU time, including artefacts."""
    metered_s: MeasuredValue
    """CPU seconds of the same operations by the kernel's counters."""
    by_chance: MeasuredValue
    """Share by which sampled and counted CPU time may differ by chance, at 95 % confidence."""
    work: list[WorkRow]
    """CPU samples by kind of work, largest number first."""
    symbols: list[SymbolRow]
    """The 200 functions with most samples and their kind of work. Functions that differ only in
    template arguments are one row."""
    rest: SymbolRest
    operations: list[ProfileOperation]
    """CPU samples of each operation by kind of work. Shares refer to the operation's samples."""


class WorkRow(TypedDict):
    """One kind of work, such as sorting, with its CPU samples."""

    work: str
    """Kind of work, such as scan, hash probe or aggregate; unclassified if no rule matches."""
    samples: int
    share: float
    seconds: float
    """CPU seconds of this kind of work."""


class UnclassifiedRow(TypedDict):
    """A function that no rule assigns to a kind of work."""

    symbol: str | None
    """Name of the function; null if no frame of the stack has a name."""
    module: str | None
    samples: int
    share: float
    callers: list[str]
    """The nearest named callers in the function's most frequent stack."""
    operations: list[str]
