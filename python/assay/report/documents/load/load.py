"""A load over time and its stalls, in the document of a run."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from assay.report.documents.figures import MeasuredValue


class PaceSection(TypedDict):
    """A load over time."""

    interval_s: float
    """Length of an interval. The last one may be up to 50 % longer or shorter."""
    throughput_per_s: list[float]
    waiting: list[int] | None
    """Operations due and not started at the end of each interval; null for a closed load."""


class MovedFigure(TypedDict):
    """A figure of engine or host that stands out in a stall."""

    name: str
    title: str
    unit: str
    kind: Literal["counter", "gauge"]
    """Counter or gauge. Values of a counter are rates a second."""
    inside: float
    """Highest reading in the stall."""
    outside: float
    """Mean at other times."""


class StallRow(TypedDict):
    """One time in which a load stood almost still."""

    begin_s: float
    """Since the measured part began."""
    end_s: float
    missing: float
    """Number of operations by which the stall falls short of the median interval."""
    longest_s: MeasuredValue
    """Longest latency of operations that ended in the stall or just after it."""
    moved: MovedFigure | None
    """The figure of engine or host that stands out; null without one."""


class StallsSection(TypedDict):
    """Times in which a load stood almost still."""

    interval_s: float
    """Length of the intervals in which stalls were searched."""
    usual_per_s: float
    """Operations a second of the median interval."""
    seconds: float
    """Total length of the stalls."""
    missing_share: float
    """Missing operations in stalls, as a share of the operations at the median rate."""
    left_out: int
    """Number of stalls that are left out."""
    stalls: list[StallRow]
