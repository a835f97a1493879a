"""CPU samples in the document of a run."""

from __future__ import annotations

from typing import NotRequired

from typing_extensions import TypedDict

from assay.report.documents.figures import CountedValue, MeasuredValue


class ArtefactRow(TypedDict):
    """Samples that say nothing of the engine, with the reason."""

    why: str
    samples: int


class SamplingSection(TypedDict):
    """The way samples were taken, and samples outside of all shares."""

    event: str
    """cycles of the hardware, or cpu-clock."""
    frequency_hz: float
    """Samples a second of CPU time."""
    kernel: bool
    """Whether frames of the kernel were seen."""
    stacks: str
    """How stacks were read: copies or frame pointers."""
    copied_bytes: int | None
    """Of each stack; null with frame pointers."""
    symbols: bool
    """Whether functions were named."""
    notes: list[str]
    """Why something was not measured."""
    taken: int
    """Samples in the measured part, whosever they are."""
    lost: CountedValue
    """Samples that found no room."""
    throttled: CountedValue
    """How often the kernel paused sampling."""
    cut: CountedValue
    """Stacks deeper than what was copied of them."""
    broken: CountedValue
    """Stacks that ended at code without unwind rules."""
    elsewhere: NotRequired[CountedValue]
    """Samples of other processes that shared the room of these, thrown away; null where that was
    not counted."""
    ours: int
    """Samples of Assay's own threads, left out."""
    others: int
    """Samples of processes that are not the engine's, left out."""
    torn: int
    """Samples whose stack is not in the record, as a killed run leaves some."""
    other_clients: int
    """Samples, in the time of operations, of what a server did for others."""
    background: int
    """Samples of the engine outside of operations."""
    unplaced: int
    """Of these, samples of which nothing says to which operation they belong."""
    told_apart: bool
    """Whether samples are told apart by operation; where not, they are of one that stands
    for all."""
    artefacts: list[ArtefactRow]
    """Samples within operations that say nothing of the engine, by why."""


class SymbolMember(TypedDict):
    """One of several functions that are one line."""

    symbol: str
    samples: int
    share: float


class SymbolRow(TypedDict):
    """A function, or several that are one line, with its samples."""

    samples: int
    share: float
    seconds: float
    """CPU time."""
    work: str
    symbol: str
    """Function without its parameters, or its file and bounds where it has no name."""
    module: str | None
    """Name of its file; null: no file was mapped there."""
    kind: str
    """Where the name is from: symbol, dynamic, debug, kernel, jit, go, bounds (none, but the bounds
    are known), none."""
    says: str | None
    """What it does, as its rule says; null: no rule matched."""
    operations: list[str]
    """Those with a share of its samples that counts, most first."""
    operations_all: bool
    """Whether it was seen in every operation."""
    members: list[SymbolMember]
    """The first functions that are this line; empty of one function alone."""
    members_count: int
    """How many functions are this line."""


class SymbolRest(TypedDict):
    """Functions that are not in `symbols`."""

    symbols: int
    samples: int
    share: float


class ProfileOperation(TypedDict):
    """The kinds of work of one operation."""

    operation: str
    samples: int
    seconds: float
    """CPU time of all its passes."""
    work: list[WorkRow]


class ProfileSection(TypedDict):
    """CPU time of the engine by samples of its stacks."""

    operation: str | None
    """Null: all operations. `assay explain --operation` prints this section of one."""
    samples: int
    """The engine's samples within operations, without artefacts."""
    seconds: float
    """CPU time that they stand for."""
    passes: int
    """How often the operation was measured that was measured most often."""
    sampling: SamplingSection
    classified: MeasuredValue
    """Share of the samples within all operations that have a word of work."""
    named: MeasuredValue
    """Share of the samples within all operations whose innermost function has a name."""
    sampled_s: float
    """CPU time by samples in operations whose CPU time was metered, artefacts included."""
    metered_s: MeasuredValue
    """CPU time of the same operations by the kernel's counters."""
    by_chance: MeasuredValue
    """How far the two may differ by chance, as a share: 19 of 20 times by less."""
    work: list[WorkRow]
    """Kinds of work, most samples first."""
    symbols: list[SymbolRow]
    """Functions and the work that they did, most samples first; those that differ in template
    arguments only are one. The first 200."""
    rest: SymbolRest
    operations: list[ProfileOperation]
    """What each operation works at; shares are of the operation's samples."""


class WorkRow(TypedDict):
    """One kind of work with its CPU samples."""

    work: str
    """Such as scan, hash probe, aggregate; unclassified: no rule says."""
    samples: int
    share: float
    seconds: float
    """CPU time."""


class UnclassifiedRow(TypedDict):
    """A function for which a rule is missing."""

    symbol: str | None
    """Null: no frame of the stack has a name."""
    module: str | None
    samples: int
    share: float
    callers: list[str]
    """The nearest named callers in its most frequent stack."""
    operations: list[str]
