"""A CPU profile: samples of the engine's CPU time, and how they were taken."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from assay.analysis.work.rules import Rules


@dataclass(frozen=True)
class Sampling:
    """The method of CPU sampling, and counts that are not in the tables.

    Attributes:
        event: Event that triggers samples, such as `cpu-clock`.
        frequency_hz: Samples per second of CPU time.
        kernel: Whether frames of the kernel were sampled.
        stacks: Method of reading stacks: `copies` or `frame pointers`.
        copied_bytes: Bytes of each stack that the kernel copies; None with frame pointers.
        symbols: Whether functions were named; a killed run has addresses only.
        notes: Sentences with reasons why something was not measured.
        taken: Number of samples in the measured part, of any process.
        lost, throttled, cut, broken, elsewhere: Growth of these columns of `profile.arrows` in
            the measured part; None if not recorded. If the whole machine was sampled, lost
            samples may belong to other processes.
        ours: Samples of Assay's own threads, which are left out.
        others: Samples of processes that are not the engine's, which are left out.
        torn: Samples whose stack was not yet written when the run was killed.
        other_clients: Samples of the server's work for other clients during operations, including
            Assay's probe.
        background: The engine's samples outside of operations.
        unplaced: Number of background samples that may belong to an operation, but cannot be
            assigned.
        told_apart: Whether samples are assigned to single operations. Threads of an embedded
            engine cannot be assigned to one of several sessions. All samples then belong to one
            operation for all, without a sequence.
        artefacts: Samples within operations that contain no information about the engine, by
            reason.
    """

    event: str
    frequency_hz: float
    kernel: bool
    stacks: str
    copied_bytes: int | None
    symbols: bool
    notes: tuple[str, ...]
    taken: int
    lost: int | None
    throttled: int | None
    cut: int | None
    broken: int | None
    elsewhere: int | None = None
    ours: int = 0
    others: int = 0
    torn: int = 0
    other_clients: int = 0
    background: int = 0
    unplaced: int = 0
    told_apart: bool = True
    artefacts: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Profile:
    """The CPU profile of a run's measured part.

    Attributes:
        sampling: Facts about the sampling.
        samples: The engine's samples: time_ns, pid, tid, stack; session, sequence, operation
            (null: between operations, or in the background); work (null for artefacts), artefact
            (null for all others), rule (index into `rules`; null if none matched); leaf (the
            innermost frame, whose label is shown), decided (the frame that determines the work;
            null if no frame of the stack has a name).
        stacks: stack, parent (null: the outermost), frame.
        frames: frame, label, family, module (name of the file), kind. Labels are functions
            without parameters, or `libduckdb.so+0x1f300..0x1f5a0` if only bounds are known, or
            `libduckdb.so+0x1f312`. `family` is the displayed name: template arguments are `<*>`,
            and all labels that match one glob of the engine's `families` share a name.
        passes: The measured operations: sequence, session, operation, started_ns, finished_ns.
            One row for all operations if samples cannot be assigned to single ones.
        rules: The rules in their order, to which `samples.rule` refers by index.
        scaled_by: Factor of all seconds; differs from 1 if two scales are compared.
    """

    sampling: Sampling
    samples: pl.DataFrame
    stacks: pl.DataFrame
    frames: pl.DataFrame
    passes: pl.DataFrame
    rules: Rules
    scaled_by: float = 1.0

    @property
    def seconds_each(self) -> float:
        """CPU seconds that each sample represents."""
        return self.scaled_by / self.sampling.frequency_hz
