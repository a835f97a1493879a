"""Types of a study's document, printed by `assay study --json`.

`report/study/document.schema.json` is generated from `StudyDocument`. A value that was not measured
is null.
"""

# The schema generator evaluates these annotations, so the names must exist at run time.
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from assay.analysis.figures.contract import Cell, ChartKind
from assay.model.verdict import VerdictWord


class DoubtEntry(TypedDict):
    """A reason why some runs of the study are not valid, with these runs."""

    verdict: VerdictWord
    check: Annotated[str, Field(description="Name of the check.")]
    reason: str
    runs: Annotated[Sequence[str], Field(description="Ids of runs.")]


class VariantEntry(TypedDict):
    """One combination of factor levels, which a study runs `repetitions` times."""

    name: str
    levels: Annotated[Mapping[str, str], Field(description="Level by name of its factor.")]
    request: Annotated[
        Mapping[str, object],
        Field(description="The request of its runs, without options that have their default."),
    ]
    runs: Annotated[int, Field(description="Complete runs.")]


class PartEntry(TypedDict):
    """A section of a study whose variants are run in alternation."""

    name: str
    about: str | None
    repetitions: int
    variants: Sequence[VariantEntry]
    runs: Annotated[int, Field(description="Complete runs whose records can be read.")]


class RunEntry(TypedDict):
    """A complete run of the study with a readable record."""

    part: str
    variant: str
    levels: Annotated[Mapping[str, str], Field(description="Level by name of its factor.")]
    round: Annotated[int, Field(description="From 1.")]
    run: Annotated[str, Field(description="Id of the run.")]
    engine: Annotated[
        str | None, Field(description="Title and version; null for a measurement of the host.")
    ]
    verdict: VerdictWord
    seconds: Annotated[float | None, Field(description="From its request to its end.")]


class MissingRunEntry(TypedDict):
    """A requested run of the study that is not complete."""

    part: str
    variant: str
    levels: Annotated[Mapping[str, str], Field(description="Level by name of its factor.")]
    round: Annotated[int, Field(description="From 1.")]
    run: Annotated[str | None, Field(description="Id of the run; null without a record.")]
    status: str
    reason: str | None
    seconds: float | None


class ArticleConditions(TypedDict):
    """Conditions of a published article's measurement; null if not stated."""

    engine: Annotated[str | None, Field(description="Name of the engine in Assay.")]
    engine_title: Annotated[str | None, Field(description="Title and version of the engine.")]
    workload: Annotated[str | None, Field(description="Name of the workload in Assay.")]
    scale: Annotated[float | None, Field(description="Scale factor.")]
    streams: Annotated[int | None, Field(description="Query streams of the throughput test.")]
    cpu: Annotated[str | None, Field(description="Model or architecture.")]
    cores: Annotated[int | None, Field(description="Cores or hardware threads of the engine.")]
    memory_bytes: Annotated[int | None, Field(description="Memory of the machine.")]
    state: Annotated[str | None, Field(description="State in which the power test began.")]
    about: Annotated[Sequence[str], Field(description="Other conditions, a sentence each.")]


class ArticleEntry(TypedDict):
    """The published article that the study repeats."""

    title: str | None
    series: Annotated[str | None, Field(description="The series that it is a part of.")]
    about: str | None
    author: str | None
    date: str | None
    url: str | None
    words: Annotated[str, Field(description="Its name in a sentence.")]
    conditions: ArticleConditions
    differs: Annotated[
        Sequence[str],
        Field(description="Differences between its conditions and ours, a sentence each."),
    ]


class SpreadEntry(TypedDict):
    """The spread of one quantity over the rounds of a study: median, lowest, highest."""

    middle: float
    low: float
    high: float
    count: Annotated[int, Field(ge=1)]


class MeasureEntry(TypedDict):
    """A quantity of a study that is compared between engines or settings."""

    key: Annotated[
        str, Field(description="Unique in its figure; the article's value has the same key.")
    ]
    title: str
    unit: str
    values: Annotated[Mapping[str, SpreadEntry], Field(description="By name of the subject.")]
    at: Annotated[
        float | None, Field(description="Place on a numeric axis; null where it has only a name.")
    ]


class ColumnEntry(TypedDict):
    """A column of a table in a study's result."""

    name: str
    unit: Annotated[str | None, Field(description="Null in a column of text.")]
    digits: Annotated[
        int | None, Field(description="Significant digits shown; null for those of the unit.")
    ]


class TableEntry(TypedDict):
    """A table of a study's result, in which a null cell was not measured."""

    name: str
    title: str
    columns: Sequence[ColumnEntry]
    rows: Sequence[Sequence[Cell]]


class ChartEntry(TypedDict):
    """A chart of a study's compared quantities or of one of its tables."""

    name: str
    title: Annotated[str, Field(description="Title of the axis of values.")]
    kind: ChartKind
    keys: Annotated[
        Sequence[str], Field(description="Keys of the measures, or names of the table's columns.")
    ]
    logarithmic: bool
    axis: Annotated[
        str | None, Field(description="Title of the axis of places; of a table a column's name.")
    ]
    table: Annotated[
        str | None, Field(description="Name of the table that is drawn; null for measures.")
    ]


