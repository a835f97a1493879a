"""Splits the mean time of a transaction by statement, so that the parts sum to the whole.

In a closed load the whole is the clients' time divided by the number of successful transactions.
In an open load the whole is the mean latency. In a fixed order of operations the whole is the
mean time of a pass, with each operation once. In a mix each operation counts by its share of the
successful operations.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.load.latency import measured_times, succeeded
from assay.analysis.load.summary import summarise_load
from assay.analysis.load_plan import OPEN, load_of
from assay.analysis.operations import NS, is_measured
from assay.record.layout import STATEMENTS_STREAM

if TYPE_CHECKING:
    from assay.record.reader import Run


@dataclass(frozen=True)
class Executed:
    """Executions of one statement of an operation: their mean number and time.

    Attributes:
        per_operation: Mean number of executions of the statement per execution of the operation.
        mean_s: Mean time of an execution of the statement.
    """

    per_operation: float
    mean_s: float


@dataclass(frozen=True)
class OperationAccount:
    """The mean time of one operation, split by statement.

    Attributes:
        weight: Share of the operation in a mix; 1 in a fixed order.
        mean_s: Mean service time of the operation.
        statements: Statements by name; empty if the operation is one statement.
    """

    weight: float
    mean_s: float
    statements: dict[str, Executed]

    @property
    def rest_s(self) -> float:
        """Seconds of an operation outside its statements: between them, and in earlier attempts."""
        return self.mean_s - sum(
            statement.per_operation * statement.mean_s for statement in self.statements.values()
        )


@dataclass(frozen=True)
class Account:
    """The mean time of a transaction or of one execution of all operations, by statement.

    Attributes:
        is_mix: Whether the whole is the time of a transaction. Otherwise the whole is the time
            of a pass over all operations.
        between_s: Time of a transaction outside of successful operations: the client's own time,
            failed operations, and in an open load the wait until the start.
    """

    is_mix: bool
    operations: dict[str, OperationAccount]
    between_s: float

    @property
    def whole_s(self) -> float:
        """The seconds of the transaction, or of one execution of all operations."""
        return self.between_s + sum(
            operation.weight * operation.mean_s for operation in self.operations.values()
        )


@lru_cache(maxsize=64)
def account_of(run: Run) -> Account | None:
    """Return the mean time by statement of a run's measured part; None if nothing succeeded."""
    done = succeeded(measured_times(run.table("events")))
    if done.is_empty():
        return None
    statements = _statements(run)
    load = load_of(run.facts)
    operations = {}
    for name, count, mean_ns in (
        done.group_by(pl.col("operation").cast(pl.String), maintain_order=True)
        .agg(pl.len(), pl.col("service_ns").mean())
        .iter_rows()
    ):
        weight = 1.0 if load is None else count / done.height
        own = {
            key: Executed(executions / count, total_ns * NS / executions)
            for key, (executions, total_ns) in statements.get(name, {}).items()
        }
        operations[name] = OperationAccount(weight, mean_ns * NS, own)
    if load is None:
        return Account(is_mix=False, operations=operations, between_s=0.0)
    served_s = float(done["service_ns"].sum()) * NS / done.height
    if load.shape == OPEN:
        whole_s = float(done["latency_ns"].sum()) * NS / done.height
    else:
        summary = summarise_load(run)
        per_s = summary.all_operations.throughput_per_s if summary else 0.0
        whole_s = load.clients / per_s if per_s else served_s
    return Account(is_mix=True, operations=operations, between_s=whole_s - served_s)


def wholes_of(run: Run, account: Account) -> float:
    """Return the number of successful transactions, or of passes over all operations."""
    done = succeeded(measured_times(run.table("events"))).height
    return done / (1 if account.is_mix else len(account.operations))


def _statements(run: Run) -> dict[str, dict[str, tuple[int, int]]]:
    """Return the number of executions and their nanoseconds, by operation and statement."""
    if not run.has(STATEMENTS_STREAM):
        return {}
    events = run.table("events")
    measured = events.filter(is_measured(events) & (pl.col("outcome") == "ok")).select("sequence")
    by_operation: dict[str, dict[str, tuple[int, int]]] = {}
    for part in run.parts(STATEMENTS_STREAM):
        sums = (
            part.join(measured, on="sequence", how="semi")
            .group_by(pl.col("operation").cast(pl.String), pl.col("statement").cast(pl.String))
            .agg(pl.len(), (pl.col("finished_ns") - pl.col("started_ns")).sum())
        )
        for operation, statement, count, total_ns in sums.iter_rows():
            own = by_operation.setdefault(operation, {})
            executions, before_ns = own.get(statement, (0, 0))
            own[statement] = executions + count, before_ns + total_ns
    return {name: dict(sorted(own.items())) for name, own in sorted(by_operation.items())}
