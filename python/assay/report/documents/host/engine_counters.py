"""Types of a run's document on the counters of the engine."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from assay.report.documents.figures import MeasuredValue


class CounterRow(TypedDict):
    """One counter or gauge that the engine reports."""

    name: str
    title: str
    """Name of the counter for readers."""
    unit: str
    """Unit of `total`, `last` and `operations`: bytes, s, or the counted thing."""
    kind: Literal["counter", "gauge"]
    """Kind of the figure: a counter only grows, a gauge goes up and down."""
    to_try: str | None
    """Advice from the engine's declaration for a high value of the counter; null without one."""
    total: MeasuredValue
    """Growth of the counter within window_s; null for a gauge, or if the counter was reset."""
    per_s: MeasuredValue
    """Growth of the counter divided by the seconds between its readings."""
    last: MeasuredValue
    """Last value of a gauge; null for a counter."""
    operations: dict[str, float]
    """Growth of the counter during one execution of each operation in the power order, as the
    median over the passes with readings."""


class CounterShare(TypedDict):
    """A ratio of two counters, such as a hit ratio."""

    name: str
    title: str
    share: MeasuredValue
    """The ratio, from 0 to 1; null if nothing was counted, or one of the counters has no total."""


class ActivityInterval(TypedDict):
    """The engine's activity line for one interval."""

    begun_s: float
    """Start of the interval, in seconds since the measured part began."""
    ended_s: float
    line: str


class ActivityOperation(TypedDict):
    """The engine's activity line for one execution of an operation."""

    name: str
    line: str


class ActivitySection(TypedDict):
    """The engine's counters of index look-ups, in the layout that the engine prints."""

    title: str
    missing: str | None
    """Reason why no look-ups were measured; null if some were."""
    counted: dict[str, float]
    """Counts of the measured part by their names in the activity line, without counters that were
    reset."""
    line: str | None
    """The engine's activity line for the measured part; null if nothing was measured."""
    intervals: list[ActivityInterval]
    operations: list[ActivityOperation]
    """Median activity for one execution of each operation; empty if operations overlap."""


class IndexWorkRow(TypedDict):
    """The work on one index that was used in the measured part."""

    object: str
    holds: Literal["literals", "iris", "quads"] | None
    """Content of the index in an RDF store; null for other indexes."""
    touches: MeasuredValue
    """Number of rows that were found through the index."""
    reads: MeasuredValue
    """Number of the index's pages that were read."""


class CountedColumn(TypedDict):
    """A column in a table of an engine's counters by object."""

    counter: str
    title: str
    unit: str


class CountedObject(TypedDict):
    """One database object, such as an index, with the values of its counters."""

    object: str
    values: list[MeasuredValue]
    """Value of each column: growth within window_s, or the last value of a gauge; null if the
    counter was reset or not reported."""


class CountedTable(TypedDict):
    """A table of database objects with the engine's counters for each."""

    name: str
    title: str
    object: str
    """Kind of object that each row describes."""
    parts: list[str]
    """Column headings for the parts of an object's name, which dots separate; empty for names of
    one part."""
    columns: list[CountedColumn]
    rows: list[CountedObject]
    """Objects with counts, sorted by one column, largest value first."""
    left_out: int
    """Number of objects that the table leaves out."""


class CounterSeries(TypedDict):
    """Values of one counter over time."""

    name: str
    time_s: list[float]
    """Times of the counter's readings, in seconds since the beginning of the measured part."""
    values: list[MeasuredValue]
    """Values of a gauge, or a counter's rates per second since the previous reading; the first rate
    is null."""


class EngineCountersSection(TypedDict):
    """Counters that the engine reports about itself."""

    window_s: float
    """Seconds from the last reading before the measured part to the first reading after it."""
    counters: list[CounterRow]
    """The engine's counters, in the order of its declaration."""
    shares: list[CounterShare]
    activity: ActivitySection | None
    """Meters of look-ups as the engine prints them, with four significant digits and suffixes for
    powers of 1000; null if the engine has none."""
    index_work: list[IndexWorkRow] | None
    """Indexes that were used in the measured part, most pages read first; null if the engine does
    not report them."""
    tables: list[CountedTable]
    """Counts for each object, such as an index. Some engines report counts of the run's beginning
    and of the rest separately."""
    series: list[CounterSeries]
    """Values of each counter over time."""
