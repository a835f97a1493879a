"""Statements of operations in the document of a run."""

from __future__ import annotations

from typing_extensions import TypedDict

from assay.report.documents.figures import TimeDistribution


class StatementRow(TypedDict):
    """One statement of an operation."""

    name: str
    """As the workload calls it, or its number in the operation from 1."""
    executions: int
    per_operation: float
    """Executions in each execution of the operation."""
    share: float
    """Of the service time of the operation."""
    rows: float
    """Rows that it returned or changed, mean of an execution."""
    seconds: TimeDistribution


class StatementTail(TypedDict):
    """The statement that makes the slowest executions slow."""

    statement: str
    """The statement with most of what they take longer; or 'earlier attempts'."""
    share: float
    """Its share of that."""
    tail_share: float
    """Which share of the executions are looked at."""
    operations: int
    """How many those are."""
    beyond_s: float
    """They took at least this long."""
    typical_s: float
    """What it takes in an execution up to the median, on average."""
    tail_s: float
    """What it takes in one of the slowest, on average."""
    excess_share: float
    """Its excess there, of the service time of all executions."""


class StatementsSection(TypedDict):
    """Statements of one operation, and what makes its tail."""

    statements: list[StatementRow]
    """Largest share first."""
    tail: StatementTail | None
    """What makes the slowest executions slow; null where there are too few, or none is much slower
    than the median."""
