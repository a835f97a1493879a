"""The contract of a study's figures: their input and their result.

A figure has *subjects* (an engine, a setting: the columns of a comparison) and *measures* (what is
compared: the rows). An article that was published is one more subject, so its values stand beside
ours by the keys of measures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from assay.analysis.quantities import Spread
    from assay.analysis.study_runs import StudyRun

Cell = str | int | float | None
# Columns of a table that `curves` draw: a curve's points by the curve's name, its key (under which
# an article has its value), x and y, the ends of y where they are known, and how it is drawn.
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
# Columns of a table that `trade` draws: a panel a word and counter, with its unit; a subject's
# value at a level, the ends of its interval where they are known, and which line it is of.
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
    """A figure as a study's author asks for it.

    Attributes:
        name: Unique in the study.
        kind: Name of a file of this folder.
        title: As a heading.
        runs: Runs of the parts that it is made of.
        options: Understood by the kind.
        ceilings: Looks at what the host can do, of these parts.
    """

    name: str
    kind: str
    title: str
    runs: tuple[StudyRun, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    ceilings: tuple[StudyRun, ...] = ()


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes:
        name: Its heading.
        unit: As `quantities.text` knows them; None: words.
        digits: Significant digits that are shown; None: as the unit has it.
    """

    name: str
    unit: str | None = None
    digits: int | None = None


@dataclass(frozen=True)
class Table:
    """Rows under columns. A cell that is None was not measured.

    Attributes:
        name: Unique in its figure; also the name of its file.
        title: What it shows, in a few words.
        columns: Columns of every row.
        rows: As many cells as there are columns.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class Measure:
    """A quantity that is compared.

    Attributes:
        key: By which an article's value is found; unique in the figure.
        title: In words.
        unit: As `quantities.text` knows them.
        values: By name of subject. A subject that has none was not measured.
        at: Its place on an axis of numbers; None where it has only a name.
    """

    key: str
    title: str
    unit: str
    values: Mapping[str, Spread]
    at: float | None = None


@dataclass(frozen=True)
class Chart:
    """A chart of measures, each subject with a colour of its own.

    Attributes:
        name: Unique in its figure.
        title: What its axis of values is.
        kind: `bars` and `dots` a measure a row; `stacked` a bar a subject, or of a table of shares
            a bar each of the columns `keys`, cut into its rows; `lines` along `at`; `scatter` a
            point each at `at`. The others draw a table: `areas` and `over_time` its columns over
            the one named by `axis`, a panel for each word of its first column; `curves` and
            `fitted` as `CURVE_COLUMNS` has it, the latter along an axis of numbers; `forest` a
            ratio a row with its interval; `waterfall` a step a row, from none to the last, their
            sum; `trade` panels below each other on one axis of levels, as `TRADE_COLUMNS` has it;
            `heat` the columns `keys` of each row as fields, coloured by their values.
        keys: The measures that are drawn, all of one unit; of a table the columns.
        logarithmic: Whether the axis of values is; of `fitted` both axes.
        axis: What the places of `lines` are; of a table the column of places.
        table: The name of the figure's table that is drawn; None: measures are.
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
    """The content of a figure.

    Attributes:
        name, kind, title: As asked.
        says: Sentences of what it shows, made of its data; the first is the most important.
        subjects: Names of what is compared, in their order.
        measures: What is compared.
        tables: Each can be taken as a file.
        charts: What people would rather look at.
        notes: How it was made, as far as that differs from run to run.
        missing: What it cannot show, and why; a sentence each.
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
        """A measure by its key."""
        return next((measure for measure in self.measures if measure.key == key), None)


@dataclass(frozen=True)
class FigureKind:
    """One file of this folder.

    Attributes:
        name: As a study names it.
        about: What it shows, in a sentence.
        options: What may stand in `options`, each with what it means.
        make: Makes the figure. Pure.
    """

    name: str
    about: str
    options: Mapping[str, str]
    make: Callable[[Asked], Figure]
