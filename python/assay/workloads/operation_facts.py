"""The keys of an operation in `workload.toml`: its parameters, answer, waits and limits."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    model_validator,
)

ColumnKind = Literal["exact", "sum", "average", "ratio", "float"]
Bound = int | str
# Characters allowed between `${` and `}`.
Name = Annotated[str, Field(pattern=r"^[\w-]+$")]


class Facts(BaseModel):
    """A table of the manifest."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Constant(Facts):
    """A value that texts refer to, constant for a whole run.

    Attributes:
        value: Value in the text. `accounts = 100` is the short form of a constant.
        times_scale: Number per unit of scale, rounded to an integer of at least one.
        times_log_scale: Number at scale 1, added again for each doubling of the scale; below 1 as
            with `times_scale`.
    """

    value: str | None = None
    times_scale: float | None = Field(default=None, gt=0)
    times_log_scale: float | None = Field(default=None, gt=0)

    @model_validator(mode="before")
    @classmethod
    def _plain(cls, entry: object) -> object:
        return entry if isinstance(entry, dict) else {"value": value_text(entry)}

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        numbers = [self.value, self.times_scale, self.times_log_scale]
        if numbers.count(None) != len(numbers) - 1:
            raise ValueError(
                "write a number or a text, or { times_scale = N }, or { times_log_scale = N }"
            )
        return self


class Rule(Facts):
    """The rule of a parameter: `default`, and one of the forms of drawing.

    Attributes:
        default: Value, or values, in a run without drawn parameters.
        integer: An integer between two inclusive bounds; a bound may name a constant.
        times_scale: Whether the upper bound of `integer` is multiplied by the scale.
        choice: One element of a list, which is given or named.
        distinct: Number of distinct values to draw instead of one.
        shuffled: Whether distinct values are the first of a shuffled list, instead of drawn one by
            one.
        month: First day of a month between two days.
        year: First day of a year between two years.
        day: A day between two days.
        decimal: A decimal between two bounds, in steps of the last digit.
        words: One word of each list, joined; each word is drawn separately.
        combination: One word of each list, joined, where one draw selects among all combinations;
            the last list changes fastest.
        keep: Positions of the words of a combination that remain, from 0; default: all.
        separator: Text between the words; default: a space.
        per_scale: A number divided by the scale.
        follows: Name of another parameter, whose value is looked up.
        map: Table for the lookup.
    """

    default: Any = None
    integer: tuple[Bound, Bound] | None = None
    times_scale: bool = False
    choice: str | list[Any] | None = None
    distinct: int | None = None
    shuffled: bool = False
    month: tuple[str, str] | None = None
    year: tuple[int, int] | None = None
    day: tuple[str, str] | None = None
    decimal: tuple[str, str] | None = None
    words: list[Any] | None = None
    combination: list[Any] | None = None
    keep: list[NonNegativeInt] | None = None
    separator: str | None = None
    per_scale: float | None = None
    follows: str | None = None
    map: str | None = None

    @model_validator(mode="after")
    def _scales_integers_only(self) -> Self:
        if self.times_scale and self.integer is None:
            raise ValueError("the key times_scale needs the key integer")
        return self

    @model_validator(mode="after")
    def _companions(self) -> Self:
        if self.shuffled and self.distinct is None:
            raise ValueError("the key shuffled needs the key distinct")
        if self.keep is not None and self.combination is None:
            raise ValueError("the key keep needs the key combination")
        return self


class ParameterFacts(Facts):
    """The rules by which parameters are drawn.

    Attributes:
        source: `named`: each parameter has its own random numbers, determined by seed, stream,
            operation and parameter. `qgen`: the method of TPC-H's reference program. Each operation
            has a sequence of random numbers that starts from the seed plus the stream's number, and
            its parameters use it in order.
        sequences: The operations that have sequence 1, 2 and so on, for `qgen`.
    """

    source: Literal["named", "qgen"] = "named"
    sequences: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _sequences_of_qgen(self) -> Self:
        if (self.source == "qgen") != bool(self.sequences):
            raise ValueError('source = "qgen" needs sequences')
        if len(set(self.sequences)) < len(self.sequences):
            raise ValueError("each operation may be in one sequence only")
        return self


