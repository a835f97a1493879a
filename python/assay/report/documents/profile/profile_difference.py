"""Types of `assay explain --against --json`: differences between two runs' CPU samples."""

from __future__ import annotations

from typing_extensions import TypedDict

from assay.report.documents.figures import MeasuredValue


class SampleDifference(TypedDict):
    """CPU seconds per pass in both runs; differences are this run's minus the other's."""

    work: str | None
    """Kind of work; null for all kinds of work together."""
    symbol: str | None
    """Name of the function; null for all functions together."""
    ours_samples: int
    theirs_samples: int
    ours_s: float
    theirs_s: float
    ours_share: MeasuredValue
    theirs_share: MeasuredValue
    difference_s: float
    low_s: MeasuredValue
    """Lower end of the difference's 95 % interval; null if no operation has two passes in each
    run."""
    high_s: MeasuredValue
    is_noise: bool | None
    """Whether the difference's interval contains 0, or there are too few samples; null without an
    interval."""


class WorkDifference(SampleDifference):
    """CPU time difference between two runs in one kind of work, with its functions."""

    symbols: list[SampleDifference]


class ProfileDifference(TypedDict):
    """Differences in the CPU seconds per pass between two runs."""

    operation: str | None
    """The compared operation; null for all operations that both runs have."""
    scaled_by: float
    """Factor by which the other run's seconds are multiplied."""
    operations: list[str]
    """Operations that both runs have."""
    total: SampleDifference | None
    """Difference of all samples together; null without samples."""
    work: list[WorkDifference]
    """Differences by kind of work, largest first."""
