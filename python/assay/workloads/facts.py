"""The keys of `workload.toml`. Every key may be left out; unknown ones are errors."""

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

from assay.model.language import SQL, Language

ColumnKind = Literal["exact", "sum", "average", "ratio", "float"]
Bound = int | str
# What the name of an operation has behind it where it is played with fixed values.
AS_CHECK = "@check"
# What can stand between `${` and `}`.
Name = Annotated[str, Field(pattern=r"^[\w-]+$")]


class Facts(BaseModel):
    """A table of the manifest."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Tolerance(Facts):
    """The tolerance of a number against its answer."""

    sum_absolute: float = 0.0
    ratio_relative: float = 0.0
    float_relative: float = 0.0


class Constant(Facts):
    """A value that texts name: the same one for a whole run.

    Attributes:
        value: Value in the text. `accounts = 100` is the short form.
        times_scale: This many for each unit of scale, as a whole number, at least one.
        times_log_scale: This many at scale 1, and as many more whenever the scale has doubled;
            below 1 as with `times_scale`.
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
                "write a plain value, or { times_scale = N }, or { times_log_scale = N }"
            )
        return self


class Rule(Facts):
    """The rule of a parameter: `default`, and one of the forms by which it is drawn.

    Attributes:
        default: The value, or values, of a run whose parameters are not drawn.
        integer: A whole number between two bounds, both included; a bound may name a constant.
        times_scale: The upper bound of `integer` is for each unit of scale.
        choice: One of a list, which is given or named.
        distinct: So many different values instead of one.
        shuffled: The different values are the first of all, shuffled, and not drawn one by one.
        month: First day of a month between two days.
        year: First day of a year between two years.
        day: A day between two days.
        decimal: A decimal between two, in steps of the last digit.
        words: One word of each list, joined; each is drawn by itself.
        combination: The same, and one draw says which of all combinations; the last list's word
            changes first.
        keep: Which words of a combination remain, counted from 0; all if it is left out.
        separator: What joins the words; a space if it is left out.
        per_scale: This number divided by the scale.
        follows: Looks the value of another parameter up.
        map: The table to look it up in.
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
            raise ValueError("times_scale goes with integer")
        return self

    @model_validator(mode="after")
    def _companions(self) -> Self:
        if self.shuffled and self.distinct is None:
            raise ValueError("shuffled goes with distinct")
        if self.keep is not None and self.combination is None:
            raise ValueError("keep goes with combination")
        return self


class ParameterFacts(Facts):
    """The rules by which parameters are drawn.

    Attributes:
        source: `named`: each parameter has random numbers of its own, named by seed, stream,
            operation and parameter. `qgen`: as the reference program of TPC-H draws them: each
            operation has a sequence of numbers, which begins where the seed plus the number of
            the stream says, and its parameters take from it in the order in which they stand.
        sequences: The operations that have sequence 1, 2 and so on, for `qgen`.
    """

    source: Literal["named", "qgen"] = "named"
    sequences: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _sequences_of_qgen(self) -> Self:
        if (self.source == "qgen") != bool(self.sequences):
            raise ValueError('source = "qgen" goes with sequences, one operation after another')
        if len(set(self.sequences)) < len(self.sequences):
            raise ValueError("an operation has one of the sequences")
        return self


class WaitFacts(Facts):
    """The time that a person at a terminal takes for one operation.

    Attributes:
        keying_s: What is keyed in before it is sent, in seconds.
        think_s: Mean time until the next one is chosen, in seconds, exponentially distributed.
    """

    keying_s: NonNegativeFloat = 0.0
    think_s: NonNegativeFloat = 0.0


class OperationFacts(Facts):
    """One named operation.

    Attributes:
        title: Short title for readers.
        weight: Its weight in a mix, relative to the others.
        rows: Number of rows that each execution returns, if known.
        rows_max: Maximum number of rows if it varies. `rows` is then the minimum.
        parameters: A rule for each `${name}` of its text.
        answer: Comparison of each column of its answer; `exact` by default.
        ordered_by: Columns that say in which order its rows come: those that are equal in them may
            come in any, and without any column all may; None if rows come as they are kept.
        offset, limit: Those of its query, where rows may tie: kept are the rows from the first
            one on, with all that tie with the last one that is returned.
        more_rows: Rows that are kept are among those that it returns, and there may be others, as
            each engine decides what it tells where it is asked to describe something.
        program: Logic of the driver that chooses the next statement and its values, such as
            `tpcc.payment`; None if statements are executed in order.
        wait: Keying and think time, in runs with waits.
        limit_s: Limit of the 90th percentile of latency, in seconds. None means no limit.
        share_min: The least share of the operations completed that it may have, from 0 to 1.
        values: A Parquet file of values for its text, a column a name: each execution has those of
            one row.
    """

    title: str = ""
    weight: int = Field(default=1, ge=1)
    rows: int | None = Field(default=None, ge=0)
    rows_max: NonNegativeInt | None = None
    parameters: dict[Name, Rule] = {}
    answer: dict[str, ColumnKind] = {}
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
            raise ValueError("rows_max goes with rows, the least number, and is no smaller")
        return self

    @model_validator(mode="after")
    def _a_cut_of_an_order(self) -> Self:
        if (self.limit is not None or self.offset) and not self.ordered_by:
            raise ValueError("limit and offset cut an order: name the columns of ordered_by")
        if self.more_rows and self.ordered_by is not None:
            raise ValueError("more_rows is of rows without an order: leave ordered_by out")
        return self

    @property
    def answer_rule(self) -> dict[str, Any] | None:
        """The rule for comparing rows with kept ones; None to compare them in place."""
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
        """The number of rows an execution returns, or its bounds; None if not known."""
        if self.rows is None or self.rows_max is None:
            return self.rows
        return [self.rows, self.rows_max]

    @model_validator(mode="after")
    def _a_program_draws(self) -> Self:
        if self.program is not None and self.parameters:
            raise ValueError("a program draws its values itself: leave program or parameters out")
        if self.values is not None and (self.program is not None or self.parameters):
            raise ValueError(
                "its values come from rows: leave values, or parameters and program, out"
            )
        return self


class StreamsFacts(Facts):
    """Streams of a throughput test: which operations each of them plays in which order.

    Attributes:
        orders: The file with the orders: a row per stream, from 0, which is the power test's.
        minimum: How many streams a scale needs at least: pairs of a scale and a number. For other
            scales it is the number of the largest one below them. Every scale needs one stream
            where it is left out.
    """

    orders: str
    minimum: tuple[tuple[PositiveFloat, PositiveInt], ...] = ()

    @model_validator(mode="after")
    def _ascending(self) -> Self:
        scales = [scale for scale, _ in self.minimum]
        if scales != sorted(set(scales)):
            raise ValueError("minimum has to go from the smallest scale to the largest, each once")
        return self


class RefreshFacts(Facts):
    """Operations that change the data within a test, and the tables that they take it from.

    Attributes:
        insert: The operation that puts the orders of a set in.
        delete: The operation that takes as many out.
        orders: Number of orders in a set.
        setup: SQL files that make the tables of the sets.
        keys: SQL files of their keys and indexes, made when they are filled.
        tables: Tables of the sets that are filled by the generator, in order. Rows of `x_new` come
            into `x`; `y_old` holds keys of what goes.
        deletes: The tables that rows go from, each with its column that these keys are of.
    """

    insert: str
    delete: str
    orders: Constant
    setup: tuple[str, ...] = Field(min_length=1)
    keys: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    deletes: dict[str, str] = {}

    @model_validator(mode="after")
    def _complete(self) -> Self:
        count = self.orders.value
        if count is not None and not (count.isdecimal() and int(count) > 0):
            raise ValueError("orders has to be a whole number, or { times_scale = N }")
        if self.insert == self.delete:
            raise ValueError("insert and delete have to be two operations")
        return self


class MetricsFacts(Facts):
    """The names of a whole test's metrics; `${scale}` is the scale.

    Attributes:
        power: Name of the power test's metric.
        throughput: Name of the throughput test's metric.
        composite: Name of the composite metric of both.
    """

    power: str
    throughput: str
    composite: str


class RateFacts(Facts):
    """The name of a run's rate in its specification.

    Attributes:
        operation: The operation of the mix whose successful executions are counted.
        seconds: Length of the period of the rate.
        waits: What it is called in runs with waits.
        no_waits: What it is called in runs without.
        least, most: Possible range in a run with waits, for each unit of scale. None means no
            limit.
    """

    operation: str
    seconds: PositiveFloat = 1.0
    waits: str
    no_waits: str
    least: PositiveFloat | None = None
    most: PositiveFloat | None = None


class SequenceFacts(Facts):
    """Clients that play the whole order by themselves, again and again: once is a mix.

    Attributes:
        warmup: Number of mixes before the measured ones, of all clients together.
        mixes: Mixes that are measured.
        rate: The specification's name for the mixes in each `seconds`; empty if it has none.
        seconds: So long.
        query_time: The specification's name for the mean time of an operation; empty if it has
            none.
        size: What results are named with, beside clients: the table of the generator whose rows
            are the scale, such as triples; empty means the scale itself.
        power: What it calls the scale by the geometric mean of operations' times, for so many
            `seconds`; empty means nothing.
        throughput: The same by their arithmetic mean.
        unit: The scale that counts as one in these two.
    """

    warmup: NonNegativeInt = 0
    mixes: PositiveInt = 1
    rate: str = ""
    seconds: PositiveFloat = 3600.0
    query_time: str = ""
    size: str = ""
    power: str = ""
    throughput: str = ""
    unit: PositiveFloat = 1.0


class ReceiptFacts(Facts):
    """The receipts that successful operations leave in the database.

    Attributes:
        operation: Whose program gives receipts: one operation of the order.
        names: What the values of a receipt are called, in order, as the program calls them.
        found: The operation that lists what is there of all that a run has made, with a column
            for each of these values; it is asked of databases that were recovered, and else never.
    """

    operation: str
    names: tuple[str, ...] = Field(min_length=1)
    found: str


class CapturedFacts(Facts):
    """The origin of operations that were captured from a server.

    Attributes:
        source: What was read, such as `CSV log of PostgreSQL`.
        schedule: The Parquet file with all executions: when, which operation, which row of values.
        clients: How many sessions were at work in the busiest second: clients of a run, where it
            does not say another number.
        seconds: Time from the first execution to the last.
        sessions: Number of sessions.
        anonymised: Whether captured values were replaced.
        left_out: What was not captured: how many, by reason.
    """

    source: str = ""
    schedule: str | None = None
    clients: PositiveInt = 1
    seconds: NonNegativeFloat = 0.0
    sessions: NonNegativeInt = 0
    anonymised: bool = False
    left_out: dict[str, int] = {}


class WorkloadFacts(Facts):
    """`workload.toml` as a whole.

    Attributes:
        name: What it is called in commands and records; the folder's name if it is left out.
        title: The same for readers.
        about: One sentence on the workload.
        legal: Notice that must accompany its results.
        data_of: The workload whose data these operations ask: a name, or a folder beside this one;
            what is loaded for one serves the other. Operations that `order` names and that have no
            file here are that one's; None if it has data of its own, or makes none.
        generator: Name of the generator of `tables`. `sql` means queries in `rows/`.
        scale_default: The default scale.
        scale_name: What reports call the scale.
        tables: Tables that are filled by the generator, in order.
        setup: SQL files that make the data, in order, before the generator's rows come.
        foreign_keys: SQL file of foreign keys, which are made after all other keys where they are
            asked for; None if there are none.
        arrival: `power`: one client plays the order; `closed`: clients draw from the mix.
        order: Operations in the order of execution. Default: all of them.
        before: Operations that are executed once before the first phase.
        after: Operations that are executed once after the measured part.
        deck: Weights are cards, dealt to all clients from shuffled decks, so that shares are exact.
        terminals: Default number of clients in a run with waits.
        sequence: Rules for clients that each execute the order. None means clients draw from it.
        checked: Operations of the order that are played once before the load with values that are
            the same in all runs, to be compared with known rows.
        languages: Languages of its operations, the preferred one first.
        triples: Tables of the generator for engines that are asked in SPARQL: one column of
            N-Triples, a statement a row.
        turtle: Tables of the generator with the same statements for files: one column of Turtle,
            which is one document when its rows stand one after another.
        rate: The specification's rate of a run; None if it has none.
        retries: How often an operation is sent again that the engine asks to repeat, where the run
            does not say another number.
        constants: Values that texts may name, by name.
        lists: Lists that rules may name, by name.
        parameters: Rules for drawing the values of parameters.
        streams: Orders of the streams of a throughput test. None means no such test.
        metrics: The specification's names of the metrics of a full test. None means no
            specification.
        refresh: Operations that change the data during a test; None if there are none.
        programs: Parameters of its operations' programs, by name.
        receipt: Writes of operations that can be found again after a crash; None if none are
            declared.
        captured: Facts on the capture of its operations; None if they were written by hand.
    """

    name: str = Field(default="", pattern=r"^([\w][\w.-]*)?$")
    title: str = ""
    about: str = ""
    legal: str | None = None
    data_of: str | None = None
    generator: str | None = None
    scale_default: float = Field(default=1.0, gt=0)
    scale_name: str = "scale"
    tables: tuple[str, ...] = ()
    setup: tuple[str, ...] | None = None
    foreign_keys: str | None = None
    arrival: Literal["power", "closed"] = "power"
    order: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    deck: bool = False
    sequence: SequenceFacts | None = None
    checked: tuple[str, ...] = ()
    languages: tuple[Language, ...] = (SQL,)
    triples: tuple[str, ...] = ()
    turtle: tuple[str, ...] = ()
    terminals: Constant | None = None
    rate: RateFacts | None = None
    retries: NonNegativeInt = 0
    tolerance: Tolerance = Tolerance()
    constants: dict[Name, Constant] = {}
    lists: dict[str, Any] = {}
    operations: dict[str, OperationFacts] = {}
    parameters: ParameterFacts = ParameterFacts()
    streams: StreamsFacts | None = None
    metrics: MetricsFacts | None = None
    refresh: RefreshFacts | None = None
    programs: dict[Name, Constant] = {}
    receipt: ReceiptFacts | None = None
    captured: CapturedFacts | None = None

    @property
    def played_once(self) -> tuple[str, ...]:
        """The operations that are played once, beside the measured part, each named once."""
        return tuple(dict.fromkeys((*self.before, *self.after)))

    @property
    def checks(self) -> tuple[str, ...]:
        """The operations that are played with fixed values before the load, as they are called."""
        return tuple(f"{name}{AS_CHECK}" for name in self.checked)

    @property
    def refresh_operations(self) -> tuple[str, ...]:
        """The operations that change the data within a test: they are not in the order."""
        return (self.refresh.insert, self.refresh.delete) if self.refresh else ()

    @property
    def recovered(self) -> tuple[str, ...]:
        """The operations for a recovered database: what is there, and what must hold."""
        return (self.receipt.found, *self.after) if self.receipt else ()


TABLES: dict[str, type[Facts]] = {
    "tolerance": Tolerance,
    "parameters": ParameterFacts,
    "streams": StreamsFacts,
    "metrics": MetricsFacts,
    "rate": RateFacts,
    "sequence": SequenceFacts,
    "refresh": RefreshFacts,
    "receipt": ReceiptFacts,
    "captured": CapturedFacts,
}


def keys_at(location: tuple[int | str, ...]) -> list[str]:
    """The keys that the table of the manifest may have in which `location`'s last key stands."""
    match location[:-1]:
        case ("operations", _, "parameters", _):
            return list(Rule.model_fields)
        case ("operations", _, "wait"):
            return list(WaitFacts.model_fields)
        case ("operations", _):
            return list(OperationFacts.model_fields)
        case ("constants" | "programs", _) | ("refresh", "orders"):
            return list(Constant.model_fields)
        case (str(table),) if table in TABLES:
            return list(TABLES[table].model_fields)
    return list(WorkloadFacts.model_fields)


def value_text(value: object) -> str:
    """A value of the manifest as it stands in a text."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | dict):
        raise ValueError("it has to be one value")  # noqa: TRY004 - pydantic reads this one
    return str(value)
