"""Types of a run's document on a TPC-H test."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from annotated_types import Ge
from typing_extensions import TypedDict

from assay.report.documents.figures import MeasuredValue, MetricKey

SpecifiedKind = Literal["power", "throughput", "full", "steady"]
SpecifiedMetricKind = Literal["power", "throughput", "composite"]


class RefreshFunctions(TypedDict):
    """The refresh functions of a TPC-H test."""

    insert: str
    delete: str
    batches: int
    """Number of transactions of each refresh function; 0 means one for each order."""
    sets: NotRequired[int]
    """Sets that the whole test uses, numbered from 1."""


class SpecifiedMetric(TypedDict):
    """One TPC-H metric of the reported run."""

    is_not: str | None
    """Name of the specification's metric that this figure must not use, because parts of the test
    were left out; null if it may use the name, or if the specification has no name."""
    metric: MetricKey
    label: str
    """Name of the metric. It is the specification's only if nothing was left out."""
    title: str
    """Full name, including what was left out."""
    unit: Literal["/h"]
    value: MeasuredValue
    """Reported value, from rounded intervals, to 0.1. If null, why_not says why."""
    unrounded: MeasuredValue
    """Value from unrounded intervals."""


class SpecifiedStream(TypedDict):
    """One query stream of a TPC-H throughput test."""

    stream: int | None
    """Number of the stream, from 1; null for the stream of refresh functions."""
    begun_seconds: float
    """Start in seconds after the test's first submission."""
    seconds: float
    intervals: list[SpecifiedInterval]


class SpecifiedRun(TypedDict):
    """One run of a TPC-H test: its power test and its throughput test."""

    run: Annotated[int, Ge(1)]
    power_per_h: MeasuredValue
    throughput_per_h: MeasuredValue
    composite_per_h: MeasuredValue
    power_seconds: MeasuredValue
    """Sum of all intervals of the power test."""
    elapsed_seconds: MeasuredValue
    """Elapsed seconds of the throughput test, from the first submission to the last output or
    commit."""
    elapsed_counted_seconds: MeasuredValue
    """Ts: the elapsed seconds rounded up to 0.01 s."""
    power: list[SpecifiedInterval]
    """Intervals of the power test in their order."""
    throughput: list[SpecifiedStream]
    """Streams of the throughput test; the stream of refresh functions is last."""


class SpecifiedWeight(TypedDict):
    """The weight of one operation in TPC-H's metrics."""

    operation: str
    power_seconds: MeasuredValue
    """Interval of the operation in the power test."""
    throughput_seconds: MeasuredValue
    """Mean of the operation's intervals in the throughput test."""
    power: MeasuredValue
    """Weight in the power metric, by its interval in the power test."""
    throughput: MeasuredValue
    """Weight in the throughput metric, by its intervals in the stream that ended last."""
    composite: MeasuredValue
    """Weight in the composite metric if its time changes in both tests."""
    seconds_min: MeasuredValue
    """Shortest interval over the power tests or steady passes; null if there is only one."""
    seconds_max: MeasuredValue
    at_min: MeasuredValue
    """Change of the first metric, as a share, if its interval in the power test were the
    shortest."""
    at_max: MeasuredValue


class UtilisationRow(TypedDict):
    """The share of the machine that a single query stream used."""

    run: int
    power_seconds: float
    elapsed_seconds: float
    streams: int
    stream_seconds: float
    """Elapsed seconds over streams."""
    share: float
    """stream_seconds divided by power_seconds: roughly the share of the machine that the power test
    used. Above 1, streams slowed each other."""


class LargerScale(TypedDict):
    """A TPC-H test's memory peak predicted for a larger scale."""

    scale: float
    streams: int
    bytes: float


class QueryMemoryPeak(TypedDict):
    """The memory peak of a TPC-H throughput test, or of one query."""

    what: str
    """Description of the consumer, and how its memory was measured."""
    streams: int
    """Number of concurrent query streams."""
    bytes: float
    larger: list[LargerScale]
    """Predicted peak at each larger standard scale up to 100 times this one, with the minimum
    number of streams."""


class QueryMemory(TypedDict):
    """Memory that TPC-H queries took, and its prediction for larger scales."""

    formula: str
    peaks: list[QueryMemoryPeak]
    """Peaks of complete throughput tests and of the largest single query, the largest per stream
    first."""


class SteadyPasses(TypedDict):
    """The passes over all queries of a test that repeats until pass times are steady."""

    passes: list[PassTimes]
    """Complete passes in their order."""
    before: int | None
    """Number of passes before the steady ones; null if none were steady."""
    compared: int
    """Number of passes at the end that count as the steady ones."""
    figure: PassTimes | None
    """Figure from the median of each query over the steady passes."""


class SpecifiedTestSection(TypedDict):
    """A TPC-H test of a run, and its metrics."""

    kind: SpecifiedKind
    """Kind of test. `full` means two runs, each with a power test and a throughput test."""
    streams: int | None
    """Number of query streams in its throughput tests; null without a throughput test."""
    streams_minimum: int | None
    """Minimum number of streams that the specification requires at this scale."""
    scale_standard: bool
    """Whether the specification allows results at this scale."""
    parameters: Literal["drawn", "default"]
    seed: int
    refresh: RefreshFunctions | None
    """Refresh functions; null without any."""
    metrics: list[SpecifiedMetric]
    """Metrics of the reported run; the composite is first if there is one."""
    why_not: list[str]
    """Reason why there is no metric; empty if there is one."""
    left_out: list[str]
    """Parts of the specification that were left out. They change the metrics' names."""
    reported_run: int | None
    """The run with the lower composite."""
    rounding_dominates: bool
    """Whether more than a tenth of the reported power test's intervals are under 0.1 s. In that
    case read the unrounded figures."""
    warnings: list[str]
    runs: list[SpecifiedRun]
    """Power and throughput test of each run; for steady passes one run with their medians."""
    sensitivity: list[SpecifiedWeight]
    """Weight of each operation in the reported run: d ln metric / d ln time, from unrounded
    intervals."""
    utilisation: list[UtilisationRow]
    """Share of the machine that a stream uses beside others, compared with a stream alone."""
    memory: QueryMemory | None
    """Memory of queries beyond the resident memory before; null if not measured, or if it did not
    grow."""
    steady: SteadyPasses | None
    """Passes of a test that was repeated until they were steady; null for other tests."""


class SpecifiedInterval(TypedDict):
    """The TPC-H interval of a query: from its submission to the next one of its stream.

    The interval of a refresh function ends with its last commit.
    """

    operation: str
    variant: int
    """For a query the stream whose parameters it has, for a refresh function the number of its
    set."""
    begun_seconds: float
    """Start in seconds after the test's first submission."""
    seconds: float
    counted_seconds: NotRequired[float]
    """Seconds that count in the power metric, by the 1000:1 rule and rounded to 0.01 s."""


class PassTimes(TypedDict):
    """The query times of one pass over all queries."""

    sum_seconds: float
    geometric_mean_seconds: MeasuredValue
