"""A test of a specification in the document of a run."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from annotated_types import Ge
from typing_extensions import TypedDict

from assay.report.documents.figures import MeasuredValue, MetricKey

SpecifiedKind = Literal["power", "throughput", "full", "steady"]
SpecifiedMetricKind = Literal["power", "throughput", "composite"]


class RefreshFunctions(TypedDict):
    """The refresh functions of a test."""

    insert: str
    delete: str
    batches: int
    """Number of transactions of each refresh function; 0: one for each order."""
    sets: NotRequired[int]
    """Sets that the whole test uses, numbered from 1."""


class SpecifiedMetric(TypedDict):
    """One metric of the reported run."""

    is_not: str | None
    """The specification's name that it does not have; null where it has it, or there is none."""
    metric: MetricKey
    label: str
    """The specification's name only where nothing was left out."""
    title: str
    """In full: with what was left out."""
    unit: Literal["/h"]
    value: MeasuredValue
    """As reported: from rounded intervals, to 0.1. Null: see why_not."""
    unrounded: MeasuredValue
    """From intervals as they were measured."""


class SpecifiedStream(TypedDict):
    """One stream of a throughput test."""

    stream: int | None
    """From 1; null: the stream of refresh functions."""
    begun_seconds: float
    """After the test's first submission."""
    seconds: float
    intervals: list[SpecifiedInterval]


class SpecifiedRun(TypedDict):
    """One run of the test: its power test and its throughput test."""

    run: Annotated[int, Ge(1)]
    power_per_h: MeasuredValue
    throughput_per_h: MeasuredValue
    composite_per_h: MeasuredValue
    power_seconds: MeasuredValue
    """All intervals of the power test together."""
    elapsed_seconds: MeasuredValue
    """Of the throughput test, from the first submission to the last output or commit."""
    elapsed_counted_seconds: MeasuredValue
    """Ts: the same, rounded up to 0.01 s."""
    power: list[SpecifiedInterval]
    """Intervals of the power test in their order."""
    throughput: list[SpecifiedStream]
    """Streams of the throughput test, the one of refresh functions last."""


class SpecifiedWeight(TypedDict):
    """The weight of one operation in the test's metrics."""

    operation: str
    power_seconds: MeasuredValue
    """Its interval in the power test."""
    throughput_seconds: MeasuredValue
    """Mean of its intervals in the throughput test."""
    power: MeasuredValue
    """Of the power metric, by its interval there."""
    throughput: MeasuredValue
    """Of the throughput metric, by its intervals in the stream that ended last."""
    composite: MeasuredValue
    """Of the composite, if its time changes in both tests."""
    seconds_min: MeasuredValue
    """Shortest interval over the power tests, or steady passes; null of one."""
    seconds_max: MeasuredValue
    at_min: MeasuredValue
    """Change of the first metric, as a share, if its interval in the power test were the
    shortest."""
    at_max: MeasuredValue


class UtilisationRow(TypedDict):
    """The share of the machine that one stream used."""

    run: int
    power_seconds: float
    elapsed_seconds: float
    streams: int
    stream_seconds: float
    """Elapsed seconds over streams."""
    share: float
    """stream_seconds over power_seconds: about how much of the machine the power test used. Above 1
    streams were in each other's way."""


class LargerScale(TypedDict):
    """A memory peak at a larger scale, by the formula."""

    scale: float
    streams: int
    bytes: float


class QueryMemoryPeak(TypedDict):
    """The memory peak of a throughput test, or of one query."""

    what: str
    """What took it, and how that is known."""
    streams: int
    """Query streams at work."""
    bytes: float
    larger: list[LargerScale]
    """At each larger standard scale up to a hundred times this one, with the fewest streams there,
    by the formula."""


class QueryMemory(TypedDict):
    """Memory that queries took, and the formula for larger scales."""

    formula: str
    peaks: list[QueryMemoryPeak]
    """Of whole throughput tests, and of the query that took most alone; what is largest a stream
    first."""


class SteadyPasses(TypedDict):
    """Passes of a test that went on until they were alike."""

    passes: list[PassTimes]
    """Whole passes in their order."""
    before: int | None
    """Passes before those that were alike; null: none were."""
    compared: int
    """So many passes, the last ones, are the steady ones."""
    figure: PassTimes | None
    """Of the median of each query over the steady passes."""


class SpecifiedTestSection(TypedDict):
    """A test of the specification and its metrics."""

    kind: SpecifiedKind
    """full: two runs, each a power test and a throughput test."""
    streams: int | None
    """Query streams of its throughput tests; null without one."""
    streams_minimum: int | None
    """As the specification asks for at this scale."""
    scale_standard: bool
    """Whether the specification allows results at this scale."""
    parameters: Literal["drawn", "default"]
    seed: int
    refresh: RefreshFunctions | None
    """Null: without refresh functions."""
    metrics: list[SpecifiedMetric]
    """Of the reported run, the composite first where there is one."""
    why_not: list[str]
    """Why there is no metric; empty where there is."""
    left_out: list[str]
    """What of the specification was not done: it changes the metrics' names."""
    reported_run: int | None
    """The run with the lower composite."""
    rounding_dominates: bool
    """Whether more than a tenth of the reported power test's intervals are under 0.1 s: read the
    unrounded figures then."""
    warnings: list[str]
    runs: list[SpecifiedRun]
    """Power and throughput test of each run; of steady passes one run of their medians."""
    sensitivity: list[SpecifiedWeight]
    """What each operation weighs in the reported run: d ln metric / d ln time, of intervals that
    are not rounded."""
    utilisation: list[UtilisationRow]
    """What a stream's work takes of a machine that streams share, beside what it takes alone."""
    memory: QueryMemory | None
    """Memory that queries took beyond what was resident before. Null: not measured, or it did not
    grow."""
    steady: SteadyPasses | None
    """Passes of a test that went on until they were alike. Null for other tests."""


class SpecifiedInterval(TypedDict):
    """The interval of a query: from its submission to the next one of its stream.

    Of a refresh function: to its last commit.
    """

    operation: str
    variant: int
    """Stream whose parameters a query has; number of the refresh set."""
    begun_seconds: float
    """After the test's first submission."""
    seconds: float
    counted_seconds: NotRequired[float]
    """What it counts as in the power metric, by the 1000:1 rule and to 0.01 s."""


class PassTimes(TypedDict):
    """The times of one pass."""

    sum_seconds: float
    geometric_mean_seconds: MeasuredValue
