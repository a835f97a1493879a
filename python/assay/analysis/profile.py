"""CPU samples of a run, joined to the operations they fell into and to the work they were doing.

An *operation* is what the driver issued; *work* is what the engine's code was doing for it (scan,
hash probe, ...). Each sample stands for `Sampling.seconds_each` of CPU time. Shares are of the
engine's samples within operations that are no artefacts; what lies between operations, or is the
engine's own background, is counted in `Sampling` and in no table.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from assay.analysis.work.rules import Rules
    from assay.record.reader import Run

UNCLASSIFIED = "unclassified"


@dataclass(frozen=True)
class Sampling:
    """How the samples were taken, and what is not in the tables.

    Attributes:
        event: `cycles` of the hardware, or `cpu-clock`.
        frequency_hz: Samples a second of CPU time.
        kernel: Whether the kernel's frames were seen.
        stacks: `copies` or `frame pointers`.
        copied_bytes: Of each stack; None with frame pointers.
        symbols: Whether functions were named; a killed run has addresses only.
        notes: Sentences that say why something was not measured.
        taken: Samples in the measured part, whosever they are.
        lost, throttled, cut, broken: As in `profile.arrows`, grown in the measured part; None if
            it was not recorded.
        ours: Samples of Assay's own threads, which are left out.
        others: Samples of processes that are not the engine's, which are left out.
        background: The engine's samples outside of operations.
        unplaced: Of these, samples that may belong to an operation, but nothing says to which.
        artefacts: Samples within operations that say nothing of the engine, by why.
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
    ours: int = 0
    others: int = 0
    background: int = 0
    unplaced: int = 0
    artefacts: dict[str, int] = field(default_factory=dict)

    @property
    def seconds_each(self) -> float:
        """CPU seconds that a sample stands for."""
        return 1.0 / self.frequency_hz


@dataclass(frozen=True)
class Profile:
    """A profile of the measured part.

    Attributes:
        sampling: How it was taken.
        samples: The engine's samples: time_ns, pid, tid, stack; session, sequence, operation (null:
            between operations, or in the background); work (null of artefacts), artefact (null of
            all others), rule (index into `rules`; null where none matched); leaf (the innermost
            frame, whose label is shown), decided (the frame that the work is said of; null where no
            frame of the stack has a name).
        stacks: stack, parent (null: the outermost), frame.
        frames: frame, label, family, module (name of the file), kind. Labels are functions without
            parameters, or `libduckdb.so+0x1f300..0x1f5a0` where only bounds are known, or
            `libduckdb.so+0x1f312`. `family` is the line that it is shown in: template arguments are
            `<*>`, and what the engine's `families` match is one.
        passes: The operations that were measured: sequence, session, operation, started_ns,
            finished_ns.
        rules: The rules in their order; `samples.rule` counts in it.
    """

    sampling: Sampling
    samples: pl.DataFrame
    stacks: pl.DataFrame
    frames: pl.DataFrame
    passes: pl.DataFrame
    rules: Rules


def read_profile(record: Run, extra_rules: Rules | None = None) -> Profile | None:
    """The profile of a run; None if it was not profiled, or nothing was measured.

    Args:
        record: The run.
        extra_rules: Rules of the reader's own, which come before the recorded ones.

    Raises:
        UsageError: If a rule is to be refused, with file, index and reason.
        RecordUnreadableError: If a stream is damaged.
    """
    raise NotImplementedError


def symbols_table(
    profile: Profile, operation: str | None = None, *, families: bool = True
) -> pl.DataFrame:
    """One row a symbol and the work that it did, most samples first.

    Columns: samples; share; seconds (CPU); work; symbol (family, or label without `families`);
    module; kind; says (what its rule says; null where none matched); operations (list[str]: those
    with at least `NAMED_SHARE` of the row's samples, most first), operations_all (bool: whether it
    was seen in every operation that has samples). A function that is called for different work,
    such as memcpy, has a row for each.
    """
    raise NotImplementedError


def work_table(profile: Profile, operation: str | None = None) -> pl.DataFrame:
    """One row a word of work, most samples first: work, samples, share, seconds (CPU)."""
    raise NotImplementedError


def matrix(profile: Profile) -> pl.DataFrame:
    """What each operation works at: operation, work, samples, share (of the operation), seconds.

    Only pairs that have samples; operations in the order of their first pass, most samples first.
    """
    raise NotImplementedError


def call_tree(
    profile: Profile, operation: str | None = None, share_min: float = 0.0
) -> dict[str, Any]:
    """The stacks of all samples within operations (or of one), merged by label: ready for JSON.

    Keys:
        operations: Names, in the order of their first pass.
        samples: How many the tree holds; artefacts are in it.
        seconds_each: CPU seconds of a sample.
        labels, modules, works: Texts that nodes name by index; `works` has `artefact` for these.
        parent: Of each node, the node of its caller, which comes before it; -1: an outermost one.
        label, module, work: Of each node, indices. Its work is what most samples at it and below it
            did.
        own, total: Of each node, samples at it, and at it and below it.
        counts: Of each operation, a list of nodes and the list of its own samples there, so that
            `zip(*counts[name])` gives pairs.

    Args:
        profile: The profile.
        operation: One operation only.
        share_min: Nodes with less than this share of `samples` are one node `…` of their caller.
    """
    raise NotImplementedError


def compare(ours: Profile, theirs: Profile, operation: str | None = None) -> pl.DataFrame:
    """What changed between two profiles, in CPU seconds of a pass; largest difference first.

    Only operations that both have are compared, each with the mean of its passes; without
    `operation` their means are added up.

    Columns: level (`total`, `work` or `symbol`); work, symbol (null where the level has none);
    ours_samples, theirs_samples; ours_s, theirs_s (CPU seconds a pass); ours_share, theirs_share;
    difference_s (ours less theirs), low_s, high_s (95 % interval of it; null where neither side has
    two passes); is_noise (the interval holds 0; null without one).
    """
    raise NotImplementedError


def unclassified(profile: Profile) -> pl.DataFrame:
    """What a rule is missing for, most samples first.

    Columns: symbol (the label that a rule would name; null: no frame of the stack has a name),
    module, samples, share, callers (list[str]: the nearest five named callers in its most frequent
    stack, nearest first), operations (list[str]).
    """
    raise NotImplementedError


@dataclass(frozen=True)
class Shares:
    """How much of the samples within operations is explained; None where there are none.

    Attributes:
        samples: The denominator: without artefacts.
        classified: With a word of work.
        named: Whose innermost frame has a name.
        sampled_s: CPU seconds by samples in operations whose CPU time was metered, artefacts
            included.
        metered_s: CPU seconds by the counters around the same operations; None if not metered.
        metered_samples: How many samples `sampled_s` is.
    """

    samples: int
    classified: float | None
    named: float | None
    sampled_s: float
    metered_s: float | None
    metered_samples: int

    @property
    def agreement(self) -> float | None:
        """Sampled in metered CPU seconds; None where nothing was metered."""
        return self.sampled_s / self.metered_s if self.metered_s else None


def shares(record: Run, profile: Profile) -> Shares:
    """How much of a profile is explained, and how it agrees with the kernel's counters."""
    raise NotImplementedError
