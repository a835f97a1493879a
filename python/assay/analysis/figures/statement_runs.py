"""Statements of one run by name: their times, their plans, and the columns that they read.

A statement is called `OPERATION.STATEMENT`, or by its operation alone where that has no other but
those that begin and end a transaction.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from assay.analysis.figures.metrics import seconds_of
from assay.analysis.figures.mixes import mix_of
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

# What begins and ends a transaction, as the last word of a statement's name.
CONTROL = ("begin", "commit", "rollback")


@dataclass(frozen=True)
class Timed:
    """One statement of one run, in seconds; None where there were too few of it."""

    median: float | None
    p99: float | None


@lru_cache(maxsize=512)
def timed_statements(run: Run) -> Mapping[str, Timed]:
    """How long the statements of a run took, by name."""
    mix = mix_of(run)
    found = (
        {name: Timed(seconds, None) for name, seconds in seconds_of(run).items() if seconds}
        if mix is None
        else {name: Timed(one.p50, one.p99) for name, one in mix.latency.items()}
    )
    for operation, told in statement_times(run).items():
        alone = [one for one in told.statements if one.name.split()[-1] not in CONTROL]
        if len(alone) == 1:
            found[operation] = _timed(alone[0])
        elif alone:
            found.pop(operation, None)
            found |= {name_of(operation, one.name): _timed(one) for one in told.statements}
    return found


def _timed(told: StatementTimes) -> Timed:
    return Timed(told.seconds.p50, told.seconds.p99)


@lru_cache(maxsize=512)
def plans_by_statement(run: Run) -> Mapping[str, Plan]:
    """Plans of a run by the names of their statements."""
    plans = (one for some in captured(run).plans.values() for one in some)
    return {_key(run, one.operation, one.statement, one.name): one for one in plans}


@lru_cache(maxsize=512)
def columns_by_statement(run: Run) -> Mapping[str, tuple[TableColumns, ...]]:
    """The tables of each statement with their columns, by the same names."""
    found: dict[str, tuple[TableColumns, ...]] = {}
    for one in table_columns(run):
        key = _key(run, one.operation, one.statement, one.name)
        found[key] = (*found.get(key, ()), one)
    return found


def _key(run: Run, operation: str, statement: int, name: str | None) -> str:
    own = None if operation in timed_statements(run) else name or statement + 1
    return name_of(operation, own)


def access_path(plan: Plan) -> str:
    """How a plan gets at its rows: which tables are joined how, then what reads each of them."""
    nodes = list(plan.root.walk())
    words = ", ".join(_read(one) for one in nodes if one.operator in READS) or plan.root.operator
    return f"{joined(plan)}: {words}" if any(one.operator in JOINS for one in nodes) else words


def _read(node: PlanNode) -> str:
    """A scan with its table and its index, whose columns need no table beside them."""
    index = (node.index or "").replace(f"{node.object}.", "").replace(",", ", ")
    return " ".join(filter(None, (node.operator, node.object, f"({index})" if index else "")))
