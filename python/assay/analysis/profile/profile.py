"""A profile: samples of the engine's CPU time, and how they were taken."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from assay.analysis.work.rules import Rules


@dataclass(frozen=True)
class Sampling:
    """The way samples were taken, and facts that are not in the tables.

    Attributes:
        event: Event that triggers samples, such as `cpu-clock`.
        frequency_hz: Samples a second of CPU time.
        kernel: Whether the kernel's frames were seen.
        stacks: `copies` or `frame pointers`.
        copied_bytes: Bytes of each stack that the kernel copies. None with frame pointers.
        symbols: Whether functions were named; a killed run has addresses only.
        notes: Sentences that say why something was not measured.
        taken: Samples in the measured part, whosever they are.
        lost, throttled, cut, broken, elsewhere: As in `profile.arrows`, grown in the measured part;
            None if it was not recorded. Where the whole machine was watched, what was lost may have
            been of other processes.
        ours: Samples of Assay's own threads, which are left out.
        others: Samples of processes that are not the engine's, which are left out.
        torn: Samples whose stack was not written any more when the run was killed.
        other_clients: Samples of the server's work for other clients during operations, including
            Assay's probe.
        background: The engine's samples outside of operations.
        unplaced: Of these, samples that may belong to an operation, but nothing says to which.
        told_apart: Whether samples are told apart by operation. Threads of an embedded engine do
            not tell which of several sessions they work for: all are of one operation then, which
            stands for all, and has no sequence.
        artefacts: Samples within operations that carry no information on the engine, by reason.
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
    """A profile of the measured part.

    Attributes:
        sampling: Facts about the sampling.
        samples: The engine's samples: time_ns, pid, tid, stack; session, sequence, operation (null:
            between operations, or in the background); work (null of artefacts), artefact (null of
            all others), rule (index into `rules`; null if none matched); leaf (the innermost
            frame, whose label is shown), decided (the frame that the work is said of; null if no
            frame of the stack has a name).
        stacks: stack, parent (null: the outermost), frame.
        frames: frame, label, family, module (name of the file), kind. Labels are functions without
            parameters, or `libduckdb.so+0x1f300..0x1f5a0` where only bounds are known, or
            `libduckdb.so+0x1f312`. `family` is the line that it is shown in: template arguments are
            `<*>`, and what the engine's `families` match is one.
        passes: The operations that were measured: sequence, session, operation, started_ns,
            finished_ns; one row for all where they are not told apart.
        rules: The rules in their order; `samples.rule` counts in it.
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
