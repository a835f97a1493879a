"""Types of a run's document on a test of a specification."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from annotated_types import Ge
from typing_extensions import TypedDict

from assay.report.documents.figures import MeasuredValue, MetricKey

SpecifiedKind = Literal["power", "throughput", "full", "steady"]
SpecifiedMetricKind = Literal["power", "throughput", "composite"]


class RefreshFunctions(TypedDict):
    """The refresh functions of a specified test."""

    insert: str
    delete: str
    batches: int
    """Number of transactions of each refresh function; 0 means one transaction for each order."""
    sets: NotRequired[int]
    """Number of refresh sets that the whole test uses."""


class SpecifiedMetric(TypedDict):
    """One metric of the reported run."""

    is_not: str | None
    """The specified metric whose name this figure must not have; null if it may have the name, or
    if there is no such metric."""
    metric: MetricKey
    label: str
    """Name of the metric, which is the specification's name only if nothing was left out."""
    title: str
    """Full name of the metric, including what was left out."""
    unit: Literal["/h"]
    value: MeasuredValue
    """Reported value of the metric, from rounded intervals, rounded to 0.1. If null, `why_not` has
    the reason."""
    unrounded: MeasuredValue
    """Value of the metric from unrounded intervals."""


class SpecifiedStream(TypedDict):
    """One stream of a throughput test."""

    stream: int | None
    """Number of the stream, from 1; null for the stream of refresh functions."""
    begun_seconds: float
    """Start of the stream, in seconds after the test's first submission."""
    seconds: float
    intervals: list[SpecifiedInterval]


class SpecifiedRun(TypedDict):
    """One run of the test: its power test and its throughput test."""

    run: Annotated[int, Ge(1)]
    power_per_h: MeasuredValue
    throughput_per_h: MeasuredValue
    composite_per_h: MeasuredValue
    power_seconds: MeasuredValue
    """Sum of all intervals of the power test, in seconds."""
    elapsed_seconds: MeasuredValue
    """Elapsed seconds of the throughput test, from the first submission to the last output or
    commit."""
    elapsed_counted_seconds: MeasuredValue
    """Ts: the elapsed seconds of the throughput test, rounded up to 0.01 s."""
    power: list[SpecifiedInterval]
    """Intervals of the power test in the order of execution."""
    throughput: list[SpecifiedStream]
    """Streams of the throughput test. The stream of refresh functions is the last one."""


class SpecifiedWeight(TypedDict):
    """The weight of one operation in the test's metrics."""

    operation: str
    power_seconds: MeasuredValue
    """Interval of the operation in the power test, in seconds."""
    throughput_seconds: MeasuredValue
    """Mean of the operation's intervals in the throughput test, in seconds."""
    power: MeasuredValue
    """Weight of the operation in the power metric, by its interval in the power test."""
    throughput: MeasuredValue
    """Weight of the operation in the throughput metric, by its intervals in the stream that ended
    last."""
    composite: MeasuredValue
    """Weight of the operation in the composite metric, if its time changes in both tests."""
    seconds_min: MeasuredValue
    """Shortest interval of the operation over the power tests or steady passes; null if there is
    only one."""
    seconds_max: MeasuredValue
    at_min: MeasuredValue
    """Relative change of the first metric if the operation's interval in the power test were the
    shortest one."""
    at_max: MeasuredValue


class UtilisationRow(TypedDict):
    """The share of the machine that one stream used."""

    run: int
    power_seconds: float
    elapsed_seconds: float
    streams: int
    stream_seconds: float
    """Elapsed seconds of the throughput test divided by the number of streams."""
    share: float
    """stream_seconds divided by power_seconds: roughly the share of the machine that the power test
    used. Above 1, streams slowed each other."""


class LargerScale(TypedDict):
    """Predicted memory peak at a larger scale."""

    scale: float
    streams: int
    bytes: float


class QueryMemoryPeak(TypedDict):
    """The memory peak of a throughput test, or of one query."""

    what: str
    """Description of the memory's consumer, and of how its memory was measured."""
    streams: int
    """Number of concurrent query streams."""
    bytes: float
    larger: list[LargerScale]
    """Predicted peak at each larger standard scale up to 100 times the present one, with the
    minimum number of streams."""


class QueryMemory(TypedDict):
    """Memory that queries used, and its prediction for larger scales."""

    formula: str
    peaks: list[QueryMemoryPeak]
    """Peaks of complete throughput tests and of the largest single query, the largest per stream
    first."""


class SteadyPasses(TypedDict):
    """Passes of a test that was repeated until passes took the same time."""

    passes: list[PassTimes]
    """Times of the complete passes, in their order."""
    before: int | None
    """Number of passes before the steady ones; null if no passes were steady."""
    compared: int
    """Number of passes at the end that count as steady passes."""
    figure: PassTimes | None
    """Times of a pass made of the median time of each query over the steady passes."""


class SpecifiedTestSection(TypedDict):
    """A test of the specification and the metrics of the test."""

    kind: SpecifiedKind
    """Kind of test. `full` means two runs, each with a power test and a throughput test."""
    streams: int | None
    """Number of query streams in each throughput test; null without a throughput test."""
    streams_minimum: int | None
    """Minimum number of streams that the specification requires at this scale."""
    scale_standard: bool
    """Whether the specification allows results at this scale."""
    parameters: Literal["drawn", "default"]
    seed: int
    refresh: RefreshFunctions | None
    """Refresh functions of the test; null without any."""
    metrics: list[SpecifiedMetric]
    """Metrics of the reported run. The composite metric is first if there is one."""
    why_not: list[str]
    """Reasons why there is no metric; empty if there is one."""
    left_out: list[str]
    """Parts of the specification that were left out, which changes the names of the metrics."""
    reported_run: int | None
    """Number of the run with the lower composite metric, which is the reported run."""
    rounding_dominates: bool
    """Whether more than a tenth of the reported power test's intervals are under 0.1 s. If so, the
    unrounded figures are more precise."""
    warnings: list[str]
    runs: list[SpecifiedRun]
    """Power test and throughput test of each run. For steady passes there is one run with their
    medians."""
    sensitivity: list[SpecifiedWeight]
    """Weight of each operation in the reported run: d ln metric / d ln time, from unrounded
    intervals."""
    utilisation: list[UtilisationRow]
    """Share of the machine that a stream uses beside other streams, compared with a stream
    alone."""
    memory: QueryMemory | None
    """Memory that queries used beyond the resident memory before; null if not measured, or if the
    memory did not grow."""
    steady: SteadyPasses | None
    """Passes of a test that was repeated until they were steady; null for other tests."""


class SpecifiedInterval(TypedDict):
    """The interval of a query: from its submission to the next one of its stream.

    The interval of a refresh function ends with its last commit.
    """

    operation: str
    variant: int
    """Number of the stream whose parameters a query has; for a refresh function, the number of its
    set."""
    begun_seconds: float
    """Start of the interval, in seconds after the test's first submission."""
    seconds: float
    counted_seconds: NotRequired[float]
    """Seconds that count in the power metric, after the 1000:1 rule and rounding to 0.01 s."""


class PassTimes(TypedDict):
    """Times of the operations in one pass."""

    sum_seconds: float
    geometric_mean_seconds: MeasuredValue
