"""Types of a run's document on a load over time and its stalls."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from assay.report.documents.figures import MeasuredValue


class PaceSection(TypedDict):
    """Throughput and backlog of a load over time."""

    interval_s: float
    """Length of an interval in seconds. The last interval may be up to 50 % longer or shorter."""
    throughput_per_s: list[float]
    waiting: list[int] | None
    """Number of operations that were due and not started at the end of each interval; null for a
    closed load."""


class MovedFigure(TypedDict):
    """A counter of the engine or host that is unusually high or low in a stall."""

    name: str
    title: str
    unit: str
    kind: Literal["counter", "gauge"]
    """Kind of figure: counter or gauge. Values of a counter are rates per second."""
    inside: float
    """Highest reading of the figure during the stall."""
    outside: float
    """Mean of the figure outside of the stall."""


class StallRow(TypedDict):
    """A stall: time in which a load completed less than half of its usual operations."""

    begin_s: float
    """Start of the stall, in seconds since the measured part began."""
    end_s: float
    missing: float
    """Number of operations by which the stall falls short of the median interval."""
    longest_s: MeasuredValue
    """Longest latency of operations that ended in the stall or just after it."""
    moved: MovedFigure | None
    """The figure of engine or host with unusual values during the stall; null without one."""


class StallsSection(TypedDict):
    """All stalls of a load, which are times of low throughput."""

    interval_s: float
    """Length in seconds of the intervals in which stalls were searched."""
    usual_per_s: float
    """Operations a second in the median interval."""
    seconds: float
    """Total length of the stalls in seconds."""
    missing_share: float
    """Operations missing in stalls, as a share of the operations at the median rate."""
    left_out: int
    """Number of stalls that the list leaves out."""
    stalls: list[StallRow]
