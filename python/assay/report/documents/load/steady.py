"""The section of a run's document on the steadiness of its mixes."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from assay.report.documents.figures import MeasuredValue


class SteadyFigure(TypedDict):
    """One figure of the specification, in the steady part and over all."""

    name: str
    steady: float
    all: float


class SeriesDrift(TypedDict):
    """The drift of one series in the steady part."""

    series: Literal["throughput", "asked", "fetched"]
    before: MeasuredValue
    """Its mean before that part; null where that part is all."""
    level: float
    """Its median there."""
    change: float
    """By how much it grows from the first to the last batch there; of throughput the share of what
    it is at the first, of the level."""
    low: float
    """The 90 % interval of that."""
    high: float
    within: float
    """How much that may be."""
    kept: bool
    """Whether the interval lies within that."""
    drifts: bool
    """Whether it is known to change by more."""


class MixBatch(TypedDict):
    """A batch of mixes that ended one after another."""

    first: int
    """Mixes of the phase that had ended before."""
    mixes: int
    begin_s: float
    """Since the phase began."""
    end_s: float
    throughput: float
    """Mixes a second."""
    asked: MeasuredValue
    """Bytes a mix that the engine asked of files, wherever they came from."""
    fetched: MeasuredValue
    """Bytes a mix that were fetched from storage."""
    counted: MeasuredValue
    """Bytes a mix that the engine itself counted as read into its cache."""


class CountedReads(TypedDict):
    """Bytes a mix that the engine counted as read into its cache."""

    before: MeasuredValue
    """The mean before the steady part."""
    level: float
    """The median there."""


class SteadySection(TypedDict):
    """The steadiness of mixes, and the moment from which on they were steady."""

    clients: int
    warmup_mixes: int
    """Mixes that ended before the measured ones."""
    mixes: int
    """Measured ones that ended."""
    mixes_max: int | None
    """To how many they were to go on until they were steady; null: they were not."""
    figures: list[SteadyFigure]
    """Figures of the workload's specification, in the steady part and over everything measured;
    empty where it names none, or that part is all."""
    all_per_s: MeasuredValue
    """Mixes a second, over everything measured."""
    why_no_reads: str | None
    """Why it is not known what the engine read for them; null where it is."""
    steady: bool | None
    """Null: too few looks at mixes to say."""
    first_mix: int | None
    """Mixes before the part that is steady, if it is."""
    first_s: MeasuredValue
    """The same in seconds since the measured part began."""
    rate_per_s: MeasuredValue
    """Mixes a second of that part."""
    enough: bool
    """Whether what is left out of the beginning is less than half."""
    drifts: list[SeriesDrift]
    """Each series that was measured, in the part that is steady, if it is."""
    batches: list[MixBatch]
    """The measured mixes, at most 60 batches."""
    warmup: list[MixBatch]
    """Those of the warm-up."""
    counted: CountedReads | None
    """What the engine counted as read into its own cache for a mix, in bytes; null where it counts
    no such thing."""
