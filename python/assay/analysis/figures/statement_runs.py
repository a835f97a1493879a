"""Statements of one run by name: their times, their plans, and the columns that they read.

A statement is called `OPERATION.STATEMENT`, or by its operation alone where that has no other.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from assay.analysis.figures.metrics import seconds_of
from assay.analysis.figures.mixes import mix_of
from assay.analysis.plan_compare import JOINS, READS
from assay.analysis.plan_shape import joined
from assay.analysis.plans import captured
from assay.analysis.pruning import table_columns
from assay.analysis.statement_times import statement_times

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.analysis.pruning import TableColumns
    from assay.model.plan import Plan
    from assay.record.reader import Run


@dataclass(frozen=True)
class Timed:
    """One statement of one run, in seconds; None where there were too few of it."""

    median: float | None
    p99: float | None


@lru_cache(maxsize=512)
def timed_statements(run: Run) -> Mapping[str, Timed]:
    """Statements of a run by name: `OPERATION.STATEMENT`, or of an operation with one its name."""
    mix = mix_of(run)
    found = (
        {name: Timed(seconds, None) for name, seconds in seconds_of(run).items() if seconds}
        if mix is None
        else {name: Timed(one.p50, one.p99) for name, one in mix.latency.items()}
    )
    for operation, told in statement_times(run).items():
        if len(told.statements) > 1:
            found.pop(operation, None)
            for one in told.statements:
                found[f"{operation}.{one.name}"] = Timed(one.seconds.p50, one.seconds.p99)
    return found


@lru_cache(maxsize=512)
def plans_by_statement(run: Run) -> Mapping[str, Plan]:
    """Plans of a run by the name of the statement, as `timed_statements` has it."""
    return {
        _key(operation, one.statement, one.name, len(plans)): one
        for operation, plans in captured(run).plans.items()
        for one in plans
    }


@lru_cache(maxsize=512)
def columns_by_statement(run: Run) -> Mapping[str, tuple[TableColumns, ...]]:
    """The tables of each statement with their columns, by the same names."""
    plans = captured(run).plans
    found: dict[str, tuple[TableColumns, ...]] = {}
    for one in table_columns(run):
        count = len(plans.get(one.operation, ()))
        key = _key(one.operation, one.statement, one.name, count)
        found[key] = (*found.get(key, ()), one)
    return found


def _key(operation: str, statement: int, name: str | None, count: int) -> str:
    if name is None and count < 2:  # noqa: PLR2004 - it is the only one
        return operation
    return f"{operation}.{name or statement + 1}"


def access_path(plan: Plan) -> str:
    """How a plan gets at its rows: which tables are joined how, then what reads each of them."""
    nodes = list(plan.root.walk())
    reads = [
        " ".join(filter(None, (one.operator, one.object, f"({one.index})" if one.index else "")))
        for one in nodes
        if one.operator in READS
    ]
    words = ", ".join(reads) or plan.root.operator
    return f"{joined(plan)}: {words}" if any(one.operator in JOINS for one in nodes) else words
