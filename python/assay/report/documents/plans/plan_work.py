"""Thread time of plans by kind of work, in the document of a run."""

from __future__ import annotations

from typing_extensions import TypedDict


class PlanWorkRow(TypedDict):
    """One kind of work in all plans."""

    work: str
    seconds: float
    """Thread-seconds."""
    share: float
    """Of all plans' time."""


class PlanWorkOperation(TypedDict):
    """One kind of work in the plans of an operation."""

    operation: str
    work: str
    seconds: float
    """Thread-seconds."""
    share: float
    """Of the operation's plans' time."""


class MixedWorkRow(TypedDict):
    """Time of one kind of work that holds others."""

    work: str
    also: list[str]
    seconds: float
    """Thread-seconds."""


class PlanWorkSection(TypedDict):
    """Thread time of plans by kind of work."""

    work: list[PlanWorkRow]
    """By word, most time first."""
    operations: list[PlanWorkOperation]
    """By operation and word, operations in their order."""
    mixed: list[MixedWorkRow]
    """Time of a word that is of other words as well, which no plan tells apart."""
