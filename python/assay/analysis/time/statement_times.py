"""Splits an operation's time by statement, and finds the statement that causes its tail.

Times of statements are those in the last attempt of successful operations. The rest of a retried
operation's time is before that attempt: its failed attempts.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from assay.analysis.load.latency import WHOLE, Distribution, distribution
from assay.analysis.operations import NS, is_measured
from assay.model.statement import EARLIER
from assay.record.layout import STATEMENTS_STREAM

if TYPE_CHECKING:
    from assay.record.reader import Run

# (Thousandths of the executions that form the tail, number of executions that this requires).
TAILS = ((10, 2_000), (50, 400))
# If the tail begins below this multiple of the median time, the operation has no tail.
LONGER_MIN = 1.5
# Speed of an execution: in the tail, up to the median, or between both.
OTHER, TYPICAL, TAIL = range(3)


def name_of(operation: str, statement: str | int | None) -> str:
    """Return the full name of a statement; the operation's own name if it has only one."""
    return operation if statement is None else f"{operation}.{statement}"


@dataclass(frozen=True)
class StatementTimes:
    """The number, times and rows of one statement of an operation.

    Attributes:
        name: The workload's name for the statement, or its number in the operation, from 1.
        executions: Number of executions.
        per_operation: Number of executions per execution of the operation.
        share: Share of the operation's service time.
        rows: Mean number of rows that an execution returned or changed.
        seconds: Distribution of its execution times.
    """

    name: str
    executions: int
    per_operation: float
    share: float
    rows: float
    seconds: Distribution


@dataclass(frozen=True)
class Tail:
    """The statement that makes an operation's slowest executions slow.

    Attributes:
        statement: The statement with the largest part of the tail's extra time, or `earlier
            attempts`.
        share: The statement's share of the extra time.
        tail_share: Share of executions that count as the tail, such as 0.01.
        operations: Number of executions in the tail.
        beyond_s: Minimum seconds of executions in the tail.
        typical_s: Mean seconds of the statement in executions up to the median.
        tail_s: Mean seconds of the statement in the tail.
        excess_share: The statement's extra time in the tail, as a share of the service time of all
            executions.
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
    """The times of all statements of one operation, the largest share first."""

    statements: tuple[StatementTimes, ...]
    tail: Tail | None

    def facts(self) -> dict[str, Any]:
        """Return the statement times, and the cause of the slowest executions, as JSON values."""
        return {
            "statements": [asdict(statement) for statement in self.statements],
            "tail": None if self.tail is None else asdict(self.tail),
        }


@dataclass
class _Executions:
    """Accumulated counts and times of one statement's executions."""

    ns: list[pl.Series] = field(default_factory=list)
    rows: int = 0
    tail_ns: int = 0
    typical_ns: int = 0

    def add(self, part: pl.DataFrame) -> None:
        """Add executions with the columns `rows`, `ns` and `speed`."""
        self.ns.append(part["ns"])
        self.rows += int(part["rows"].sum())
        self.tail_ns += _sum(part.filter(speed=TAIL)["ns"])
        self.typical_ns += _sum(part.filter(speed=TYPICAL)["ns"])


@dataclass(frozen=True)
class _Slow:
    """The slowest executions of an operation, and its executions up to the median."""

    tail_share: float
    operations: int
    beyond_ns: int
    tail_ns: float
    typical_ns: float
    typical: int


def statement_times(run: Run) -> dict[str, OperationStatements]:
    """Return the statement times of each operation whose statements were recorded.

    The stream is read twice, in parts, and eight bytes per row are kept: there may be twenty
    rows per operation and ten million operations.
    """
    if not run.has(STATEMENTS_STREAM):
        return {}
    slow, counted, classed = {}, {}, []
    for key, done in _noted(run).partition_by("operation", as_dict=True).items():
        slow[key[0]], speeds = _classed(done)
        counted[key[0]] = done.height, _sum(done["service_ns"])
        classed.append(speeds)
    if not classed:
        return {}
    by_operation = _executions(run, pl.concat(classed))
    return {
        name: _operation(by_operation[name], *counted[name], slow[name])
        for name in sorted(by_operation)
    }


