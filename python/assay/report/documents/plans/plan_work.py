"""Types of a run's document on thread time of plans by kind of work, such as sorting."""

from __future__ import annotations

from typing_extensions import TypedDict


class PlanWorkRow(TypedDict):
    """Thread time of one kind of work in all plans."""

    work: str
    seconds: float
    """Thread-seconds of this kind of work in all plans."""
    share: float
    """Share of this kind of work in the time of all plans."""


class PlanWorkOperation(TypedDict):
    """Thread time of one kind of work in an operation's plans."""

    operation: str
    work: str
    seconds: float
    """Thread-seconds of this kind of work in the operation's plans."""
    share: float
    """Share of this kind of work in the time of the operation's plans."""


class MixedWorkRow(TypedDict):
    """Thread time of operators that do several kinds of work."""

    work: str
    also: list[str]
    seconds: float
    """Thread-seconds that include other kinds of work."""


class PlanWorkSection(TypedDict):
    """Thread time of plans by kind of work."""

    work: list[PlanWorkRow]
    """Thread time of each kind of work, largest time first."""
    operations: list[PlanWorkOperation]
    """Thread time of each operation by kind of work, in the order of operations."""
    mixed: list[MixedWorkRow]
    """Time of kinds of work that include other kinds, which plans do not separate."""
