"""Steadiness of query mixes in the document of a run."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from assay.report.documents.figures import MeasuredValue


class SteadyFigure(TypedDict):
    """One figure of the specification, in the steady part and over all mixes."""

    name: str
    steady: float
    all: float


class SeriesDrift(TypedDict):
    """The drift of one series in the steady part."""

    series: Literal["throughput", "asked", "fetched"]
    before: MeasuredValue
    """Mean before the steady part; null if the steady part is everything."""
    level: float
    """Median in the steady part."""
    change: float
    """Growth from the first to the last batch of the steady part, in the unit of the series. For
    throughput it is the relative growth times the level."""
    low: float
    """Lower end of the 90 % interval of the change; `high` is its upper end."""
    high: float
    within: float
    """Largest change that still counts as steady."""
    kept: bool
    """Whether the interval lies within that limit."""
    drifts: bool
    """Whether the interval excludes 0 and the change exceeds that limit."""


class MixBatch(TypedDict):
    """A batch of mixes that ended one after another."""

    first: int
    """Number of mixes that ended earlier in the phase."""
    mixes: int
    begin_s: float
    """Seconds since the phase began."""
    end_s: float
    throughput: float
    """Mixes a second."""
    asked: MeasuredValue
    """Bytes per mix that the engine read from files, including the page cache."""
    fetched: MeasuredValue
    """Bytes per mix that were read from storage."""
    counted: MeasuredValue
    """Bytes per mix that the engine counted as read into its cache."""


class CountedReads(TypedDict):
    """Bytes per mix that the engine counted as read into its cache."""

    before: MeasuredValue
    """Mean before the steady part."""
    level: float
    """Median in the steady part."""


class SteadySection(TypedDict):
    """Steadiness of query mixes, and the time from which they are steady."""

    clients: int
    warmup_mixes: int
    """Number of mixes that ended before the measured ones."""
    mixes: int
    """Number of measured mixes that ended."""
    mixes_max: int | None
    """Maximum number of mixes for a run that continues until mixes are steady; null for other
    runs."""
    figures: list[SteadyFigure]
    """Figures of the workload's specification, in the steady part and over all measured mixes;
    empty if it names none, or if all mixes are steady."""
    all_per_s: MeasuredValue
    """Mixes a second over all measured mixes."""
    why_no_reads: str | None
    """Reason why the bytes that the engine read are not known; null if they are."""
    steady: bool | None
    """Whether mixes are steady; null if there are too few to decide."""
    first_mix: int | None
    """Number of mixes before the part that may be steady."""
    first_s: MeasuredValue
    """Start of that part, in seconds since the measured part began."""
    rate_per_s: MeasuredValue
    """Mixes a second of that part."""
    enough: bool
    """Whether less than half of the measured part is left out at the beginning."""
    drifts: list[SeriesDrift]
    """Drift of each measured series in the part that may be steady."""
    batches: list[MixBatch]
    """The measured mixes, at most 60 batches."""
    warmup: list[MixBatch]
    """The mixes of the warm-up."""
    counted: CountedReads | None
    """Bytes per mix that the engine counted as read into its own cache; null if it has no such
    counter."""
