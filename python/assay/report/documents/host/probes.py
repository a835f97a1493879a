"""Types of a run's document on the costs of probes."""

from __future__ import annotations

from typing_extensions import TypedDict

from assay.report.documents.figures import MeasuredValue


class ProbeCost(TypedDict):
    """The CPU time that one probe used to measure a run."""

    cost: str
    """Description of the probe's work at each sample."""
    error: str | None
    """Reason why the probe could not run or failed; null if it succeeded."""
    samples: int | None
    cpu_ns: int | None
    """CPU time of the probe's thread, in nanoseconds."""
    longest_ns: int | None
    """Longest duration of one of the probe's samples, in nanoseconds."""


class ProbesSection(TypedDict):
    """The CPU time that all probes used to measure a run."""

    core_share: MeasuredValue
    """CPU time of all probes as a share of one core."""
    each: dict[str, ProbeCost]
