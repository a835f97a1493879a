"""Thread time of plans by kind of work, in the document of a run."""

from __future__ import annotations

from typing_extensions import TypedDict


class PlanWorkRow(TypedDict):
    """One kind of work in all plans."""

    work: str
    seconds: float
    """Thread-seconds."""
    share: float
    """Share of the time of all plans."""


class PlanWorkOperation(TypedDict):
    """One kind of work in the plans of an operation."""

    operation: str
    work: str
    seconds: float
    """Thread-seconds."""
    share: float
    """Share of the time of the operation's plans."""


class MixedWorkRow(TypedDict):
    """Time of one kind of work that includes other kinds."""

    work: str
    also: list[str]
    seconds: float
    """Thread-seconds."""


class PlanWorkSection(TypedDict):
    """Thread time of plans by kind of work."""

    work: list[PlanWorkRow]
    """Kinds of work, largest time first."""
    operations: list[PlanWorkOperation]
    """Kinds of work of each operation, in the order of operations."""
    mixed: list[MixedWorkRow]
    """Time of kinds of work that include other kinds, which plans do not separate."""
