"""Counters of the engine in the document of a run."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from assay.report.documents.figures import MeasuredValue


class CounterRow(TypedDict):
    """One figure that the engine declares."""

    name: str
    title: str
    """Name of the figure for readers."""
    unit: str
    """Unit of total, last and operations: bytes, s, or the counted thing."""
    kind: Literal["counter", "gauge"]
    """A counter grows, a gauge goes up and down."""
    to_try: str | None
    """Advice from the engine's declaration if the figure is high."""
    total: MeasuredValue
    """Growth within window_s; null for a gauge, or if the counter was reset."""
    per_s: MeasuredValue
    """total divided by the time between its readings."""
    last: MeasuredValue
    """A gauge's last value; null for a counter."""
    operations: dict[str, float]
    """Growth during one execution of each operation in the power order, as median over the passes
    with readings."""


class CounterShare(TypedDict):
    """A share of two counters, such as a hit ratio."""

    name: str
    title: str
    share: MeasuredValue
    """The share, 0 to 1; null if nothing was counted, or one of its counters has no total."""


class ActivityInterval(TypedDict):
    """The line of activity of one interval."""

    begun_s: float
    """Seconds since the beginning of the measured part."""
    ended_s: float
    line: str


class ActivityOperation(TypedDict):
    """The line of activity of one execution of an operation."""

    name: str
    line: str


class ActivitySection(TypedDict):
    """Meters of look-ups, as the engine prints them."""

    title: str
    missing: str | None
    """Reason why nothing was measured; null if something was."""
    counted: dict[str, float]
    """Counts of the measured part, by word of the line, without counters that were reset."""
    line: str | None
    """The line for the measured part."""
    intervals: list[ActivityInterval]
    operations: list[ActivityOperation]
    """Medians for one execution of each operation; only if operations follow one another."""


class IndexWorkRow(TypedDict):
    """One index that was used in the measured part."""

    object: str
    holds: Literal["literals", "iris", "quads"] | None
    """Content of the index in an RDF store."""
    touches: MeasuredValue
    """Rows that were found."""
    reads: MeasuredValue
    """Pages that were read."""


class CountedColumn(TypedDict):
    """A column of a table of objects."""

    counter: str
    title: str
    unit: str


class CountedObject(TypedDict):
    """One object, such as an index, with its counts."""

    object: str
    values: list[MeasuredValue]
    """Value by column: growth within window_s, or the last value of a gauge; null if it was reset
    or not reported."""


class CountedTable(TypedDict):
    """A table of objects with what was counted for each."""

    name: str
    title: str
    object: str
    """Kind of object in each row."""
    parts: list[str]
    """Column heads for the parts of an object's name, which dots separate; empty for a name of one
    part."""
    columns: list[CountedColumn]
    rows: list[CountedObject]
    """Objects with counts, sorted by one column, largest first."""
    left_out: int
    """Number of objects that are left out."""


class CounterSeries(TypedDict):
    """One figure over time."""

    name: str
    time_s: list[float]
    """Times of the readings, in seconds since the beginning of the measured part."""
    values: list[MeasuredValue]
    """Values of a gauge, or rates a second of a counter since the previous reading; the first rate
    is null."""


class EngineCountersSection(TypedDict):
    """Figures that the engine counted itself."""

    window_s: float
    """Seconds from the last reading before the measured part to the first after it."""
    counters: list[CounterRow]
    """The counters in the engine's order."""
    shares: list[CounterShare]
    activity: ActivitySection | None
    """Meters of look-ups as the engine prints them, with four significant digits and suffixes for
    powers of 1000; null if it has none."""
    index_work: list[IndexWorkRow] | None
    """Indexes that were used in the measured part, most pages read first; null if the engine does
    not report them."""
    tables: list[CountedTable]
    """Counts for each object, such as an index. Some engines report counts of the run's beginning
    and of the rest separately."""
    series: list[CounterSeries]
    """Values of each figure over time."""
