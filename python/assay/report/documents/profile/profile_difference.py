"""CPU samples of two runs compared: what `assay explain --against --json` prints of them."""

from __future__ import annotations

from typing_extensions import TypedDict

from assay.report.documents.figures import MeasuredValue


class SampleDifference(TypedDict):
    """CPU seconds of a pass in both runs; differences are ours less theirs."""

    work: str | None
    """Null: all kinds of work together."""
    symbol: str | None
    """Null: all functions together."""
    ours_samples: int
    theirs_samples: int
    ours_s: float
    theirs_s: float
    ours_share: MeasuredValue
    theirs_share: MeasuredValue
    difference_s: float
    low_s: MeasuredValue
    """Lower end of the 95 % interval; null: no operation has two passes on either side."""
    high_s: MeasuredValue
    is_noise: bool | None
    """Whether the interval holds 0, or samples are too few; null: there is no interval."""


class WorkDifference(SampleDifference):
    """One kind of work with its functions."""

    symbols: list[SampleDifference]


class ProfileDifference(TypedDict):
    """CPU seconds of a pass on both sides."""

    operation: str | None
    """Null: all operations that both have."""
    scaled_by: float
    """What the other run's seconds are multiplied by."""
    operations: list[str]
    """Those that both have."""
    total: SampleDifference | None
    """Null without samples."""
    work: list[WorkDifference]
    """Largest difference first."""
