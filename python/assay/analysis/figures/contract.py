"""Input and result types of the functions that make a study's tables and charts.

A figure has *subjects* (an engine, a setting: the columns of a comparison) and *measures* (the
compared quantities: the rows). A published article is one more subject. The keys of measures relate
the article's values to the study's values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from assay.analysis.quantities import Spread
    from assay.analysis.study_runs import StudyRun

Cell = str | int | float | None
# Columns of the table of a `curves` chart: the curve's name, the key of the article's value, x, y,
# the ends of y if known, and whether it is drawn as a line or as points.
CURVE_COLUMNS = ("curve", "key", "x", "y", "low", "high", "drawn")
LINE, POINT = "line", "point"
ChartKind = Literal[
    "bars",
    "stacked",
    "lines",
    "dots",
    "areas",
    "over_time",
    "curves",
    "fitted",
    "scatter",
    "forest",
    "waterfall",
    "trade",
    "heat",
]
# Columns of the table of a `trade` chart: the panel's title, counter and unit; the subject's value
# at a level, the ends of its interval if known, and whether it is of the first or
# of later executions.
TRADE_COLUMNS = (
    "panel",
    "counter",
    "unit",
    "subject",
    "level",
    "value",
    "low",
    "high",
    "drawn",
)
FIRST, LATER = "first execution", "later executions"


@dataclass(frozen=True)
class Asked:
    """The request for a table or chart, as written in the study's file.

    Attributes:
        name: Name of the figure, which is unique in the study.
        kind: Name of the figure's kind, which is the name of a module of this folder.
        title: Title of the figure.
        runs: Runs of the study's parts that the figure uses.
        options: Options of the kind of figure.
        ceilings: Ceilings of the host that these parts measured.
    """

    name: str
    kind: str
    title: str
    runs: tuple[StudyRun, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    ceilings: tuple[StudyRun, ...] = ()


@dataclass(frozen=True)
class Column:
    """One column of a table in a study's result.

    Attributes:
        name: Heading of the column.
        unit: Unit, as in `quantities.text`; None means text.
        digits: Number of significant digits; None means the unit's default.
    """

    name: str
    unit: str | None = None
    digits: int | None = None


@dataclass(frozen=True)
class Table:
    """A table of a study's result, in which a None cell was not measured.

    Attributes:
        name: Name of the table and of its file, which is unique in the figure.
        title: Short description of the table.
        columns: Columns of the table.
        rows: Rows with one cell for each column.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class Measure:
    """A quantity of a study that is compared between engines or settings.

    Attributes:
        key: Unique key in the figure, which identifies the article's value.
        title: Title for readers.
        unit: Unit, as in `quantities.text`.
        values: Value of the quantity by name of subject. A subject without a value was not
            measured.
        at: Position of the measure on a numeric axis; None if the measure has only a name.
    """

    key: str
    title: str
    unit: str
    values: Mapping[str, Spread]
    at: float | None = None


@dataclass(frozen=True)
class Chart:
    """A chart of compared quantities or of a table, with one colour per engine or setting.

    Attributes:
        name: Name of the chart, which is unique in the figure.
        title: Title of the value axis.
        kind: Charts of measures: `bars` and `dots` have a row per measure, `lines` are drawn along
            `at`, `scatter` has a point at each `at`. `stacked` has a bar per subject; for a table
            of shares, a bar per column of `keys`, cut into the table's rows. The other kinds draw
            a table. `areas` and `over_time` draw columns over the column `axis`, with a panel for
            each value of the first column. `curves` and `fitted` draw a table with
            `CURVE_COLUMNS`; `fitted` has a numeric axis. `forest` has a ratio with its interval
            per row. `waterfall` has a step per row, from zero to the sum in the last row. `trade`
            draws a table with `TRADE_COLUMNS` as panels over one axis of levels. `heat` colours
            the columns `keys` of each row by their values.
        keys: Keys of the measures to draw, all with the same unit; for a table, names of its
            columns.
        logarithmic: Whether the value axis is logarithmic; for `fitted`, whether both axes are.
        axis: Title of the position axis for `lines`; for a table, the name of its position column.
        table: Name of the figure's table to draw; None means measures are drawn.
    """

    name: str
    title: str
    kind: ChartKind
    keys: tuple[str, ...]
    logarithmic: bool = False
    axis: str | None = None
    table: str | None = None


@dataclass(frozen=True)
class Figure:
    """The tables, charts and sentences of one study result.

    Attributes:
        name, kind, title: Name, kind and title as requested.
        says: Sentences on the result, made from the data; the first is the most important.
        subjects: Names of the compared subjects, in their order.
        measures: Quantities that the figure compares.
        tables: Tables of the result, each of which can be exported as a file.
        charts: Charts of the measures or tables.
        notes: Notes on the method that depend on the runs.
        missing: Sentences on missing results, with the reason.
    """

    name: str
    kind: str
    title: str
    says: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    measures: tuple[Measure, ...] = ()
    tables: tuple[Table, ...] = ()
    charts: tuple[Chart, ...] = ()
    notes: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    def measure(self, key: str) -> Measure | None:
        """Return the compared quantity with a key; None without one."""
        return next((measure for measure in self.measures if measure.key == key), None)


@dataclass(frozen=True)
class FigureKind:
    """A kind of study result, such as a scaling chart, defined by one file of this folder.

    Attributes:
        name: Name in study files.
        about: Description of the figure in one sentence.
        options: Meaning of each option by its name.
        make: Function that makes the figure, without side effects.
    """

    name: str
    about: str
    options: Mapping[str, str]
    make: Callable[[Asked], Figure]
