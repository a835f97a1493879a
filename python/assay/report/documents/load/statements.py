"""Types of a run's document on the statements of operations."""

from __future__ import annotations

from typing_extensions import TypedDict

from assay.report.documents.figures import TimeDistribution


class StatementRow(TypedDict):
    """The times of one statement of an operation."""

    name: str
    """The workload's name for the statement, or its number in the operation, from 1."""
    executions: int
    per_operation: float
    """Number of the statement's executions in each execution of the operation."""
    share: float
    """The statement's share of the operation's service time."""
    rows: float
    """Mean number of rows that an execution of the statement returned or changed."""
    seconds: TimeDistribution


class StatementTail(TypedDict):
    """The statement that makes the slowest executions of an operation slow."""

    statement: str
    """Name of the statement with the largest part of the extra time, or `earlier attempts`."""
    share: float
    """The statement's share of the extra time in the slowest executions."""
    tail_share: float
    """Share of the operation's executions that count as the slowest."""
    operations: int
    """Number of the operation's slowest executions."""
    beyond_s: float
    """Minimum time of the slowest executions, in seconds."""
    typical_s: float
    """Mean time of the statement in executions up to the median, in seconds."""
    tail_s: float
    """Mean time of the statement in the slowest executions, in seconds."""
    excess_share: float
    """The statement's extra time in the slowest executions, as a share of the service time of all
    executions."""


class StatementsSection(TypedDict):
    """Statements of one operation, and the cause of its slowest executions."""

    statements: list[StatementRow]
    """The statements of the operation, largest share of time first."""
    tail: StatementTail | None
    """Cause of the slowest executions; null if there are too few, or if none is much slower than
    the median."""
