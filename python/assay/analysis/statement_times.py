"""Where the time of an operation with several statements goes, and which of them makes its tail.

Times of statements are of operations that succeeded, of their last attempt. What an operation took
beside them is what came before that attempt: failed attempts, of operations that were made again.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from assay.analysis.latency import WHOLE, Distribution, distribution
from assay.analysis.operations import NS, is_measured

if TYPE_CHECKING:
    from assay.record.reader import Run

STREAM = "statements"
EARLIER = "earlier attempts"
# The slowest of this many thousandths are the tail, of operations that were executed often enough.
TAILS = ((10, 2_000), (50, 400))
# An operation without a tail to speak of has none that a statement could make.
LONGER_MIN = 1.5


@dataclass(frozen=True)
class StatementTimes:
    """One statement of an operation.

    Attributes:
        name: As the workload calls it, or its number in the operation from 1.
        executions: How often it was executed.
        per_operation: The same for each execution of the operation.
        share: Of the service time of the operation.
        rows: Rows that it returned or changed, mean of an execution.
        seconds: How long it took.
    """

    name: str
    executions: int
    per_operation: float
    share: float
    rows: float
    seconds: Distribution


@dataclass(frozen=True)
class Tail:
    """What makes the slowest executions of an operation slow.

    Attributes:
        statement: The statement with most of what they take longer than others; or
            `earlier attempts`.
        share: Its share of that.
        tail_share: Which share of the executions are looked at, such as 0.01.
        operations: How many those are.
        beyond_s: They took at least this long.
        typical_s: What the statement takes in an execution up to the median, on average.
        tail_s: What it takes in one of the tail, on average.
        excess_share: Its excess in the tail, of the service time of all executions.
    """

    statement: str
    share: float
    tail_share: float
    operations: int
    beyond_s: float
    typical_s: float
    tail_s: float
    excess_share: float


@dataclass(frozen=True)
class OperationStatements:
    """The statements of one operation, largest share first, and its tail if it has one."""

    statements: tuple[StatementTimes, ...]
    tail: Tail | None

    def facts(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "statements": [asdict(one) for one in self.statements],
            "tail": None if self.tail is None else asdict(self.tail),
        }


def statement_times(run: Run) -> dict[str, OperationStatements]:
    """Of each operation whose statements were noted; empty where none were."""
    if not run.has(STREAM):
        return {}
    noted, events = run.table(STREAM), run.table("events")
    if noted.is_empty():
        return {}
    done = events.filter(is_measured(events) & (pl.col("outcome") == "ok")).select(
        "sequence",
        pl.col("operation").cast(pl.String),
        (pl.col("finished_ns") - pl.col("started_ns")).alias("service_ns"),
    )
    times = noted.select(
        "sequence",
        "statement",
        "rows",
        (pl.col("finished_ns") - pl.col("started_ns")).alias("ns"),
    ).join(done.select("sequence", "operation"), on="sequence")
    parts = times.partition_by("operation", as_dict=True)
    operations = done.partition_by("operation", as_dict=True)
    return {
        key[0]: _operation(parts[key], operations[key])
        for key in sorted(parts)
        if key in operations
    }


def _operation(times: pl.DataFrame, done: pl.DataFrame) -> OperationStatements:
    done = done.join(times.select("sequence").unique(), on="sequence", how="semi")
    whole_ns = int(done["service_ns"].sum())
    told = [
        StatementTimes(
            name=str(key[0]),
            executions=part.height,
            per_operation=part.height / done.height,
            share=int(part["ns"].sum()) / whole_ns if whole_ns else 0.0,
            rows=float(part["rows"].sum()) / part.height,
            seconds=distribution(part["ns"]),
        )
        for key, part in times.partition_by("statement", as_dict=True).items()
    ]
    ordered = tuple(sorted(told, key=lambda one: (-one.share, one.name)))
    return OperationStatements(ordered, _tail(times, done, whole_ns))


def _tail(times: pl.DataFrame, done: pl.DataFrame, whole_ns: int) -> Tail | None:
    found = next((beyond for beyond, fewest in TAILS if done.height >= fewest), None)
    if found is None or not whole_ns:
        return None
    ranked = done.sort("service_ns")
    last = ranked.height
    tail = ranked.tail(last * found // WHOLE)
    typical = ranked.head(last // 2)
    median_ns, beyond_ns = typical["service_ns"][-1], tail["service_ns"][0]
    if beyond_ns < LONGER_MIN * median_ns:
        return None
    slow, usual = _means(times, tail), _means(times, typical)
    excess = {name: slow.get(name, 0.0) - usual.get(name, 0.0) for name in {*slow, *usual}}
    longer = sum(excess.values())
    name = max(excess, key=lambda one: (excess[one], one))
    return Tail(
        statement=name,
        share=excess[name] / longer,
        tail_share=found / WHOLE,
        operations=tail.height,
        beyond_s=beyond_ns * NS,
        typical_s=usual.get(name, 0.0) * NS,
        tail_s=slow.get(name, 0.0) * NS,
        excess_share=excess[name] * tail.height / whole_ns,
    )


def _means(times: pl.DataFrame, done: pl.DataFrame) -> dict[str, float]:
    """What each statement takes in one of these executions on average, and what came before, ns."""
    own = times.join(done.select("sequence"), on="sequence", how="semi")
    summed = own.group_by(pl.col("statement").cast(pl.String)).agg(pl.col("ns").sum())
    means = {name: ns / done.height for name, ns in summed.iter_rows()}
    before = int(done["service_ns"].sum()) / done.height - sum(means.values())
    return means | {EARLIER: max(0.0, before)}
