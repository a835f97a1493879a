"""The keys of `workload.toml`.

Every key is optional; unknown keys are errors. The keys of an operation are in `operation_facts`.
"""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import (
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    model_validator,
)

from assay.model.language import SQL, Language
from assay.workloads.operation_facts import (
    Constant,
    Facts,
    Name,
    OperationFacts,
    ParameterFacts,
    Rule,
    WaitFacts,
)

# Suffix of an operation's name when it is executed with fixed values.
AS_CHECK = "@check"


class Tolerance(Facts):
    """The tolerance for comparing a number with its expected value."""

    sum_absolute: float = 0.0
    ratio_relative: float = 0.0
    float_relative: float = 0.0


class StreamsFacts(Facts):
    """Streams of a throughput test: the order of operations in each of them.

    Attributes:
        orders: File with one row of operations per stream, from 0, which is the power test's.
        minimum: Minimum number of streams by scale: pairs of a scale and a number. Other scales
            have the number of the next smaller scale in the list. Without this key every scale
            needs one stream.
    """

    orders: str
    minimum: tuple[tuple[PositiveFloat, PositiveInt], ...] = ()

    @model_validator(mode="after")
    def _ascending(self) -> Self:
        scales = [scale for scale, _ in self.minimum]
        if scales != sorted(set(scales)):
            raise ValueError("minimum must list scales from the smallest to the largest, each once")
        return self


