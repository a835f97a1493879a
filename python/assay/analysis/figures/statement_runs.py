"""Statements of one run by name, with their times, plans and read columns.

The name of a statement is `OPERATION.STATEMENT`. If an operation has only one statement besides the
begin and end of a transaction, the statement has the operation's name.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from assay.analysis.figures.mixes import mix_of
from assay.analysis.metrics import seconds_of
from assay.analysis.plans.difference import JOINS, READS
from assay.analysis.plans.pruning import table_columns
from assay.analysis.plans.recorded import captured
from assay.analysis.plans.shape import joined
from assay.analysis.time.statement_times import name_of, statement_times

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.analysis.plans.pruning import TableColumns
    from assay.analysis.time.statement_times import StatementTimes
    from assay.model.plan import Plan, PlanNode
    from assay.record.reader import Run

# Statements that begin or end a transaction, by the last word of the statement's name.
CONTROL = ("begin", "commit", "rollback")


@dataclass(frozen=True)
class Timed:
    """Latencies of one statement in one run; a statistic from too few executions is None."""

    median: float | None
    p99: float | None


@lru_cache(maxsize=512)
def timed_statements(run: Run) -> Mapping[str, Timed]:
    """Return the latency of each statement of a run, by name."""
    mix = mix_of(run)
    timed = (
        {name: Timed(seconds, None) for name, seconds in seconds_of(run).items() if seconds}
        if mix is None
        else {name: Timed(latency.p50, latency.p99) for name, latency in mix.latency.items()}
    )
    for operation, times in statement_times(run).items():
        alone = [
            statement for statement in times.statements if statement.name.split()[-1] not in CONTROL
        ]
        if len(alone) == 1:
            timed[operation] = _timed(alone[0])
        elif alone:
            timed.pop(operation, None)
            timed |= {
                name_of(operation, statement.name): _timed(statement)
                for statement in times.statements
            }
    return timed


def _timed(statement: StatementTimes) -> Timed:
    return Timed(statement.seconds.p50, statement.seconds.p99)


@lru_cache(maxsize=512)
def plans_by_statement(run: Run) -> Mapping[str, Plan]:
    """Return the plans of a run by statement name."""
    plans = (plan for some in captured(run).plans.values() for plan in some)
    return {_key(run, plan.operation, plan.statement, plan.name): plan for plan in plans}


@lru_cache(maxsize=512)
def columns_by_statement(run: Run) -> Mapping[str, tuple[TableColumns, ...]]:
    """Return the tables of each statement with their columns, by the statement's name."""
    columns: dict[str, tuple[TableColumns, ...]] = {}
    for table in table_columns(run):
        key = _key(run, table.operation, table.statement, table.name)
        columns[key] = (*columns.get(key, ()), table)
    return columns


def _key(run: Run, operation: str, statement: int, name: str | None) -> str:
    own = None if operation in timed_statements(run) else name or statement + 1
    return name_of(operation, own)


def access_path(plan: Plan) -> str:
    """Return the access path of a plan: the join operators, then the scan of each table."""
    nodes = list(plan.root.walk())
    reads = ", ".join(_read(node) for node in nodes if node.operator in READS) or plan.root.operator
    return f"{joined(plan)}: {reads}" if any(node.operator in JOINS for node in nodes) else reads


def _read(node: PlanNode) -> str:
    """Return text with a scan's operator, table and index."""
    index = (node.index or "").replace(f"{node.object}.", "").replace(",", ", ")
    return " ".join(filter(None, (node.operator, node.object, f"({index})" if index else "")))
