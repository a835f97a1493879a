"""Statements of operations in the document of a run."""

from __future__ import annotations

from typing_extensions import TypedDict

from assay.report.documents.figures import TimeDistribution


class StatementRow(TypedDict):
    """One statement of an operation."""

    name: str
    """The workload's name for the statement, or its number in the operation, from 1."""
    executions: int
    per_operation: float
    """Number of executions in each execution of the operation."""
    share: float
    """Share of the operation's service time."""
    rows: float
    """Mean number of rows that an execution returned or changed."""
    seconds: TimeDistribution


class StatementTail(TypedDict):
    """The statement that makes the slowest executions slow."""

    statement: str
    """The statement with the largest part of the extra time, or 'earlier attempts'."""
    share: float
    """The statement's share of the extra time."""
    tail_share: float
    """Share of executions that count as the slowest."""
    operations: int
    """Number of these slowest executions."""
    beyond_s: float
    """Minimum time of the slowest executions."""
    typical_s: float
    """Mean time of the statement in executions up to the median."""
    tail_s: float
    """Mean time of the statement in the slowest executions."""
    excess_share: float
    """The statement's extra time in the slowest executions, as a share of the service time of
    all."""


class StatementsSection(TypedDict):
    """Statements of one operation, and what makes its tail."""

    statements: list[StatementRow]
    """Largest share first."""
    tail: StatementTail | None
    """Cause of the slowest executions; null if there are too few, or none is much slower than the
    median."""