class RefreshFacts(Facts):
    """Operations that change the data within a test, and the tables with their data.

    Attributes:
        insert: Operation that inserts the orders of a set.
        delete: Operation that deletes as many orders.
        orders: Number of orders in a set.
        setup: SQL files that create the tables of the sets.
        keys: SQL files of their keys and indexes, made after loading.
        tables: Tables of the sets that the generator fills, in order. Rows of `x_new` are inserted
            into `x`; `y_old` holds keys of rows to delete.
        deletes: Tables that rows are deleted from, each with the column of these keys.
    """

    insert: str
    delete: str
    orders: Constant
    setup: tuple[str, ...] = Field(min_length=1)
    keys: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    deletes: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _complete(self) -> Self:
        count = self.orders.value
        if count is not None and not (count.isdecimal() and int(count) > 0):
            raise ValueError("orders must be a whole number, or { times_scale = N }")
        if self.insert == self.delete:
            raise ValueError("insert and delete must be two different operations")
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
        operation: Operation of the mix whose successful executions are counted.
        seconds: Length of the period of the rate.
        waits: Name of the rate in runs with waits.
        no_waits: Name of the rate in runs without waits.
        least, most: Possible range in a run with waits, per unit of scale; None means no limit.
    """

    operation: str
    seconds: PositiveFloat = 1.0
    waits: str
    no_waits: str
    least: PositiveFloat | None = None
    most: PositiveFloat | None = None


class SequenceFacts(Facts):
    """Clients that each execute the whole order repeatedly; one execution is a mix.

    Attributes:
        warmup: Number of mixes before the measured ones, summed over clients.
        mixes: Number of measured mixes.
        rate: The specification's name for mixes per `seconds`; empty if it has none.
        seconds: Length of the period of the rate.
        query_time: The specification's name for the mean time of an operation; empty if it has
            none.
        size: Part of a result's name besides the clients: the generator's table whose rows are the
            scale, such as triples; empty means the scale itself.
        power: The specification's name for the scale divided by the geometric mean of operation
            times, per this many `seconds`; empty if it has none.
        throughput: The specification's name for the scale divided by the arithmetic mean of
            operation times; empty if it has none.
        unit: Scale that counts as 1 in these two metrics.
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
        operation: Operation of the order whose program gives receipts.
        names: Names of a receipt's values, in the program's order.
        found: Operation that lists all receipts in the database, with a column for each value. It
            is executed only on recovered databases.
    """

    operation: str
    names: tuple[str, ...] = Field(min_length=1)
    found: str


class CapturedFacts(Facts):
    """The origin of captured operations.

    Attributes:
        source: Source of the capture, such as `CSV log of PostgreSQL`.
        schedule: Parquet file with all executions: time, operation, row of values.
        clients: Number of active sessions in the busiest second, the default number of clients.
        seconds: Time from the first execution to the last.
        sessions: Number of sessions.
        anonymised: Whether captured values were replaced.
        left_out: Number of statements that were not captured, by reason.
    """

    source: str = ""
    schedule: str | None = None
    clients: PositiveInt = 1
    seconds: NonNegativeFloat = 0.0
    sessions: NonNegativeInt = 0
    anonymised: bool = False
    left_out: dict[str, int] = Field(default_factory=dict)


class WorkloadFacts(Facts):
    """The whole content of `workload.toml`.

    Attributes:
        name: Name in commands and records; default: the folder's name.
        title: Name for readers.
        about: One sentence on the workload.
        legal: Notice that must accompany its results.
        data_of: Workload whose data these operations use: a name, or a sibling folder. Loaded data
            serve both workloads. Operations in `order` without a file here are taken from that
            workload. None means the workload has its own data, or none.
        generator: Name of the generator of `tables`. The generator `sql` means queries in `rows/`.
        scale_default: The default scale.
        scale_name: Name of the scale in reports.
        tables: Tables that the generator fills, in order.
        setup: SQL files that run in order before the generator's rows are loaded.
        foreign_keys: SQL file of foreign keys, made on request after all other keys; None if there
            are none.
        arrival: `power`: one client executes the order; `closed`: clients draw from the mix.
        order: Operations in the order of execution. By default these are all operations.
        before: Operations that are executed once before the first phase.
        after: Operations that are executed once after the measured part.
        deck: Whether operations are dealt to all clients from shuffled decks with their weights as
            numbers of cards, so that shares are exact.
        terminals: Default number of clients in a run with waits.
        sequence: Rules for clients that each execute the order; None means clients draw from it.
        checked: Operations of the order that are executed once with the same values in all runs, to
            compare with known rows.
        languages: Languages of its operations, the preferred one first.
        triples: Tables of the generator for SPARQL engines: one column of N-Triples, one triple per
            row.
        turtle: Tables of the generator with the same triples for files: one column of Turtle, whose
            concatenated rows are one document.
        rate: The specification's rate of a run; None if it has none.
        retries: Default number of retries of an operation that the engine asks to repeat.
        constants: Values that texts may refer to, by name.
        lists: Lists that rules may refer to, by name.
        parameters: Rules for drawing the values of parameters.
        streams: Orders of the streams of a throughput test; None means no such test.
        metrics: The specification's names of the metrics of a full test; None means no
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
    constants: dict[Name, Constant] = Field(default_factory=dict)
    lists: dict[str, Any] = Field(default_factory=dict)
    operations: dict[str, OperationFacts] = Field(default_factory=dict)
    parameters: ParameterFacts = ParameterFacts()
    streams: StreamsFacts | None = None
    metrics: MetricsFacts | None = None
    refresh: RefreshFacts | None = None
    programs: dict[Name, Constant] = Field(default_factory=dict)
    receipt: ReceiptFacts | None = None
    captured: CapturedFacts | None = None

    @property
    def played_once(self) -> tuple[str, ...]:
        """Return operations that are executed once, outside the measured part, each named once."""
        return tuple(dict.fromkeys((*self.before, *self.after)))

    @property
    def checks(self) -> tuple[str, ...]:
        """Return the check names of operations that are executed with fixed values."""
        return tuple(f"{name}{AS_CHECK}" for name in self.checked)

    @property
    def refresh_operations(self) -> tuple[str, ...]:
        """Return operations that change the data within a test; they are not in the order."""
        return (self.refresh.insert, self.refresh.delete) if self.refresh else ()

    @property
    def recovered(self) -> tuple[str, ...]:
        """Return operations for a recovered database: the list of receipts, and the conditions."""
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
    """Return the keys that are valid in the manifest's table of `location`'s last key."""
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
