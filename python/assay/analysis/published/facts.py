"""Reads `published.toml`: an article's values and tables, each with unit and source.

The article's sentences are not copied: `says` and `reasons` are written for Assay. An unknown
key is an error.
"""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from assay.analysis.work.rule_files import validated
from assay.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Name = Annotated[str, Field(min_length=1)]
Input = float | Name | tuple[float | Name, ...]


class Facts(BaseModel):
    """The keys that all tables of `published.toml` share."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Article(Facts):
    """The published article whose values a study compares itself with.

    Attributes:
        title: Title of the article. Without a title, the series must be given.
        series: Series that the article belongs to.
        about: Summary of its content, not a quotation.
        author: Author of the article.
        date: Date of publication, as far as known.
        url: Address of the article.
    """

    title: Name | None = None
    series: Name | None = None
    about: str | None = None
    author: str | None = None
    date: str | None = None
    url: str | None = None

    @model_validator(mode="after")
    def _named(self) -> Article:
        if self.title is None and self.series is None:
            raise ValueError("an article needs a title, or a series that it belongs to")
        return self

    @property
    def citation(self) -> str:
        """The article's name with author and date, for use in a sentence."""
        title = self.title or f"an article of the series {self.series}"
        by = f" by {self.author}" if self.author else ""
        return f"{title}{by}{f' ({self.date})' if self.date else ''}"


class Conditions(Facts):
    """The conditions of the article's measurement, as far as the article states them.

    Attributes:
        engine: Name of the engine, as in `engine.toml`.
        engine_title: Title of the engine, with a version.
        workload: Name of the workload, as in `workload.toml`.
        scale: Scale factor.
        streams: Query streams of the throughput test.
        cpu: Model or architecture.
        cores: Cores, or hardware threads, that the engine had.
        memory_bytes: Bytes of memory of the machine.
        state: State of caches in which the power test began.
        about: Sentences on other relevant conditions.
    """

    engine: str | None = None
    engine_title: str | None = None
    workload: str | None = None
    scale: float | None = None
    streams: int | None = None
    cpu: str | None = None
    cores: int | None = None
    memory_bytes: int | None = None
    state: str | None = None
    about: tuple[Name, ...] = ()


class Value(Facts):
    """A value of a published article with its source.

    Attributes:
        value: The value in its unit.
        unit: One of the units of `figures.quantities`, or any other text.
        title: Title of the value, if no measure of the figure has the same key.
        printed: Text of the value in the article, if the number alone has another precision.
        high: Upper end, if the article gives a range.
    """

    value: float
    unit: Name
    title: str | None = None
    printed: str | None = None
    high: float | None = None


class ColumnFacts(Facts):
    """One column of a table from a published article."""

    name: Name
    unit: str | None = None
    digits: int | None = Field(default=None, ge=1, le=17)


class TableFacts(Facts):
    """A table from a published article, with the columns that hold measured values.

    Attributes:
        key, value: Columns with the keys and values of measures. Values of equal keys are added
            up. With several value columns, a measure's key combines row and column: `4 KiB
            random`.
    """

    name: Name
    title: Name
    columns: tuple[ColumnFacts, ...] = Field(min_length=1)
    rows: tuple[tuple[str | float | None, ...], ...]
    key: str | None = None
    value: str | tuple[str, ...] | None = None

    @property
    def valued(self) -> tuple[str, ...]:
        """The columns whose cells are measured values."""
        if self.value is None:
            return ()
        return (self.value,) if isinstance(self.value, str) else self.value

    @model_validator(mode="after")
    def _whole(self) -> TableFacts:
        names = [column.name for column in self.columns]
        if any(len(row) != len(names) for row in self.rows):
            raise ValueError(f"table {self.name!r}: every row must have {len(names)} cells")
        if (self.key is None) != (self.value is None):
            raise ValueError(f"table {self.name!r}: key and value must be given together")
        for name in (self.key, *self.valued):
            if name is not None and name not in names:
                raise ValueError(f"table {self.name!r} has no column {name!r}")
        return self

    def place(self, column: str) -> int:
        """Return the index of a table column; raise `ValueError` if no column has this name."""
        return [declared.name for declared in self.columns].index(column)

    def by_key(self) -> dict[str, Value]:
        """Return the table's values summed by key; empty if it has no measured values."""
        values: dict[str, Value] = {}
        if self.key is None:
            return values
        for column in self.valued:
            column_facts = self.columns[self.place(column)]
            for row in self.rows:
                amount = row[self.place(column)]
                if isinstance(amount, int | float):
                    key = str(row[self.place(self.key)])
                    key = key if isinstance(self.value, str) else f"{key} {column}"
                    before = values[key].value if key in values else 0.0
                    values[key] = Value(value=before + amount, unit=column_facts.unit or "count")
        return values


