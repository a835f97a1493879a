"""Costs of probes in the document of a run."""

from __future__ import annotations

from typing_extensions import TypedDict

from assay.report.documents.figures import MeasuredValue


class ProbeCost(TypedDict):
    """The cost of one probe."""

    cost: str
    """Work of the probe at each sample."""
    error: str | None
    """Reason why the probe could not run or failed."""
    samples: int | None
    cpu_ns: int | None
    """CPU time of the probe's thread."""
    longest_ns: int | None
    """Longest time one sample took."""


class ProbesSection(TypedDict):
    """The cost of measuring."""

    core_share: MeasuredValue
    """CPU of all probes as a share of one core."""
    each: dict[str, ProbeCost]
