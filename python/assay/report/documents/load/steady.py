"""Types of a run's document on the steadiness of query mixes."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from assay.report.documents.figures import MeasuredValue


class SteadyFigure(TypedDict):
    """A metric of query mixes in the steady part and over all mixes."""

    name: str
    steady: float
    all: float


class SeriesDrift(TypedDict):
    """The trend of throughput or reads in the steady part of a run."""

    series: Literal["throughput", "asked", "fetched"]
    before: MeasuredValue
    """Mean of the series before the steady part; null if the steady part is the whole measured
    part."""
    level: float
    """Median of the series in the steady part."""
    change: float
    """Growth from the first to the last batch of the steady part, in the unit of the series. For
    throughput it is the relative growth times the level."""
    low: float
    """Lower end of the 90 % interval of the change. `high` is the upper end."""
    high: float
    within: float
    """Largest change of the series that still counts as steady."""
    kept: bool
    """Whether the interval of the change lies within the largest steady change."""
    drifts: bool
    """Whether the interval of the change excludes 0 and the change exceeds the largest steady
    change."""


class MixBatch(TypedDict):
    """Consecutive query mixes that are shown as one batch."""

    first: int
    """Number of mixes that ended before this batch in the phase."""
    mixes: int
    begin_s: float
    """Start of the batch, in seconds since the phase began."""
    end_s: float
    throughput: float
    """Mixes a second of the batch."""
    asked: MeasuredValue
    """Bytes per mix that the engine read from files, including the page cache."""
    fetched: MeasuredValue
    """Bytes per mix that were read from storage."""
    counted: MeasuredValue
    """Bytes per mix that the engine counted as read into its cache."""


class CountedReads(TypedDict):
    """Bytes per query mix that the engine counted as read into its cache."""

    before: MeasuredValue
    """Mean bytes per mix before the steady part; null without such a part."""
    level: float
    """Median bytes per mix in the steady part."""


class SteadySection(TypedDict):
    """The steadiness of query mixes, and the time from which they are steady."""

    clients: int
    warmup_mixes: int
    """Number of mixes that ended before the measured part."""
    mixes: int
    """Number of mixes that ended in the measured part."""
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
    """Start of the part that may be steady, in seconds since the measured part began."""
    rate_per_s: MeasuredValue
    """Mixes a second of the part that may be steady."""
    enough: bool
    """Whether the part that may be steady has more than half of the measured part."""
    drifts: list[SeriesDrift]
    """Drift of each measured series in the part that may be steady."""
    batches: list[MixBatch]
    """The measured mixes, in at most 60 batches."""
    warmup: list[MixBatch]
    """The batches of the warm-up's mixes."""
    counted: CountedReads | None
    """Bytes per mix that the engine counted as read into its own cache; null if it has no such
    counter."""