class FigureFacts(Facts):
    """Published values to compare with the study's result of the same name.

    Attributes:
        name: The figure's name.
        section: Section of the article.
        says: The article's claims in other words.
        reasons: Reasons for possible differences, known before measuring.
        values: Values by key. Keys without a measure of the figure appear only for the article.
        tables: Tables as printed in the article.
    """

    name: Name
    section: str | None = None
    says: str | None = None
    reasons: tuple[Name, ...] = ()
    values: dict[str, Value] = {}
    tables: tuple[TableFacts, ...] = ()

    def measures(self) -> dict[str, Value]:
        """Return all published values by key, including sums over table rows."""
        values: dict[str, Value] = {}
        for table in self.tables:
            values |= table.by_key()
        return values | self.values


class DerivedFacts(Facts):
    """A result that the article's author computed from other published values.

    Attributes:
        name: Short name of the figure.
        figure: The figure with which it is shown; None means at the end, with all others.
        analysis: Name of an analysis in `derived.ANALYSES`.
        inputs: The analysis's arguments: numbers, references such as `states.hot` (figure and
            value) or `profile/functions/cs_decode/share` (figure, table, row, column), or lists.
        value: The author's value of the figure.
        within: Tolerance of the comparison, as a share of the value, because authors round.
    """

    name: Name
    analysis: Name
    inputs: dict[str, Input]
    value: float
    unit: Name
    figure: str | None = None
    section: str | None = None
    printed: str | None = None
    within: float = Field(default=0.01, ge=0, lt=1)


class Published(Facts):
    """The whole content of `published.toml`: the article, its conditions and its values."""

    article: Article
    conditions: Conditions = Conditions()
    figures: tuple[FigureFacts, ...] = ()
    derived: tuple[DerivedFacts, ...] = ()

    @model_validator(mode="after")
    def _named_once(self) -> Published:
        for names in (
            [facts.name for facts in self.figures],
            [facts.name for facts in self.derived],
        ):
            for name in names:
                if names.count(name) > 1:
                    raise ValueError(f"{name!r} is given twice")
        return self

    def figure(self, name: str) -> FigureFacts | None:
        """Return the published values for a study's result by its name; None without any."""
        return next((figure for figure in self.figures if figure.name == name), None)

    def of_figure(self, name: str | None) -> Iterator[DerivedFacts]:
        """Return the derived results to show with a study's result; None: at the end."""
        return (derived for derived in self.derived if derived.figure == name)


def parse_published(text: str, source: str) -> Published:
    """Parse the text of `published.toml` into an article's values.

    Raises:
        UsageError: If the file has an error, or the analysis or inputs of a derived figure do
            not exist. The message contains `source` and the key.
    """
    from assay.analysis.published.derived import check_derived

    try:
        document: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{source} cannot be read: {error}") from error
    published = validated(Published, document, source)
    for derived in published.derived:
        check_derived(published, derived, source)
    return published


def read_published(file: Path) -> Published:
    """Return a published article's values from a file; raise `UsageError` if it is wrong."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {file}: {error}") from error
    return parse_published(text, str(file))