class WaitFacts(Facts):
    """The time of a user at a terminal for one operation.

    Attributes:
        keying_s: Time in seconds for keying in the input before sending it.
        think_s: Mean time in seconds until the next operation, exponentially distributed.
    """

    keying_s: NonNegativeFloat = 0.0
    think_s: NonNegativeFloat = 0.0


class OperationFacts(Facts):
    """One named operation.

    Attributes:
        title: Short title for readers.
        weight: Weight in a mix, relative to the other operations.
        rows: Number of rows that each execution returns, if known.
        rows_max: Maximum number of rows if it varies. `rows` is then the minimum number of rows.
        parameters: A rule for each `${name}` in its text.
        answer: Comparison of each column of its answer; `exact` by default.
        ordered_by: Columns that define the order of its rows: rows with equal values may come in
            any order, and without columns all rows may. None means rows come as kept.
        offset, limit: OFFSET and LIMIT of its query, if rows may tie. The kept rows then begin with
            the first row and include all ties of the last returned one.
        more_rows: Whether the kept rows are only some of the returned ones, because each engine
            decides the content, as for SPARQL's DESCRIBE.
        program: Driver program that chooses the next statement and its values, such as
            `tpcc.payment`; None if statements are executed in order.
        wait: Keying and think time, in runs with waits.
        limit_s: Maximum of the 90th percentile of latency, in seconds; None means no limit.
        share_min: Minimum share of completed operations, from 0 to 1.
        values: Parquet file of values for its text, with one column per name; each execution uses
            one row.
    """

    title: str = ""
    weight: int = Field(default=1, ge=1)
    rows: int | None = Field(default=None, ge=0)
    rows_max: NonNegativeInt | None = None
    parameters: dict[Name, Rule] = Field(default_factory=dict)
    answer: dict[str, ColumnKind] = Field(default_factory=dict)
    ordered_by: tuple[str, ...] | None = None
    offset: NonNegativeInt = 0
    limit: PositiveInt | None = None
    more_rows: bool = False
    program: Annotated[str, Field(pattern=r"^[\w.-]+$")] | None = None
    wait: WaitFacts | None = None
    limit_s: PositiveFloat | None = None
    share_min: float | None = Field(default=None, ge=0, le=1)
    values: str | None = None

    @model_validator(mode="after")
    def _least_and_most(self) -> Self:
        if self.rows_max is not None and (self.rows is None or self.rows > self.rows_max):
            raise ValueError(
                "rows_max needs rows, the minimum number of rows, and cannot be smaller than rows"
            )
        return self

    @model_validator(mode="after")
    def _a_cut_of_an_order(self) -> Self:
        if (self.limit is not None or self.offset) and not self.ordered_by:
            raise ValueError("limit and offset need a row order: name its columns in ordered_by")
        if self.more_rows and self.ordered_by is not None:
            raise ValueError("more_rows applies to rows without an order: remove ordered_by")
        return self

    @property
    def answer_rule(self) -> dict[str, Any] | None:
        """Return the rule for comparing rows with kept ones; None to compare them by position."""
        if self.ordered_by is None and not self.more_rows:
            return None
        return {
            "ordered_by": list(self.ordered_by or ()),
            "offset": self.offset,
            "limit": self.limit,
            "more_rows": self.more_rows,
        }

    @property
    def rows_expected(self) -> int | list[int] | None:
        """Return the number of rows of an execution, or its bounds; None if not known."""
        if self.rows is None or self.rows_max is None:
            return self.rows
        return [self.rows, self.rows_max]

    @model_validator(mode="after")
    def _a_program_draws(self) -> Self:
        if self.program is not None and self.parameters:
            raise ValueError(
                "a program draws its own parameter values: remove program or parameters"
            )
        if self.values is not None and (self.program is not None or self.parameters):
            raise ValueError(
                "the key values takes parameter values from rows: remove values, or remove "
                "parameters and program"
            )
        return self


def value_text(value: object) -> str:
    """Return a value of the manifest in the form of a text."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | dict):
        raise ValueError("the value must be a single value")  # noqa: TRY004 - for pydantic
    return str(value)