class FigureContent(TypedDict):
    """A result of a study: sentences, compared quantities, tables and charts."""

    name: str
    kind: str
    title: str
    says: Annotated[Sequence[str], Field(description="Conclusions, the most important one first.")]
    subjects: Annotated[Sequence[str], Field(description="Names of what is compared, in order.")]
    measures: Sequence[MeasureEntry]
    tables: Sequence[TableEntry]
    charts: Sequence[ChartEntry]
    notes: Annotated[Sequence[str], Field(description="Method, a sentence each.")]
    missing: Annotated[
        Sequence[str], Field(description="What the figure cannot show, with the reason.")
    ]


class ComparedEntry(TypedDict):
    """A quantity that the published article and the study both have."""

    key: str
    title: str
    unit: str
    article: Annotated[float, Field(description="The article's value; the lower end of a range.")]
    article_high: Annotated[float | None, Field(description="The upper end of a range.")]
    printed: Annotated[str, Field(description="The article's value as printed.")]
    ours: Annotated[
        Mapping[str, SpreadEntry],
        Field(description="By name of the subject; empty where the study does not measure it."),
    ]
    base: Annotated[
        str | None, Field(description="Title of the quantity that the ratios are relative to.")
    ]
    article_times: Annotated[
        float | None, Field(description="Ratio of the article's value to that of the base.")
    ]
    our_times: Annotated[
        Mapping[str, float] | None, Field(description="Ratio to the base by name of the subject.")
    ]


class ArticleTableEntry(TableEntry):
    """A table of the published article, with key and value columns."""

    key: Annotated[str | None, Field(description="Name of the column of keys.")]
    value: Annotated[
        str | Sequence[str] | None, Field(description="Name of the column of values, or several.")
    ]


class DerivedEntry(TypedDict):
    """A value that the article derived from others, and the study's value derived likewise."""

    name: str
    analysis: Annotated[str, Field(description="Name of the formula.")]
    unit: str
    article: Annotated[float, Field(description="The article's value.")]
    printed: Annotated[str, Field(description="The article's value as printed.")]
    value: Annotated[float, Field(description="The value that the article's inputs give.")]
    agrees: Annotated[bool, Field(description="Whether both are equal within rounding.")]


class ArticleFigureEntry(TypedDict):
    """The published article's values for one result of the study."""

    section: str | None
    says: Annotated[str | None, Field(description="The article's claim, in our words.")]
    compared: Sequence[ComparedEntry]
    differs: Annotated[
        Sequence[str], Field(description="How ours compare with the article's, a sentence each.")
    ]
    tables: Sequence[ArticleTableEntry]
    derived: Sequence[DerivedEntry]
    inputs: Annotated[
        Sequence[str], Field(description="Keys of values that derived figures are computed from.")
    ]
    reasons: Annotated[Sequence[str], Field(description="Why ours may differ from the article's.")]


class FigureEntry(FigureContent):
    """A result of a study, with the study sections it uses and the article's values."""

    parts: Annotated[Sequence[str], Field(description="Names of parts.")]
    article: ArticleFigureEntry | None


class NotShownEntry(TypedDict):
    """A result that the study could not show, and the reason."""

    what: str
    why: str


class ConditionEntry(TypedDict):
    """A condition of a study's runs, with several values if runs differ."""

    what: str
    values: Sequence[str]


class StudyDocument(TypedDict):
    """The document of `assay study --json`: runs, results and comparison with an article.

    A figure compares subjects by measures. Values of a published article stand beside the study's
    values under the same key. A value that was not measured is null or missing.
    """

    schema: Literal[1]
    assay_version: str
    study: Annotated[str, Field(description="Id of the study.")]
    path: Annotated[str, Field(description="Directory of the study.")]
    title: str
    question: str
    status: str
    status_reason: str | None
    about: Annotated[Mapping[str, object], Field(description="As the study's file has it.")]
    verdict: VerdictWord
    answers: Annotated[
        Sequence[str], Field(description="Whether the runs' answers agree, a sentence each.")
    ]
    doubts: Sequence[DoubtEntry]
    took_seconds: Annotated[float | None, Field(description="Time of all runs together.")]
    parts: Sequence[PartEntry]
    runs: Sequence[RunEntry]
    missing: Sequence[MissingRunEntry]
    article: ArticleEntry | None
    figures: Sequence[FigureEntry]
    derived: Annotated[
        Sequence[DerivedEntry], Field(description="Derived figures that belong to no figure.")
    ]
    not_shown: Sequence[NotShownEntry]
    environment: Sequence[ConditionEntry]
    legal: Annotated[Sequence[str], Field(description="Notices that the workloads require.")]
    report: Annotated[str | None, Field(description="Path of the page; null without one.")]
