"""A load over time and its stalls, in the document of a run."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from assay.report.documents.figures import MeasuredValue


class PaceSection(TypedDict):
    """A load over time."""

    interval_s: float
    """Length of an interval; the last one may be half as long again, or half as short."""
    throughput_per_s: list[float]
    waiting: list[int] | None
    """Operations due and not started at the end of each interval; null for a closed load."""


class MovedFigure(TypedDict):
    """A figure of engine or host that stands out in a stall."""

    name: str
    title: str
    unit: str
    kind: Literal["counter", "gauge"]
    """Values of a counter are rates a second."""
    inside: float
    """The most of one reading in the stall."""
    outside: float
    """At other times, mean."""


class StallRow(TypedDict):
    """One time in which a load stood almost still."""

    begin_s: float
    """Since the measured part began."""
    end_s: float
    missing: float
    """Operations that the median interval has more."""
    longest_s: MeasuredValue
    """The longest latency of what ended in it or just after it."""
    moved: MovedFigure | None
    """The figure of engine or host that stands out; null: none does."""


class StallsSection(TypedDict):
    """Times in which a load stood almost still."""

    interval_s: float
    """They were looked for in intervals of this length."""
    usual_per_s: float
    """Operations a second of the median interval."""
    seconds: float
    """How long they took together."""
    missing_share: float
    """Operations that are missing in them, of all that the median would be."""
    left_out: int
    """How many more there were than are told."""
    stalls: list[StallRow]