def _noted(run: Run) -> pl.DataFrame:
    """Return successful measured operations whose statements were recorded.

    Columns: sequence, operation, service_ns. The last operations of a killed run may have no
    statements.
    """
    # Rows of an operation are adjacent, so this reduces the number of rows.
    seen = [
        part.filter(pl.col("sequence").ne_missing(pl.col("sequence").shift()))["sequence"]
        for part in run.parts(STATEMENTS_STREAM)
    ]
    events = run.table("events")
    done = events.filter(is_measured(events) & (pl.col("outcome") == "ok")).select(
        "sequence",
        pl.col("operation").cast(pl.String),
        (pl.col("finished_ns") - pl.col("started_ns")).alias("service_ns"),
    )
    if not seen:
        return done.clear()
    return done.join(pl.concat(seen).to_frame(), on="sequence", how="semi").sort("sequence")


def _executions(run: Run, done: pl.DataFrame) -> dict[str, dict[str, _Executions]]:
    """Return the times of executions by operation and statement."""
    done = done.sort("sequence")
    by_operation: dict[str, dict[str, _Executions]] = {}
    for part in run.parts(STATEMENTS_STREAM):
        first, last = part["sequence"].min(), part["sequence"].max()
        times = part.select(
            "sequence",
            "statement",
            "rows",
            (pl.col("finished_ns") - pl.col("started_ns")).alias("ns"),
        ).join(done.filter(pl.col("sequence").is_between(first, last)), on="sequence")
        for key, own in times.partition_by("operation", "statement", as_dict=True).items():
            operation, statement = map(str, key)
            by_operation.setdefault(operation, {}).setdefault(statement, _Executions()).add(own)
    return by_operation


def _operation(
    by_statement: dict[str, _Executions], operations: int, whole_ns: int, slow: _Slow | None
) -> OperationStatements:
    statements = []
    for name, executions in by_statement.items():
        ns = pl.concat(executions.ns)
        statements.append(
            StatementTimes(
                name=name,
                executions=len(ns),
                per_operation=len(ns) / operations,
                share=_sum(ns) / whole_ns if whole_ns else 0.0,
                rows=executions.rows / len(ns),
                seconds=distribution(ns),
            )
        )
    ordered = tuple(sorted(statements, key=lambda statement: (-statement.share, statement.name)))
    return OperationStatements(
        ordered, None if slow is None else _tail(by_statement, slow, whole_ns)
    )


def _classed(done: pl.DataFrame) -> tuple[_Slow | None, pl.DataFrame]:
    """Return the slowest executions, and all executions marked as slow or not.

    The first value is None if there are too few executions, or the slowest are hardly slower.
    """
    columns = ("sequence", "operation")
    plain = done.select(*columns, speed=pl.lit(OTHER, pl.UInt8))
    per_mille = next((beyond for beyond, fewest in TAILS if done.height >= fewest), None)
    if per_mille is None:
        return None, plain
    ranked = done.sort("service_ns")
    count, half = done.height * per_mille // WHOLE, done.height // 2
    tail, typical = ranked.tail(count)["service_ns"], ranked.head(half)["service_ns"]
    if tail[0] < LONGER_MIN * typical[-1] or not tail[0]:
        return None, plain
    rank = pl.int_range(pl.len())
    speed = pl.when(rank >= done.height - count).then(TAIL).when(rank < half).then(TYPICAL)
    slow = _Slow(per_mille / WHOLE, count, tail[0], _sum(tail) / count, _sum(typical) / half, half)
    return slow, ranked.select(*columns, speed=speed.otherwise(OTHER).cast(pl.UInt8))


def _tail(by_statement: dict[str, _Executions], slow: _Slow, whole_ns: int) -> Tail | None:
    """Return the statement that causes the slowest executions; None for a single statement."""
    in_tail = {
        name: executions.tail_ns / slow.operations for name, executions in by_statement.items()
    }
    usual = {
        name: executions.typical_ns / slow.typical for name, executions in by_statement.items()
    }
    in_tail[EARLIER] = max(0.0, slow.tail_ns - sum(in_tail.values()))
    usual[EARLIER] = max(0.0, slow.typical_ns - sum(usual.values()))
    excess = {name: in_tail[name] - usual[name] for name in in_tail}
    name = max(excess, key=lambda statement: (excess[statement], statement))
    if len(by_statement) == 1 and name != EARLIER:
        return None
    return Tail(
        statement=name,
        share=excess[name] / sum(excess.values()),
        tail_share=slow.tail_share,
        operations=slow.operations,
        beyond_s=slow.beyond_ns * NS,
        typical_s=usual[name] * NS,
        tail_s=in_tail[name] * NS,
        excess_share=excess[name] * slow.operations / whole_ns,
    )


def _sum(numbers: pl.Series) -> int:
    return int(numbers.sum())
