"""Splits a transaction's time by statement, so that the parts sum to the whole.

Under a load the whole is the time of a transaction: of a closed load the clients' time by the
transactions that succeeded, of an open one the mean latency. Of an order it is the mean time of a
pass: each operation once. Of a mix every operation counts by its share of those that succeeded.
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
    """One statement of an operation.

    Attributes:
        per_operation: Number of executions per operation.
        mean_s: Mean time of an execution.
    """

    per_operation: float
    mean_s: float


@dataclass(frozen=True)
class OperationAccount:
    """The account of one operation.

    Attributes:
        weight: Number of executions in the total: its share of a mix, 1 in an order.
        mean_s: Mean service time.
        statements: Statements by name; empty if the operation is one statement.
    """

    weight: float
    mean_s: float
    statements: dict[str, Executed]

    @property
    def rest_s(self) -> float:
        """Time outside of statements: between them, and in earlier attempts."""
        return self.mean_s - sum(
            statement.per_operation * statement.mean_s for statement in self.statements.values()
        )


@dataclass(frozen=True)
class Account:
    """The account of the whole load.

    Attributes:
        is_mix: Whether the total is a transaction's time. Otherwise it is that of a pass over all
            operations.
        between_s: Time of a transaction outside of successful operations: the client's own time,
            failed operations, and the wait until the start in an open load.
    """

    is_mix: bool
    operations: dict[str, OperationAccount]
    between_s: float

    @property
    def whole_s(self) -> float:
        """The sum of all parts."""
        return self.between_s + sum(
            operation.weight * operation.mean_s for operation in self.operations.values()
        )


@lru_cache(maxsize=64)
def account_of(run: Run) -> Account | None:
    """Return the account of a run's measured part; None if nothing succeeded."""
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
    """Return the number of transactions, or passes over all operations, that succeeded."""
    done = succeeded(measured_times(run.table("events"))).height
    return done / (1 if account.is_mix else len(account.operations))


def _statements(run: Run) -> dict[str, dict[str, tuple[int, int]]]:
    """Return executions and their nanoseconds in all, by operation and statement."""
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
