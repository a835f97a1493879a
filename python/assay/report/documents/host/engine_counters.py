"""Counters of the engine in the document of a run."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from assay.report.documents.figures import MeasuredValue


class CounterRow(TypedDict):
    """One figure that the engine declares."""

    name: str
    title: str
    """As people read it."""
    unit: str
    """Of total, last and operations; bytes, s, or what is counted."""
    kind: Literal["counter", "gauge"]
    """A counter grows, a gauge goes up and down."""
    to_try: str | None
    """What the engine's declaration advises where there was much of it."""
    total: MeasuredValue
    """Growth within window_s; null for a gauge, and where it was reset."""
    per_s: MeasuredValue
    """total over the time between its readings."""
    last: MeasuredValue
    """A gauge's last value; null for a counter."""
    operations: dict[str, float]
    """In the power order: growth during one execution of an operation, median over the passes that
    were read."""


class CounterShare(TypedDict):
    """A share of two counters, such as a hit ratio."""

    name: str
    title: str
    share: MeasuredValue
    """0 to 1; null if nothing was counted, or a figure of it has no total."""


class ActivityInterval(TypedDict):
    """The line of activity of one interval."""

    begun_s: float
    """Since the beginning of the measured part."""
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
    """Why nothing was measured; null where something was."""
    counted: dict[str, float]
    """Of the measured part, by word of the line; what was reset is left out."""
    line: str | None
    """Of the measured part."""
    intervals: list[ActivityInterval]
    operations: list[ActivityOperation]
    """Of one execution, medians of those that were read; only where operations follow one
    another."""


class IndexWorkRow(TypedDict):
    """One index that was used in the measured part."""

    object: str
    holds: Literal["literals", "iris", "quads"] | None
    """What it holds, of an engine of triples."""
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
    """By column: growth within window_s, of a gauge its value at the end; null where it was reset
    or not told."""


class CountedTable(TypedDict):
    """A table of objects with what was counted for each."""

    name: str
    title: str
    object: str
    """What a row is."""
    parts: list[str]
    """Heads of the parts of an object's name, which dots separate; empty if it has none."""
    columns: list[CountedColumn]
    rows: list[CountedObject]
    """Objects of which something was counted, in the order of one column, most first."""
    left_out: int
    """How many objects are not told."""


class CounterSeries(TypedDict):
    """One figure over time."""

    name: str
    time_s: list[float]
    """When it was read, since the beginning of the measured part."""
    values: list[MeasuredValue]
    """Of a counter the rate a second since the reading before, whose first is null; of a gauge the
    value."""


class EngineCountersSection(TypedDict):
    """Figures that the engine counted itself."""

    window_s: float
    """From the last reading before the measured part to the first after it."""
    counters: list[CounterRow]
    """In the engine's order."""
    shares: list[CounterShare]
    activity: ActivitySection | None
    """Meters of look-ups, as the engine prints them: four significant digits and the suffix of a
    power of 1000. Null: it has none."""
    index_work: list[IndexWorkRow] | None
    """Indexes that were used in the measured part, most pages read first. Null: the engine does not
    tell."""
    tables: list[CountedTable]
    """What was counted for each object, such as an index; of those that an engine tells apart, of
    the beginning of the run and of the rest, too."""
    series: list[CounterSeries]
    """Each figure over time."""
